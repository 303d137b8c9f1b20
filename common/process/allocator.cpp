#include "common/process/allocator.hpp"

#include "common/defaults.hpp"

#include <cstddef>

// Of tcmalloc's C interface. Weak: the sanitizers' builds, and the tests, are linked without it.
extern "C" [[gnu::weak]] int MallocExtension_SetNumericProperty(const char* property, std::size_t value);

namespace sluice {

void bound_thread_caches() {
  if (MallocExtension_SetNumericProperty == nullptr) return;
  MallocExtension_SetNumericProperty("tcmalloc.max_total_thread_cache_bytes",
                                     defaults::max_thread_cache_bytes);
}

}  // namespace sluice

#include "common/memory.hpp"

#include <cstddef>

#include <sys/prctl.h>
#include <sys/types.h>

/// jemalloc's, in programs that are linked with it.
extern "C" __attribute__((weak)) int mallctl(const char* name, void* old, std::size_t* old_size, void* value,
                                             std::size_t size);

namespace sluice {

void use_little_memory() {
  ::prctl(PR_SET_THP_DISABLE, 1UL, 0UL, 0UL, 0UL);
  ::ssize_t milliseconds = 1000;
  if (mallctl != nullptr)
    mallctl("arena.0.dirty_decay_ms", nullptr, nullptr, &milliseconds, sizeof milliseconds);
}

}  // namespace sluice

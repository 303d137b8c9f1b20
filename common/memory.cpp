#include "common/memory.hpp"

#include <cstddef>

#include <sys/prctl.h>
#include <sys/types.h>

/// jemalloc reads it when the process starts; with another allocator it says nothing (docs/benchmarks.md,
/// "Where the time goes"). An arena gives its memory back when the last of its threads ends, and the next
/// thread has to fetch each page anew: of one arena there is always a thread left. Huge pages are fetched
/// once for 512 small ones.
extern "C" const char* malloc_conf;
extern "C" const char* malloc_conf = "narenas:1,thp:always";

/// jemalloc's, in programs that are linked with it.
extern "C" __attribute__((weak)) int mallctl(const char* name, void* old, std::size_t* old_size, void* value,
                                             std::size_t size);

namespace sluice {

namespace {

constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

/// Wishes of the only arena. One that the allocator does not know costs speed or room, and nothing else.
template <typename Value>
void ask_allocator(const char* name, Value value) {
  if (mallctl != nullptr) mallctl(name, nullptr, nullptr, &value, sizeof value);
}

}  // namespace

// Each place would be larger than the one before it, by less than a huge page: most would begin within one.
void use_huge_pages() {
  ask_allocator("arena.0.retain_grow_limit", huge_page_bytes);
}

void use_little_memory() {
  ::prctl(PR_SET_THP_DISABLE, 1UL, 0UL, 0UL, 0UL);
  ask_allocator("arena.0.dirty_decay_ms", ::ssize_t{1000});
}

}  // namespace sluice

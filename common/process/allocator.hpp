#pragma once

namespace sluice {

/// Bounds what the allocator keeps for the threads that freed it (defaults::max_thread_cache_bytes). Does
/// nothing with an allocator that keeps no such caches.
void bound_thread_caches();

}  // namespace sluice

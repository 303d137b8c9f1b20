#include "common/process/actor_system.hpp"

#include "common/defaults.hpp"

#include <algorithm>
#include <thread>

/// jemalloc reads it when the process starts; with another allocator it says nothing (docs/benchmarks.md,
/// "Where the time goes"). An arena gives its memory back when the last of its threads ends, and the next
/// thread has to fetch each page anew: of one arena there is always a thread left. Huge pages are fetched
/// once for 512 small ones.
extern "C" const char* malloc_conf;
extern "C" const char* malloc_conf = "narenas:1,thp:always";

namespace sluice {

ActorSystem::ActorSystem() : system(configure(config)) {}

caf::actor_system_config& ActorSystem::configure(caf::actor_system_config& config) {
  const auto threads =
      std::clamp(std::thread::hardware_concurrency(), defaults::min_pool_threads, defaults::max_pool_threads);
  config.set("scheduler.max-threads", static_cast<std::size_t>(threads));
  config.set("scheduler.policy", caf::atom("sharing"));
  return config;
}

}  // namespace sluice

#include "common/process/actor_system.hpp"

#include "common/defaults.hpp"

#include <algorithm>
#include <thread>

/// jemalloc reads it when the process starts; with another allocator it says nothing. By default there are
/// four arenas a core, each of which keeps memory that the others could use: a fifth of the peak of a large
/// run.
extern "C" const char* malloc_conf;
extern "C" const char* malloc_conf = "narenas:2";

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

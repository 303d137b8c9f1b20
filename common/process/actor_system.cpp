#include "common/process/actor_system.hpp"

#include "common/defaults.hpp"

#include <algorithm>
#include <thread>

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

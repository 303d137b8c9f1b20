#pragma once

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>

namespace sluice {

/// The actor system of a process: a few threads that share one queue, which idles and answers better here
/// than work stealing. CAF's own command line and files are not read; they would compete with ours.
struct ActorSystem {
  ActorSystem();

  caf::actor_system_config config;
  caf::actor_system system;

 private:
  static caf::actor_system_config& configure(caf::actor_system_config& config);
};

}  // namespace sluice

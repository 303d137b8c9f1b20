#pragma once

#include "coordinator/defaults.hpp"

#include <chrono>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

namespace sluice {

/// How progress is shown on stderr.
struct ProgressStyle {
  bool live = false;  ///< A terminal: one line that is written over and over. Otherwise a line now and then.
  bool colour = false;
  bool is_assessed = true;  ///< As ProgressState has it.
  bool is_gated = false;    ///< The same.
  std::chrono::milliseconds interval() const {
    return live ? defaults::live_progress_interval : defaults::plain_progress_interval;
  }
};

/// What stderr is: a terminal or not, with the user's NO_COLOR and TERM. Where lines are JSON objects, none
/// is written over.
ProgressStyle detect_progress_style();

/// Starts the actor that shows ShowProgress on stderr. On its end the live line is wiped.
caf::actor spawn_progress(caf::actor_system& system, ProgressStyle style);

}  // namespace sluice

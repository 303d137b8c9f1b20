#include "coordinator/cli/run/command_progress.hpp"

#include "common/text/stderr_line.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/display/numbers.hpp"

#include <chrono>
#include <string>

namespace sluice {

OnCommands command_progress(const RunOptions& options) {
  if (!options.progress) return {};
  using Clock = std::chrono::steady_clock;
  return [next = Clock::now() + defaults::command_progress_interval](std::size_t done,
                                                                     std::size_t cases) mutable {
    const auto now = Clock::now();
    if (now < next) return;
    next = now + defaults::command_progress_interval;
    say("the commands of --perturb-command have done " + std::to_string(done) + " of " +
        wording::counted(cases, "case"));
  };
}

}  // namespace sluice

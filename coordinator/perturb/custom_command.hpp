#pragma once

#include "common/error.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// A program of the user's that perturbs a text: it reads the text from its standard input and writes the
/// perturbed one to its standard output.
struct PerturbationCommand {
  std::vector<std::string> arguments;  ///< The program first; looked up in PATH if its name holds no slash.
  std::chrono::milliseconds time_limit = std::chrono::seconds(10);  ///< From its start to its end.
  std::size_t max_output_bytes = 1 << 20;                           ///< 1 MiB.
};

/// Runs the command on one text and returns what it wrote. The program sees this process's environment
/// without the variables whose names end with `_API_KEY`, and its working folder. It is killed, with the
/// processes of its group, when its time is over or its output too large. `usage_invalid` if it cannot be
/// started, ends by a signal or with another exit code than 0 (then with the beginning of what it wrote to
/// its standard error), or exceeds a limit. Blocks until then. May be called from any thread.
Result<std::string> run_perturbation_command(const PerturbationCommand& command, std::string_view text);

}  // namespace sluice

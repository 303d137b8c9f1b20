#pragma once

#include "common/error.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// A program that reads a text from its standard input and writes to its standard output, bounded in time and
/// output.
struct BoundedCommand {
  std::vector<std::string> arguments;    ///< The program first; looked up in PATH if its name holds no slash.
  std::chrono::milliseconds time_limit;  ///< From its start to its end.
  std::size_t max_output_bytes = 0;
  std::string shown{};                          ///< What messages call it; empty: the program.
  std::vector<std::string> hidden_variables{};  ///< Names of variables that hold secrets.
  std::string kind{"command"};                  ///< What messages say that it is.
  std::string for_more_time{};                  ///< What to do if it takes too long, for messages.
  std::string for_more_output{};                ///< What to do if it writes too much, for messages.
};

/// Runs the command on one text and returns what it wrote. The program sees this process's environment
/// without the hidden variables and those whose names end with `_API_KEY`, and its working folder. It is
/// killed, with the processes of its group, when its time is over, its output too large, or this process
/// ends. `usage_invalid` if it cannot be started, ends by a signal or with another exit code than 0 (then
/// with the beginning of what it wrote to its standard error), writes nothing for a text that is not empty,
/// or exceeds a limit. Blocks until then. May be called from any thread.
Result<std::string> run_bounded(const BoundedCommand& command, std::string_view text);

}  // namespace sluice

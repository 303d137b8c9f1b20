#pragma once

#include "common/error.hpp"
#include "common/files.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
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
  std::string kept_variable{};                  ///< The only secret that it sees; empty: none.
  std::string kind{"command"};                  ///< What messages say that it is.
  std::string for_more_time{};                  ///< What to do if it takes too long, for messages.
  std::string for_more_output{};                ///< What to do if it writes too much, for messages.
  std::string folder{};                         ///< Where it runs; empty: where this process does.
};

/// How a program ended.
struct CommandEnd {
  enum class Kind : std::uint8_t {
    done,         ///< With exit code 0.
    not_started,  ///< There is no such program, or the system would not start it.
    failed,       ///< By a signal, or another exit code, or it wrote nothing.
    too_slow,
    too_much,   ///< It wrote more than it may.
    cancelled,  ///< By its CommandStop.
  };
  Kind kind = Kind::done;
  std::string output{};   ///< Of one that is done.
  std::string message{};  ///< Of any other: a sentence.
  std::string errors{};   ///< And the end of its standard error, in UTF-8.
  int error_number = 0;   ///< The system's (errno), of one that is not started; 0 where it says none.
};

/// The message of a command that was not done, with the last bytes of its errors, `most` of them. What must
/// not be shown is taken out of the errors before: a cut through a secret leaves a part of it that nothing
/// finds.
std::string with_errors(std::string message, std::string_view errors, std::size_t most);

/// Ends a running program from another thread. Thread-safe.
class CommandStop {
 public:
  CommandStop();

  void request();
  /// Forgets a request, before another program runs.
  void clear();
  /// Readable once it is requested; -1 where the system gave none, and nothing is stopped early.
  int descriptor() const { return event_.number(); }

 private:
  FileDescriptor event_;
};

/// As run_bounded, with how it ended. `stop` may be null.
CommandEnd run_to_its_end(const BoundedCommand& command, std::string_view text,
                          const CommandStop* stop = nullptr);

/// Runs the command on one text and returns what it wrote. The program sees this process's environment
/// without the hidden variables and those whose names end with `_API_KEY`, and its working folder. It is
/// killed, with the processes of its group, when its time is over, its output too large, or this process
/// ends. `usage_invalid` if it cannot be started, ends by a signal or with another exit code than 0 (then
/// with the beginning of what it wrote to its standard error), writes nothing for a text that is not empty,
/// or exceeds a limit. Blocks until then. May be called from any thread.
Result<std::string> run_bounded(const BoundedCommand& command, std::string_view text);

}  // namespace sluice

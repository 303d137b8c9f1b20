#pragma once

#include "tests/support/wait.hpp"

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace sluice::support {

/// What to start and where. The child sees these variables and no others.
struct Command {
  std::vector<std::string> arguments;  ///< The program's path first.
  std::map<std::string, std::string> environment;
  std::filesystem::path working_folder;
  std::filesystem::path output;  ///< stdout goes here: a new file, or a device.
  std::filesystem::path errors;  ///< stderr, likewise.
};

/// How a process ended: an exit code, or 128 + the signal that ended it, as shells count.
using ExitCode = int;

/// A child process. Killed and reaped with the object, stopped or not. Not thread-safe.
class Process {
 public:
  /// Throws std::system_error if the program cannot be started.
  explicit Process(Command command);
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  ~Process();

  pid_t pid() const { return pid_; }
  void signal(int number) const;
  /// Sends SIGSTOP and waits until the process stands still. False if it does not.
  bool stop();
  bool running();
  /// Nothing if it still runs at the deadline.
  std::optional<ExitCode> wait(std::chrono::milliseconds deadline = patience);

  std::string output() const;
  std::string errors() const;
  const Command& command() const { return command_; }

 private:
  Command command_;
  pid_t pid_ = -1;
  std::optional<ExitCode> exit_code_;
};

}  // namespace sluice::support

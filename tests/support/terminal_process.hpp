#pragma once

#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

namespace sluice::support {

/// A child process whose standard streams are a terminal of 80 columns. Killed and reaped with the object.
/// Not thread-safe.
class TerminalProcess {
 public:
  /// The program's path first; these variables are added to the environment. Throws std::system_error if
  /// there is no terminal or no process to be had.
  TerminalProcess(std::vector<std::string> arguments, const std::map<std::string, std::string>& variables);
  TerminalProcess(const TerminalProcess&) = delete;
  TerminalProcess& operator=(const TerminalProcess&) = delete;
  ~TerminalProcess();

  /// What was shown since the last call, up to where the text has come; empty if it does not.
  std::string read_to(const std::string& text);
  /// As if somebody typed it, the line end included.
  void type(const std::string& line);

 private:
  int terminal_ = -1;
  pid_t child_ = -1;
};

}  // namespace sluice::support

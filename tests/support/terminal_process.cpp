#include "tests/support/terminal_process.hpp"

#include "tests/support/wait.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::support {

TerminalProcess::TerminalProcess(std::vector<std::string> arguments,
                                 const std::map<std::string, std::string>& variables)
    : terminal_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
  if (terminal_ < 0 || ::grantpt(terminal_) != 0 || ::unlockpt(terminal_) != 0)
    throw std::system_error(errno, std::generic_category(), "no terminal");
  const std::string name = ::ptsname(terminal_);
  const winsize size{24, 80, 0, 0};
  ::ioctl(terminal_, TIOCSWINSZ, &size);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  child_ = ::fork();
  if (child_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child_ > 0) {
    ::fcntl(terminal_, F_SETFL, O_NONBLOCK);
    return;
  }
  ::setsid();
  const int side = ::open(name.c_str(), O_RDWR);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(side, stream);
  for (const auto& [variable, value] : variables) ::setenv(variable.c_str(), value.c_str(), 1);
  ::execv(pointers[0], pointers.data());
  ::_exit(127);
}

TerminalProcess::~TerminalProcess() {
  ::kill(child_, SIGKILL);
  ::waitpid(child_, nullptr, 0);
  ::close(terminal_);
}

std::string TerminalProcess::read_to(const std::string& text) {
  std::string shown;
  const bool came = eventually([&] {
    std::array<char, 4096> buffer{};
    const auto count = ::read(terminal_, buffer.data(), buffer.size());
    if (count > 0) shown.append(buffer.data(), static_cast<std::size_t>(count));
    return shown.find(text) != std::string::npos;
  });
  return came ? shown : "";
}

void TerminalProcess::type(const std::string& line) {
  if (::write(terminal_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    throw std::system_error(errno, std::generic_category(), "the terminal takes nothing");
}

}  // namespace sluice::support

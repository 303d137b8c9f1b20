// Lines of the log on a terminal.
#include "common/process/logging.hpp"

#include <array>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace sluice::terminal_log_test {
namespace {

/// While it lives, stderr is a terminal of so many columns.
class TerminalStderr {
 public:
  explicit TerminalStderr(unsigned short columns)
      : terminal_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)), before_(::dup(STDERR_FILENO)) {
    EXPECT_EQ(::grantpt(terminal_), 0);
    EXPECT_EQ(::unlockpt(terminal_), 0);
    const winsize size{24, columns, 0, 0};
    EXPECT_EQ(::ioctl(terminal_, TIOCSWINSZ, &size), 0);
    const int side = ::open(::ptsname(terminal_), O_RDWR | O_NOCTTY | O_CLOEXEC);
    EXPECT_GE(::dup2(side, STDERR_FILENO), 0);
    ::close(side);
  }
  TerminalStderr(const TerminalStderr&) = delete;
  TerminalStderr& operator=(const TerminalStderr&) = delete;
  ~TerminalStderr() {
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
    ::close(terminal_);
  }

  /// What is shown, up to where the text has come.
  std::string read_to(const std::string& text) const {
    constexpr int patience_ms = 10'000;
    std::string shown;
    pollfd wait{terminal_, POLLIN, 0};
    while (shown.find(text) == std::string::npos && ::poll(&wait, 1, patience_ms) == 1) {
      std::array<char, 1024> buffer{};
      const auto count = ::read(terminal_, buffer.data(), buffer.size());
      if (count <= 0) break;
      shown.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return shown;
  }

 private:
  int terminal_;
  int before_;
};

// Those of sluice-worker were broken by the terminal, within words: only sluice set a breaker.
TEST(TerminalLog, EveryProgramBreaksItsLinesAtBlanks) {
  const TerminalStderr terminal(40);
  set_up_logging("info", false);
  spdlog::warn("the connection is refused: check host and port");
  const std::string shown = terminal.read_to("port\r\n");
  EXPECT_TRUE(shown.ends_with(" warning: the connection is\r\n  refused: check host and port\r\n")) << shown;
}

}  // namespace
}  // namespace sluice::terminal_log_test

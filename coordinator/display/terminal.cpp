#include "coordinator/display/terminal.hpp"

#include <cstdlib>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

namespace sluice {

Terminal terminal_of(bool is_tty, const char* term, const char* no_colour) {
  Terminal terminal;
  terminal.is_terminal = is_tty && term != nullptr && *term != '\0' && std::string_view(term) != "dumb";
  terminal.colour = terminal.is_terminal && (no_colour == nullptr || *no_colour == '\0');
  return terminal;
}

Terminal detect_terminal(int descriptor) {
  const bool is_tty = ::isatty(descriptor) == 1;
  Terminal terminal = terminal_of(is_tty, std::getenv("TERM"), std::getenv("NO_COLOR"));
  winsize size{};
  if (is_tty && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    terminal.columns = size.ws_col;
  return terminal;
}

std::size_t output_columns() {
  constexpr std::size_t piped_columns = 80;
  return detect_terminal(STDOUT_FILENO).columns.value_or(piped_columns);
}

}  // namespace sluice

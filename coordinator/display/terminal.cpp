#include "coordinator/display/terminal.hpp"

#include "coordinator/display/display.hpp"

#include <cstdlib>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

namespace sluice {

Terminal terminal_of(bool is_tty, const char* term, const char* no_colour, const char* force_colour) {
  const auto has_value = [](const char* variable) { return variable != nullptr && *variable != '\0'; };
  Terminal terminal;
  terminal.is_terminal = is_tty && term != nullptr && *term != '\0' && std::string_view(term) != "dumb";
  const bool is_forced = has_value(force_colour) && std::string_view(force_colour) != "0";
  const bool is_refused = has_value(no_colour) || (has_value(force_colour) && !is_forced);
  terminal.colour = (terminal.is_terminal || is_forced) && !is_refused;
  return terminal;
}

Terminal detect_terminal(int descriptor) {
  const bool is_tty = ::isatty(descriptor) == 1;
  Terminal terminal =
      terminal_of(is_tty, std::getenv("TERM"), std::getenv("NO_COLOR"), std::getenv("FORCE_COLOR"));
  winsize size{};
  if (is_tty && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    terminal.columns = size.ws_col;
  return terminal;
}

std::string in_colour(std::string_view code, std::string_view words) {
  if (code.empty()) return std::string(words);
  return std::string(code).append(words).append("\x1b[0m");
}

std::string broken_on_stderr(std::string_view text, std::size_t column) {
  const auto columns = detect_terminal(STDERR_FILENO).columns;
  return columns ? hanging(text, column, *columns) : std::string(text);
}

std::size_t output_columns() {
  constexpr std::size_t piped_columns = 80;
  return detect_terminal(STDOUT_FILENO).columns.value_or(piped_columns);
}

}  // namespace sluice

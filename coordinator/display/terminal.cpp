#include "coordinator/display/terminal.hpp"

#include "common/text/terminal_lines.hpp"

#include <cstdlib>
#include <string_view>

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
  Terminal terminal = terminal_of(::isatty(descriptor) == 1, std::getenv("TERM"), std::getenv("NO_COLOR"),
                                  std::getenv("FORCE_COLOR"));
  terminal.columns = columns_of(descriptor);
  return terminal;
}

std::string in_colour(std::string_view code, std::string_view words) {
  if (code.empty()) return std::string(words);
  return std::string(code).append(words).append("\x1b[0m");
}

std::size_t output_columns() {
  constexpr std::size_t piped_columns = 80;
  return detect_terminal(STDOUT_FILENO).columns.value_or(piped_columns);
}

}  // namespace sluice

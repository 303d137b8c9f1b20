#include "common/text/build_commands.hpp"

#include <cstddef>

namespace sluice {

namespace {
constexpr const char* part = "\xef\xbf\xbd";
}  // namespace

std::string without_commands(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool begins_line = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    const bool is_command =
        (begins_line && rest.starts_with("::")) || (i > 0 && text[i - 1] == '#' && rest.starts_with("#["));
    is_command ? out += part : out += text[i];
    // Of the white space beyond ASCII that is passed over too, all bytes are.
    const bool is_graphic = text[i] > ' ' && text[i] < '\x7f';
    begins_line = text[i] == '\n' || text[i] == '\r' || (begins_line && !is_graphic);
  }
  return out;
}

}  // namespace sluice

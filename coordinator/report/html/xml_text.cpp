#include "coordinator/report/html/xml_text.hpp"

#include "common/text/printable.hpp"
#include "common/text/text.hpp"

#include <cstddef>

namespace sluice {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";

/// U+0080 to U+009F: a terminal may follow them.
bool is_later_control(std::string_view rest) {
  return rest.size() > 1 && rest[0] == '\xc2' && static_cast<unsigned char>(rest[1]) < 0xa0;
}

// U+FFFE and U+FFFF, the only characters beyond ASCII that valid UTF-8 may hold and XML 1.0 may not.
bool is_noncharacter(std::string_view rest) {
  return rest.starts_with("\xef\xbf\xbe") || rest.starts_with("\xef\xbf\xbf");
}

}  // namespace

std::string xml_escaped(std::string_view text) {
  const std::string valid = without_direction_controls(to_valid_utf8(text));
  std::string out;
  out.reserve(valid.size());
  for (std::size_t i = 0; i < valid.size(); ++i) {
    const char c = valid[i];
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\n' || c == '\r' || c == '\t') {
      // As themselves a reader would make spaces of them in an attribute, and drop the CR anywhere.
      out += c == '\n' ? "&#10;" : c == '\r' ? "&#13;" : "&#9;";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += replacement;
    } else if (is_later_control(std::string_view(valid).substr(i))) {
      out += replacement;
      ++i;
    } else if (is_noncharacter(std::string_view(valid).substr(i))) {
      out += replacement;
      i += 2;
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace sluice

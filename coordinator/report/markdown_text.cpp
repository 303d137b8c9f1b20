#include "coordinator/report/markdown_text.hpp"

#include "common/text/text.hpp"
#include "coordinator/display/display.hpp"

#include <algorithm>

namespace sluice {
namespace {

// Where GitHub would make a link of what follows.
bool begins_address(std::string_view rest) {
  constexpr std::string_view www = "www.";
  return rest.starts_with("://") || (rest.size() >= www.size() &&
                                     std::ranges::equal(rest.substr(0, www.size()), www, [](char a, char b) {
                                       return (a | 0x20) == (b | 0x20);
                                     }));
}

std::string without_markup(std::string_view words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const char c = words[i];
    if (begins_address(words.substr(i))) {
      out += std::string(1, c) + "<!-- -->";
      continue;
    }
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '@':
      case '#':
        out += std::string("\\") + c + "<!-- -->";
        break;
      case '\\':
      case '`':
      case '*':
      case '_':
      case '~':
      case '[':
      case ']':
      case '|':
      case '$':
        out += '\\';
        [[fallthrough]];
      default:
        out += c;
    }
  }
  return out;
}

std::string fenced(std::string_view words) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : words) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  const std::string_view space = longest > 0 ? " " : "";
  return fence + std::string(space) + std::string(words) + std::string(space) + fence;
}

// What a letter grows to is not known before: the text is cut shorter until the result fits.
template <class Make>
std::string within(std::string_view text, std::size_t max_bytes, const Make& make) {
  std::string result;
  for (std::size_t length = max_bytes; length > 0; length = length * 3 / 4) {
    result = make(printable(excerpt(text, length)));
    if (result.size() <= max_bytes) return result;
  }
  return "";
}

}  // namespace

std::string markdown_words(std::string_view text, std::size_t max_bytes) {
  return within(text, max_bytes, without_markup);
}

std::string markdown_code(std::string_view text, std::size_t max_bytes) {
  return within(text, max_bytes, fenced);
}

void BoundedText::add(std::string_view entry, std::uint64_t counts) {
  if (!has_room() || text_.size() + entry.size() > max_bytes_) return leave_out(counts);
  text_ += entry;
}

}  // namespace sluice

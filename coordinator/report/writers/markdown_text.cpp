#include "coordinator/report/writers/markdown_text.hpp"

#include "common/text/printable.hpp"
#include "common/text/text.hpp"

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

bool is_of_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// Where GitHub would make a link to an issue (`GH-26`) or a commit (7 to 40 hex digits) of the word that
/// begins at a place: how many of its bytes to break it behind. 0: it makes none. Numbers, and what hyphens
/// join like the parts of a run's id, are left as they are.
std::size_t begins_reference(std::string_view words, std::size_t begin) {
  if (!is_of_word(words[begin]) || (begin > 0 && is_of_word(words[begin - 1]))) return 0;
  const std::string_view rest = words.substr(begin);
  const std::string_view word(rest.begin(), std::ranges::find_if_not(rest, is_of_word));
  const std::string_view behind = rest.substr(word.size());
  const bool joins = behind.starts_with('-');
  if (joins && word.size() == 2 && (word[0] | 0x20) == 'g' && (word[1] | 0x20) == 'h' && behind.size() > 1 &&
      behind[1] >= '0' && behind[1] <= '9') {
    return word.size() + 1;
  }
  if (joins || (begin > 0 && words[begin - 1] == '-') || word.size() < 7 || word.size() > 40) return 0;
  const bool is_hex = word.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
  const bool has_both = word.find_first_of("0123456789") != std::string_view::npos &&
                        word.find_first_not_of("0123456789") != std::string_view::npos;
  return is_hex && has_both ? 1 : 0;
}

std::string without_markup(std::string_view words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const char c = words[i];
    if (begins_address(words.substr(i))) {
      out += std::string(1, c) + "<!-- -->";
      continue;
    }
    if (const std::size_t kept = begins_reference(words, i); kept > 0) {
      out += std::string(words.substr(i, kept)) + "<!-- -->";
      i += kept - 1;
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

/// Where the code ends that begins behind the backtick at `open`; npos if none begins there. A name in a
/// command may hold a backtick: the one that ends it has the end of a word behind it, as the first has one
/// before it.
std::size_t end_of_code(std::string_view words, std::size_t open) {
  constexpr std::string_view before = " (";
  constexpr std::string_view behind = " .,;:)?";
  const auto npos = std::string_view::npos;
  if (open > 0 && before.find(words[open - 1]) == npos) return npos;
  if (words.substr(open + 1).starts_with(' ')) return npos;
  for (auto at = words.find('`', open + 1); at != npos; at = words.find('`', at + 1)) {
    const bool ends_word =
        words[at - 1] != ' ' && (at + 1 == words.size() || behind.find(words[at + 1]) != npos);
    if (ends_word) return at > open + 1 ? at : npos;
  }
  return npos;
}

std::string with_code_apart(std::string_view words) {
  std::string out;
  std::size_t plain_from = 0;
  for (auto at = words.find('`'); at != std::string_view::npos; at = words.find('`', at)) {
    const auto end = end_of_code(words, at);
    if (end == std::string_view::npos) {
      ++at;
      continue;
    }
    out += without_markup(words.substr(plain_from, at - plain_from)) +
           fenced(words.substr(at + 1, end - at - 1));
    at = plain_from = end + 1;
  }
  return out + without_markup(words.substr(plain_from));
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

std::string markdown_sentence(std::string_view text, std::size_t max_bytes) {
  return within(text, max_bytes, with_code_apart);
}

void BoundedText::add(std::string_view entry, std::uint64_t counts) {
  if (left_out_ > 0 || text_.size() + entry.size() > max_bytes_) {
    left_out_ += counts;
  } else {
    text_ += entry;
  }
}

}  // namespace sluice

#include "common/model/token_bound.hpp"

#include "common/defaults.hpp"

#include <cstddef>

namespace sluice {

namespace {

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_letter(char c) {
  return is_lower(c) || is_upper(c);
}

std::uint64_t bound_of(const SharedText& text) {
  return text ? token_bound(std::string_view(*text)) : 0;
}

}  // namespace

std::uint64_t token_bound(std::string_view text) {
  std::uint64_t tokens = 0;
  std::uint64_t run = 0;  // Letters of a word so far, with the blank before it.
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool begins_word = c == ' ' && i + 1 < text.size() && is_letter(text[i + 1]);
    const bool goes_on = is_letter(c) && !(is_upper(c) && i > 0 && is_lower(text[i - 1]));
    if (!goes_on) {
      tokens += (run + 1) / 2;
      run = 0;
    }
    if (begins_word || is_letter(c)) {
      ++run;
    } else {
      ++tokens;
    }
  }
  return tokens + (run + 1) / 2;
}

std::uint64_t input_token_bound(const ModelRequest& request) {
  return defaults::frame_tokens + bound_of(request.system) + token_bound(request.user) +
         bound_of(request.response_schema);
}

std::uint64_t output_token_bound(const ModelRequest& request) {
  return request.max_tokens > 0 ? request.max_tokens : defaults::max_output_tokens;
}

}  // namespace sluice

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

/// What images come to at most at today's providers, whatever their size.
constexpr std::uint64_t image_tokens = 6000;

std::uint64_t bound_of(const ChatMessage& message) {
  std::uint64_t tokens = defaults::frame_tokens;
  for (const MessagePart& one : message.parts) {
    const bool is_image = one.kind == PartKind::image_data || one.kind == PartKind::image_url;
    tokens += is_image ? image_tokens : token_bound(one.text);
  }
  for (const ToolCall& one : message.calls) tokens += token_bound(one.name) + token_bound(one.arguments);
  return tokens;
}

std::uint64_t bound_of(const RequestExtras& extras) {
  std::uint64_t tokens = 0;
  for (const ChatMessage& one : extras.messages) tokens += bound_of(one);
  for (const Tool& one : extras.tools) {
    tokens += defaults::frame_tokens + token_bound(one.name) + token_bound(one.description) +
              token_bound(one.parameters);
  }
  return tokens;
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
         bound_of(request.response_schema) + bound_of(request.extras);
}

std::uint64_t output_token_bound(const ModelRequest& request) {
  return request.max_tokens > 0 ? request.max_tokens : defaults::max_output_tokens;
}

}  // namespace sluice

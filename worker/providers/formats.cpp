#include "worker/providers/formats.hpp"

#include "common/checks/key_mask.hpp"
#include "common/defaults.hpp"
#include "common/text/text.hpp"
#include "worker/defaults.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace sluice {
namespace {

bool is_key_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
         c == '*';
}

/// Words of the forms that the providers' keys have, also partly starred out as OpenAI quotes them.
void blot_known_keys(std::string& text) {
  constexpr std::array<std::string_view, 2> prefixes = {"sk-", "AIza"};
  for (const std::string_view prefix : prefixes) {
    std::size_t at = 0;
    while ((at = text.find(prefix, at)) != std::string::npos) {
      std::size_t end = at;
      while (end < text.size() && is_key_character(text[end])) ++end;
      const bool begins_word = at == 0 || !is_key_character(text[at - 1]);
      if (begins_word && end - at >= defaults::shortest_known_key) text.replace(at, end - at, masked_key);
      at += prefix.size();
    }
  }
}

}  // namespace

HttpRequest json_post(std::string url, std::string_view key_header, std::string_view prefix,
                      std::string_view api_key) {
  HttpRequest http;
  http.url = std::move(url);
  http.headers.reserve(4);
  http.headers.emplace_back("Content-Type: application/json");
  const std::string key = usable_key(api_key);
  if (!key.empty()) {
    std::string header(key_header);
    header += ": ";
    header += prefix;
    header += key;
    http.headers.push_back(std::move(header));
  }
  return http;
}

std::size_t body_size_hint(const ModelRequest& request) {
  const std::size_t schema = request.response_schema ? request.response_schema->size() : 0;
  return defaults::request_frame_bytes + request.user.size() + request.user.size() / 8 + schema;
}

void append_shared_json_string(HttpRequest& http, const SharedText& text) {
  // Holding the text keeps its address from being given to another one.
  thread_local SharedText last;
  thread_local SharedText escaped;
  if (last != text) {
    // Each WORK message brings its own copy of what is one text for the whole run.
    if (!last || *last != *text) {
      std::string json;
      append_json_string(json, *text);
      escaped = share(std::move(json));
    }
    last = text;
  }
  http.shared = escaped;
  http.shared_at = http.body.size();
}

std::string quotable(std::string_view text, std::string_view api_key) {
  const auto clean = KeyMask(api_key, KeyMask::Keys::all).masked(text);
  std::string line(clean ? std::string_view(*clean).substr(0, defaults::considered_error_bytes)
                         : text.substr(0, defaults::considered_error_bytes));
  line = one_line(to_valid_utf8(line));
  blot_known_keys(line);
  return excerpt(line, defaults::quoted_error_bytes);
}

Usage believable(const Usage& usage) {
  const bool absurd = std::max(usage.input_tokens, usage.output_tokens) > defaults::most_call_tokens;
  return absurd ? Usage{} : usage;
}

Error declined(std::string_view finish_reason, std::string_view words) {
  std::string message = "the model or its content filter declined to answer";
  if (!finish_reason.empty()) message += " (" + quotable(finish_reason) + ")";
  if (!words.empty()) message += ": " + quotable(words);
  return Error{Reason::refusal, std::move(message)};
}

Error cut_off(std::string_view finish_reason) {
  return Error{Reason::truncated, "the answer was cut off at the token limit (" + quotable(finish_reason) +
                                      "); raise max_output_tokens"};
}

Error without_text(std::string_view finish_reason) {
  const std::string word = finish_reason.empty() ? "none" : quotable(finish_reason);
  return Error{Reason::refusal, "the model answered without any text (finish reason: " + word + ")"};
}

std::string error_message(const JsonView& body) {
  // Some Google end points wrap the error in an array.
  const JsonView document = body.is_array() ? body.first() : body;
  const JsonView error = document["error"];
  for (const JsonView& place : {error["message"], error, document["message"], document["detail"]}) {
    if (const auto text = place.text(); text && !text->empty()) return std::string(*text);
  }
  return "";
}

}  // namespace sluice

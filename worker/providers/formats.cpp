#include "worker/providers/formats.hpp"

#include "common/checks/key_mask.hpp"
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

/// A finish reason is a word. What is longer is not quoted: a part of it could be half of what is to be
/// redacted.
std::string shown_reason(std::string_view finish_reason) {
  if (finish_reason.size() > defaults::quoted_error_bytes)
    return "of " + std::to_string(finish_reason.size()) + " bytes";
  return quotable(finish_reason);
}

}  // namespace

void append_percent_encoded(std::string& url, std::string_view text, std::string_view plain) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool stays = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~").find(c) != std::string_view::npos ||
                       plain.find(c) != std::string_view::npos;
    if (stays) {
      url += c;
    } else {
      url += '%';
      url += hex[byte >> 4];
      url += hex[byte & 15];
    }
  }
}

HttpRequest json_post(const ProviderSettings& provider, std::string_view path, std::string_view key_header,
                      std::string_view prefix, const Credentials& credentials) {
  HttpRequest http;
  http.url = provider.base_url;
  http.url += path;
  char before = '?';
  for (const QueryField& one : provider.query) {
    http.url += before;
    append_percent_encoded(http.url, one.name);
    http.url += '=';
    append_percent_encoded(http.url, one.value);
    before = '&';
  }
  const auto add = [&](std::string_view name, std::string_view begin, std::string_view value) {
    std::string header(name);
    header += ": ";
    header += begin;
    header += value;
    http.headers.push_back(std::move(header));
  };
  http.headers.reserve(4 + provider.headers.size());
  http.headers.emplace_back("Content-Type: application/json");
  if (const std::string key = usable_key(credentials.key); !key.empty()) add(key_header, prefix, key);
  for (const ProviderHeader& one : provider.headers) {
    if (one.variable.empty()) add(one.name, "", one.value);
  }
  for (const SecretHeader& one : credentials.headers) add(one.name, one.prefix, one.secret);
  return http;
}

RequestParams params_in_format(const RequestParams& params, std::span<const ParamName> names) {
  RequestParams own;
  for (const RequestParam& one : params) {
    const auto known = std::ranges::find(names, one.name, &ParamName::common);
    const bool is_renamed = known != names.end();
    const std::string name(is_renamed ? known->in_format : std::string_view(one.name));
    const bool is_given = std::ranges::find(params, name, &RequestParam::name) != params.end();
    if (one.json == "null" || (is_renamed && is_given)) continue;
    const bool is_alone = is_renamed && known->is_list && one.json.starts_with('"');
    own.push_back({name, is_alone ? "[" + one.json + "]" : one.json});
  }
  return own;
}

void append_params(std::string& body, const RequestParams& params) {
  for (const RequestParam& one : params) {
    body += ',';
    append_json_string(body, one.name);
    body += ':';
    body += one.json;
  }
}

void close_list(std::string& body) {
  if (body.back() == ',') body.pop_back();
  body += ']';
}

std::span<const ChatMessage> messages_of(const ModelRequest& request) {
  static const std::vector<ChatMessage> user_alone{{MessageRole::user, {{PartKind::asked}}}};
  return request.extras.messages.empty() ? user_alone : request.extras.messages;
}

std::vector<std::span<const ChatMessage>> turns_of(const ModelRequest& request) {
  std::vector<std::span<const ChatMessage>> turns;
  for (auto rest = messages_of(request); !rest.empty(); rest = rest.subspan(turns.back().size())) {
    const auto is_result = [](const ChatMessage& one) { return one.role == MessageRole::tool; };
    const auto results = std::ranges::find_if_not(rest, is_result) - rest.begin();
    turns.push_back(rest.first(std::max<std::size_t>(1, static_cast<std::size_t>(results))));
  }
  return turns;
}

std::string joined_texts(const ChatMessage& message, const ModelRequest& request) {
  std::string joined;
  for (const MessagePart& one : message.parts) {
    if (one.kind == PartKind::text || one.kind == PartKind::asked) joined += text_of(one, request);
  }
  return joined;
}

const std::string* only_text(const ChatMessage& message, const ModelRequest& request) {
  if (message.parts.size() != 1) return nullptr;
  const MessagePart& part = message.parts.front();
  const bool is_text = part.kind == PartKind::text || part.kind == PartKind::asked;
  return is_text ? &text_of(part, request) : nullptr;
}

void add_call(Completion& completion, std::string_view name, std::string_view arguments) {
  const bool is_full = completion.calls.size() > defaults::max_wire_items ||
                       completion.text.size() > defaults::max_answer_bytes;
  if (name.empty() || is_full) return;
  const bool is_blank = arguments.find_first_not_of(" \t\r\n") == std::string_view::npos;
  if (is_blank) arguments = "{}";
  const auto document = JsonDocument::parse(arguments);
  // Models write blanks as they like: they are no difference between two calls.
  completion.calls.push_back(
      {"", std::string(name), document ? document->root().json() : std::string(arguments)});
  append_call_line(completion.text, completion.calls.back(), document.has_value());
}

bool is_too_large(const Completion& completion) {
  constexpr std::size_t call_frame_bytes = 12;  // On the wire: the heads of a call and of its three texts.
  std::size_t bytes =
      completion.text.size() + completion.finish_reason.size() + completion.served_model.size();
  for (const ToolCall& call : completion.calls)
    bytes += call_frame_bytes + call.name.size() + call.arguments.size();
  return bytes > defaults::max_answer_bytes || completion.calls.size() > defaults::max_wire_items;
}

std::size_t body_size_hint(const ModelRequest& request) {
  const std::size_t schema = request.response_schema ? request.response_schema->size() : 0;
  std::size_t extras = 0;
  for (const ChatMessage& message : request.extras.messages) {
    for (const MessagePart& one : message.parts) extras += one.text.size();
  }
  return defaults::request_frame_bytes + request.user.size() + request.user.size() / 8 + schema + extras;
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

std::string quotable(std::string_view text, const Credentials& credentials) {
  const auto clean = credentials.mask(KeyMask::Keys::all).masked(text);
  std::string line(clean ? std::string_view(*clean).substr(0, defaults::considered_error_bytes)
                         : text.substr(0, defaults::considered_error_bytes));
  line = one_line(to_valid_utf8(line));
  blot_known_keys(line);
  return excerpt(line, defaults::quoted_error_bytes);
}

Usage whole_usage(std::optional<std::uint64_t> input, std::optional<std::uint64_t> output) {
  return input && output ? Usage{*input, *output} : Usage{};
}

Usage usage_with_total(std::optional<std::uint64_t> input, std::optional<std::uint64_t> output,
                       std::optional<std::uint64_t> total) {
  if (input && total && *total >= *input) output = std::max(output.value_or(0), *total - *input);
  return whole_usage(input, output);
}

Usage believable(const Usage& usage) {
  const bool absurd = std::max(usage.input_tokens, usage.output_tokens) > defaults::most_call_tokens;
  return absurd ? Usage{} : usage;
}

Error declined(std::string_view finish_reason, std::string_view words) {
  std::string message = "the model or its content filter declined to answer";
  if (!finish_reason.empty()) message += " (" + shown_reason(finish_reason) + ")";
  if (!words.empty()) message += ": " + quotable(words);
  return Error{Reason::refusal, std::move(message)};
}

Error cut_off(std::string_view finish_reason) {
  if (to_lower(finish_reason) == "time_limit")
    return Error{Reason::truncated, "the answer was cut off at the provider's time limit (" +
                                        shown_reason(finish_reason) + "); ask for less in one answer"};
  return Error{Reason::truncated, "the answer was cut off at the token limit (" +
                                      shown_reason(finish_reason) + "); raise max_output_tokens"};
}

Error without_text(std::string_view finish_reason) {
  const std::string word = finish_reason.empty() ? "none" : shown_reason(finish_reason);
  return Error{Reason::refusal, "the model answered without any text (finish reason: " + word + ")"};
}

std::optional<Error> non_answer_of(std::string_view finish_reason) {
  // Mistral says model_length, watsonx token_limit and time_limit, Zhipu sensitive; gateways to other formats
  // pass on their words.
  constexpr std::array<std::string_view, 7> cut{
      "length",      "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded",
      "token_limit", "time_limit"};
  constexpr std::array<std::string_view, 4> refused{"content_filter", "refusal", "safety", "sensitive"};
  const std::string word = to_lower(finish_reason);
  if (std::ranges::find(cut, word) != cut.end()) return cut_off(finish_reason);
  if (std::ranges::find(refused, word) != refused.end()) return declined(finish_reason);
  return std::nullopt;
}

bool names_error(const JsonView& error) {
  constexpr std::array<std::string_view, 6> nothing{"null", "0", R"("")", "false", "{}", "[]"};
  const auto says_something = [&](const auto& member) {
    return std::ranges::find(nothing, member.second.json()) == nothing.end();
  };
  return std::ranges::any_of(error.members(), says_something) || !error.text().value_or("").empty();
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

#include "common/defaults.hpp"
#include "common/saturating.hpp"
#include "common/text/text.hpp"
#include "worker/providers/formats.hpp"

#include <array>
#include <utility>

/// Anthropic's messages.
namespace sluice {
namespace {

HttpRequest build(const ProviderSettings& provider, std::string_view api_key, const ModelRequest& request) {
  HttpRequest http = json_post(provider.base_url + "/v1/messages", "x-api-key", "", api_key);
  http.headers.emplace_back("anthropic-version: 2023-06-01");
  std::string& body = http.body;
  body.reserve(body_size_hint(request));
  body += R"({"model":)";
  append_json_string(body, request.model);
  const std::uint32_t max_tokens = request.max_tokens != 0 ? request.max_tokens : defaults::max_output_tokens;
  body += R"(,"max_tokens":)" + std::to_string(max_tokens);
  if (has_text(request.system)) {
    body += R"(,"system":)";
    append_shared_json_string(http, request.system);
  }
  body += R"(,"messages":[{"role":"user","content":)";
  append_json_string(body, request.user);
  body += "}]";
  if (request.temperature) body += R"(,"temperature":)" + shortest(*request.temperature);
  if (has_text(request.response_schema)) {
    body += R"(,"output_config":{"format":{"type":"json_schema","schema":)";
    body += *request.response_schema;
    body += "}}";
  }
  body += '}';
  return http;
}

/// The text blocks, joined; thinking and tool blocks are no part of the answer. Nothing if there is none.
std::optional<std::string> joined_blocks(const JsonView& content) {
  std::optional<std::string> joined;
  for (const JsonView& block : content.elements()) {
    const auto text = block["text"].text();
    if (block["type"].text() == "text" && text) join(joined, *text);
  }
  return joined;
}

std::optional<Completion> read_answer(const JsonView& body) {
  const JsonView content = body["content"];
  if (!content.is_array()) return std::nullopt;

  Completion completion;
  completion.finish_reason = body["stop_reason"].text_or_empty();
  completion.served_model = body["model"].text_or_empty();
  const JsonView usage = body["usage"];
  const auto cached =
      saturating_add(usage["cache_creation_input_tokens"].count(), usage["cache_read_input_tokens"].count());
  completion.usage.input_tokens = saturating_add(usage["input_tokens"].count(), cached);
  completion.usage.output_tokens = usage["output_tokens"].count();

  const std::string& stop = completion.finish_reason;
  std::optional<std::string> text = joined_blocks(content);
  if (stop == "refusal") {
    completion.non_answer = declined(stop, text.value_or(""));
  } else if (stop == "max_tokens" || stop == "model_context_window_exceeded") {
    completion.non_answer = cut_off(stop);
  } else if (!text) {
    completion.non_answer = without_text(stop);
  }
  completion.text = std::move(text).value_or("");
  return completion;
}

/// An empty account and a spend limit come as 400 invalid_request_error: only their words distinguish them.
std::optional<Reason> fatal_cause(std::string_view type, std::string_view message) {
  if (type == "billing_error") return Reason::quota_exhausted;
  if (type == "authentication_error" || type == "permission_error") return Reason::key_refused;
  constexpr std::array<std::string_view, 2> spent = {"credit balance is too low",
                                                     "specified API usage limits"};
  if (type == "rate_limit_error" && message.find("daily") != std::string_view::npos) {
    return Reason::quota_exhausted;
  }
  if (type == "invalid_request_error") {
    for (const std::string_view words : spent) {
      if (message.find(words) != std::string_view::npos) return Reason::quota_exhausted;
    }
  }
  return std::nullopt;
}

ErrorFacts read_error(const JsonView& body) {
  ErrorFacts facts;
  facts.message = error_message(body);
  if (const auto type = body["error"]["type"].text()) {
    facts.fatal = fatal_cause(*type, facts.message);
  }
  return facts;
}

}  // namespace

const Format anthropic_format = {"an Anthropic message", build, read_answer, read_error, nullptr, nullptr};

}  // namespace sluice

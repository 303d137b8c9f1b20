#include "common/defaults.hpp"
#include "common/saturating.hpp"
#include "common/text/text.hpp"
#include "worker/providers/formats.hpp"

#include <algorithm>
#include <array>

/// Anthropic's messages.
namespace sluice {
namespace {

constexpr std::array param_names{ParamName{"stop", "stop_sequences", true}};

void append_block(std::string& body, const MessagePart& part, const ModelRequest& request) {
  switch (part.kind) {
    case PartKind::text:
    case PartKind::asked:
      body += R"({"type":"text","text":)";
      append_json_string(body, text_of(part, request));
      break;
    case PartKind::image_data:
      body += R"({"type":"image","source":{"type":"base64","media_type":)";
      append_json_string(body, part.media_type);
      body += R"(,"data":)";
      append_json_string(body, part.text);
      body += '}';
      break;
    case PartKind::image_url:
      body += R"({"type":"image","source":{"type":"url","url":)";
      append_json_string(body, part.text);
      body += '}';
      break;
  }
  body += '}';
}

/// The API refuses the results of one message's calls in several messages.
void append_results(std::string& body, std::span<const ChatMessage> results, const ModelRequest& request) {
  body += R"({"role":"user","content":[)";
  for (const ChatMessage& result : results) {
    body += R"({"type":"tool_result","tool_use_id":)";
    append_json_string(body, result.call_id);
    body += R"(,"content":)";
    append_json_string(body, joined_texts(result, request));
    body += "},";
  }
  close_list(body);
  body += '}';
}

void append_message(std::string& body, const ChatMessage& message, const ModelRequest& request) {
  body += message.role == MessageRole::assistant ? R"({"role":"assistant","content":)"
                                                 : R"({"role":"user","content":)";
  const std::string* text = only_text(message, request);
  if (text != nullptr && message.calls.empty()) {
    append_json_string(body, *text);
  } else {
    body += '[';
    for (const MessagePart& part : message.parts) {
      append_block(body, part, request);
      body += ',';
    }
    for (const ToolCall& call : message.calls) {
      body += R"({"type":"tool_use","id":)";
      append_json_string(body, call.id);
      body += R"(,"name":)";
      append_json_string(body, call.name);
      body += R"(,"input":)" + call.arguments + "},";
    }
    close_list(body);
  }
  body += '}';
}

void append_tools(std::string& body, const RequestExtras& extras) {
  for (const Tool& tool : extras.tools) {
    body += &tool == extras.tools.data() ? R"(,"tools":[{"name":)" : R"(,{"name":)";
    append_json_string(body, tool.name);
    body += R"(,"description":)";
    append_json_string(body, tool.description);
    body += R"(,"input_schema":)" + tool.parameters + "}";
  }
  if (!extras.tools.empty()) body += ']';
  const std::string& choice = extras.tool_choice;
  if (choice.empty()) return;
  const bool is_word = choice == "auto" || choice == "none";
  body += R"(,"tool_choice":{"type":)";
  append_json_string(body, is_word ? choice : choice == "required" ? "any" : "tool");
  if (!is_word && choice != "required") {
    body += R"(,"name":)";
    append_json_string(body, choice);
  }
  body += '}';
}

/// How hard the model is to think, and the form of its answer: one field holds both.
void append_output(std::string& body, const ModelRequest& request, RequestParams& params) {
  const auto effort = std::ranges::find(params, "reasoning_effort", &RequestParam::name);
  const bool has_schema = has_text(request.response_schema);
  if (effort == params.end() && !has_schema) return;
  body += R"(,"output_config":{)";
  if (effort != params.end()) {
    body += R"("effort":)" + effort->json + (has_schema ? "," : "");
    params.erase(effort);
  }
  if (has_schema) body += R"("format":{"type":"json_schema","schema":)" + *request.response_schema + "}";
  body += '}';
}

HttpRequest build(const ProviderSettings& provider, const Credentials& credentials,
                  const ModelRequest& request) {
  HttpRequest http = json_post(provider, "/v1/messages", "x-api-key", "", credentials);
  const auto names_version = [](const ProviderHeader& one) {
    return to_lower(one.name) == "anthropic-version";
  };
  if (std::ranges::none_of(provider.headers, names_version))
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
  body += R"(,"messages":[)";
  for (const auto& turn : turns_of(request)) {
    turn.front().role == MessageRole::tool ? append_results(body, turn, request)
                                           : append_message(body, turn.front(), request);
    body += ',';
  }
  close_list(body);
  if (request.temperature) body += R"(,"temperature":)" + shortest(*request.temperature);
  RequestParams params = params_in_format(request.extras.params, param_names);
  append_output(body, request, params);
  append_tools(body, request.extras);
  append_params(body, params);
  body += '}';
  return http;
}

/// The text blocks, joined; thinking is no part of the answer.
std::string joined_blocks(const JsonView& content) {
  std::string joined;
  for (const JsonView& block : content.elements()) {
    if (block["type"].text() == "text") joined += block["text"].text().value_or("");
  }
  return joined;
}

std::optional<Completion> read_answer(const JsonView& body, const Credentials&) {
  const JsonView content = body["content"];
  if (!content.is_array()) return std::nullopt;

  Completion completion;
  completion.finish_reason = body["stop_reason"].text_or_empty();
  completion.served_model = body["model"].text_or_empty();
  const std::string& stop = completion.finish_reason;
  completion.text = joined_blocks(content);
  if (stop == "refusal") {
    completion.non_answer = declined(stop, completion.text);
  } else if (stop == "max_tokens" || stop == "model_context_window_exceeded") {
    completion.non_answer = cut_off(stop);
  } else if (stop == "pause_turn") {
    completion.non_answer =
        Error{Reason::truncated, "the model paused in the middle of its answer (pause_turn)"};
  }
  for (const JsonView& block : content.elements()) {
    if (block["type"].text() == "tool_use")
      add_call(completion, block["name"].text_or_empty(), block["input"].json());
  }
  return completion;
}

Usage read_usage(const JsonView& body, const Credentials&) {
  const JsonView usage = body["usage"];
  const auto input = usage["input_tokens"].whole();
  if (!input) return {};
  const auto cached =
      saturating_add(usage["cache_creation_input_tokens"].count(), usage["cache_read_input_tokens"].count());
  return whole_usage(saturating_add(*input, cached), usage["output_tokens"].whole());
}

bool is_of_the_day(std::string_view type, std::string_view message) {
  return type == "rate_limit_error" && message.find("daily") != std::string_view::npos;
}

/// An empty account and a spend limit come as 400 invalid_request_error: only their words distinguish them.
std::optional<Reason> fatal_cause(std::string_view type, std::string_view message) {
  if (type == "billing_error") return Reason::quota_exhausted;
  if (type == "authentication_error") return Reason::key_refused;
  constexpr std::array<std::string_view, 2> spent = {"credit balance is too low",
                                                     "specified API usage limits"};
  if (is_of_the_day(type, message)) return Reason::quota_exhausted;
  if (type == "invalid_request_error") {
    for (const std::string_view words : spent) {
      if (message.find(words) != std::string_view::npos) return Reason::quota_exhausted;
    }
    // Newer models take none, older ones none above 1. A tool of the test may have a field of that name.
    if (message.starts_with("temperature") || message.find("`temperature`") != std::string_view::npos)
      return Reason::parameter_refused;
  }
  return std::nullopt;
}

ErrorFacts read_error(const JsonView& body, const Credentials&) {
  ErrorFacts facts;
  facts.message = error_message(body);
  if (const auto type = body["error"]["type"].text()) {
    facts.fatal = fatal_cause(*type, facts.message);
    facts.is_of_the_day = is_of_the_day(*type, facts.message);
    if (facts.fatal == Reason::parameter_refused) facts.parameter = "temperature";
    // It may be what this request asks for that the key is not allowed.
    if (*type == "permission_error") facts.status = 403;
  }
  return facts;
}

}  // namespace

const Format anthropic_format = {
    "an Anthropic message", build, read_answer, read_usage, read_error, nullptr, nullptr};

}  // namespace sluice

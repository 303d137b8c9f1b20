#include "common/text/text.hpp"
#include "worker/providers/formats.hpp"
#include "worker/providers/retry_hints.hpp"

#include <algorithm>
#include <array>
#include <utility>

/// Chat completions, as OpenAI and the servers compatible with it (vLLM, llama.cpp, Ollama, OpenRouter) have
/// them.
namespace sluice {
namespace {

void append_image(std::string& body, const MessagePart& image) {
  body += R"({"type":"image_url","image_url":{"url":)";
  const bool is_data = image.kind == PartKind::image_data;
  append_json_string(body, is_data ? "data:" + image.media_type + ";base64," + image.text : image.text);
  body += "}}";
}

void append_content(std::string& body, const ChatMessage& message, const ModelRequest& request) {
  if (const std::string* text = only_text(message, request)) return append_json_string(body, *text);
  if (message.parts.empty()) {
    body += "null";
    return;
  }
  for (const MessagePart& part : message.parts) {
    body += &part == message.parts.data() ? '[' : ',';
    if (part.kind == PartKind::image_data || part.kind == PartKind::image_url) {
      append_image(body, part);
      continue;
    }
    body += R"({"type":"text","text":)";
    append_json_string(body, text_of(part, request));
    body += '}';
  }
  body += ']';
}

void append_calls(std::string& body, const std::vector<ToolCall>& calls) {
  body += R"(,"tool_calls":)";
  for (const ToolCall& call : calls) {
    body += &call == calls.data() ? R"([{"id":)" : R"(,{"id":)";
    append_json_string(body, call.id);
    body += R"(,"type":"function","function":{"name":)";
    append_json_string(body, call.name);
    body += R"(,"arguments":)";
    append_json_string(body, call.arguments);
    body += "}}";
  }
  body += ']';
}

void append_message(std::string& body, const ChatMessage& message, const ModelRequest& request) {
  const bool is_users = message.role == MessageRole::user;
  body += is_users                                 ? R"({"role":"user")"
          : message.role == MessageRole::assistant ? R"({"role":"assistant")"
                                                   : R"({"role":"tool","tool_call_id":)";
  if (message.role == MessageRole::tool) append_json_string(body, message.call_id);
  body += R"(,"content":)";
  append_content(body, message, request);
  if (!message.calls.empty()) append_calls(body, message.calls);
  body += '}';
}

void append_tools(std::string& body, const RequestExtras& extras) {
  for (const Tool& tool : extras.tools) {
    body += &tool == extras.tools.data() ? R"(,"tools":[)" : ",";
    body += R"({"type":"function","function":{"name":)";
    append_json_string(body, tool.name);
    body += R"(,"description":)";
    append_json_string(body, tool.description);
    body += R"(,"parameters":)" + tool.parameters + "}}";
  }
  if (!extras.tools.empty()) body += ']';
  const std::string& choice = extras.tool_choice;
  if (choice.empty()) return;
  body += R"(,"tool_choice":)";
  if (choice == "auto" || choice == "none" || choice == "required") return append_json_string(body, choice);
  body += R"({"type":"function","function":{"name":)";
  append_json_string(body, choice);
  body += "}}";
}

void append_format(std::string& body, const ModelRequest& request) {
  const AnswerFormat& format = request.extras.format;
  if (has_text(request.response_schema)) {
    // What sluice itself reads is asked for strictly; a suite says so of its own schemas.
    const bool is_own = !request.schema_name.empty();
    body += R"(,"response_format":{"type":"json_schema","json_schema":{"name":)";
    append_json_string(body, is_own ? request.schema_name : format.name);
    body += is_own || format.is_strict ? R"(,"strict":true,"schema":)" : R"(,"strict":false,"schema":)";
    body += *request.response_schema;
    body += "}}";
  } else if (format.is_json) {
    body += R"(,"response_format":{"type":"json_object"})";
  }
}

HttpRequest build(const ProviderSettings& provider, const Credentials& credentials,
                  const ModelRequest& request) {
  HttpRequest http = json_post(provider, "/chat/completions", "Authorization", "Bearer ", credentials);
  std::string& body = http.body;
  body.reserve(body_size_hint(request));
  body += R"({"model":)";
  append_json_string(body, request.model);
  body += R"(,"messages":[)";
  if (has_text(request.system)) {
    body += R"({"role":"system","content":)";
    append_shared_json_string(http, request.system);
    body += "},";
  }
  append_chat_messages(body, request);
  body += ']';
  if (request.temperature) body += R"(,"temperature":)" + shortest(*request.temperature);
  if (request.max_tokens != 0) {
    body += ',';
    const std::string_view field = provider.max_tokens_field;
    append_json_string(body, field.empty() ? default_max_tokens_field : field);
    body += ':' + std::to_string(request.max_tokens);
  }
  if (request.seed) body += R"(,"seed":)" + std::to_string(*request.seed);
  append_format(body, request);
  append_tools(body, request.extras);
  append_params(body, params_in_format(request.extras.params, {}));
  body += '}';
  return http;
}

/// `content` is a text, or at some servers a list of parts. Empty for null and for anything else.
std::string text_in(const JsonView& content) {
  std::string joined = content.text_or_empty();
  for (const JsonView& part : content.elements()) joined += part["text"].text().value_or("");
  return joined;
}

/// What went wrong, where the body says so: beside the choices, or in one of which a part was answered
/// before (OpenRouter).
JsonView error_of(const JsonView& body) {
  const JsonView of_choice = body["choices"].first()["error"];
  return !names_error(body["error"]) && names_error(of_choice) ? of_choice : body["error"];
}

/// The server gave up in the middle: a gateway whose upstream broke off, DeepSeek without room, vLLM that
/// ends, Zhipu, watsonx.
bool is_broken_off(std::string_view finish_reason) {
  constexpr std::array<std::string_view, 5> broken{"error", "insufficient_system_resource", "abort",
                                                   "network_error", "cancelled"};
  return std::ranges::find(broken, to_lower(finish_reason)) != broken.end();
}

std::optional<Completion> read_answer(const JsonView& body, const Credentials&) {
  const JsonView choice = body["choices"].first();
  const JsonView message = choice["message"];
  // A gateway whose upstream broke off in the middle has half an answer beside the error.
  if (!message.is_object() || names_error(error_of(body))) return std::nullopt;
  // An error that says nothing stands beside half an answer where the choice does not say how it ended.
  if (choice["error"].is_object() && !choice["finish_reason"].text()) return std::nullopt;
  if (is_broken_off(choice["finish_reason"].text().value_or(""))) return std::nullopt;

  Completion completion;
  completion.finish_reason = choice["finish_reason"].text_or_empty();
  completion.served_model = body["model"].text_or_empty();
  std::string content = text_in(message["content"]);
  std::string refusal = message["refusal"].text_or_empty();
  completion.non_answer =
      refusal.empty() ? non_answer_of(completion.finish_reason) : declined(completion.finish_reason, refusal);
  completion.text = std::move(content.empty() ? refusal : content);
  for (const JsonView& call : message["tool_calls"].elements()) {
    const JsonView function = call["function"];
    // Some servers give the object itself.
    const auto text = function["arguments"].text();
    add_call(completion, function["name"].text_or_empty(), text ? *text : function["arguments"].json());
  }
  return completion;
}

Usage read_usage(const JsonView& body, const Credentials&) {
  const JsonView usage = body["usage"];
  return usage_with_total(usage["prompt_tokens"].whole(), usage["completion_tokens"].whole(),
                          usage["total_tokens"].whole());
}

/// What the codes decide for good, whatever the status: no credit comes back by waiting.
std::optional<Reason> fatal_code(std::string_view code) {
  constexpr std::array<std::string_view, 2> spent = {"insufficient_quota", "credit_balance_exhausted"};
  if (std::find(spent.begin(), spent.end(), code) != spent.end() || code.starts_with("billing_")) {
    return Reason::quota_exhausted;
  }
  if (code == "invalid_api_key") return Reason::key_refused;
  if (code == "model_not_found") return Reason::model_unknown;
  return std::nullopt;
}

/// "Please try again in 8.64s.": only with a unit, for "20 minutes" are no 20 seconds.
std::optional<std::chrono::milliseconds> wait_in(std::string_view message) {
  constexpr std::string_view before = "try again in ";
  const std::size_t at = message.find(before);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view word = message.substr(at + before.size());
  word = word.substr(0, word.find(' '));
  if (word.ends_with('.')) word.remove_suffix(1);
  return word.empty() || is_digit(word.back()) ? std::nullopt : parse_delay(word);
}

/// "... on tokens per min (TPM): Limit 30000, Used 29500, Requested 900.", or "minute".
std::optional<NamedLimit> limit_in(std::string_view message) {
  constexpr std::string_view word = "Limit";
  for (const bool of_tokens : {true, false}) {
    const auto minute = message.find(of_tokens ? " on tokens per min" : " on requests per min");
    const auto at = message.find(word, std::min(minute, message.size()));
    if (at == std::string_view::npos) continue;
    auto number = message.substr(at + word.size());
    number.remove_prefix(std::min(number.find_first_not_of(": "), number.size()));
    const auto digits = std::min(number.find_first_not_of("0123456789"), number.size());
    // "1,000" is no 1.
    const bool is_grouped =
        number.substr(digits, 1) == "," && digits + 1 < number.size() && is_digit(number[digits + 1]);
    const auto limit = is_grouped ? std::nullopt : announced_count(number.substr(0, digits));
    if (limit) return NamedLimit{of_tokens, *limit, 60};
  }
  return std::nullopt;
}

/// A limit that no waiting within a run gets over: only the words distinguish it from a minute's.
void read_limit(ErrorFacts& facts) {
  const std::string_view message = facts.message;
  facts.limit = limit_in(message);
  if (message.starts_with("Request too large")) {
    facts.fatal = Reason::request_refused;
  } else if (message.find("per day") != std::string_view::npos ||
             message.find("per-day") != std::string_view::npos) {
    facts.fatal = Reason::quota_exhausted;
    facts.is_of_the_day = true;
  }
}

/// Several models take no temperature but their own, or no seed: what every call carries fails every call.
bool refuses_parameter_of_all(std::string_view code, std::string_view parameter) {
  constexpr std::array<std::string_view, 4> of_all = {"temperature", "seed", "max_tokens",
                                                      "max_completion_tokens"};
  return (code == "unsupported_parameter" || code == "unsupported_value") &&
         std::ranges::find(of_all, parameter) != of_all.end();
}

/// Azure's filter of prompts, and OpenRouter's moderation.
bool is_filtered(const JsonView& error) {
  const auto code = error["code"].text();
  return code == "content_filter" || error["innererror"]["code"].text() == "ResponsibleAIPolicyViolation" ||
         error["metadata"]["flagged_input"] || error["metadata"]["reasons"].first();
}

ErrorFacts read_error(const JsonView& body, const Credentials&) {
  ErrorFacts facts;
  const JsonView error = error_of(body);
  facts.message = error_message(body);
  if (facts.message.empty()) facts.message = error["message"].text().value_or(error.text().value_or(""));
  facts.is_declined = is_filtered(error);
  const std::uint64_t status = error["code"].count();
  bool limited = status == 429;
  for (const JsonView& place : {error["code"], error["type"]}) {
    const auto code = place.text();
    if (!code) continue;
    if (!facts.fatal) facts.fatal = fatal_code(*code);
    const auto parameter = error["param"].text();
    if (!facts.fatal && parameter && refuses_parameter_of_all(*code, *parameter)) {
      facts.fatal = Reason::parameter_refused;
      facts.parameter = *parameter;
    }
    limited = limited || *code == "rate_limit_exceeded" || *code == "429";
  }
  facts.retry_after = wait_in(facts.message);
  if (limited && !facts.fatal) read_limit(facts);
  if (status >= 400 && status < 600) facts.status = static_cast<int>(status);
  return facts;
}

HttpRequest build_embeddings(const ProviderSettings& provider, const Credentials& credentials,
                             std::string_view model, std::span<const std::string_view> texts) {
  HttpRequest http = json_post(provider, "/embeddings", "Authorization", "Bearer ", credentials);
  std::string& body = http.body;
  body += R"({"model":)";
  append_json_string(body, model);
  body += R"(,"input":[)";
  for (const std::string_view text : texts) {
    append_json_string(body, text);
    body += ',';
  }
  body.back() = ']';
  body += R"(,"encoding_format":"float"})";
  return http;
}

/// Every element says which text it belongs to; some servers leave that out, and keep the order.
std::optional<RawEmbeddings> read_embeddings(const JsonView& body, std::size_t count) {
  const std::vector<JsonView> data = body["data"].elements();
  if (!body["data"].is_array()) return std::nullopt;
  RawEmbeddings raw;
  raw.usage.input_tokens = body["usage"]["prompt_tokens"].count();
  raw.vectors.resize(data.size());
  if (data.size() != count) return raw;
  for (std::size_t i = 0; i < count; ++i) {
    const JsonView index = data[i]["index"];
    if (index && !index.unsigned_integer()) return std::nullopt;
    const std::uint64_t place = index ? index.count() : i;
    if (place >= count || raw.vectors[place]) return std::nullopt;
    raw.vectors[place] = data[i]["embedding"];
  }
  return raw;
}

}  // namespace

void append_chat_messages(std::string& body, const ModelRequest& request) {
  for (const ChatMessage& message : messages_of(request)) {
    if (&message != messages_of(request).data()) body += ',';
    append_message(body, message, request);
  }
}

const Format openai_format = {"an OpenAI chat completion",
                              build,
                              read_answer,
                              read_usage,
                              read_error,
                              build_embeddings,
                              read_embeddings};

}  // namespace sluice

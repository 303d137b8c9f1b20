#include "common/saturating.hpp"
#include "common/text/text.hpp"
#include "worker/providers/formats.hpp"
#include "worker/providers/retry_hints.hpp"

#include <algorithm>
#include <array>

/// Google Gemini's generateContent.
namespace sluice {
namespace {

/// The model's resource name: bare names lie in "models/".
std::string with_folder(std::string_view model) {
  const bool has_folder = model.starts_with("models/") || model.starts_with("tunedModels/");
  return (has_folder ? "" : "models/") + std::string(model);
}

/// A method of the model; anything in the model's name that could end the path is percent-encoded.
std::string model_method(std::string_view model, std::string_view method) {
  std::string path = "/v1beta/";
  append_percent_encoded(path, with_folder(model), "/");
  path += method;
  return path;
}

constexpr std::array param_names{
    ParamName{"top_p", "topP"},
    ParamName{"top_k", "topK"},
    ParamName{"stop", "stopSequences", true},
    ParamName{"presence_penalty", "presencePenalty"},
    ParamName{"frequency_penalty", "frequencyPenalty"},
};

/// Parameters that stand beside generationConfig, and not in it.
constexpr std::array<std::string_view, 4> outer_params{"cachedContent", "labels", "safetySettings",
                                                       "serviceTier"};

void append_part(std::string& body, const MessagePart& part, const ModelRequest& request) {
  switch (part.kind) {
    case PartKind::text:
    case PartKind::asked:
      body += R"({"text":)";
      append_json_string(body, text_of(part, request));
      break;
    case PartKind::image_data:
      body += R"({"inlineData":{"mimeType":)";
      append_json_string(body, part.media_type);
      body += R"(,"data":)";
      append_json_string(body, part.text);
      body += '}';
      break;
    case PartKind::image_url:
      body += R"({"fileData":{"fileUri":)";
      append_json_string(body, part.text);
      body += '}';
      break;
  }
  body += '}';
}

/// From Gemini 3 on the first call of a message needs a signature of the model's. A suite's conversation has
/// none; the API takes this word in its place.
bool asks_for_signatures(std::string_view model) {
  constexpr std::string_view family = "gemini-";
  const auto at = model.find(family);
  if (at == std::string_view::npos) return false;
  const std::string_view version = model.substr(at + family.size());
  return !version.starts_with("1") && !version.starts_with("2");
}

/// Each part with a comma behind it.
void append_parts(std::string& body, const ChatMessage& message, const ModelRequest& request) {
  if (message.role == MessageRole::tool) {
    body += R"({"functionResponse":{"name":)";
    append_json_string(body, message.call_name);
    body += R"(,"response":{"result":)";
    append_json_string(body, joined_texts(message, request));
    body += "}}},";
  } else {
    for (const MessagePart& part : message.parts) {
      append_part(body, part, request);
      body += ',';
    }
  }
  for (const ToolCall& call : message.calls) {
    body += R"({"functionCall":{"name":)";
    append_json_string(body, call.name);
    body += R"(,"args":)" + call.arguments + "}";
    if (&call == message.calls.data() && asks_for_signatures(request.model))
      body += R"(,"thoughtSignature":"skip_thought_signature_validator")";
    body += "},";
  }
}

void append_contents(std::string& body, const ModelRequest& request) {
  body += R"("contents":[)";
  for (const auto& turn : turns_of(request)) {
    body += turn.front().role == MessageRole::assistant ? R"({"role":"model","parts":[)"
                                                        : R"({"role":"user","parts":[)";
    for (const ChatMessage& message : turn) append_parts(body, message, request);
    close_list(body);
    body += "},";
  }
  close_list(body);
  body += ',';
}

void append_tools(std::string& body, const RequestExtras& extras) {
  for (const Tool& tool : extras.tools) {
    body += &tool == extras.tools.data() ? R"(,"tools":[{"functionDeclarations":[{"name":)" : R"(,{"name":)";
    append_json_string(body, tool.name);
    body += R"(,"description":)";
    append_json_string(body, tool.description);
    body += R"(,"parametersJsonSchema":)" + tool.parameters + "}";
  }
  if (!extras.tools.empty()) body += "]}]";
  const std::string& choice = extras.tool_choice;
  if (choice.empty()) return;
  body += R"(,"toolConfig":{"functionCallingConfig":{"mode":)";
  append_json_string(body, choice == "auto" ? "AUTO" : choice == "none" ? "NONE" : "ANY");
  if (choice != "auto" && choice != "none" && choice != "required") {
    body += R"(,"allowedFunctionNames":[)";
    append_json_string(body, choice);
    body += ']';
  }
  body += "}}";
}

void append_config(std::string& body, const ModelRequest& request, const RequestParams& params) {
  body += R"("generationConfig":{)";
  if (request.temperature) body += R"("temperature":)" + shortest(*request.temperature) + ',';
  if (request.max_tokens != 0) body += R"("maxOutputTokens":)" + std::to_string(request.max_tokens) + ',';
  // The field is a signed 32-bit number.
  if (request.seed) body += R"("seed":)" + std::to_string(*request.seed & 0x7fffffff) + ',';
  for (const RequestParam& one : params) {
    const bool is_effort = one.name == "reasoning_effort";
    append_json_string(body, is_effort ? "thinkingConfig" : one.name);
    body += is_effort ? R"(:{"thinkingLevel":)" + one.json + "}," : ":" + one.json + ',';
  }
  if (has_text(request.response_schema)) {
    body += R"("responseMimeType":"application/json","responseJsonSchema":)";
    body += *request.response_schema;
  } else if (request.extras.format.is_json) {
    body += R"("responseMimeType":"application/json")";
  }
  if (body.back() == ',') body.pop_back();
  body += '}';
}

HttpRequest build(const ProviderSettings& provider, const Credentials& credentials,
                  const ModelRequest& request) {
  HttpRequest http =
      json_post(provider, model_method(request.model, ":generateContent"), "x-goog-api-key", "", credentials);
  std::string& body = http.body;
  body.reserve(body_size_hint(request));
  body += '{';
  if (has_text(request.system)) {
    body += R"("systemInstruction":{"parts":[{"text":)";
    append_shared_json_string(http, request.system);
    body += "}]},";
  }
  append_contents(body, request);
  RequestParams params = params_in_format(request.extras.params, param_names);
  const auto outer = std::stable_partition(params.begin(), params.end(), [](const RequestParam& one) {
    return std::ranges::find(outer_params, one.name) == outer_params.end();
  });
  const RequestParams beside(outer, params.end());
  params.erase(outer, params.end());
  append_config(body, request, params);
  append_tools(body, request.extras);
  append_params(body, beside);
  body += '}';
  return http;
}

/// The parts' texts, joined, without the model's thoughts.
std::string joined_parts(const JsonView& parts) {
  std::string joined;
  for (const JsonView& part : parts.elements()) {
    if (!part["thought"].is_true()) joined += part["text"].text().value_or("");
  }
  return joined;
}

/// All reasons but these few mean that a filter took the answer: SAFETY, RECITATION, BLOCKLIST, SPII and the
/// like. FUNCTION_CALL is what other servers of this format say of a call.
bool is_ordinary_end(std::string_view finish_reason) {
  constexpr std::array<std::string_view, 4> ordinary = {"", "STOP", "FUNCTION_CALL",
                                                        "FINISH_REASON_UNSPECIFIED"};
  return std::find(ordinary.begin(), ordinary.end(), finish_reason) != ordinary.end();
}

/// What tools put into the prompt is input, and what was thought is output. A count of 0 is left out.
Usage read_usage(const JsonView& body, const Credentials&) {
  const JsonView usage = body["usageMetadata"];
  const auto sum = [&](std::string_view one, std::string_view other) -> std::optional<std::uint64_t> {
    const auto first = usage[one].whole();
    const auto second = usage[other].whole();
    const bool is_unreadable = (usage[one] && !first) || (usage[other] && !second);
    if (is_unreadable || (!first && !second)) return std::nullopt;
    return saturating_add(first.value_or(0), second.value_or(0));
  };
  const auto input =
      usage["promptTokenCount"] ? sum("promptTokenCount", "toolUsePromptTokenCount") : std::nullopt;
  return usage_with_total(input, sum("candidatesTokenCount", "thoughtsTokenCount"),
                          usage["totalTokenCount"].whole());
}

std::optional<Completion> read_answer(const JsonView& body, const Credentials&) {
  const JsonView candidate = body["candidates"].first();
  const JsonView block_reason = body["promptFeedback"]["blockReason"];
  if (!candidate.is_object() && !block_reason.text()) return std::nullopt;

  Completion completion;
  completion.served_model = body["modelVersion"].text_or_empty();
  if (!candidate) {
    completion.finish_reason = block_reason.text_or_empty();
    completion.non_answer = declined(completion.finish_reason, "the prompt was blocked");
    return completion;
  }

  completion.finish_reason = candidate["finishReason"].text_or_empty();
  const JsonView parts = candidate["content"]["parts"];
  completion.text = joined_parts(parts);
  if (completion.finish_reason == "MAX_TOKENS") {
    completion.non_answer = cut_off(completion.finish_reason);
  } else if (!is_ordinary_end(completion.finish_reason)) {
    completion.non_answer = declined(completion.finish_reason, candidate["finishMessage"].text_or_empty());
  }
  for (const JsonView& part : parts.elements()) {
    const JsonView call = part["functionCall"];
    if (call.is_object())
      add_call(completion, call["name"].text_or_empty(), call["args"] ? call["args"].json() : "{}");
  }
  return completion;
}

/// A quota of the day does not come back within a run, whatever RetryInfo says beside it.
bool spends_daily_quota(const JsonView& detail) {
  return std::ranges::any_of(detail["violations"].elements(), [](const JsonView& violation) {
    const auto quota = violation["quotaId"].text();
    return quota && quota->find("PerDay") != std::string_view::npos;
  });
}

/// Of answers' requests. A quota of tokens is of input alone, with other names by the tier; one of embeddings
/// counts texts.
std::optional<NamedLimit> limit_of_minute(const JsonView& detail) {
  for (const JsonView& violation : detail["violations"].elements()) {
    const auto quota = violation["quotaId"].text().value_or("");
    const auto limit = announced_count(violation["quotaValue"].text().value_or(""));
    if (limit && quota.starts_with("GenerateRequestsPerMinute")) return NamedLimit{false, *limit, 60};
  }
  return std::nullopt;
}

void read_detail(const JsonView& detail, ErrorFacts& facts) {
  const auto type = detail["@type"].text();
  if (!type) return;
  if (type->ends_with("google.rpc.RetryInfo")) {
    if (const auto delay = detail["retryDelay"].text()) facts.retry_after = parse_delay(*delay);
  } else if (type->ends_with("google.rpc.QuotaFailure")) {
    if (spends_daily_quota(detail)) facts.fatal = Reason::quota_exhausted;
    facts.limit = limit_of_minute(detail);
  } else if (type->ends_with("google.rpc.ErrorInfo")) {
    const auto reason = detail["reason"].text();
    if (reason && reason->starts_with("API_KEY_")) facts.fatal = Reason::key_refused;
  }
}

ErrorFacts read_error(const JsonView& body, const Credentials&) {
  ErrorFacts facts;
  facts.message = error_message(body);
  const JsonView error = (body.is_array() ? body.first() : body)["error"];
  const std::uint64_t status = error["code"].count();
  if (status >= 400 && status < 600) facts.status = static_cast<int>(status);
  const bool precondition = error["status"].text() == "FAILED_PRECONDITION";
  if (precondition && facts.message.find("billing") != std::string::npos)
    facts.fatal = Reason::quota_exhausted;
  // No key of this place is served, so every case would meet it.
  if (precondition && facts.message.find("location is not supported") != std::string::npos)
    facts.fatal = Reason::key_refused;
  for (const JsonView& detail : error["details"].elements()) read_detail(detail, facts);
  return facts;
}

/// A text's request names the model once more.
void append_embed_content(std::string& body, std::string_view name, std::string_view text) {
  body += R"({"model":)";
  body += name;
  body += R"(,"content":{"parts":[{"text":)";
  append_json_string(body, text);
  body += "}]}}";
}

/// One text alone goes to embedContent, which some models have without the batch (read_embedding_response).
HttpRequest build_embeddings(const ProviderSettings& provider, const Credentials& credentials,
                             std::string_view model, std::span<const std::string_view> texts) {
  const bool is_alone = texts.size() == 1;
  HttpRequest http =
      json_post(provider, model_method(model, is_alone ? ":embedContent" : ":batchEmbedContents"),
                "x-goog-api-key", "", credentials);
  std::string name;
  append_json_string(name, with_folder(model));
  if (is_alone) {
    append_embed_content(http.body, name, texts.front());
    return http;
  }
  http.body += R"({"requests":[)";
  for (const std::string_view text : texts) {
    append_embed_content(http.body, name, text);
    http.body += ',';
  }
  http.body.back() = ']';
  http.body += '}';
  return http;
}

std::optional<RawEmbeddings> read_embeddings(const JsonView& body, std::size_t count) {
  RawEmbeddings raw;
  raw.usage.input_tokens = body["usageMetadata"]["promptTokenCount"].count();
  if (const JsonView alone = body["embedding"]; count == 1 && alone.is_object()) {
    raw.vectors.push_back(alone["values"]);
    return raw;
  }
  if (!body["embeddings"].is_array()) return std::nullopt;
  for (const JsonView& embedding : body["embeddings"].elements()) raw.vectors.push_back(embedding["values"]);
  return raw;
}

}  // namespace

const Format gemini_format = {"a Gemini answer", build,          read_answer, read_usage, read_error,
                              build_embeddings,  read_embeddings};

}  // namespace sluice

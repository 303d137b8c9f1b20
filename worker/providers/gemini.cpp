#include "common/text.hpp"
#include "worker/providers/formats.hpp"
#include "worker/providers/retry_hints.hpp"

#include <algorithm>
#include <array>
#include <utility>

/// Google Gemini's generateContent.
namespace sluice {
namespace {

/// The model's resource name: bare names lie in "models/".
std::string with_folder(std::string_view model) {
  const bool has_folder = model.starts_with("models/") || model.starts_with("tunedModels/");
  return (has_folder ? "" : "models/") + std::string(model);
}

/// The model's place in the path; anything that could end the path is percent-encoded.
std::string model_path(std::string_view model) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  std::string path;
  for (const char c : with_folder(model)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    if (plain) {
      path += c;
    } else {
      path += '%';
      path += hex[byte >> 4];
      path += hex[byte & 15];
    }
  }
  return path;
}

HttpRequest build(const ProviderSettings& provider, std::string_view api_key, const ModelRequest& request) {
  std::string url = provider.base_url + "/v1beta/" + model_path(request.model) + ":generateContent";
  HttpRequest http = json_post(std::move(url), "x-goog-api-key", "", api_key);
  std::string& body = http.body;
  body.reserve(body_size_hint(request));
  body += '{';
  if (has_text(request.system)) {
    body += R"("systemInstruction":{"parts":[{"text":)";
    append_shared_json_string(body, request.system);
    body += "}]},";
  }
  body += R"("contents":[{"role":"user","parts":[{"text":)";
  append_json_string(body, request.user);
  body += R"(}]}],"generationConfig":{)";
  if (request.temperature) body += R"("temperature":)" + shortest(*request.temperature) + ',';
  if (request.max_tokens != 0) body += R"("maxOutputTokens":)" + std::to_string(request.max_tokens) + ',';
  // The field is a signed 32-bit number.
  if (request.seed) body += R"("seed":)" + std::to_string(*request.seed & 0x7fffffff) + ',';
  if (has_text(request.response_schema)) {
    body += R"("responseMimeType":"application/json","responseJsonSchema":)";
    body += *request.response_schema;
  }
  if (body.back() == ',') body.pop_back();
  body += "}}";
  return http;
}

/// The parts' texts, joined, without the model's thoughts. Nothing if there is none.
std::optional<std::string> take_parts(Json* parts) {
  if (parts == nullptr || !parts->is_array()) return std::nullopt;
  std::optional<std::string> joined;
  for (Json& part : *parts) {
    const Json* thought = member(&part, "thought");
    std::string* text = text_of(member(&part, "text"));
    if (text == nullptr || (thought != nullptr && *thought == true)) continue;
    if (joined) {
      *joined += *text;
    } else {
      joined = std::move(*text);
    }
  }
  return joined;
}

/// All reasons but these few mean that a filter took the answer: SAFETY, RECITATION, BLOCKLIST, SPII and the
/// like.
bool is_ordinary_end(std::string_view finish_reason) {
  constexpr std::array<std::string_view, 3> ordinary = {"", "STOP", "FINISH_REASON_UNSPECIFIED"};
  return std::find(ordinary.begin(), ordinary.end(), finish_reason) != ordinary.end();
}

std::optional<Completion> read_answer(Json& body) {
  Json* candidate = first(member(&body, "candidates"));
  Json* block_reason = member(member(&body, "promptFeedback"), "blockReason");
  if ((candidate == nullptr || !candidate->is_object()) && text_of(block_reason) == nullptr)
    return std::nullopt;

  Completion completion;
  completion.served_model = take_text(member(&body, "modelVersion"));
  Json* usage = member(&body, "usageMetadata");
  completion.usage.input_tokens = count_of(member(usage, "promptTokenCount"));
  completion.usage.output_tokens =
      count_of(member(usage, "candidatesTokenCount")) + count_of(member(usage, "thoughtsTokenCount"));
  if (candidate == nullptr) {
    completion.finish_reason = take_text(block_reason);
    completion.non_answer = declined(completion.finish_reason, "the prompt was blocked");
    return completion;
  }

  completion.finish_reason = take_text(member(candidate, "finishReason"));
  std::optional<std::string> text = take_parts(member(member(candidate, "content"), "parts"));
  if (completion.finish_reason == "MAX_TOKENS") {
    completion.non_answer = cut_off(completion.finish_reason);
  } else if (!is_ordinary_end(completion.finish_reason)) {
    completion.non_answer = declined(completion.finish_reason, take_text(member(candidate, "finishMessage")));
  } else if (!text) {
    completion.non_answer = without_text(completion.finish_reason);
  }
  completion.text = std::move(text).value_or("");
  return completion;
}

/// A quota of the day does not come back within a run, whatever RetryInfo says beside it.
bool spends_daily_quota(Json& detail) {
  Json* violations = member(&detail, "violations");
  if (violations == nullptr || !violations->is_array()) return false;
  return std::any_of(violations->begin(), violations->end(), [](Json& violation) {
    const std::string* quota = text_of(member(&violation, "quotaId"));
    return quota != nullptr && quota->find("PerDay") != std::string::npos;
  });
}

void read_detail(Json& detail, ErrorFacts& facts) {
  const std::string* type = text_of(member(&detail, "@type"));
  if (type == nullptr) return;
  if (type->ends_with("google.rpc.RetryInfo")) {
    if (const std::string* delay = text_of(member(&detail, "retryDelay")))
      facts.retry_after = parse_delay(*delay);
  } else if (type->ends_with("google.rpc.QuotaFailure")) {
    if (spends_daily_quota(detail)) facts.fatal = Reason::quota_exhausted;
  } else if (type->ends_with("google.rpc.ErrorInfo")) {
    const std::string* reason = text_of(member(&detail, "reason"));
    if (reason != nullptr && reason->starts_with("API_KEY_")) facts.fatal = Reason::key_refused;
  }
}

ErrorFacts read_error(Json& body) {
  ErrorFacts facts;
  facts.message = error_message(body);
  Json* error = member(body.is_array() ? first(&body) : &body, "error");
  const std::uint64_t status = count_of(member(error, "code"));
  if (status >= 400 && status < 600) facts.status = static_cast<int>(status);
  const std::string* word = text_of(member(error, "status"));
  const bool precondition = word != nullptr && *word == "FAILED_PRECONDITION";
  if (precondition && facts.message.find("billing") != std::string::npos)
    facts.fatal = Reason::quota_exhausted;
  // No key of this place is served, so every case would meet it.
  if (precondition && facts.message.find("location is not supported") != std::string::npos)
    facts.fatal = Reason::key_refused;
  Json* details = member(error, "details");
  if (details != nullptr && details->is_array()) {
    for (Json& detail : *details) read_detail(detail, facts);
  }
  return facts;
}

/// Each text's request names the model once more.
HttpRequest build_embeddings(const ProviderSettings& provider, std::string_view api_key,
                             std::string_view model, std::span<const std::string_view> texts) {
  std::string url = provider.base_url + "/v1beta/" + model_path(model) + ":batchEmbedContents";
  HttpRequest http = json_post(std::move(url), "x-goog-api-key", "", api_key);
  std::string name;
  append_json_string(name, with_folder(model));
  std::string& body = http.body;
  body += R"({"requests":[)";
  for (const std::string_view text : texts) {
    body += R"({"model":)";
    body += name;
    body += R"(,"content":{"parts":[{"text":)";
    append_json_string(body, text);
    body += "}]}},";
  }
  body.back() = ']';
  body += '}';
  return http;
}

std::optional<RawEmbeddings> read_embeddings(Json& body, std::size_t count) {
  Json* embeddings = member(&body, "embeddings");
  if (embeddings == nullptr || !embeddings->is_array() || embeddings->size() != count) return std::nullopt;
  RawEmbeddings raw;
  for (Json& embedding : *embeddings) raw.vectors.push_back(member(&embedding, "values"));
  raw.usage.input_tokens = count_of(member(member(&body, "usageMetadata"), "promptTokenCount"));
  return raw;
}

}  // namespace

const Format gemini_format = {"a Gemini answer", build,          read_answer, read_error,
                              build_embeddings,  read_embeddings};

}  // namespace sluice

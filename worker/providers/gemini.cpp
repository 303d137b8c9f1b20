#include "common/saturating.hpp"
#include "common/text/text.hpp"
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
    append_shared_json_string(http, request.system);
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
std::optional<std::string> joined_parts(const JsonView& parts) {
  std::optional<std::string> joined;
  for (const JsonView& part : parts.elements()) {
    const auto text = part["text"].text();
    if (text && !part["thought"].is_true()) join(joined, *text);
  }
  return joined;
}

/// All reasons but these few mean that a filter took the answer: SAFETY, RECITATION, BLOCKLIST, SPII and the
/// like.
bool is_ordinary_end(std::string_view finish_reason) {
  constexpr std::array<std::string_view, 3> ordinary = {"", "STOP", "FINISH_REASON_UNSPECIFIED"};
  return std::find(ordinary.begin(), ordinary.end(), finish_reason) != ordinary.end();
}

std::optional<Completion> read_answer(const JsonView& body) {
  const JsonView candidate = body["candidates"].first();
  const JsonView block_reason = body["promptFeedback"]["blockReason"];
  if (!candidate.is_object() && !block_reason.text()) return std::nullopt;

  Completion completion;
  completion.served_model = body["modelVersion"].text_or_empty();
  const JsonView usage = body["usageMetadata"];
  completion.usage.input_tokens = usage["promptTokenCount"].count();
  completion.usage.output_tokens =
      saturating_add(usage["candidatesTokenCount"].count(), usage["thoughtsTokenCount"].count());
  if (!candidate) {
    completion.finish_reason = block_reason.text_or_empty();
    completion.non_answer = declined(completion.finish_reason, "the prompt was blocked");
    return completion;
  }

  completion.finish_reason = candidate["finishReason"].text_or_empty();
  std::optional<std::string> text = joined_parts(candidate["content"]["parts"]);
  if (completion.finish_reason == "MAX_TOKENS") {
    completion.non_answer = cut_off(completion.finish_reason);
  } else if (!is_ordinary_end(completion.finish_reason)) {
    completion.non_answer = declined(completion.finish_reason, candidate["finishMessage"].text_or_empty());
  } else if (!text) {
    completion.non_answer = without_text(completion.finish_reason);
  }
  completion.text = std::move(text).value_or("");
  return completion;
}

/// A quota of the day does not come back within a run, whatever RetryInfo says beside it.
bool spends_daily_quota(const JsonView& detail) {
  return std::ranges::any_of(detail["violations"].elements(), [](const JsonView& violation) {
    const auto quota = violation["quotaId"].text();
    return quota && quota->find("PerDay") != std::string_view::npos;
  });
}

void read_detail(const JsonView& detail, ErrorFacts& facts) {
  const auto type = detail["@type"].text();
  if (!type) return;
  if (type->ends_with("google.rpc.RetryInfo")) {
    if (const auto delay = detail["retryDelay"].text()) facts.retry_after = parse_delay(*delay);
  } else if (type->ends_with("google.rpc.QuotaFailure")) {
    if (spends_daily_quota(detail)) facts.fatal = Reason::quota_exhausted;
  } else if (type->ends_with("google.rpc.ErrorInfo")) {
    const auto reason = detail["reason"].text();
    if (reason && reason->starts_with("API_KEY_")) facts.fatal = Reason::key_refused;
  }
}

ErrorFacts read_error(const JsonView& body) {
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

std::optional<RawEmbeddings> read_embeddings(const JsonView& body, std::size_t /*count*/) {
  const std::vector<JsonView> embeddings = body["embeddings"].elements();
  if (!body["embeddings"].is_array()) return std::nullopt;
  RawEmbeddings raw;
  for (const JsonView& embedding : embeddings) raw.vectors.push_back(embedding["values"]);
  raw.usage.input_tokens = body["usageMetadata"]["promptTokenCount"].count();
  return raw;
}

}  // namespace

const Format gemini_format = {"a Gemini answer", build,          read_answer, read_error,
                              build_embeddings,  read_embeddings};

}  // namespace sluice

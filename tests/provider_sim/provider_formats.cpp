#include "tests/provider_sim/provider_formats.hpp"

#include "tests/provider_sim/json_text.hpp"

#include <array>
#include <ctime>

namespace sluice::sim {

namespace {

/// Answers are the same bytes on every run, so they carry one date: 2025-01-01.
constexpr std::int64_t created_at = 1735689600;

struct StatusWords {
  int status;
  std::string_view openai_type;
  std::string_view openai_code;
  std::string_view anthropic;
  std::string_view gemini;
};

constexpr std::array<StatusWords, 15> status_words{{
    {400, "invalid_request_error", "invalid_request", "invalid_request_error", "INVALID_ARGUMENT"},
    {401, "invalid_request_error", "invalid_api_key", "authentication_error", "UNAUTHENTICATED"},
    {402, "insufficient_quota", "insufficient_quota", "billing_error", "FAILED_PRECONDITION"},
    {403, "invalid_request_error", "permission_denied", "permission_error", "PERMISSION_DENIED"},
    {404, "invalid_request_error", "model_not_found", "not_found_error", "NOT_FOUND"},
    {405, "invalid_request_error", "method_not_allowed", "invalid_request_error", "UNIMPLEMENTED"},
    {408, "timeout", "request_timeout", "timeout_error", "DEADLINE_EXCEEDED"},
    {409, "conflict", "conflict", "conflict_error", "ABORTED"},
    {413, "invalid_request_error", "request_too_large", "request_too_large", "INVALID_ARGUMENT"},
    {429, "requests", "rate_limit_exceeded", "rate_limit_error", "RESOURCE_EXHAUSTED"},
    {500, "server_error", "internal_error", "api_error", "INTERNAL"},
    {502, "server_error", "bad_gateway", "api_error", "UNAVAILABLE"},
    {503, "server_error", "service_unavailable", "overloaded_error", "UNAVAILABLE"},
    {504, "server_error", "gateway_timeout", "timeout_error", "DEADLINE_EXCEEDED"},
    {529, "server_error", "overloaded", "overloaded_error", "UNAVAILABLE"},
}};

const StatusWords& words_of(int status) {
  for (const auto& words : status_words) {
    if (words.status == status) return words;
  }
  return words_of(status >= 500 ? 500 : 400);
}

std::string_view finish_word(Provider provider, Finish finish) {
  switch (provider) {
    case Provider::openai:
      return finish == Finish::length ? "length" : "stop";
    case Provider::anthropic:
      if (finish == Finish::refusal) return "refusal";
      return finish == Finish::length ? "max_tokens" : "end_turn";
    case Provider::gemini:
      if (finish == Finish::refusal) return "SAFETY";
      return finish == Finish::length ? "MAX_TOKENS" : "STOP";
    case Provider::openai_responses:
      return finish == Finish::length ? "max_output_tokens" : "completed";
  }
  return "";
}

void append_openai(const AnswerParts& parts, std::string_view finish, std::string& out) {
  out += R"({"id":"chatcmpl-)";
  append_hex(out, parts.id, 16);
  out += R"(","object":"chat.completion","created":)";
  append_number(out, created_at);
  out += R"(,"model":")";
  out += parts.model;
  out += R"(","choices":[{"index":0,"message":{"role":"assistant","content":)";
  if (parts.finish == Finish::refusal) {
    out += R"(null,"refusal":"I'm sorry, but I can't help with that.")";
  } else {
    out += '"';
    out += parts.text;
    out += R"(","refusal":null)";
  }
  out += R"(},"logprobs":null,"finish_reason":")";
  out += finish;
  out += R"("}],"usage":{"prompt_tokens":)";
  append_number(out, static_cast<std::int64_t>(parts.prompt_tokens));
  out += R"(,"completion_tokens":)";
  append_number(out, static_cast<std::int64_t>(parts.completion_tokens));
  out += R"(,"total_tokens":)";
  append_number(out, static_cast<std::int64_t>(parts.prompt_tokens + parts.completion_tokens));
  out +=
      R"(,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}},)";
  out += R"("system_fingerprint":"fp_provider_sim"})";
}

void append_anthropic(const AnswerParts& parts, std::string_view finish, std::string& out) {
  out += R"({"id":"msg_)";
  append_hex(out, parts.id, 16);
  out += R"(","type":"message","role":"assistant","model":")";
  out += parts.model;
  out += R"(","content":[)";
  if (parts.finish != Finish::refusal) {
    out += R"({"type":"text","text":")";
    out += parts.text;
    out += R"("})";
  }
  out += R"(],"stop_reason":")";
  out += finish;
  out += R"(","stop_sequence":null,"usage":{"input_tokens":)";
  append_number(out, static_cast<std::int64_t>(parts.prompt_tokens));
  out += R"(,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":)";
  append_number(out, static_cast<std::int64_t>(parts.completion_tokens));
  out += "}}";
}

void append_gemini(const AnswerParts& parts, std::string_view finish, std::string& out) {
  if (parts.finish == Finish::refusal) {
    out += R"({"promptFeedback":{"blockReason":"SAFETY"},)";
  } else {
    out += R"({"candidates":[{"content":{"parts":[{"text":")";
    out += parts.text;
    out += R"("}],"role":"model"},"finishReason":")";
    out += finish;
    out += R"(","index":0}],)";
  }
  out += R"("usageMetadata":{"promptTokenCount":)";
  append_number(out, static_cast<std::int64_t>(parts.prompt_tokens));
  out += R"(,"candidatesTokenCount":)";
  append_number(out, static_cast<std::int64_t>(parts.completion_tokens));
  out += R"(,"totalTokenCount":)";
  append_number(out, static_cast<std::int64_t>(parts.prompt_tokens + parts.completion_tokens));
  out += R"(},"modelVersion":")";
  out += parts.model;
  out += R"(","responseId":")";
  append_hex(out, parts.id, 16);
  out += R"("})";
}

/// `finish` is the status, or why the answer is incomplete.
void append_openai_response(const AnswerParts& parts, std::string_view finish, std::string& out) {
  const bool is_complete = finish == "completed";
  out += R"({"id":"resp_)";
  append_hex(out, parts.id, 16);
  out += R"(","object":"response","created_at":)";
  append_number(out, created_at);
  out += R"(,"status":")";
  out += is_complete ? "completed" : "incomplete";
  out += R"(","error":null,"incomplete_details":)";
  if (is_complete) {
    out += "null";
  } else {
    out += R"({"reason":")";
    out += finish;
    out += R"("})";
  }
  out += R"(,"model":")";
  out += parts.model;
  out += R"(","output":[{"type":"reasoning","summary":[]},{"type":"message","role":"assistant","content":[)";
  if (parts.finish == Finish::refusal) {
    out += R"({"type":"refusal","refusal":"I'm sorry, but I can't help with that."})";
  } else {
    out += R"({"type":"output_text","annotations":[],"text":")";
    out += parts.text;
    out += R"("})";
  }
  out += R"(]}],"usage":{"input_tokens":)";
  append_number(out, static_cast<std::int64_t>(parts.prompt_tokens));
  out += R"(,"output_tokens":)";
  append_number(out, static_cast<std::int64_t>(parts.completion_tokens));
  out += R"(,"total_tokens":)";
  append_number(out, static_cast<std::int64_t>(parts.prompt_tokens + parts.completion_tokens));
  out += "}}";
}

void append_openai_error(const StatusWords& words, std::string_view message, std::string& out) {
  out += R"({"error":{"message":")";
  append_escaped(out, message);
  out += R"(","type":")";
  out += words.openai_type;
  out += R"(","param":null,"code":")";
  out += words.openai_code;
  out += R"("}})";
}

void append_anthropic_error(const StatusWords& words, std::string_view message, std::uint64_t request_id,
                            std::string& out) {
  out += R"({"type":"error","error":{"type":")";
  out += words.anthropic;
  out += R"(","message":")";
  append_escaped(out, message);
  out += R"("},"request_id":"req_)";
  append_hex(out, request_id, 16);
  out += R"("})";
}

void append_gemini_details(int status, std::optional<std::chrono::milliseconds> retry_after,
                           std::string& out) {
  out += R"(,"details":[)";
  if (status == 429) {
    out += R"({"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":)"
           R"("generativelanguage.googleapis.com/generate_content_requests",)"
           R"("quotaId":"GenerateRequestsPerMinutePerProjectPerModel"}]})";
  }
  if (retry_after) {
    if (status == 429) out += ',';
    out += R"({"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":")";
    append_seconds(out, *retry_after);
    out += R"(s"})";
  }
  out += ']';
}

void append_gemini_error(int status, std::string_view message,
                         std::optional<std::chrono::milliseconds> retry_after, std::string& out) {
  out += R"({"error":{"code":)";
  append_number(out, status);
  out += R"(,"message":")";
  append_escaped(out, message);
  out += R"(","status":")";
  out += words_of(status).gemini;
  out += '"';
  if (status == 429 || retry_after) append_gemini_details(status, retry_after, out);
  out += "}}";
}

/// OpenAI's notation: `12ms`, `1.5s`, `1m30s`.
void append_go_duration(std::string& out, std::chrono::milliseconds time) {
  if (time < std::chrono::seconds(1)) {
    append_number(out, time.count());
    out += "ms";
    return;
  }
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(time);
  if (minutes.count() > 0) {
    append_number(out, minutes.count());
    out += 'm';
  }
  append_seconds(out, time - minutes);
  out += 's';
}

void append_rfc3339(std::string& out, std::int64_t unix_s) {
  const std::time_t time = unix_s;
  std::tm parts{};
  gmtime_r(&time, &parts);
  std::array<char, 32> text;
  out.append(text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts));
}

}  // namespace

void append_answer(Provider provider, const AnswerParts& parts, std::string& out) {
  const auto finish = parts.finish_word.empty() ? finish_word(provider, parts.finish) : parts.finish_word;
  switch (provider) {
    case Provider::openai:
      return append_openai(parts, finish, out);
    case Provider::anthropic:
      return append_anthropic(parts, finish, out);
    case Provider::gemini:
      return append_gemini(parts, finish, out);
    case Provider::openai_responses:
      return append_openai_response(parts, finish, out);
  }
}

void append_error(Provider provider, int status, std::string_view message,
                  std::optional<std::chrono::milliseconds> retry_after, std::uint64_t request_id,
                  std::string& out) {
  switch (provider) {
    case Provider::openai:
    case Provider::openai_responses:
      return append_openai_error(words_of(status), message, out);
    case Provider::anthropic:
      return append_anthropic_error(words_of(status), message, request_id, out);
    case Provider::gemini:
      return append_gemini_error(status, message, retry_after, out);
  }
}

void append_id_header(Provider provider, std::uint64_t request_id, std::string& out) {
  if (provider == Provider::gemini) return;
  out += provider == Provider::anthropic ? "request-id: req_" : "x-request-id: req_";
  append_hex(out, request_id, 16);
  out += "\r\n";
}

void append_limit_headers(Provider provider, std::string_view kind, const LimitState& state,
                          std::int64_t now_s, std::string& out) {
  if (provider == Provider::gemini) return;
  const bool openai = provider != Provider::anthropic;
  auto name = [&](std::string_view field) {
    out += openai ? "x-ratelimit-" : "anthropic-ratelimit-";
    out += openai ? field : kind;
    out += '-';
    out += openai ? kind : field;
    out += ": ";
  };
  name("limit");
  append_number(out, static_cast<std::int64_t>(state.per_minute));
  out += "\r\n";
  name("remaining");
  append_number(out, static_cast<std::int64_t>(state.remaining));
  out += "\r\n";
  name("reset");
  if (openai) {
    append_go_duration(out, state.until_full);
  } else {
    append_rfc3339(out, now_s + std::chrono::ceil<std::chrono::seconds>(state.until_full).count());
  }
  out += "\r\n";
}

void append_seconds(std::string& out, std::chrono::milliseconds time) {
  append_number(out, time.count() / 1000);
  const auto thousandths = static_cast<int>(time.count() % 1000);
  if (thousandths == 0) return;
  std::string digits = std::to_string(1000 + thousandths).substr(1);
  digits.erase(digits.find_last_not_of('0') + 1);
  out += '.';
  out += digits;
}

}  // namespace sluice::sim

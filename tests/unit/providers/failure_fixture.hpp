#pragma once

#include "common/text/text.hpp"
#include "worker/providers/provider.hpp"

#include <gtest/gtest.h>

/// What the tests of failed calls share: error bodies of the providers, and how a failure is expected to be
/// read.
namespace sluice {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

/// 2024-05-01T12:00:00Z.
inline const std::chrono::system_clock::time_point now{1'714'564'800s};

inline ProviderSettings provider(ProviderKind kind) {
  ProviderSettings settings;
  settings.name = "main";
  settings.kind = kind;
  settings.base_url = "https://user:secret@example.test/v1";
  settings.api_key_env = "EXAMPLE_API_KEY";
  return settings;
}

inline Failed failed(ProviderKind kind, int status, std::string body, HttpHeaders headers = {},
                     std::string_view key = {}) {
  const CallOutcome outcome =
      read_response(provider(kind), {status, std::move(headers), std::move(body)}, now, key);
  if (std::holds_alternative<Answered>(outcome)) {
    ADD_FAILURE() << "answered";
    return {};
  }
  return std::get<Failed>(outcome);
}

inline std::string openai_error(const std::string& type, const std::string& code) {
  return R"({"error":{"message":"said so","type":")" + type + R"(","param":null,"code":)" + code + "}}";
}
inline std::string anthropic_error(const std::string& type, const std::string& message = "said so") {
  return R"({"type":"error","error":{"type":")" + type + R"(","message":")" + message +
         R"("},"request_id":"req_1"})";
}
inline std::string gemini_error(int code, const std::string& status, const std::string& details = "[]") {
  return R"({"error":{"code":)" + std::to_string(code) + R"(,"message":"said so","status":")" + status +
         R"(","details":)" + details + "}}";
}

inline const std::string retry_info =
    R"({"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"45.837906927s"})";
inline const std::string minute_quota =
    R"({"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"m",
        "quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier","quotaValue":"15"}]})";
inline const std::string day_quota =
    R"({"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"x"},
        {"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]})";
inline const std::string invalid_key =
    R"({"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"})";

struct FailureCase {
  std::string name;
  ProviderKind kind;
  int status;
  std::string body;
  HttpHeaders headers;
  Reason reason;
  bool retryable;
  bool rate_limit = false;
  std::optional<milliseconds> retry_after = std::nullopt;
};

inline void PrintTo(const FailureCase& c, std::ostream* out) {
  *out << c.name;
}

inline void expect_classified(const FailureCase& c) {
  const Failed outcome = failed(c.kind, c.status, c.body, c.headers);
  EXPECT_EQ(to_string(outcome.reason), to_string(c.reason));
  EXPECT_EQ(outcome.retryable, c.retryable);
  EXPECT_EQ(outcome.counts_as_rate_limit, c.rate_limit);
  EXPECT_EQ(outcome.retry_after, c.retry_after);
  EXPECT_NE(outcome.message.find("said so"), std::string::npos) << outcome.message;
}

inline constexpr auto openai = ProviderKind::openai;
inline constexpr auto anthropic = ProviderKind::anthropic;
inline constexpr auto gemini = ProviderKind::gemini;

}  // namespace sluice

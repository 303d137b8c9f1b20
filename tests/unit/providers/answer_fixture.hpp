#pragma once

#include "worker/providers/provider.hpp"

#include <chrono>
#include <string>
#include <utility>
#include <variant>

#include <gtest/gtest.h>

/// What the tests of answers share.
namespace sluice::answer_fixture {

inline const std::chrono::system_clock::time_point now{std::chrono::milliseconds(1'700'000'000'123)};

inline ProviderSettings provider(ProviderKind kind) {
  ProviderSettings settings;
  settings.name = std::string(to_string(kind));
  settings.kind = kind;
  settings.base_url = "https://example.test/v1";
  settings.api_key_env = "EXAMPLE_API_KEY";
  return settings;
}

inline HttpResponse ok(std::string body) {
  return {200, {{"content-type", "application/json"}}, std::move(body)};
}

/// The completion, or a test failure that shows why there is none.
inline Completion answered(ProviderKind kind, std::string body) {
  const CallOutcome outcome = read_response(provider(kind), ok(std::move(body)), now);
  if (const auto* failed = std::get_if<Failed>(&outcome)) {
    ADD_FAILURE() << failed->message;
    return {};
  }
  return std::get<Answered>(outcome).completion;
}

/// A body in OpenAI's format: a message and its `finish_reason`, both in JSON.
inline std::string choice(const std::string& message, const std::string& finish) {
  return R"({"choices":[{"index":0,"message":)" + message + R"(,"finish_reason":)" + finish + "}]}";
}

}  // namespace sluice::answer_fixture

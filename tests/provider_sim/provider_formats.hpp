#pragma once

#include "tests/provider_sim/chat_request.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::sim {

/// Why an answer ended, in no provider's own words.
enum class Finish : std::uint8_t { stop, length, refusal };

/// What an answer is made of. Texts are JSON-escaped already, so that the hot path never escapes anything.
struct AnswerParts {
  std::string_view model;
  std::string_view text;
  std::uint64_t id = 0;  ///< Deterministic: derived from the content.
  std::uint64_t prompt_tokens = 0;
  std::uint64_t completion_tokens = 0;
  Finish finish = Finish::stop;
  std::string_view
      finish_word;  ///< If set, stands in the answer instead of the provider's word for `finish`.
};

/// Tokens that texts of so many bytes come to: a quarter, rounded up.
constexpr std::uint64_t tokens_of(std::size_t bytes) {
  return (bytes + 3) / 4;
}

/// Appends the body of a successful answer.
void append_answer(Provider provider, const AnswerParts& parts, std::string& out);

/// Appends the body of an error as the provider words it. `retry_after` is used by Gemini alone, which has no
/// header for it (google.rpc.RetryInfo).
void append_error(Provider provider, int status, std::string_view message,
                  std::optional<std::chrono::milliseconds> retry_after, std::uint64_t request_id,
                  std::string& out);

/// Appends the header that carries the request's id.
void append_id_header(Provider provider, std::uint64_t request_id, std::string& out);

/// The state of one limit, for the headers that announce it.
struct LimitState {
  std::uint64_t per_minute = 0;
  std::uint64_t remaining = 0;
  std::chrono::milliseconds until_full{};
};

/// Appends `x-ratelimit-...` or `anthropic-ratelimit-...` headers; Gemini has none. `kind` is "requests" or
/// "tokens" (Anthropic: also "input-tokens" and "output-tokens"); `now_s` is Unix time in seconds (Anthropic
/// gives the reset as a date).
void append_limit_headers(Provider provider, std::string_view kind, const LimitState& state,
                          std::int64_t now_s, std::string& out);

/// Appends milliseconds as decimal seconds without trailing zeros: `1`, `0.25`.
void append_seconds(std::string& out, std::chrono::milliseconds time);

}  // namespace sluice::sim

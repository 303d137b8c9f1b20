#pragma once

#include "tests/provider_sim/chat_request.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace sluice::sim {

/// A delay that an answer names.
struct NamedDelay {
  std::chrono::milliseconds time{};
  bool computed = false;  ///< From a limit, rather than given by a flag or a script.
};

/// Seconds as milliseconds, rounded up.
std::chrono::milliseconds to_ms(double seconds);

/// How delays are named.
enum class DelayForm : std::uint8_t {
  usual,         ///< In the provider's own way.
  milliseconds,  ///< `retry-after-ms` alone.
  date           ///< `retry-after` with an HTTP date, the next whole second.
};

/// Appends the headers that name a delay, and returns how long the client has to wait for it: a computed
/// delay is rounded as the provider does it (OpenAI: milliseconds beside whole seconds, Anthropic: whole
/// seconds), another one stands as it was given. Gemini has no header: its delay stands in the body.
/// `unix_us`: the time of day, for dates.
std::chrono::milliseconds append_delay_headers(Provider provider, DelayForm form, const NamedDelay& delay,
                                               std::int64_t unix_us, std::string& out);

}  // namespace sluice::sim

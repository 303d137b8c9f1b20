#pragma once

#include "tests/provider_sim/chat_request.hpp"
#include "tests/provider_sim/token_bucket.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace sluice::sim {

/// The limits of the simulated key. 0: no limit.
struct LimitSettings {
  double requests_per_second = 0;
  double burst = 0;  ///< 0: one second of the rate, at least 1.
  double tokens_per_minute = 0;
  double token_burst = 0;  ///< 0: one minute of the rate.
  bool announce = false;   ///< With the headers that name limits.
};

/// Why a request is turned away.
struct Denial {
  const char* message;
  std::chrono::milliseconds wait;  ///< Until it would have been admitted, rounded up.
};

/// A strict limiter over all connections: denied requests cost nothing. A request costs one, and the tokens
/// of its prompt and its answer, at its start.
class Limiter {
 public:
  explicit Limiter(const LimitSettings& settings);

  std::optional<Denial> admit(std::uint64_t tokens, std::int64_t now_us);
  /// Appends the provider's limit headers, if they are wanted.
  void append_headers(Provider provider, std::int64_t now_us, std::string& out);
  void reset();

 private:
  bool announce_;
  std::optional<TokenBucket> requests_;
  std::optional<TokenBucket> tokens_;
};

}  // namespace sluice::sim

#pragma once

#include "tests/provider_sim/chat_request.hpp"
#include "tests/provider_sim/token_bucket.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::sim {

/// The limits of the simulated key. 0: no limit.
struct LimitSettings {
  double requests_per_second = 0;
  double burst = 0;  ///< 0: one second of the rate, at least 1.
  double tokens_per_minute = 0;
  double input_tokens_per_minute = 0;
  double output_tokens_per_minute = 0;
  double token_burst = 0;          ///< Of tokens_per_minute; 0: one minute of the rate.
  double token_burst_seconds = 0;  ///< All token buckets hold so many seconds of their rate; 0: see above.
  bool announce = false;           ///< With the headers that name limits.
};

/// What a request costs.
struct TokenCost {
  std::uint64_t input = 0;
  std::uint64_t output = 0;
};

/// Why a request is turned away.
struct Denial {
  const char* message;
  std::chrono::milliseconds wait;  ///< Until it would have been admitted, rounded up.
};

/// A strict limiter over all connections: denied requests cost nothing. A request costs one, and the tokens
/// of its prompt and its answer, when it arrives.
class Limiter {
 public:
  explicit Limiter(const LimitSettings& settings);

  std::optional<Denial> admit(const TokenCost& cost, std::int64_t now_us);
  /// Appends the provider's limit headers, if they are wanted.
  void append_headers(Provider provider, std::int64_t now_us, std::string& out);
  void reset();

 private:
  /// One of the limits, in the order in which the provider looks at them.
  struct Limit {
    std::string_view kind;  ///< As the headers call it.
    const char* message;
    TokenBucket bucket;
    double requests = 0;  ///< What a request costs, and what each of its tokens does.
    double input = 0;
    double output = 0;

    double cost(const TokenCost& tokens) const {
      return requests + input * static_cast<double>(tokens.input) +
             output * static_cast<double>(tokens.output);
    }
  };

  void add_tokens(std::string_view kind, const char* message, double per_minute,
                  const LimitSettings& settings, double input, double output);

  bool announce_;
  std::vector<Limit> limits_;
};

}  // namespace sluice::sim

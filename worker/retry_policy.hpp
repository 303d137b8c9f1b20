#pragma once

#include "common/clock.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <variant>

namespace sluice {

/// The random source of the back-off: injected, so that a test's seed gives a test's delays.
using Random = std::mt19937_64;

/// What limits the retries of one trial.
struct RetryLimits {
  std::uint32_t max_retries = 5;                ///< After the first call.
  std::chrono::milliseconds backoff_initial{};  ///< Upper bound of the first delay.
  std::chrono::milliseconds backoff_max{};      ///< Upper bound of every delay but those of rate limits.
  std::chrono::milliseconds case_timeout{};     ///< Wall time of the trial with all its waits.
};

/// How a call failed, as far as retrying goes.
struct FailedCall {
  bool retryable = false;
  bool counts_as_rate_limit = false;                     ///< 429 or 529.
  std::optional<std::chrono::milliseconds> retry_after;  ///< The delay that the server named.
  bool consumes_quota = false;  ///< The provider charged for it: defaults::max_charged_retries holds, too.
  bool all_refused = false;     ///< Of a rate limit: since the last try nobody was answered.
};

struct RetryAfter {
  std::chrono::milliseconds delay{};
};
struct GiveUp {
  bool out_of_time = false;  ///< The case's wall time is spent, rather than its attempts.
};
using RetryDecision = std::variant<RetryAfter, GiveUp>;

/// Decides about the retries of one trial (docs/budgets.md): exponential back-off with full jitter;
/// a named delay of a rate limit spends wall time, not an attempt, and is never shortened. One of another
/// failure counts up to the longest back-off. A refusal where nobody is answered spends no attempt, either.
/// Pure; not thread-safe.
class RetryPolicy {
 public:
  RetryPolicy(RetryLimits limits, TimePoint started)
      : limits_(limits), deadline_(started + limits.case_timeout) {}

  RetryDecision decide(const FailedCall& call, TimePoint now, Random& random);
  TimePoint deadline() const { return deadline_; }
  /// Time that does not count, such as that of an outage.
  void extend(Duration time) { deadline_ += time; }

 private:
  std::chrono::milliseconds backoff(Random& random) const;
  std::chrono::milliseconds delay_of(const FailedCall& call, TimePoint now, Random& random) const;

  RetryLimits limits_;
  TimePoint deadline_;
  std::uint32_t delays_ = 0;    ///< Failures without a named delay: the back-off grows with them.
  std::uint32_t failures_ = 0;  ///< Those that spend an attempt.
  std::uint32_t charged_ = 0;   ///< Of these, those that consumed quota.
};

}  // namespace sluice

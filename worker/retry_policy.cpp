#include "worker/retry_policy.hpp"

#include "worker/defaults.hpp"

#include <algorithm>

namespace sluice {

std::chrono::milliseconds RetryPolicy::backoff(Random& random) const {
  // 2^20 times any sensible initial delay is beyond backoff_max: the shift cannot overflow before the min.
  const auto doublings = std::min<std::uint32_t>(delays_ - 1, 20);
  const auto bound = std::min(limits_.backoff_max, limits_.backoff_initial * (std::int64_t{1} << doublings));
  std::uniform_int_distribution<std::int64_t> jitter(0, std::max<std::int64_t>(bound.count(), 0));
  return std::chrono::milliseconds(jitter(random));
}

/// How long the call waits after a failure whose delay is not kept to. A server that is down names what it
/// would like, not when it is back: nobody waits longer than the longest back-off for that, or gives up.
std::chrono::milliseconds RetryPolicy::delay_of(const FailedCall& call, TimePoint now, Random& random) const {
  const auto own = backoff(random);
  const auto named = std::min(call.retry_after.value_or(std::chrono::milliseconds{}), limits_.backoff_max);
  return now + named < deadline_ ? std::max(own, named) : own;
}

RetryDecision RetryPolicy::decide(const FailedCall& call, TimePoint now, Random& random) {
  if (!call.retryable) return GiveUp{};
  if (call.consumes_quota && ++charged_ > defaults::max_charged_retries) return GiveUp{};
  const bool named = call.counts_as_rate_limit && call.retry_after.has_value();
  if (!named) {
    ++delays_;
    if (!call.all_refused && ++failures_ > limits_.max_retries) return GiveUp{};
  }
  const auto delay = named ? *call.retry_after : delay_of(call, now, random);
  // Waiting for what the deadline forbids helps nobody.
  if (now + delay >= deadline_) return GiveUp{true};
  return RetryAfter{delay};
}

}  // namespace sluice

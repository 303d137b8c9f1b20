#include "coordinator/governor/slot_rule.hpp"

#include "coordinator/governor/defaults.hpp"

#include <algorithm>
#include <cmath>

namespace sluice {

namespace {

BootTime from_seconds(double seconds) {
  return BootTime(static_cast<BootTime::rep>(seconds * 1e6));
}

/// From a slot's closing to the latest arrival of its call.
constexpr BootTime way = defaults::arrival_jitter + defaults::permit_clock_error;

double burst_seconds(const ProviderLimits& limits) {
  return limits.burst_seconds.value_or(defaults::default_burst_seconds);
}

double request_burst(const ProviderLimits& limits, double rate) {
  return std::max(1.0, rate * burst_seconds(limits));
}

/// The lifetime that leaves the bucket one slot of capacity; too short a one means that slots are spaced.
BootTime request_lifetime(double rate, double burst) {
  return std::min<BootTime>(defaults::permit_lifetime, from_seconds((burst - 2) / rate) - way);
}

/// Where slots are spaced each moment of a lifetime costs as much of the rate: a twentieth of the distance,
/// so that a worker whose messages take longer than the shortest lifetime can use its permits, too.
BootTime spaced_lifetime(double rate) {
  return std::clamp<BootTime>(from_seconds(0.05 / rate), defaults::permit_lifetime_min,
                              defaults::permit_lifetime);
}

/// For tokens: a lifetime that costs no more than a quarter of the burst.
BootTime token_lifetime(const ProviderLimits& limits) {
  return std::min<BootTime>(defaults::permit_lifetime, from_seconds(burst_seconds(limits) / 4) - way);
}

PacedLimit paced_requests(double rate, double burst, BootTime lifetime, bool spaced) {
  const double margin = rate * in_seconds(lifetime + way);
  const double paced = defaults::rate_margin * rate;
  if (spaced) return {{paced, 0, margin}, 0};
  return {{paced, burst - 1 - margin, 0}, 0};
}

/// Without a named burst a call may have up to a minute's tokens: providers count by the minute, and it
/// starts only when nothing was taken for a while.
PacedLimit paced_tokens(std::uint64_t per_minute, const ProviderLimits& limits, BootTime lifetime) {
  const double rate = static_cast<double>(per_minute) / seconds_a_minute;
  const double burst = rate * burst_seconds(limits);
  const double margin = rate * in_seconds(lifetime + way);
  const double paced = defaults::rate_margin * rate;
  const double capacity = burst - margin;
  const bool spaced = capacity < burst / 2;
  const double most = spaced ? burst : capacity;
  PacedLimit limit;
  limit.shape = spaced ? Bucket::Shape{paced, 0, margin} : Bucket::Shape{paced, capacity, 0};
  limit.ceiling =
      limits.burst_seconds ? std::max<std::uint64_t>(1, static_cast<std::uint64_t>(most)) : per_minute;
  return limit;
}

}  // namespace

SlotRule slot_rule(const ProviderLimits& limits) {
  SlotRule rule;
  rule.lifetime = defaults::permit_lifetime;
  double rate = 0;
  double burst = 0;
  bool spaced = false;
  if (limits.requests_per_minute) {
    rate = static_cast<double>(*limits.requests_per_minute) / seconds_a_minute;
    burst = request_burst(limits, rate);
    rule.lifetime = request_lifetime(rate, burst);
    spaced = rule.lifetime < defaults::permit_lifetime_min;
    if (spaced) rule.lifetime = spaced_lifetime(rate);
  }
  const bool by_tokens =
      limits.tokens_per_minute || limits.input_tokens_per_minute || limits.output_tokens_per_minute;
  if (by_tokens) rule.lifetime = std::min(rule.lifetime, token_lifetime(limits));
  rule.lifetime = std::max<BootTime>(rule.lifetime, defaults::permit_lifetime_min);

  if (limits.requests_per_minute) rule.requests = paced_requests(rate, burst, rule.lifetime, spaced);
  const auto paced = [&](const std::optional<std::uint64_t>& per_minute) -> std::optional<PacedLimit> {
    if (!per_minute) return std::nullopt;
    return paced_tokens(*per_minute, limits, rule.lifetime);
  };
  rule.tokens = paced(limits.tokens_per_minute);
  rule.input_tokens = paced(limits.input_tokens_per_minute);
  rule.output_tokens = paced(limits.output_tokens_per_minute);
  return rule;
}

Bucket::Shape spaced_evenly(double per_second) {
  return {per_second, 1, 0};
}

}  // namespace sluice

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
BootTime way(const SlotConditions& conditions) {
  return conditions.variation + defaults::permit_clock_error;
}

double token_burst_seconds(const ProviderLimits& limits) {
  return limits.burst_seconds.value_or(defaults::default_token_burst_seconds);
}

double request_burst(const ProviderLimits& limits, double rate, const SlotConditions& conditions) {
  const double set = rate * limits.burst_seconds.value_or(defaults::default_burst_seconds);
  return std::max(1.0, std::min(set, conditions.burst.value_or(set)));
}

/// Where slots are spaced each moment of a lifetime costs as much of the rate: a twentieth of the distance,
/// so that a worker whose messages take longer than the shortest lifetime can use its permits, too.
BootTime spaced_lifetime(double rate, BootTime shortest) {
  return std::clamp<BootTime>(from_seconds(0.05 / rate), shortest,
                              std::max<BootTime>(shortest, defaults::permit_lifetime));
}

/// Late calls come together: fewer of them where it is not known how many may. Where slots are spaced none
/// do, and a permit that a busy machine misses costs a whole distance: a part of that is little.
BootTime unnamed_lifetime(double rate, bool is_tight, const SlotConditions& conditions) {
  const auto spaced = is_tight ? from_seconds(defaults::unnamed_spaced_share / rate) : BootTime();
  return std::max<BootTime>({conditions.shortest_lifetime, defaults::unnamed_burst_lifetime, spaced});
}

/// For tokens: a lifetime that costs a twentieth of the burst, once a run. Of a small burst it is no shorter
/// than that of an unnamed one, as long as it costs no more than a quarter with the way.
BootTime token_lifetime(const ProviderLimits& limits, const SlotConditions& conditions) {
  const double burst = token_burst_seconds(limits);
  const auto cheap = std::max<BootTime>(defaults::unnamed_burst_lifetime, from_seconds(burst / 20));
  return std::min<BootTime>({defaults::permit_lifetime, cheap, from_seconds(burst / 4) - way(conditions)});
}

/// How long a permit of `rate` and `burst` may last, and whether one call of the burst stays in reserve. Both
/// are had only where the burst has them to spare.
struct RequestRoom {
  BootTime lifetime{};
  bool has_reserve = false;
  bool is_tight = false;  ///< The burst does not cover the shortest lifetime and the way.
};

RequestRoom request_room(double rate, double burst, const SlotConditions& conditions) {
  const auto room = [&](double left) {
    return std::min<BootTime>(defaults::permit_lifetime,
                              from_seconds((burst - left) / rate) - way(conditions));
  };
  const auto shortest = conditions.shortest_lifetime;
  if (room(2) >= shortest) return {room(2), true, false};
  if (room(1) >= shortest) return {room(1), false, false};
  return {spaced_lifetime(rate, shortest), false, true};
}

/// Slots of a capacity c follow each other so that calls which start anywhere in their windows and take up to
/// J longer than others find c + rate x (lifetime + J + e) <= burst. Where the burst does not cover that, k
/// calls after another must keep k distances less one delay apart: the distance grows by what is not covered,
/// shared by as many calls as the burst has.
PacedLimit paced_requests(double rate, double burst, const SlotRule& rule, bool is_tight, bool is_named,
                          const SlotConditions& conditions) {
  const double margin = rate * in_seconds(rule.lifetime + way(conditions));
  const double paced = defaults::rate_margin * rate;
  if (is_tight) return {{paced, 0, std::max(0.0, margin - (burst - 1)) / std::floor(burst)}, 0};
  // A burst that nobody named is counted on for late calls, not taken at once.
  const double capacity = burst - margin - (rule.has_reserve ? 1 : 0);
  return {{paced, is_named ? std::max(0.0, capacity) : 0, 0}, 0};
}

/// Without a named burst a call may have up to a minute's tokens: providers count by the minute, and it
/// starts only when nothing was taken for a while.
PacedLimit paced_tokens(std::uint64_t per_minute, const ProviderLimits& limits, BootTime lifetime,
                        const SlotConditions& conditions) {
  const double rate = static_cast<double>(per_minute) / seconds_a_minute;
  const double burst = rate * token_burst_seconds(limits);
  const double margin = rate * in_seconds(lifetime + way(conditions));
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

SlotRule slot_rule(const ProviderLimits& limits, const SlotConditions& conditions) {
  SlotRule rule;
  rule.lifetime = defaults::permit_lifetime;
  double rate = 0;
  bool is_tight = false;
  const bool is_named = limits.burst_seconds.has_value();
  if (limits.requests_per_minute) {
    rate = static_cast<double>(*limits.requests_per_minute) / seconds_a_minute;
    rule.burst = request_burst(limits, rate, conditions);
    const auto room = request_room(rate, rule.burst, conditions);
    rule.lifetime = room.lifetime;
    rule.has_reserve = room.has_reserve;
    is_tight = room.is_tight;
    if (!is_named) rule.lifetime = std::min(rule.lifetime, unnamed_lifetime(rate, is_tight, conditions));
  }
  const bool by_tokens =
      limits.tokens_per_minute || limits.input_tokens_per_minute || limits.output_tokens_per_minute;
  if (by_tokens) rule.lifetime = std::min(rule.lifetime, token_lifetime(limits, conditions));
  rule.lifetime = std::max<BootTime>(rule.lifetime, conditions.shortest_lifetime);

  if (limits.requests_per_minute) {
    rule.requests = paced_requests(rate, rule.burst, rule, is_tight, is_named, conditions);
  }
  const auto paced = [&](const std::optional<std::uint64_t>& per_minute) -> std::optional<PacedLimit> {
    if (!per_minute) return std::nullopt;
    return paced_tokens(*per_minute, limits, rule.lifetime, conditions);
  };
  rule.tokens = paced(limits.tokens_per_minute);
  rule.input_tokens = paced(limits.input_tokens_per_minute);
  rule.output_tokens = paced(limits.output_tokens_per_minute);
  return rule;
}

Bucket::Shape spaced_evenly(double per_second) {
  return {per_second, 1, 0};
}

Bucket::Shape found_shape(double per_second, double burst, const SlotConditions& conditions) {
  // Calls start when their permits open, as a rule: a late one costs a refusal.
  const double margin = per_second * in_seconds(way(conditions));
  if (burst > defaults::rate_search::burst_worth_seconds * per_second) return {per_second, burst - margin, 0};
  return {per_second, 1, std::max(0.0, margin - (burst - 1)) / std::floor(std::max(1.0, burst))};
}

}  // namespace sluice

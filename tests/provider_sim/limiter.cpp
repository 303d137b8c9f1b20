#include "tests/provider_sim/limiter.hpp"

#include "tests/provider_sim/provider_formats.hpp"

#include <algorithm>
#include <cmath>

namespace sluice::sim {

namespace {

std::chrono::milliseconds rounded_up(std::int64_t us) {
  return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::microseconds(us));
}

LimitState state_of(TokenBucket& bucket, std::int64_t now_us) {
  LimitState state;
  state.per_minute = static_cast<std::uint64_t>(std::llround(bucket.rate() * 60));
  state.remaining = static_cast<std::uint64_t>(std::max(0.0, bucket.level(now_us)));
  state.until_full = rounded_up(bucket.wait_us(bucket.capacity(), now_us));
  return state;
}

}  // namespace

Limiter::Limiter(const LimitSettings& settings) : announce_(settings.announce) {
  if (settings.requests_per_second > 0) {
    const double burst = settings.burst > 0 ? settings.burst : std::max(1.0, settings.requests_per_second);
    limits_.push_back({"requests", "Rate limit reached: too many requests.",
                       TokenBucket(settings.requests_per_second, burst), 1});
  }
  add_tokens("tokens", "Rate limit reached: too many tokens.", settings.tokens_per_minute, settings, 1, 1);
  add_tokens("input-tokens", "Rate limit reached: too many input tokens.", settings.input_tokens_per_minute,
             settings, 1, 0);
  add_tokens("output-tokens", "Rate limit reached: too many output tokens.",
             settings.output_tokens_per_minute, settings, 0, 1);
}

void Limiter::add_tokens(std::string_view kind, const char* message, double per_minute,
                         const LimitSettings& settings, double input, double output) {
  if (per_minute <= 0) return;
  double burst = per_minute;
  if (settings.token_burst_seconds > 0) burst = per_minute / 60 * settings.token_burst_seconds;
  if (settings.token_burst > 0 && kind == "tokens") burst = settings.token_burst;
  limits_.push_back({kind, message, TokenBucket(per_minute / 60, burst), 0, input, output});
}

std::optional<Denial> Limiter::admit(const TokenCost& cost, std::int64_t now_us) {
  for (auto& limit : limits_) {
    const double wanted = limit.cost(cost);
    if (!limit.bucket.holds(wanted, now_us)) {
      return Denial{limit.message, rounded_up(limit.bucket.wait_us(wanted, now_us))};
    }
  }
  for (auto& limit : limits_) limit.bucket.take(limit.cost(cost));
  return std::nullopt;
}

void Limiter::append_headers(Provider provider, std::int64_t now_us, std::string& out) {
  if (!announce_) return;
  using std::chrono::system_clock;
  const std::int64_t unix_s = system_clock::to_time_t(system_clock::now());
  for (auto& limit : limits_) {
    const bool split = limit.requests == 0 && limit.input != limit.output;
    if (split && provider != Provider::anthropic) continue;  // The others have no headers for these.
    append_limit_headers(provider, limit.kind, state_of(limit.bucket, now_us), unix_s, out);
  }
}

void Limiter::reset() {
  for (auto& limit : limits_) limit.bucket.refill();
}

}  // namespace sluice::sim

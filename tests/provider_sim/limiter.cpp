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
    requests_.emplace(settings.requests_per_second, burst);
  }
  if (settings.tokens_per_minute > 0) {
    const double burst = settings.token_burst > 0 ? settings.token_burst : settings.tokens_per_minute;
    tokens_.emplace(settings.tokens_per_minute / 60, burst);
  }
}

std::optional<Denial> Limiter::admit(std::uint64_t tokens, std::int64_t now_us) {
  const auto cost = static_cast<double>(tokens);
  if (requests_ && !requests_->holds(1, now_us)) {
    return Denial{"Rate limit reached: too many requests.", rounded_up(requests_->wait_us(1, now_us))};
  }
  if (tokens_ && !tokens_->holds(cost, now_us)) {
    return Denial{"Rate limit reached: too many tokens.", rounded_up(tokens_->wait_us(cost, now_us))};
  }
  if (requests_) requests_->take(1);
  if (tokens_) tokens_->take(cost);
  return std::nullopt;
}

void Limiter::append_headers(Provider provider, std::int64_t now_us, std::string& out) {
  if (!announce_) return;
  using std::chrono::system_clock;
  const std::int64_t unix_s = system_clock::to_time_t(system_clock::now());
  if (requests_) append_limit_headers(provider, "requests", state_of(*requests_, now_us), unix_s, out);
  if (tokens_) append_limit_headers(provider, "tokens", state_of(*tokens_, now_us), unix_s, out);
}

void Limiter::reset() {
  if (requests_) requests_->refill();
  if (tokens_) tokens_->refill();
}

}  // namespace sluice::sim

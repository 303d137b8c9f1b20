#include "tests/provider_sim/token_bucket.hpp"

#include <algorithm>
#include <cmath>

namespace sluice::sim {

namespace {

/// Rounding errors of the level: far below what one microsecond adds at any rate in use.
constexpr double tolerance = 1e-9;

}  // namespace

double TokenBucket::level(std::int64_t now_us) {
  if (now_us > filled_at_us_) {
    level_ = std::min(capacity_, level_ + rate_ * static_cast<double>(now_us - filled_at_us_) * 1e-6);
    filled_at_us_ = now_us;
  }
  return level_;
}

bool TokenBucket::holds(double tokens, std::int64_t now_us) {
  return level(now_us) >= tokens - tolerance;
}

std::int64_t TokenBucket::wait_us(double tokens, std::int64_t now_us) {
  const double missing = std::min(tokens, capacity_) - level(now_us);
  return missing <= tolerance ? 0 : static_cast<std::int64_t>(std::ceil(missing / rate_ * 1e6));
}

}  // namespace sluice::sim

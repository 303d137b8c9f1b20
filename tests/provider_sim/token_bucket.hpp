#pragma once

#include <cstdint>

namespace sluice::sim {

/// A strict token bucket: what it lets through in any window is at most rate x window + capacity. Time is an
/// argument, in microseconds, and never runs backwards.
class TokenBucket {
 public:
  /// `rate` in tokens a second, above 0. The bucket starts full.
  TokenBucket(double rate, double capacity) : rate_(rate), capacity_(capacity), level_(capacity) {}

  /// True if that many are in the bucket now.
  bool holds(double tokens, std::int64_t now_us);
  /// Takes them; the bucket must hold them.
  void take(double tokens) { level_ -= tokens; }
  /// Microseconds until it holds that many (or is full, if it never does).
  std::int64_t wait_us(double tokens, std::int64_t now_us);
  double level(std::int64_t now_us);
  double capacity() const { return capacity_; }
  double rate() const { return rate_; }
  void refill() { level_ = capacity_; }

 private:
  double rate_;
  double capacity_;
  double level_;
  std::int64_t filled_at_us_ = 0;
};

}  // namespace sluice::sim

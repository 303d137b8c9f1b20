#pragma once

#include "common/clock.hpp"

#include <algorithm>
#include <chrono>

namespace sluice {

/// How much the way to a provider varies, as its connections measure it: the most of the last half minute.
/// Pure; not thread-safe.
class WayVariation {
 public:
  /// What a connection measured; 0: it did not.
  void note(std::chrono::microseconds variation, TimePoint now) {
    if (variation.count() <= 0) return;
    if (now - since_ >= window) {
      before_ = now - since_ >= 2 * window ? std::chrono::microseconds(0) : most_;
      most_ = {};
      since_ = now;
    }
    most_ = std::max(most_, variation);
  }
  /// 0: nothing was measured.
  std::chrono::microseconds most() const { return std::max(most_, before_); }

 private:
  static constexpr std::chrono::seconds window{15};
  TimePoint since_;
  std::chrono::microseconds most_{};
  std::chrono::microseconds before_{};
};

}  // namespace sluice

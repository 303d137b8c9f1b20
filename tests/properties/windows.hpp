#pragma once

#include "common/clock.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <ostream>
#include <vector>

namespace sluice::testing {

/// What was taken of a limit, and when.
struct Charge {
  BootTime at{};
  std::int64_t units = 1;
};

/// A limit in whole numbers, so that windows are weighed without rounding.
struct ExactLimit {
  static constexpr std::int64_t minute_us = 60'000'000;

  std::int64_t per_minute = 0;
  std::int64_t burst = 0;  ///< In units times minute_us.

  /// A burst of so many microseconds of the rate, at least `least` units.
  static ExactLimit with_burst_of(std::int64_t per_minute, BootTime time, std::int64_t least) {
    return {per_minute, std::max(per_minute * time.count(), least * minute_us)};
  }
};

/// A span of time, both ends included, and what was taken in it.
struct ChargedWindow {
  BootTime from{};
  BootTime to{};
  std::int64_t units = 0;

  friend std::ostream& operator<<(std::ostream& out, const ChargedWindow& window) {
    return out << window.units << " units from " << window.from.count() << " us to " << window.to.count()
               << " us";
  }
};

/// The first window with more than rate x length + burst; nothing if there is none.
inline std::optional<ChargedWindow> window_over(std::vector<Charge> charges, const ExactLimit& limit) {
  std::ranges::stable_sort(charges, {}, &Charge::at);
  ChargedWindow worst;  // Of those that end at the charge before.
  std::int64_t excess = 0;
  for (const auto& charge : charges) {
    excess -= limit.per_minute * (charge.at - worst.to).count();
    if (worst.units == 0 || excess <= 0) {
      worst = {charge.at, charge.at, 0};
      excess = 0;
    }
    worst.to = charge.at;
    worst.units += charge.units;
    excess += charge.units * ExactLimit::minute_us;
    if (excess > limit.burst) return worst;
  }
  return std::nullopt;
}

/// How many more starts than there were `per_minute` would have had in some window of [from, to]; `at` in
/// order.
inline double greatest_lack(const std::vector<BootTime>& at, double per_minute, BootTime from, BootTime to) {
  double lack = 0;
  double greatest = 0;
  BootTime last = from;
  const auto pass = [&](BootTime time) {
    lack += per_minute * static_cast<double>((time - last).count()) / ExactLimit::minute_us;
    greatest = std::max(greatest, lack);
    last = time;
  };
  for (const auto time : at) {
    if (time < from || time > to) continue;
    pass(time);
    lack = std::max(0.0, lack - 1);
  }
  pass(to);
  return greatest;
}

/// The longest time without a start in [from, to]; `at` in order.
inline BootTime longest_wait(const std::vector<BootTime>& at, BootTime from, BootTime to) {
  BootTime longest{};
  BootTime last = from;
  for (const auto time : at) {
    if (time < from || time > to) continue;
    longest = std::max(longest, time - std::exchange(last, time));
  }
  return std::max(longest, to - last);
}

}  // namespace sluice::testing

#pragma once

#include "coordinator/governor/rate_search.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace sluice::rate_search_test {

using namespace std::chrono_literals;

/// When the tests of a search begin.
constexpr BootTime start = std::chrono::hours(1);

/// Lets calls start at `rate` for `time`, in steps of 10 ms.
inline void run_at(RateSearch& search, double rate, BootTime& now, BootTime time, bool held_back = true) {
  double owed = 0;
  for (BootTime gone{}; gone < time; gone += 10ms) {
    now += 10ms;
    owed += rate * 0.01;
    const auto started = static_cast<std::uint32_t>(owed);
    owed -= started;
    search.on_outcomes(started, 0, 0, now);
    search.grow(held_back, std::nullopt, now);
  }
}

/// Tells of every call's outcome at a bucket that is empty: what is beyond `limit` is refused.
inline void run_into(RateSearch& search, double limit, BootTime& now, BootTime time) {
  double owed = 0;
  double left = 1;
  for (BootTime gone{}; gone < time; gone += 10ms) {
    now += 10ms;
    left = std::min(2.0, left + limit * 0.01);
    owed += search.rate().value_or(2 * limit) * 0.01;
    for (; owed >= 1; --owed) {
      const bool is_taken = left >= 1;
      if (is_taken) --left;
      search.on_outcomes(1, is_taken ? 0 : 1, 0, now);
    }
    search.grow(true, std::nullopt, now);
  }
}

}  // namespace sluice::rate_search_test

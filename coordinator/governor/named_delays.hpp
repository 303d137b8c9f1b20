#pragma once

#include "common/clock.hpp"
#include "coordinator/governor/defaults.hpp"
#include "coordinator/governor/slot_rule.hpp"

#include <algorithm>
#include <deque>

namespace sluice {

/// The delays that refusals have named, for a search that learns from them: none overlaps another. Pure; not
/// thread-safe.
class NamedDelays {
 public:
  struct Delay {
    BootTime from{};
    BootTime to{};
  };

  void note(BootTime delay, BootTime now) {
    longest_ = std::max(longest_, delay);
    if (!delays_.empty() && now <= delays_.back().to) {
      delays_.back().to = std::max(delays_.back().to, now + delay);
    } else {
      delays_.push_back({now, now + delay});
    }
    if (delays_.size() > defaults::rate_search::pauses_remembered) delays_.pop_front();
  }
  /// None was named, but one of this length is counted on.
  void assume(BootTime longest, BootTime now) {
    longest_ = longest;
    delays_.push_back({now, now});
  }
  /// What a refusal may cost.
  BootTime longest() const { return longest_; }
  /// Each refusal costs more than what it shows.
  bool are_costly() const { return longest_ >= defaults::rate_search::costly_pause; }
  /// One call after each of them is what the provider asks for: calls a second.
  double slowest_pace() const { return 1 / in_seconds(longest_); }
  bool is_over(BootTime now) const { return now >= end(); }
  /// Of the last one; the beginning of time if none was named.
  BootTime end() const { return delays_.empty() ? BootTime{} : delays_.back().to; }
  /// REQUIRES: `note` was called.
  const Delay& last() const { return delays_.back(); }
  BootTime within(BootTime since, BootTime now) const {
    BootTime time{};
    for (const auto& one : delays_) {
      const auto from = std::max(one.from, since);
      const auto to = std::min(one.to, now);
      if (from < to) time += to - from;
    }
    return time;
  }

 private:
  std::deque<Delay> delays_;  ///< The newest.
  BootTime longest_{};
};

}  // namespace sluice

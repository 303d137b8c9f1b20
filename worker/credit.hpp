#pragma once

#include "common/clock.hpp"

#include <cstdint>

namespace sluice {

/// How many units a worker wants to hold: those that it works on at a time, and beyond them as many as it
/// finishes while new work is on its way, so that it never runs dry and a slow one hoards nothing
/// (docs/delivery.md).
std::uint32_t credit_window(std::uint32_t concurrency, double finished_per_second);

/// The credit that a worker offers to the coordinator, by how fast it has finished units lately. Pure: time
/// is an argument. Not thread-safe.
class Credit {
 public:
  /// `paid`: units wait for a provider. Else each takes microseconds, and the window is deep from the start.
  explicit Credit(bool paid = true);

  void on_finished() { ++finished_since_beat_; }
  /// Once an interval.
  void on_beat(Duration interval);
  /// Units to hold, with so many worked on at a time, `since_beat` after the last beat.
  std::uint32_t window(std::uint32_t concurrency, Duration since_beat) const;

 private:
  bool paid_;
  std::uint64_t finished_since_beat_ = 0;
  double finished_per_second_ = 0.0;
};

}  // namespace sluice

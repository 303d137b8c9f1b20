#pragma once

#include "common/clock.hpp"
#include "coordinator/run/defaults.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace sluice {

/// Whom a run waits for before it hands out its units: the workers that it is to expect, and for a moment
/// those that had units of its earlier parts, and those whose caches hold answers. Pure; not thread-safe.
class RunStart {
 public:
  /// `expected` workers are waited for no longer than `timeout` from `began` on; 0: the first one will do. A
  /// process that does not look for longer than `longest_look` was stopped: nobody could come meanwhile.
  RunStart(std::uint32_t expected, std::chrono::milliseconds timeout, Duration longest_look, TimePoint began)
      : expected_(expected), timeout_(timeout), longest_look_(longest_look), began_(began) {}

  /// What holds from now on; each is true once.
  struct Step {
    bool begins = false;            ///< Units are handed out.
    bool holders_overdue = false;   ///< Those whose holders have not come go to others.
    bool some_are_missing = false;  ///< It begins without all that were expected.
  };
  /// So many workers are READY, and so many that had units before are not.
  Step on_ready(std::uint32_t ready, std::size_t missing_again, TimePoint now) {
    Step step;
    leave_out_a_stop(now);
    if (!first_ready_ && ready > 0) first_ready_ = now;
    const auto wait = missing_again > 0 ? defaults::return_wait : defaults::holder_wait;
    const bool waited = first_ready_ && now - *first_ready_ >= wait;
    const bool are_all_there = expected_ > 0 ? ready >= expected_ : missing_again == 0 || waited;
    if (!begun_ && ready > 0 && (are_all_there || now - began_ > timeout_)) {
      begun_ = step.begins = true;
      step.some_are_missing = ready < expected_;
    }
    // Where the number to wait for is set, nobody else is waited for.
    const bool enough = begun_ && (expected_ > 0 || waited);
    if (enough && !holders_overdue_) step.holders_overdue = holders_overdue_ = true;
    return step;
  }
  bool begun() const { return begun_; }

 private:
  void leave_out_a_stop(TimePoint now) {
    const auto last = std::exchange(looked_at_, now);
    if (!last || now - *last <= longest_look_ || ++stops_ > defaults::max_uncounted_stops) return;
    began_ += now - *last;
    if (first_ready_) *first_ready_ += now - *last;
  }

  std::uint32_t expected_;
  std::chrono::milliseconds timeout_;
  Duration longest_look_;
  TimePoint began_;
  std::optional<TimePoint> looked_at_;
  std::uint32_t stops_ = 0;
  std::optional<TimePoint> first_ready_;
  bool begun_ = false;
  bool holders_overdue_ = false;
};

}  // namespace sluice

#pragma once

#include "common/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace sluice {

/// When a worker's REPORT goes out: together with whatever else comes while there is enough to do meanwhile,
/// else as soon as everything that has come is in it. The owner sets the timers. Pure; not thread-safe.
class ReportSchedule {
 public:
  /// What the worker is at.
  struct Load {
    std::size_t waiting = 0;        ///< Units that nothing has begun with.
    std::uint32_t concurrency = 0;  ///< Units that are worked on at a time.
    bool awaits_answer = false;     ///< A REPORT with results has not been acknowledged yet.
  };
  enum class Step : std::uint8_t {
    wait,       ///< Nothing: it is waited for already, or there is nothing to report.
    post,       ///< Call `on_post` after everything that is in the mailbox already.
    set_timer,  ///< Call `on_timer` at `Next::at`.
    report,     ///< Send the REPORT.
  };
  struct Next {
    Step step = Step::wait;
    TimePoint at{};
  };

  /// How long what is not reported may wait for more: for as long as there is enough to do, or for a while if
  /// there is something to do and a REPORT on its way that is answered with more. Zero: a worker that runs
  /// short needs its next units now.
  static Duration gathering_time(const Load& load);

  /// There is something to report, or something has changed for what waits to be reported.
  Next on_change(const Load& load, TimePoint now);
  Next on_post();
  Next on_timer(const Load& load, TimePoint now);
  /// Nothing waits to be reported any more.
  void on_reported() { since_.reset(); }

 private:
  Next set_timer(TimePoint at);

  std::optional<TimePoint> since_;  ///< Since when there is something that is not reported.
  std::optional<TimePoint> timer_;  ///< The earliest that is set.
  bool posted_ = false;
};

}  // namespace sluice

#pragma once

#include "common/clock.hpp"
#include "coordinator/facts/worker_id.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <set>

namespace sluice {

/// Holds back the calls to a provider that is down, and finds out by single calls when it is up again. Opens
/// after `breaker_failures` in a row over the fleet, or when half of the calls of the last `breaker_window`
/// failed, or when every call was refused without a delay for `breaker_refused_time`; stays closed for a
/// provider that was never reached, since such a run ends at once anyway. Pure; not thread-safe.
class Breaker {
 public:
  /// What calls came to.
  struct Ended {
    std::uint32_t signs_of_life = 0;  ///< Answers, and refusals that name a delay.
    std::uint32_t failed = 0;
    std::uint32_t refused = 0;  ///< 429 and 529 without a delay.
  };

  explicit Breaker(BootTime outage_timeout) : outage_timeout_(outage_timeout) {}

  /// The provider is there, whatever it answers: from now on it can be down.
  void reached() { ever_reached_ = true; }
  /// What calls came to at `worker`. While it is open only who probes counts. True if the breaker opened or
  /// closed.
  bool on_outcomes(WorkerId worker, const Ended& ended, BootTime now);

  bool open() const { return opened_.has_value(); }
  /// While open: when the next call may probe.
  BootTime probe_at() const { return probe_at_; }
  void probe_started(WorkerId worker, BootTime now);
  /// The probe will not be made there after all: another may be made at once.
  void probe_lost(WorkerId worker, BootTime now);
  bool probes(WorkerId worker) const { return probers_.contains(worker); }
  bool probing() const { return !probers_.empty(); }

  /// Open for longer than the outage may last.
  bool given_up(BootTime now) const { return opened_ && now - *opened_ >= outage_timeout_; }
  /// When `given_up` becomes true; nothing while closed.
  std::optional<BootTime> gives_up_at() const;
  /// Time spent open so far.
  BootTime outage_time(BootTime now) const;

 private:
  struct Sample {
    BootTime at{};
    std::uint32_t signs_of_life = 0;
    std::uint32_t failed = 0;
  };

  bool on_probe_outcome(WorkerId worker, bool answered, BootTime now);
  void note(std::uint32_t signs_of_life, std::uint32_t failed, BootTime now);
  bool many_failed() const;
  bool all_refused(const Ended& ended, BootTime now);
  void open_at(BootTime now);
  void close_at(BootTime now);

  BootTime outage_timeout_;
  bool ever_reached_ = false;
  std::uint32_t failed_in_a_row_ = 0;
  std::uint64_t refused_in_a_row_ = 0;
  BootTime refused_since_{};
  std::deque<Sample> samples_;  ///< Of the last breaker_window.
  std::optional<BootTime> opened_;
  BootTime past_outages_{};
  BootTime hold_{};
  BootTime probe_at_{};
  std::set<WorkerId> probers_;  ///< Several, where probes take longer than the wait for the next.
};

}  // namespace sluice

#pragma once

#include "common/clock.hpp"
#include "common/model/result.hpp"
#include "coordinator/facts/run_facts.hpp"
#include "coordinator/plan/plan.hpp"
#include "coordinator/run/recording.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace sluice {

/// Counters of trials that are done, for the progress line.
struct TrialCounts {
  std::uint64_t passed = 0;     ///< Unperturbed ones.
  std::uint64_t failed = 0;     ///< Unperturbed ones.
  std::uint64_t perturbed = 0;  ///< With an answer to a perturbed input, which passes and fails nothing.
  std::uint64_t errors = 0;     ///< Perturbed or not.

  std::uint64_t done() const { return passed + failed + perturbed + errors; }
};

/// What a run did and spent so far, in numbers. Pure; not thread-safe.
class RunTally {
 public:
  RunTally(std::string run_id, TimePoint began) : last_result_(began) { facts_.run_id = std::move(run_id); }

  void on_lease(TimePoint now) { first_lease_ = first_lease_.value_or(now); }
  void on_result(TimePoint now) { last_result_ = now; }
  /// Parts of the run before this one took so long.
  void took_before(std::chrono::milliseconds time) { before_ = time; }
  /// The run goes on now, with another part.
  void go_on(TimePoint now) {
    last_result_ = now;
    facts_.is_resumed = true;
  }
  /// A unit's first result is committed.
  void on_settled(const Plan& plan, const ResultsRecorded::Item& item);
  /// The same for one of its trials.
  void on_settled(const Plan& plan, TrialId trial, bool error, bool failed);
  void on_duplicate() { ++facts_.duplicates_dropped; }
  void on_leases_lost(std::size_t count) { facts_.leases_lost += count; }
  void on_spend(const Spend& spend, std::size_t arm);
  /// The router's number so far.
  void set_frames_rejected(std::uint64_t count) { facts_.frames_rejected = count; }

  const TrialCounts& trials() const { return trials_; }
  /// How long the run took (RunFacts::duration_seconds) if this part's last result came then.
  std::chrono::milliseconds time_until(TimePoint last_result) const;
  /// The run's id, its duration and the counters; the rest is not set.
  RunFacts facts() const;

 private:
  RunFacts facts_;
  TrialCounts trials_;
  std::optional<TimePoint> first_lease_;
  TimePoint last_result_;
  std::chrono::milliseconds before_{};
};

}  // namespace sluice

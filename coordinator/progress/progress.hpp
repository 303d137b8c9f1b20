#pragma once

#include "coordinator/facts/budget_facts.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sluice {

/// Trials done per second, over the last 10 s, or as many more as 10 trials took, so that one slow answer
/// does not make the remaining time jump. A stop of 3 s and more (an outage, a long pause) counts for
/// nothing: after it the rate is the one before, until it is known anew. Once nothing was finished for 10 s,
/// and for twice as long as ever lately, the rate is not known: it would only fall. Pure: the time comes as
/// an argument. Not thread-safe.
class RateEstimate {
 public:
  using Seconds = std::chrono::duration<double>;

  /// `done` trials were finished at `elapsed` after the start; `goes_on` unless everything stands still.
  /// Neither number goes back.
  void update(Seconds elapsed, std::uint64_t done, bool goes_on);
  /// Nothing until a trial was finished and some time has passed, nor during a stop that counts for nothing,
  /// nor while `stalled`.
  std::optional<double> per_second() const;
  /// Time for `remaining` more trials; nothing while the rate is unknown.
  std::optional<Seconds> time_for(std::uint64_t remaining) const;
  /// For how long nothing was finished, if that is clearly longer than it was lately. Nothing during a stop.
  std::optional<Seconds> stalled() const;

 private:
  struct Sample {
    Seconds at{};
    std::uint64_t done = 0;
  };

  bool is_stopped() const;
  void leave_out_the_stop(std::uint64_t done);
  Seconds window() const;  ///< In which the trials since the first sample were finished.

  Seconds now_{};
  std::uint64_t done_ = 0;
  std::optional<Sample> stopped_at_;
  /// When trials were finished; the first is where the window begins.
  std::deque<Sample> samples_ = std::deque<Sample>(1);
};

/// What a run looks like from outside at one moment.
struct ProgressState {
  std::uint64_t done = 0;   ///< Trials: passed + failed + perturbed + errors.
  std::uint64_t total = 0;  ///< Trials.
  /// What the trials are of, by repeats and perturbations; nothing: a trial is a case.
  std::optional<std::uint64_t> cases;
  std::uint64_t passed = 0;         ///< Unperturbed ones, by their metrics alone: the gate comes at the end.
  std::uint64_t failed = 0;         ///< Unperturbed ones, the same.
  std::uint64_t perturbed = 0;      ///< Answered ones, which pass and fail nothing.
  std::uint64_t errors = 0;         ///< Perturbed or not.
  std::uint64_t begun = 0;          ///< Units that a worker has begun: in flight, or held up.
  std::uint64_t in_flight = 0;      ///< Of these, those that nothing holds up (set_in_flight).
  std::uint64_t in_check = 0;       ///< Results that wait for commands which check their answers.
  std::uint64_t waiting = 0;        ///< With a worker, which has not begun with them.
  bool waits_for_budget = false;    ///< Calls under way have reserved the rest of --max-tokens or --max-cost.
  std::uint32_t workers = 0;        ///< That take work.
  std::uint32_t idle_workers = 0;   ///< Of these: that have none.
  std::uint32_t unfit_workers = 0;  ///< That are connected and get none.
  std::uint32_t expected_workers = 0;  ///< For which it waits before it begins; 0: it does not.
  std::optional<double> cost;          ///< US dollars paid so far.
  std::chrono::seconds elapsed{};
  std::optional<double> per_second;  ///< RateEstimate::per_second.
  std::optional<std::chrono::seconds> remaining;
  std::optional<std::chrono::seconds> stalled;  ///< RateEstimate::stalled, while something is under way.
  std::uint64_t rate_limited = 0;               ///< 429 and 529 so far.
  std::vector<BudgetFacts> budgets;             ///< Of each provider.
  bool is_assessed = true;                      ///< Else passed and failed are nothing but answers.
  bool is_gated = false;  ///< The gate may yet decide otherwise on what passed and failed.
  bool is_over = false;   ///< What is not done was not started.
};

/// Nothing goes on, so that what was done a while ago says nothing of what is left: a provider is down or
/// given up, or every one of them is on hold.
bool stands_still(std::span<const BudgetFacts> providers);

/// Sets `in_flight` by `begun`, `waiting` and `budgets`, and takes what is `waiting` out of the waiting calls
/// of the budgets that count it (BudgetFacts::waiting_has_queued).
void set_in_flight(ProgressState& state);

/// The run has ended: `unanswered` trials without a result are errors in its report, the others without one
/// were not started.
void end_with(ProgressState& state, std::uint64_t unanswered);

/// One line of at most `columns` columns without a line end: the least important parts go first when it is
/// tight.
std::string render_live(const ProgressState& state, std::size_t columns, bool colour);
/// One line for a log, without a line end, everything in words.
std::string render_plain(const ProgressState& state);

}  // namespace sluice

#pragma once

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/model/run_settings.hpp"

#include <chrono>
#include <optional>

namespace sluice {

/// Whether whoever goes on with the run finds what it has paid for in a cache, and asks nobody again.
bool keeps_answers(const RunSettings& run);

/// Whether a run is over, why, and how long calls under way may take then. Pure: time is an argument. Not
/// thread-safe.
class RunEnd {
 public:
  /// `drain_timeout` is for calls under way when the run is stopped, as far as the deadline leaves it to
  /// them; that counts from `began` on.
  RunEnd(std::chrono::milliseconds drain_timeout, std::optional<std::chrono::milliseconds> deadline,
         TimePoint began)
      : drain_timeout_(drain_timeout), deadline_(deadline), began_(began) {}

  /// The plan is done. False if the run was over before.
  bool complete();
  /// The run ends with what it has. False if it was over before: the first reason stays.
  bool stop(const Error& why, TimePoint now);

  bool over() const { return over_; }
  const std::optional<Error>& stopped() const { return stopped_; }
  /// Whether nobody waits for commands that check answers, whoever ended the run before. Answers that are not
  /// kept (keeps_answers) would be paid for again, so after
  /// a signal their commands have the time of calls under way.
  bool drops_checks(TimePoint now, bool answers_are_kept) const;
  /// How long a run that is over goes on waiting for calls under way.
  std::chrono::milliseconds time_to_finish(TimePoint now) const;
  /// Why the report calls the run cut short. `all_settled`: every unit has its result.
  std::optional<Error> cut_short(bool all_settled) const;

  /// Why the run ends now: its deadline is reached.
  std::optional<Error> deadline_problem(TimePoint now) const;
  /// The run has a deadline, and it lies beyond `time`.
  bool has_deadline_beyond(TimePoint time) const { return deadline_ && began_ + *deadline_ > time; }

 private:
  std::chrono::milliseconds drain_timeout_;
  std::optional<std::chrono::milliseconds> deadline_;
  TimePoint began_;
  bool over_ = false;
  bool interrupted_ = false;
  bool drops_checks_ = false;  ///< Verdicts have no place any more.
  std::optional<Error> stopped_;
  TimePoint finish_by_;  ///< Until then calls under way are waited for.
};

}  // namespace sluice

#include "coordinator/run/run_end.hpp"

#include "coordinator/run/run_errors.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

bool keeps_answers(const RunSettings& run) {
  return run.mode != Mode::live || (run.read_cache && !run.judge.refresh);
}

bool RunEnd::complete() {
  return !std::exchange(over_, true);
}

bool RunEnd::stop(const Error& why, TimePoint now) {
  interrupted_ = interrupted_ || why.reason == Reason::interrupted;
  drops_checks_ =
      drops_checks_ || why.reason == Reason::deadline_reached || why.reason == Reason::ledger_failed;
  if (std::exchange(over_, true)) return false;
  stopped_ = why;
  // A deadline is kept. Where the ledger fails, what is paid for is still kept in a cache.
  const bool at_once = why.reason == Reason::deadline_reached || why.reason == Reason::internal_error;
  finish_by_ = at_once ? now : now + drain_timeout_;
  if (deadline_) finish_by_ = std::min(finish_by_, began_ + *deadline_);
  return true;
}

bool RunEnd::drops_checks(TimePoint now, bool answers_are_kept) const {
  return drops_checks_ || (interrupted_ && (answers_are_kept || time_to_finish(now).count() == 0));
}

std::chrono::milliseconds RunEnd::time_to_finish(TimePoint now) const {
  if (!stopped_ || now >= finish_by_) return {};
  return std::chrono::ceil<std::chrono::milliseconds>(finish_by_ - now);
}

std::optional<Error> RunEnd::cut_short(bool all_settled) const {
  // What was on its way when a budget ended the run may have been the rest of the plan.
  const bool came_all_the_same = stopped_ && is_run_budget(stopped_->reason) && all_settled;
  return came_all_the_same ? std::nullopt : stopped_;
}

std::optional<Error> RunEnd::deadline_problem(TimePoint now) const {
  if (!deadline_ || now - began_ < *deadline_) return std::nullopt;
  return deadline_reached(*deadline_);
}

}  // namespace sluice

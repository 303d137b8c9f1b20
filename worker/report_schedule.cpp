#include "worker/report_schedule.hpp"

#include "worker/defaults.hpp"

#include <utility>

namespace sluice {

Duration ReportSchedule::gathering_time(const Load& load) {
  if (load.waiting > load.concurrency / 2) return defaults::report_delay;
  return load.waiting > 0 && load.awaits_answer ? defaults::report_answer_wait : Duration::zero();
}

ReportSchedule::Next ReportSchedule::on_change(const Load& load, TimePoint now) {
  if (!since_) since_ = now;
  const auto wait = gathering_time(load);
  if (wait > Duration::zero()) return set_timer(*since_ + wait);
  return {std::exchange(posted_, true) ? Step::wait : Step::post, {}};
}

ReportSchedule::Next ReportSchedule::on_post() {
  posted_ = false;
  return {Step::report, {}};
}

ReportSchedule::Next ReportSchedule::on_timer(const Load& load, TimePoint now) {
  timer_.reset();
  // It may be the timer of what was reported early, and there may be more to do since it was set.
  if (!since_) return {};
  const auto due = *since_ + gathering_time(load);
  return now < due ? set_timer(due) : Next{Step::report, {}};
}

/// One timer for all that is gathered, set again only for an earlier time.
ReportSchedule::Next ReportSchedule::set_timer(TimePoint at) {
  if (timer_ && *timer_ <= at) return {};
  timer_ = at;
  return {Step::set_timer, at};
}

}  // namespace sluice

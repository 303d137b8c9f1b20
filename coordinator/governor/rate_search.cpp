#include "coordinator/governor/rate_search.hpp"

#include "common/defaults.hpp"
#include "coordinator/governor/defaults.hpp"
#include "coordinator/governor/slot_rule.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sluice {

using namespace defaults::rate_search;

void RateSearch::note(std::uint32_t started, std::uint32_t refused, std::uint32_t refused_late,
                      BootTime now) {
  counts_.note(started, refused, refused_late, now);
  if (started > 0 && !first_start_) first_start_ = now;
  if (now >= other_pause_to_) started_since_other_ += started;
}

/// Half the rate was kept for a while: what was refused even then was not refused for the rate. A window that
/// was full at the cut refuses all calls until its end, at any rate.
void RateSearch::weigh_the_cut(BootTime now) {
  if (cut_weighed_ || now - cut_at_ < half_time) return;
  const auto begin = cut_at_ + stale_time;
  const auto all = counts_.since(begin);
  const bool is_closed = all.refused >= closed_share * all.started;
  const auto at_half = is_closed ? all : counts_.since(counts_.closed_until(begin, now, closed_share));
  if (at_half.started < calls_to_weigh_ && now - cut_at_ < longest_half_time) return;
  cut_weighed_ = true;
  const double rate_before = std::exchange(rate_before_, 0);
  if (std::max(share_before_, at_half.refused / std::max(1.0, at_half.started)) > most_of_background) return;
  if (at_half.refused > 0 && took_as_much(begin, now)) return;
  at_half_.started += at_half.started;
  at_half_.refused += at_half.refused;
  const double kept = std::min(1.0, calls_remembered / std::max(1.0, at_half_.started));
  at_half_.started *= kept;
  at_half_.refused *= kept;
  if (at_half.refused == 0) return;
  rate_ = rate_before;
  accepted_ = accepted_before_;
}

/// Each named delay lets one call in before the next refusal, at any rate that is too high. By chance half
/// the rate would have come to fewer answers, or fewer of all calls would have been refused.
bool RateSearch::took_as_much(BootTime since, BootTime now) const {
  return delays_.longest() > BootTime::zero() && share_before_ >= share_between_pauses &&
         counts_.accepted_since(since, now) >= as_much * taken_before_;
}

/// Before a cut, over a few calls: the limit may have been another one a little earlier.
double RateSearch::taken_of_late(BootTime now) const {
  BootTime since{};
  for (const auto time : weighed_times) {
    since = rate_ ? std::max(now - time, cut_at_) : now - time;
    if (counts_.since(since).started >= calls_to_compare) break;
  }
  return counts_.accepted_since(since, now);
}

double RateSearch::background() const {
  return at_half_.refused / (at_half_.started + calls_at_half);
}

/// Calls were made at half the rate, and next to none of them was refused.
bool RateSearch::half_was_taken() const {
  return at_half_.started >= calls_at_half && background() <= most_of_chance;
}

/// The last cut, or the end of a pause that another limit named: calls have gone on since.
BootTime RateSearch::at_pace_since(BootTime now) const {
  return now < other_pause_to_ ? cut_at_ : std::max(cut_at_, other_pause_to_);
}

BootTime RateSearch::recent_since(BootTime now) const {
  BootTime since{};
  for (const auto time : weighed_times) {
    since = rate_ ? std::max(now - time, at_pace_since(now) + stale_time) : now - time;
    if (counts_.since(since).started >= weighed_calls) break;
  }
  return since;
}

RateSearch::Count RateSearch::recent(BootTime now) const {
  return counts_.since(recent_since(now));
}

bool RateSearch::weighty(const Count& recent, BootTime now) const {
  // A rate that doubles is soon so far beyond its limit that much is refused; what is less came by chance.
  const bool doubles = rate_ && !accepted_ && delays_.longest() == BootTime::zero() && used(now);
  const double share = doubles ? weighty_share_of_doubling : weighty_share;
  const double usual = background() * recent.started;
  const double unusual = recent.refused - usual - 2 * std::sqrt(usual);
  // Before the next one comes after a long pause, the last is forgotten.
  const double fewest = delays_.longest() >= weighed_times.back() ? 1 : fewest_refusals;
  return recent.refused >= fewest && unusual * caution() > share * recent.started;
}

/// How many times as much a refusal costs as one without a delay.
double RateSearch::caution() const {
  return 1 + in_seconds(delays_.longest());
}

/// Of an earlier run's limit nobody knows what a refusal costs, and it is held as if it were much. One
/// without a delay shows that it is little, and so do short delays that follow each other: the rate is
/// searched for as it is there.
void RateSearch::forget_costs() {
  is_remembered_ = assumes_costs_ = false;
  estimate_is_due_ = first_is_due_ = false;
  estimated_.forget();
  delays_ = {};
}

bool RateSearch::on_outcomes(std::uint32_t started, std::uint32_t refused, std::uint32_t refused_late,
                             const ReportTime& reported, BootTime now) {
  if (is_remembered_ && refused > 0) forget_costs();
  if (rate_ && now - cut_at_ < stale_time) refused_late += std::exchange(refused, 0);
  note(started, refused, refused_late, now);
  estimated_.seen().on_outcomes(started, refused + refused_late, reported);
  weigh_the_cut(now);
  if (refused == 0) return false;
  const auto counted = recent(now);
  if ((rate_ && !cut_weighed_) || !weighty(counted, now)) return false;
  share_before_ = counted.refused / std::max(1.0, counted.started);
  cut(now);
  return true;
}

/// Calls may wait for other things than the rate, too.
bool RateSearch::used(BootTime now) const {
  const double possible = *rate_ * in_seconds(used_time);
  return counts_.since(now - used_time).started + calls_of_doubt >= used_share * possible;
}

/// From one refusal to the next the provider took what its limit gave, and no more.
std::optional<double> RateSearch::accepted_between_refusals(BootTime now) const {
  if (!half_was_taken()) return std::nullopt;
  const auto first = counts_.first_refusal_since(recent_since(now), now);
  if (now - first < shortest_between_refusals) return std::nullopt;
  const auto accepted = counts_.accepted_since(first, now);
  if (accepted * in_seconds(now - first) < fewest_between_refusals) return std::nullopt;
  return accepted;
}

/// Where refusals cost next to nothing.
double RateSearch::accepted_of_late(BootTime now) {
  const auto between = accepted_between_refusals(now);
  const bool was_rough = std::exchange(is_rough_, !between && !accepted_);
  if (between) return *between;
  const double calls = accepted_ ? measured_calls : calls_in_doubling;
  const auto shortest = accepted_ ? usual_window : measured_in_doubling;
  const BootTime enough(static_cast<BootTime::rep>(calls / *rate_ * 1e6));
  const auto time = std::clamp<BootTime>(enough, shortest, longest_measured_time);
  const auto at_pace = std::max(at_pace_since(now), now - time);
  const auto full = std::max(returned_at_, at_pace);
  const bool is_enough = counts_.since(full).started >= fewest_measured;
  const double counted = counts_.accepted_since(is_enough ? full : at_pace, now);
  // A pace that grew slowly was refused soon after it was too much: a few calls say no more of it. A window
  // that was full too soon does.
  const bool is_close = accepted_ && !was_rough && counted > close_to_the_pace * *rate_;
  return is_close ? found_growing * *rate_ : counted;
}

double RateSearch::accepted_since_cut(BootTime now) const {
  const auto since = std::max(cut_at_, now - longest_measured_time);
  const double paused = in_seconds(delays_.within(since, now));
  if (paused <= 0) {
    const BootTime enough(static_cast<BootTime::rep>(measured_calls / *rate_ * 1e6));
    const auto time = std::clamp<BootTime>(enough, measured_time, longest_measured_time);
    return counts_.accepted_since(std::max(cut_at_, now - time), now);
  }
  // A pause fills the bucket for the calls after it: without its time they seem to be too many. But a bucket
  // may have run over, and then they seem to be too few with it.
  const double time = in_seconds(now - since);
  const double without_pauses = std::max(time - paused, in_seconds(measured_time));
  return counts_.accepted_since(since, now) * std::sqrt(std::max(1.0, time / without_pauses));
}

/// Not if it was cut just now, nor if calls were refused all the time since.
bool RateSearch::is_the_rate_to_blame(BootTime now) const {
  const BootTime soon(static_cast<BootTime::rep>(calls_of_a_row / *rate_ * 1e6));
  const auto all = counts_.since(cut_at_ + stale_time);
  const auto newest = recent(now);
  if (all.refused - newest.refused > most_of_chance * (all.started - newest.started)) return false;
  return half_was_taken() && now - cut_at_ > std::max(soon, usual_window);
}

/// Between two cuts the provider's bucket was empty twice: what it took in that time is its rate.
void RateSearch::cut_to_accepted(BootTime now) {
  was_full_ = false;
  const double measured = !delays_.are_costly() ? accepted_of_late(now) : accepted_since_cut(now);
  double least = std::min(*rate_, std::max(*rate_ / 2, accepted_.value_or(0) * least_of_accepted));
  // Each refusal costs its pause: a rate that is too high is left in fewer steps.
  if (delays_.are_costly() && delays_.within(cut_at_, now) > BootTime::zero()) least = *rate_ / 4;
  accepted_ = std::max(lowest_rate, std::clamp(measured, least, *rate_));
  // What was refused at half of too much was refused for the rate.
  if (*accepted_ < half_rate_) at_half_ = {};
  // Refusals by chance would lower it for ever: so far below what half was tried of, it is tried again.
  const bool is_far = *accepted_ < trusted_share * 2 * half_rate_;
  cut_weighed_ = !is_far && is_the_rate_to_blame(now);
  rate_ = (cut_weighed_ ? just_below : 0.5) * *accepted_;
  if (!cut_weighed_) half_rate_ = *rate_;
}

void RateSearch::cut(BootTime now) {
  taken_before_ = taken_of_late(now);
  if (rate_ && *rate_ > rate_before_) {
    rate_before_ = *rate_;
    accepted_before_ = accepted_;
  }
  calls_to_weigh_ = share_before_ > most_of_background
                        ? calls_at_closed_door
                        : std::clamp(refusals_to_tell / share_before_, calls_at_half, most_calls_at_half);
  cut_weighed_ = !rate_;  // The first goes below anything that was seen: there is nothing to weigh.
  if (!rate_) {
    const auto first = std::min(first_start_.value_or(now), now - first_measured_time);
    auto since = std::max(first, now - measured_time);
    if (counts_.since(since).started < fewest_measured) since = std::max(first, now - longest_measured_time);
    // Where nothing was accepted nothing is known, either: one that was over its limit before the run began
    // will be below it soon.
    const double accepted = counts_.accepted_since(since, now);
    rate_ = accepted > 0 ? accepted / 2 : first_rate_in_vain;
  } else if (counts_.accepted_since(cut_at_, now) > 0) {
    cut_to_accepted(now);
  } else if (accepted_ && !was_full_) {
    // A window that is full takes nothing until its end, at whatever rate.
    was_full_ = true;
    rate_ = half_rate_ = *accepted_ / 2;
  } else {
    // What it takes is not known any more; half of what it refused is tried next.
    accepted_.reset();
    rate_ = *rate_ / 2;
  }
  seconds_at_ceiling_ = 0;
  rate_ = std::max(*rate_, lowest_rate);
  cut_at_ = returned_at_ = now;
  grown_at_ = now;
}

void RateSearch::forget() {
  RateSearch fresh;
  fresh.delays_ = std::move(delays_);
  *this = std::move(fresh);
}

/// Where refusals have named short delays so far, a long one is that of a longer window: it says nothing of
/// the rate that was found. But if it comes again before that rate was used for a while, it does.
bool RateSearch::is_of_another_limit(BootTime delay, BootTime now) const {
  if (!accepted_ || delays_.are_costly() || delay < costly_pause) return false;
  if (now < other_pause_to_) return true;
  return started_since_other_ >= calls_between_windows;
}

bool RateSearch::on_paused(std::uint32_t started, std::uint32_t refused, std::uint32_t refused_late,
                           BootTime delay, bool is_closed, const ReportTime& reported, BootTime now) {
  if (is_closed) {
    forget();
    pause(delay, now);
    return false;
  }
  if (assumes_costs_ && rate_ && refused > 0) {
    if (delay >= costly_pause) {
      assumes_costs_ = false;
    } else if (delays_.is_over(now) && now - cut_at_ < costly_pause) {
      forget_costs();
    }
  }
  if (is_of_another_limit(delay, now)) {
    note(started, 0, refused + refused_late, now);
    other_pause_to_ = now + delay;
    started_since_other_ = 0;
    return false;
  }
  if (std::max(delay, delays_.longest()) < costly_pause) {
    const bool was_cut = on_outcomes(started, refused, refused_late, reported, now);
    pause(delay, now);
    return was_cut;
  }
  const bool is_new = delays_.is_over(now);
  // Another run's, of the pause that is over: what it showed is known.
  const bool is_old = is_new && rate_ && reported.at < delays_.end();
  if (is_new && estimate_is_due_) follow_estimate();
  // Whatever began before the pause has come back by its end.
  refused += std::exchange(refused_late, 0);
  note(started, 0, refused, now);
  estimated_.seen().on_outcomes(started, refused, reported);
  estimated_.seen().on_pause(reported, now + delay);
  pause(delay, now);
  if (is_old || (!is_new && rate_) || refused == 0) return false;
  // One alone is no limit.
  if (!rate_ && estimated_.seen().refusals() < fewest_refusals) return false;
  const bool is_first = !rate_;
  if (is_first) follow_estimate();
  // What is told late of this episode, until the pause ends, makes it more exact.
  first_is_due_ = is_first;
  estimate_is_due_ = true;
  cut_weighed_ = true;
  rate_before_ = 0;
  seconds_at_ceiling_ = 0;
  cut_before_ = std::exchange(cut_at_, now);
  grown_at_ = now;
  return true;
}

void RateSearch::follow_estimate() {
  estimate_is_due_ = false;
  if (rate_ && estimated_.seen().was_closed()) return;
  rate_ = estimated_.after_refusal(rate_, std::exchange(first_is_due_, false), delays_, cut_before_);
  if (estimated_.is_known()) accepted_ = rate_;
}

void RateSearch::grow_estimate(double passed, BootTime now) {
  const bool was_known = estimated_.is_known();
  rate_ = estimated_.grown(*rate_, passed, delays_, now);
  if (!was_known && estimated_.is_known()) accepted_ = rate_;
}

void RateSearch::begin_with(double rate, std::optional<double> burst, BootTime now) {
  rate_ = accepted_ = rate;
  estimated_.begin_with(rate, burst);
  is_remembered_ = assumes_costs_ = true;
  // Nobody knows what a refusal costs.
  delays_.assume(costly_pause, now);
  cut_at_ = grown_at_ = now;
}

void RateSearch::go_on_from(double rate, bool is_costly, BootTime now) {
  if (is_costly) {
    begin_with(rate, std::nullopt, now);
    estimated_.doubt();
    accepted_.reset();
  }
  rate_ = rate;
  cut_at_ = grown_at_ = now;
}

void RateSearch::pause(BootTime delay, BootTime now) {
  is_remembered_ = false;
  delays_.note(delay, now);
}

/// No more is refused of late than by chance.
bool RateSearch::takes_more(BootTime now) const {
  if (background() >= weighty_share) return true;
  const auto newest = recent(now);
  return newest.refused <= (background() + resting_share) * newest.started;
}

void RateSearch::grow(bool held_back, std::optional<double> ceiling, BootTime now) {
  if (!rate_) return;
  // A time in which nobody looked is no time in which the rate was used.
  const double passed = in_seconds(std::min<BootTime>(now - grown_at_, longest_step));
  grown_at_ = now;
  weigh_the_cut(now);
  if (estimate_is_due_ && now + defaults::permit_lead >= delays_.last().to) follow_estimate();
  if (!held_back || !cut_weighed_ || !used(now)) return;
  if (delays_.are_costly()) {
    grow_estimate(passed, now);
  } else if (!accepted_ || (*rate_ > beyond_limit * *accepted_ && takes_more(now))) {
    *rate_ *= std::exp2(passed / doubling_seconds);
  } else if (*rate_ < just_below * *accepted_) {
    const double back = *rate_ + *accepted_ / 2 * passed / return_seconds;
    *rate_ = std::min(back, just_below * *accepted_);
    returned_at_ = now;
  } else if (takes_more(now)) {
    const double steepness = 1 + in_seconds(now - at_pace_since(now)) / steeper_after_seconds;
    const double steady = is_rough_ ? rough_growth : slow_growth;
    const double growth = steady + regrowth * std::min(1.0, 2 * background() / weighty_share);
    *rate_ += growth * steepness / caution() * *accepted_ * passed;
  }
  rate_ = std::min(*rate_, highest_rate);
  if (!ceiling || *rate_ < *ceiling) {
    seconds_at_ceiling_ = 0;
    return;
  }
  rate_ = ceiling;
  seconds_at_ceiling_ += passed;
  if (seconds_at_ceiling_ < proof_seconds) return;
  rate_.reset();
  accepted_.reset();
  rate_before_ = 0;
  estimated_.forget_refused();
}

}  // namespace sluice

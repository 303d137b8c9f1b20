#include "coordinator/governor/pace_search.hpp"

#include "coordinator/governor/defaults.hpp"
#include "coordinator/governor/slot_rule.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sluice {

using namespace defaults::pace_search;

PaceSearch::PaceSearch(double pace, BootTime now)
    : pace_(std::max(lowest_pace, pace)),
      refused_time_(now),
      last_refused_(now),
      hold_until_(now),
      changed_(now) {}

void PaceSearch::on_started(std::uint32_t started, BootTime now) {
  if (now - fresh_since_ > way_of_refusal) {
    answered_ += std::exchange(fresh_, 0);
    fresh_since_ = now;
  }
  fresh_ += started;
}

bool PaceSearch::on_refused(std::uint32_t refused, std::uint32_t late, BootTime delay, BootTime now) {
  fresh_ -= refused + late;
  answered_ = std::max(0.0, answered_ + std::min(fresh_, 0.0));
  fresh_ = std::max(fresh_, 0.0);
  if (now < hold_until_ || (refused == 0 && now < hold_until_ + late_time)) {
    hold_until_ = std::max(hold_until_, now + delay);
    return false;
  }
  if (answered_ < 1) {
    // Closed, or a bucket that takes less than a call in so long: the next calls will tell.
    hold_ = std::clamp<BootTime>(2 * hold_, shortest_hold, longest_hold);
    ++in_vain_;
  } else {
    lower(now);
    hold_ =
        std::max<BootTime>(shortest_hold, BootTime(static_cast<BootTime::rep>(hold_of_slots / pace_ * 1e6)));
    in_vain_ = 0;
    refused_time_ = now;
    answered_ = fresh_ = 0;
  }
  last_refused_ = now;
  hold_until_ = now + std::max(hold_, delay);
  changed_ = hold_until_;
  return true;
}

void PaceSearch::lower(BootTime now) {
  // A window that was closed meanwhile had been used up before.
  const double since = in_seconds(now - refused_time_);
  const double closed = in_seconds(last_refused_ - refused_time_);
  const double time = std::sqrt(since * std::max(since - closed, since / 4));
  const double measured = (answered_ + fresh_) / std::max(time, 1e-3);
  const double factor = std::min(least_cut, 1 - 1 / (2 + answered_ / calls_of_a_cut));
  double next = factor * pace_;
  // Over so long the holds between count for little.
  if (time >= measured_time && measured < pace_)
    next = std::max(pace_ * most_measured_cut, measured * below_measured);
  // It was closed after the last refusal: a bucket took less than a call in that time.
  if (in_vain_ > 1 && answered_ <= calls_of_small_bucket)
    next = std::min(next, std::max(factor * factor * pace_, 1 / closed));
  // What two agree on is no average of a pace that rose.
  const bool agree =
      time >= measured_time && measured_ && std::abs(measured / *measured_ - 1) < same_measured;
  refused_at_ = pace_;
  if (time >= measured_time)
    refused_at_ = std::min(pace_, measured * (agree ? above_measured : far_above_measured));
  measured_.reset();
  if (time >= measured_time) measured_ = measured;
  if (found_) hold_factor_ = pace_ > *found_ ? std::min(longest_hold_factor, 2 * hold_factor_) : 1;
  found_.reset();
  pace_ = std::max(lowest_pace, next);
}

/// The next pace to try, below the one that was refused.
double PaceSearch::next_step() const {
  const double step = pace_ * longest_step;
  return refused_at_ ? std::min(step, std::sqrt(pace_ * *refused_at_)) : step;
}

void PaceSearch::grow(double passed, BootTime now) {
  if (now < hold_until_) return;
  const double since = in_seconds(now - changed_);
  if (!found_) {
    if (since < std::max(shortest_proof, calls_of_proof / pace_)) return;
    if (refused_at_ && pace_ >= close_enough * *refused_at_) {
      found_ = pace_;
    } else {
      pace_ = next_step();
    }
    changed_ = now;
    return;
  }
  const double held = hold_factor_ * std::max(hold_seconds, hold_calls / *found_);
  if (since < held) return;
  const double doublings = std::max(0.0, since - held - steady_seconds) / doubling_seconds;
  pace_ *= 1 + std::min(most_growth, growth * pace_ * std::exp2(doublings)) * passed;
}

}  // namespace sluice

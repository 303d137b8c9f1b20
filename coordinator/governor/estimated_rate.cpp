#include "coordinator/governor/estimated_rate.hpp"

#include "coordinator/governor/defaults.hpp"
#include "coordinator/governor/slot_rule.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sluice {

using namespace defaults::rate_search;

void EstimatedRate::begin_with(double rate, std::optional<double> burst) {
  held_ = rate;
  is_burst_found_ = burst.has_value();
  burst_ = reserve_ = std::max(1.0, burst.value_or(1));
  is_known_ = begins_full_ = true;
  hold_factor_ = hold_of_remembered;
}

void EstimatedRate::forget() {
  is_known_ = begins_full_ = false;
  hold_factor_ = 1;
}

std::optional<double> EstimatedRate::burst() const {
  if (!is_known_) return std::nullopt;
  // Calls that are spaced for a burst of one would come to a small part of a high rate.
  return is_burst_found_ ? burst_ : std::max(1.0, defaults::default_burst_seconds * held_);
}

/// The first refusal says how fast the second episode is to be, the second one what the limit is; or the next
/// is slower, until it can be said.
double EstimatedRate::after_refusal(std::optional<double> rate, bool is_first, const NamedDelays& delays,
                                    BootTime cut_before) {
  const auto found = seen_.found();
  const bool was_known = is_known_;
  // A growing speed is refused soon after it is too much: what it says is good enough.
  const bool is_good = found && is_ramp_ && !refused_ && found->highest <= good_enough * found->least;
  const bool is_sure = found && (found->is_sure || (is_good && !is_known_));
  double next = 0;
  if (is_first || !rate) {
    next = second_speed(delays);
  } else if (!is_known_) {
    next = is_sure ? take(*found) : narrow(*rate, found, delays);
  } else if (delays.last().from < settles_at_) {
    next = *rate;
  } else if (std::exchange(begins_full_, false)) {
    next = below_full_bucket();
  } else if (*rate > held_) {
    next = below_growth(*rate, delays, cut_before);
  } else {
    next = lower(*rate, is_sure ? std::optional(found->rate) : std::nullopt, delays, cut_before);
  }
  // A delay of less than the distance of the calls is but what was left of a greater one: it asks for no
  // pace. One in whole seconds is rounded up, and may be any refusal's.
  if (delays.slowest_pace() < rate.value_or(0) || delays.longest() >= rounded_delay || !was_known)
    next = std::max(next, delays.slowest_pace());
  if (is_known_) held_ = next;
  return next;
}

double EstimatedRate::second_speed(const NamedDelays& delays) {
  const double speed = seen_.speed().value_or(first_rate_in_vain);
  // A bucket of a few calls is empty at once at any speed: the next one begins between all that is possible.
  const bool is_burst = seen_.seconds() < shortest_of_a_speed && seen_.answered() < calls_of_a_burst;
  is_ramp_ = is_burst || seen_.answered() < calls_to_trust;
  return is_ramp_ ? std::sqrt(speed * std::min(speed, delays.slowest_pace())) : next_speed * speed;
}

double EstimatedRate::take(const Found& found) {
  is_known_ = is_burst_found_ = true;
  burst_ = found.burst;
  reserve_ = found.reserve;
  settles_at_ = found.settles_at;
  // A bucket takes more than its rate for a while.
  const bool is_exact = found.highest <= well_known * found.least &&
                        found.rate >= proved_ - found.burst / in_seconds(proof_of_speed);
  const bool is_close = found.is_sure && found.highest <= wide * found.least;
  hold_factor_ = is_exact ? 1 : is_close ? hold_of_estimate : hold_of_doubt;
  return below_estimate * found.rate;
}

double EstimatedRate::narrow(double rate, const std::optional<Found>& found, const NamedDelays& delays) {
  refused_ = rate;
  if (found) {
    is_burst_found_ = true;
    burst_ = found->burst;
    reserve_ = found->reserve;
    const double least = found->burst >= calls_to_trust ? std::min(found->least, *refused_ / 2) : 0;
    const double proved = std::min(trusted_proof * seen_.proved(), *refused_);
    proved_ = std::max({proved_, delays.slowest_pace(), least, proved});
    refused_ = std::min(*refused_, std::max(found->highest, proved_ * close_enough));
  }
  return try_between(rate, delays);
}

/// It has taken a full bucket beside its rate, of which what is known is no more exact than the rate.
double EstimatedRate::below_full_bucket() {
  hold_factor_ = 1;
  const double steady = below_estimate * seen_.needed(std::max(1.0, reserve_ / 2));
  return steady > held_ ? steady : std::clamp(steady, after_refusal_share * held_, below_estimate * held_);
}

/// It takes a while to empty the bucket, in which the rate goes on growing.
double EstimatedRate::below_growth(double rate, const NamedDelays& delays, BootTime cut_before) {
  const double beyond =
      std::sqrt(2 * reserve_ * growth_after(delays.last().from - cut_before, delays) / rate);
  in_a_row_ = 0;
  const double next = std::max(held_, below_estimate * rate / (1 + beyond));
  if (rate <= much_more * held_) {
    hold_factor_ = std::max(1.0, 2 * hold_factor_);
    return next;
  }
  // What grew much was another limit than before: a window that was taken for a bucket has no such reserve.
  hold_factor_ = 1;
  return std::max(next, std::sqrt(held_ * below_estimate * rate));
}

/// The more refusals follow each other, the farther it was off.
double EstimatedRate::lower(double rate, std::optional<double> measured, const NamedDelays& delays,
                            BootTime cut_before) {
  const bool again =
      in_seconds(delays.last().from - cut_before) < pauses_of_a_row * in_seconds(delays.longest());
  in_a_row_ = again ? std::min(in_a_row_ + 1, most_in_a_row) : 0;
  // So far down it is soon below the limit.
  if (in_a_row_ > 0) hold_factor_ = hold_of_doubt;
  const double lower = std::pow(after_refusal_share, std::exp2(in_a_row_)) * rate;
  return std::max(std::min(lower, measured ? below_estimate * *measured : rate), rate / 2);
}

/// Between the speed that was refused and the one that was not.
double EstimatedRate::try_between(double rate, const NamedDelays& delays) {
  // Where a further refusal is dear, sooner.
  const double enough = delays.longest() >= dear_pause ? close_enough_where_dear : close_enough;
  is_known_ = *refused_ <= enough * proved_;
  return is_known_ ? proved_
                   : std::min(std::sqrt(*refused_ * proved_), std::max(rate, proved_ * longest_leap));
}

/// Of a known rate, a second, so long after a refusal: none while it is held, and the more the longer nothing
/// is refused.
double EstimatedRate::growth_after(BootTime since, const NamedDelays& delays) const {
  const double growing = in_seconds(since) - hold_factor_ * pauses_held * in_seconds(delays.longest());
  if (growing < 0) return 0;
  const auto [steady, doubles_in] = begins_full_ ? growth_of_remembered : growth_of_found;
  const double doublings = std::max(0.0, growing - steady) / doubles_in;
  return std::min(most_growth, growth_of_estimate * std::exp2(doublings));
}

double EstimatedRate::grown(double rate, double passed, const NamedDelays& delays, BootTime now) {
  const auto since = now - delays.last().to;
  if (is_known_) return rate * (1 + growth_after(since, delays) * passed);
  if (is_ramp_ && !refused_) {
    return since < BootTime::zero() ? rate : rate * (1 + growth_of_ramp * passed);
  }
  const auto proof = std::max(proof_of_speed, delays.longest() / pause_of_proofs);
  if (since < proof || now - tried_at_ < proof) return rate;
  if (!refused_) return rate * (1 + growth_of_second * passed);
  tried_at_ = now;
  proved_ = rate;
  const double next = try_between(rate, delays);
  if (is_known_) held_ = next;
  return next;
}

}  // namespace sluice

#include "coordinator/governor/rate_search.hpp"

#include "coordinator/governor/defaults.hpp"
#include "coordinator/governor/slot_rule.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace sluice {

using namespace defaults::rate_search;

void RateSearch::note(std::uint32_t started, std::uint32_t refused, std::uint32_t refused_late,
                      BootTime now) {
  const auto index = now / bin_length;
  auto& bin = bins_[static_cast<std::size_t>(index) % bin_count];
  if (bin.index != index) bin = {index, 0, 0, 0};
  bin.started += started;
  bin.refused += refused;
  bin.refused_late += refused_late;
  if (started > 0 && !first_start_) first_start_ = now;
}

RateSearch::Count RateSearch::count_since(BootTime since) const {
  const auto oldest = since / bin_length;
  Count count;
  for (const auto& bin : bins_) {
    if (bin.index < oldest) continue;
    count.started += bin.started;
    count.refused += bin.refused;
    count.refused_late += bin.refused_late;
  }
  return count;
}

double RateSearch::accepted_since(BootTime since, BootTime now) const {
  const auto count = count_since(since);
  const auto time = std::max<BootTime>(now - since / bin_length * bin_length, bin_length);
  return std::max(0.0, count.started - count.refused - count.refused_late) / in_seconds(time);
}

/// Half the rate was kept for a while: if as many were refused even then, it was not for the rate.
void RateSearch::weigh_the_cut(BootTime now) {
  if (cut_weighed_ || now - cut_at_ < half_time) return;
  const auto at_half = count_since(cut_at_ + stale_time);
  if (at_half.started < calls_at_half && now - cut_at_ < longest_half_time) return;
  cut_weighed_ = true;
  if (share_before_ > most_of_background) return;
  at_half_.started += at_half.started;
  at_half_.refused += at_half.refused;
  const double kept = std::min(1.0, calls_remembered / std::max(1.0, at_half_.started));
  at_half_.started *= kept;
  at_half_.refused *= kept;
  if (at_half.refused == 0 || at_half.refused < share_before_ / 2 * at_half.started) return;
  rate_ = rate_before_;
  accepted_ = accepted_before_;
}

double RateSearch::background() const {
  return at_half_.refused / (at_half_.started + calls_at_half);
}

RateSearch::Count RateSearch::recent(BootTime now) const {
  Count recent;
  for (const auto time : weighed_times) {
    recent = count_since(rate_ ? std::max(now - time, cut_at_ + stale_time) : now - time);
    if (recent.started >= weighed_calls) break;
  }
  return recent;
}

bool RateSearch::weighty(const Count& recent) const {
  const double usual = background() * recent.started;
  const double unusual = recent.refused - usual - 2 * std::sqrt(usual);
  // Before the next one comes after a long pause, the last is forgotten.
  const double fewest = longest_pause_ >= weighed_times.back() ? 1 : fewest_refusals;
  return recent.refused >= fewest && unusual * caution() > weighty_share * recent.started;
}

/// How many times as much a refusal costs as one without a delay.
double RateSearch::caution() const {
  return 1 + in_seconds(longest_pause_);
}

bool RateSearch::on_outcomes(std::uint32_t started, std::uint32_t refused, std::uint32_t refused_late,
                             BootTime now) {
  if (rate_ && now - cut_at_ < stale_time) refused_late += std::exchange(refused, 0);
  note(started, refused, refused_late, now);
  weigh_the_cut(now);
  if (refused == 0) return false;
  const auto counted = recent(now);
  if ((rate_ && !cut_weighed_) || !weighty(counted)) return false;
  share_before_ = counted.refused / std::max(1.0, counted.started);
  cut(now);
  return true;
}

/// Calls may wait for other things than the rate, too.
bool RateSearch::used(BootTime now) const {
  const double possible = *rate_ * in_seconds(used_time);
  return count_since(now - used_time).started + calls_of_doubt >= used_share * possible;
}

double RateSearch::accepted_since_cut(BootTime now) const {
  const auto since = std::max(cut_at_, now - longest_measured_time);
  const double paused = in_seconds(paused_within(since, now));
  if (paused <= 0) {
    const BootTime enough(static_cast<BootTime::rep>(measured_calls / *rate_ * 1e6));
    const auto time = std::clamp<BootTime>(enough, measured_time, longest_measured_time);
    return accepted_since(std::max(cut_at_, now - time), now);
  }
  // A pause fills the bucket for the calls after it: without its time they seem to be too many. But a bucket
  // may have run over, and then they seem to be too few with it.
  const double time = in_seconds(now - since);
  const double without_pauses = std::max(time - paused, in_seconds(measured_time));
  return accepted_since(since, now) * std::sqrt(std::max(1.0, time / without_pauses));
}

void RateSearch::cut(BootTime now) {
  cut_weighed_ = !rate_;  // The first cut goes below anything that was seen: there is nothing to weigh.
  if (!rate_) {
    const auto first = std::min(first_start_.value_or(now), now - first_measured_time);
    auto since = std::max(first, now - measured_time);
    if (count_since(since).started < fewest_measured) since = std::max(first, now - longest_measured_time);
    // Where nothing was accepted nothing is known, either: one that was over its limit before the run began
    // will be below it soon.
    const double accepted = accepted_since(since, now);
    rate_ = accepted > 0 ? accepted / 2 : first_rate_in_vain;
  } else if (accepted_since(cut_at_, now) <= 0) {
    // What it takes is not known any more; half of what it refused is tried next.
    rate_before_ = *rate_;
    accepted_before_ = accepted_;
    accepted_.reset();
    rate_ = *rate_ / 2;
  } else {
    // Between two cuts the provider's bucket was empty twice: what it took in that time is its rate.
    rate_before_ = *rate_;
    accepted_before_ = accepted_;
    const double measured = accepted_since_cut(now);
    double least = std::min(*rate_, std::max(*rate_ / 2, accepted_.value_or(0) * least_of_accepted));
    // Each refusal costs its pause: a rate that is too high is left in fewer steps.
    if (paused_within(cut_at_, now) > BootTime::zero()) least = *rate_ / 4;
    accepted_ = std::max(lowest_rate, std::clamp(measured, least, *rate_));
    rate_ = *accepted_ / 2;
  }
  seconds_at_ceiling_ = 0;
  rate_ = std::max(*rate_, lowest_rate);
  cut_at_ = now;
  grown_at_ = now;
}

void RateSearch::pause(BootTime delay, BootTime now) {
  longest_pause_ = std::max(longest_pause_, delay);
  if (!pauses_.empty() && now <= pauses_.back().to) {
    pauses_.back().to = std::max(pauses_.back().to, now + delay);
  } else {
    pauses_.push_back({now, now + delay});
  }
  if (pauses_.size() > pauses_remembered) pauses_.pop_front();
}

BootTime RateSearch::paused_within(BootTime since, BootTime now) const {
  BootTime paused{};
  for (const auto& pause : pauses_) {
    const auto from = std::max(pause.from, since);
    const auto to = std::min(pause.to, now);
    if (from < to) paused += to - from;
  }
  return paused;
}

void RateSearch::grow(bool held_back, std::optional<double> ceiling, BootTime now) {
  if (!rate_) return;
  // A time in which nobody looked is no time in which the rate was used.
  const double passed = in_seconds(std::min<BootTime>(now - grown_at_, longest_step));
  grown_at_ = now;
  weigh_the_cut(now);
  if (!held_back || !cut_weighed_ || !used(now)) return;
  if (!accepted_) {
    *rate_ *= std::exp2(passed / doubling_seconds);
  } else if (*rate_ < just_below * *accepted_) {
    const double back = *rate_ + *accepted_ / 2 * passed / return_seconds;
    *rate_ = std::min(back, just_below * *accepted_);
  } else if (const auto newest = recent(now);
             background() >= weighty_share ||
             newest.refused <= (background() + resting_share) * newest.started) {
    const double steepness = 1 + in_seconds(now - cut_at_) / steeper_after_seconds;
    const double growth = slow_growth + regrowth * std::min(1.0, 2 * background() / weighty_share);
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
}

}  // namespace sluice

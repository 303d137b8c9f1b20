#include "coordinator/governor/limit_estimate.hpp"

#include "coordinator/governor/defaults.hpp"
#include "coordinator/governor/slot_rule.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace sluice {

using namespace defaults::limit_estimate;

LimitEstimate::Episode::Episode() = default;

double LimitEstimate::Episode::seconds() const {
  return in_seconds(std::max<BootTime>(refused_at - from, shortest_episode));
}

double LimitEstimate::Episode::answered() const {
  return std::max(0.0, started - refused);
}

/// The bucket of this rate that was emptied by what was answered.
double LimitEstimate::Episode::size_at(double rate) const {
  double left = answered();
  double used = 0;
  double most = 0;
  auto at = from;
  for (const auto& one : starts) {
    used = std::max(0.0, used - rate * in_seconds(one.at - at));
    used += std::min(left, one.answered);
    left -= std::min(left, one.answered);
    most = std::max(most, used);
    at = one.at;
  }
  return std::max(1.0, most);
}

/// Over a long time it matters little where in its beginning a few calls lay.
bool LimitEstimate::Episode::is_rough(double calls_beside) const {
  return told_late > std::max(few_told_late * started, few_beside * calls_beside);
}

void LimitEstimate::begin(BootTime now) {
  last_.emplace();
  last_->begun = last_->from = last_->refused_at = last_->until = now;
}

void LimitEstimate::on_demand(BootTime now) {
  if (!last_) begin(now);
}

/// Calls that were told of before it was known that they were refused.
double LimitEstimate::Episode::refused_later() const {
  double known = 0;
  for (const auto& one : starts) known += one.answered;
  return std::max(0.0, known - answered());
}

void LimitEstimate::Episode::note(const Started& part) {
  const auto place = std::ranges::upper_bound(starts, part.at, {}, &Started::at);
  if (place != starts.begin() && part.at - std::prev(place)->at < same_start) {
    std::prev(place)->calls += part.calls;
    std::prev(place)->answered += part.answered;
  } else {
    starts.insert(place, part);
  }
  started += part.calls;
  if (starts.size() <= starts_remembered) return;
  started -= starts.front().calls;
  from = starts.front().at;
  starts.pop_front();
}

/// Of another run it may be the one before; null: it was not kept.
LimitEstimate::Episode* LimitEstimate::episode_at(BootTime time) {
  if (time >= paused_until_) return &*last_;
  return before_ && time < before_->until ? &*before_ : nullptr;
}

void LimitEstimate::on_outcomes(std::uint32_t started, std::uint32_t refused, const ReportTime& reported) {
  if (!last_) return;
  if (started > 0 && last_->is_over && reported.at >= last_->until) {
    paused_until_ = last_->until;
    // Where nothing was answered the bucket had been emptied before.
    if (last_->answered() > 0) before_ = std::move(last_);
    begin(reported.at);
  }
  auto* const episode = episode_at(reported.at);
  if (episode == nullptr) return;
  episode->refused += refused;
  if (started == 0) return;
  if (reported.is_late() && !before_) {
    const auto earliest = std::max(paused_until_, episode->begun - earlier_begin);
    episode->from = std::min(episode->from, std::max(reported.since, earliest));
  }
  const auto now = std::max(reported.at, episode->from);
  const auto since = std::clamp(reported.since, episode->from, now);
  if (reported.heard - since > told_late) episode->told_late += started;
  episode->note_report(started, refused, since, now);
}

/// A worker that needs no permits tells of many starts at a time.
void LimitEstimate::Episode::note_report(std::uint32_t calls_started, std::uint32_t calls_refused,
                                         BootTime since, BootTime now) {
  // More parts than are remembered would be work that a worker's word asks for, and forgotten.
  const auto most = std::min<std::int64_t>(calls_started, starts_remembered);
  const auto parts = std::clamp<std::int64_t>((now - since) / same_start, 1, most);
  const double calls = static_cast<double>(calls_started) / static_cast<double>(parts);
  double left = calls_started - std::min(calls_started, calls_refused);
  for (std::int64_t part = 1; part <= parts; ++part) {
    const double taken = std::min(left, calls);
    left -= taken;
    note({since + (now - since) * part / parts, calls, taken});
  }
}

bool LimitEstimate::was_closed() const {
  return last_ && last_->is_over && last_->refused >= refusals_at_closed_door && last_->answered() < 1;
}

void LimitEstimate::on_pause(const ReportTime& reported, BootTime until) {
  if (!last_) return;
  if (reported.at < paused_until_) {
    // The pause before the newest episode is longer than was known.
    if (until <= reported.heard || last_->is_over) return;
    paused_until_ = until;
    begin(until);
    return;
  }
  const auto at = std::max(reported.at, last_->from);
  last_->refused_at = last_->is_over ? std::min(last_->refused_at, at) : at;
  last_->is_over = true;
  last_->until = std::max(last_->until, until);
}

std::optional<double> LimitEstimate::speed() const {
  if (!last_ || !last_->is_over) return std::nullopt;
  const auto since = std::max(last_->from, last_->refused_at - speed_time);
  double calls = 0;
  for (const auto& one : last_->starts) {
    if (one.at >= since) calls += one.calls;
  }
  const double of_late = calls / in_seconds(std::max<BootTime>(last_->refused_at - since, shortest_episode));
  return std::max(of_late, std::max(1.0, last_->answered()) / last_->seconds());
}

/// How much the buckets of this rate differ that the two episodes emptied.
double LimitEstimate::sizes_apart(double rate) const {
  return std::abs(last_->size_at(rate) - before_->size_at(rate));
}

/// The rates at which both episodes emptied the same bucket, give or take what may be counted wrongly.
std::optional<LimitEstimate::Rates> LimitEstimate::common_rates(double least, double highest) const {
  const double step = std::pow(highest / least, 1.0 / rates_tried);
  double best = sizes_apart(least);
  for (double rate = least; rate <= highest * step; rate *= step) best = std::min(best, sizes_apart(rate));
  const double wrongly = calls_counted_wrongly + highest * in_seconds(same_start);
  if (best > wrongly + same_number * std::min(last_->answered(), before_->answered())) return std::nullopt;
  std::optional<Rates> rates;
  for (double rate = least; rate <= highest * step; rate *= step) {
    if (sizes_apart(rate) > best + calls_counted_wrongly) continue;
    if (!rates) rates = Rates{rate, rate};
    rates->highest = rate;
  }
  return rates;
}

/// The rate that a bucket of this size needs at least for what was answered.
double LimitEstimate::Episode::least_rate(double size) const {
  double later = refused_later();
  double calls = 0;
  double rate = 0;
  std::optional<BootTime> end;
  for (auto one = starts.rbegin(); one != starts.rend(); ++one) {
    const double taken = std::max(0.0, one->answered - later);
    later -= one->answered - taken;
    if (taken <= 0) continue;
    if (!end) end = one->at;
    calls += taken;
    const auto time = *end - one->at;
    if (time >= shortest_of_a_rate) rate = std::max(rate, (calls - size) / in_seconds(time));
  }
  return rate;
}

/// The last of them were refused, where a report did not say so of its own.
double LimitEstimate::Episode::answered_since(BootTime since) const {
  double calls = 0;
  for (const auto& one : starts) {
    if (one.at > since) calls += one.answered;
  }
  return std::max(0.0, calls - refused_later());
}

/// Calls of other runs were told late: their number is not that of one episode.
bool LimitEstimate::are_inexact() const {
  return of_several_runs_ && (before_->is_rough(0) || last_->is_rough(0));
}

/// Whether a bucket of a clearly higher rate than that of a window of so many calls explains both episodes.
bool LimitEstimate::may_be_bucket(double calls_of_window) const {
  const double quickest =
      std::max(last_->answered() / last_->seconds(), before_->answered() / before_->seconds());
  const double least = higher_rate * std::max(1.0, calls_of_window);
  const double highest = std::max(quickest, 2 * calls_of_window);
  for (double rate = least; rate <= highest; rate *= next_rate) {
    if (sizes_apart(rate) <= same_size + rate * in_seconds(same_start)) return true;
  }
  return false;
}

/// A bucket that names when its next call comes has hardly more until then.
bool LimitEstimate::took_more_than_named() const {
  const auto named = before_->until - before_->refused_at;
  if (named >= exact_delay) return false;
  return last_->answered() > clearly_beyond * (1 + last_->seconds() / in_seconds(named));
}

/// The calls that a sliding window of a second had taken when the next one was refused, if it is one.
std::optional<double> LimitEstimate::sliding_rate() const {
  if (are_inexact()) return std::nullopt;
  const auto second_ago = last_->refused_at - window;
  const double first = before_->answered_since(before_->refused_at - window);
  const double second = last_->answered_since(second_ago);
  // A window that slides has room for those calls alone that have just left it.
  const double of_both = second + before_->answered_since(second_ago);
  // Of a bucket the second would be beyond the first; or no more than comes to it after the delay.
  const double more = std::abs(first - of_both);
  if (of_both > second && second < not_full * first && first >= calls_of_a_window &&
      more <= same_number * first && (more < second / 2 || took_more_than_named())) {
    return std::min(first, of_both);
  }
  return std::nullopt;
}

/// The calls that a window of a second, which began when it was empty, had taken when the next one was
/// refused, if it is one.
std::optional<double> LimitEstimate::window_rate() const {
  if (are_inexact()) return std::nullopt;
  const double first = before_->answered_since(before_->refused_at - window);
  const double second = last_->answered_since(last_->refused_at - window);
  const double longest = std::max(before_->seconds(), last_->seconds());
  const double shortest = std::min(before_->seconds(), last_->seconds());
  const double fewer = std::min(first, second);
  const double apart = std::abs(first - second);
  if (apart > exactly_same && may_be_bucket(fewer)) return std::nullopt;
  // A bucket would have had so many more calls in the longer one.
  const double more_of_a_bucket = fewer * (std::min(longest, 1.0) - shortest);
  // A longer window names a longer delay.
  const BootTime delay = std::max(before_->until - before_->refused_at, last_->until - last_->refused_at);
  if (more_of_a_bucket >= clearly_more && delay <= delay_of_a_window) {
    if (apart > std::max(same_number * fewer, std::min(1.0, more_of_a_bucket / 3))) return std::nullopt;
    return fewer;
  }
  if (fewer < calls_of_a_window || longest < other_speed * shortest) return std::nullopt;
  if (of_several_runs_ && longest - shortest < in_seconds(clearly_longer)) return std::nullopt;
  if (apart > std::max(1.0, same_number * std::max(first, second))) return std::nullopt;
  return fewer;
}

/// The episode before may have left less than a call in the bucket: half of one, in the middle.
double LimitEstimate::proved() const {
  return before_ && last_ ? last_->least_rate(std::max(1.0, before_->answered()) + 0.5) : 0;
}

std::optional<LimitEstimate::Found> LimitEstimate::found() const {
  if (!before_ || !last_ || !last_->is_over) return std::nullopt;
  const double second = std::max(1.0, last_->answered());
  const double highest = std::max(second / last_->seconds(), speed().value_or(0));
  const double apart = in_seconds(last_->refused_at - before_->refused_at);
  const double least = std::max(0.5, second - 0.5) / std::max(apart, last_->seconds());
  // The pause of a longer window says its rate already: the bucket did not overflow in it.
  const auto sliding = sliding_rate();
  if (const auto rate = sliding ? sliding : window_rate(); rate && *rate > least)
    return Found{*rate, *rate, true, *rate, *rate, 1, sliding ? before_->refused_at + window : BootTime()};
  if (const auto rates = common_rates(least, highest)) {
    const double rate = std::sqrt(rates->least * rates->highest);
    const double burst = std::max(before_->size_at(rate), last_->size_at(rate));
    // As many calls in as much time are a bucket's as well as a window's.
    const bool differ = std::abs(before_->answered() - last_->answered()) > same_number * second;
    const bool is_sure = rates->highest <= other_rate * rates->least &&
                         !before_->is_rough(rate * last_->seconds()) &&
                         (differ || second < calls_of_a_window);
    return Found{rate, burst, is_sure, rates->least, rates->highest, burst};
  }
  // A bucket that the pause did not fill took the rate, and no less.
  const double burst = before_->size_at(least);
  const bool was_not_full = last_->answered() <= not_full * before_->size_at(highest);
  // Too quick a pace costs little there: pauses fill what is left of the bucket, and it does not run over.
  const bool is_cheap = was_not_full && apart >= in_seconds(window);
  const double rate = is_cheap ? least * (second + 0.5) / std::max(0.5, second - 0.5) : least;
  return Found{rate, burst, was_not_full && !are_inexact(), least, highest, burst};
}

}  // namespace sluice

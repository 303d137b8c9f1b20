#include "coordinator/governor/concurrency_search.hpp"

#include "coordinator/governor/defaults.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sluice {

using namespace defaults::concurrency_search;

namespace {

/// A few failures come at any number of calls; so many are refusals of what is too much.
bool too_many(std::uint64_t failed, std::uint64_t answered) {
  return failed * 2 > answered;
}

}  // namespace

void ConcurrencySearch::set_most(std::uint32_t most) {
  most_ = std::max(1u, most);
  if (limit_ > most_) go_on_with(most_, phase_);
}

std::optional<std::uint32_t> ConcurrencySearch::found() const {
  if (phase_ == Phase::opening || phase_ == Phase::weighing) return std::nullopt;
  return kept_;
}

void ConcurrencySearch::remember(std::uint32_t answered, std::uint32_t failed) {
  answers_since_failure_ = failed > 0 ? 0 : answers_since_failure_ + answered;
  if (failed > 0 && !before_failures_) before_failures_ = Standing{phase_, limit_, kept_, throughput_};
  if (answers_since_failure_ >= answers_to_forget) before_failures_.reset();
}

void ConcurrencySearch::interrupt() {
  if (before_failures_) {
    kept_ = before_failures_->kept;
    throughput_ = before_failures_->throughput;
    const auto [phase, limit] = std::pair(before_failures_->phase, before_failures_->limit);
    before_failures_.reset();
    go_on_with(limit, phase);
  }
  window_ = {};
  opening_answers_ = 0;
  opening_latency_us_ = 0;
  opened_with_ = 0;
  opening_failures_ = 0;
}

void ConcurrencySearch::grow_by(std::uint64_t answers) {
  limit_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(most_, limit_ + answers));
}

void ConcurrencySearch::open_further(std::uint32_t answered, std::uint32_t failed,
                                     std::uint64_t latency_sum_us) {
  opening_answers_ += answered;
  opening_latency_us_ += latency_sum_us;
  opened_with_ += answered;
  opening_failures_ += failed;
  // One that fails among the first ones is no more than that.
  const bool seen_enough = opened_with_ + opening_failures_ >= smallest_window;
  const bool fails = failed > 0 && seen_enough && too_many(opening_failures_, opened_with_);
  const auto before = limit_;
  // What answers take without a line is seen before there is one.
  const bool grows = first_latency_us_ > 0;
  if (grows) grow_by(answered);
  // With each of them the number grows: few enough to see the line while it is short.
  const auto wanted = std::max<std::uint64_t>(
      std::clamp<std::uint64_t>(before, fewest_latencies, enough_latencies), before / 4);
  if (opening_answers_ < (grows ? wanted : std::min<std::uint64_t>(before, fewest_latencies)) && !fails)
    return;
  if (!grows) grow_by(opening_answers_);
  double longer = 1;
  if (opening_answers_ > 0) {
    const double latency = static_cast<double>(opening_latency_us_) / static_cast<double>(opening_answers_);
    // A cold start is no measure: the least so far is.
    if (first_latency_us_ == 0 || latency < first_latency_us_) first_latency_us_ = latency;
    longer = latency / first_latency_us_;
  }
  opening_answers_ = 0;
  opening_latency_us_ = 0;
  const bool queued = longer > longer_when_queued;
  if (!queued && !fails && limit_ < most_) return;
  // These answers began when there were fewer calls: what so many come to is seen next. So many as would not
  // have had to wait are enough to see it: by then there were more.
  go_on_with(queued ? static_cast<std::uint32_t>(std::ceil(before / longer)) : before, Phase::weighing);
}

void ConcurrencySearch::go_on_with(std::uint32_t limit, Phase phase) {
  phase_ = phase;
  const auto before = limit_;
  limit_ = std::clamp(limit, 1u, most_);
  window_ = {};
  window_.to_skip = before;
}

void ConcurrencySearch::on_outcomes(std::uint32_t answered, std::uint32_t failed,
                                    std::uint64_t latency_sum_us, std::uint64_t wanted) {
  remember(answered, failed);
  if (phase_ == Phase::opening) {
    if (wanted >= limit_) open_further(answered, failed, latency_sum_us);
    return;
  }
  // Too little was wanted: the answers show nothing of the number.
  if (wanted < limit_) {
    window_ = {};
    window_.to_skip = limit_;
    return;
  }
  const std::uint64_t ended = std::uint64_t{answered} + failed;
  if (!window_.measuring) {
    if (ended < window_.to_skip) {
      window_.to_skip -= ended;
      return;
    }
    window_ = {};
    window_.measuring = true;
    return;
  }
  window_.answered += answered;
  window_.failed += failed;
  window_.latency_us += latency_sum_us;
  const auto enough = std::max<std::uint64_t>(limit_, smallest_window);
  // Few calls may fail together by chance: before the number becomes smaller for it, as many again are
  // awaited.
  const auto awaited = too_many(window_.failed, window_.answered) ? 2 * enough : enough;
  if (window_.answered + window_.failed >= awaited) window_is_over();
}

void ConcurrencySearch::window_is_over() {
  // Little's law: the number in flight over how long each takes. Counting answers over time would see the
  // waves in which they come.
  const auto answered = static_cast<double>(window_.answered);
  const double places_in_use = limit_ * answered / static_cast<double>(window_.answered + window_.failed);
  const double throughput =
      places_in_use * answered / static_cast<double>(std::max<std::uint64_t>(1, window_.latency_us));
  if (too_many(window_.failed, window_.answered)) {
    leaps_ = false;
    kept_ = std::max(1u, static_cast<std::uint32_t>(std::lround(limit_ * after_failures)));
    return go_on_with(kept_, Phase::settled);
  }
  before_failures_.reset();  // What failed was no outage's.
  const double change = throughput_ > 0 ? throughput / throughput_ - 1 : 0;
  const double share = kept_ > 0 ? static_cast<double>(step()) / kept_ : 1;
  switch (phase_) {
    case Phase::opening:
      return;
    case Phase::weighing:
      return weigh(throughput);
    case Phase::settled:
      throughput_ = throughput;
      kept_ = limit_;
      return try_a_step();
    case Phase::trying_more:
    case Phase::trying_fewer: {
      const bool better = phase_ == Phase::trying_more
                              ? change >= (leaps_ ? gain_per_leap : gain_per_step * share)
                              : change >= -loss_per_step * share;
      if (better) {
        kept_ = limit_;
        throughput_ = throughput;
        steps_in_vain_ = 0;
        try_fewer_next_ = phase_ == Phase::trying_fewer;
        return try_a_step();
      }
      if (std::exchange(leaps_, false)) return go_on_with(kept_, Phase::settled);
      ++steps_in_vain_;
      try_fewer_next_ = phase_ == Phase::trying_more;
      if (steps_in_vain_ >= 2) {
        steps_in_vain_ = 0;
        windows_to_rest_ = rest;
      }
      return go_on_with(kept_, Phase::settled);
    }
  }
}

void ConcurrencySearch::weigh(double throughput) {
  // Without an answer before the first failure nothing is known of the knee.
  kept_ = first_latency_us_ > 0
              ? static_cast<std::uint32_t>(std::ceil(throughput * first_latency_us_ * room_over_knee))
              : limit_;
  kept_ = std::clamp(kept_, 1u, limit_);
  // Long answers may have looked like a line.
  leaps_ = window_.failed * 10 <= window_.answered;
  go_on_with(kept_, Phase::settled);
  // The rest of the line is still on its way, and would make what follows look better than it is.
  window_.to_skip *= 2;
}

std::uint32_t ConcurrencySearch::step() const {
  return leaps_ ? kept_ : std::max(1u, kept_ / 8);
}

void ConcurrencySearch::try_a_step() {
  if (windows_to_rest_ > 0) {
    --windows_to_rest_;
    window_ = {};
    return go_on_with(kept_, Phase::settled);
  }
  if (kept_ >= most_) leaps_ = false;
  const auto change = step();
  if (try_fewer_next_ && kept_ > change) return go_on_with(kept_ - change, Phase::trying_fewer);
  if (kept_ >= most_) return go_on_with(kept_ > change ? kept_ - change : 1, Phase::trying_fewer);
  go_on_with(kept_ + change, Phase::trying_more);
}

}  // namespace sluice

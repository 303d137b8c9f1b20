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

/// The logarithm of how much longer answers took, and its standard error.
struct Longer {
  double log_ratio = 0;
  double error = 0;

  bool beyond(double ratio) const {
    return log_ratio > std::log(ratio) && log_ratio > errors_beyond_chance * error;
  }
};

Longer longer(const LatencySample& now, const LatencySample& before) {
  // The short ones of answers of different length come first, and are more alike than all.
  const double variation = std::max(now.variation(), before.variation());
  return {std::log(now.mean() / before.mean()),
          variation * std::sqrt(1 / now.answers() + 1 / before.answers())};
}

}  // namespace

void LatencySample::add(const EndedCalls& ended) {
  if (ended.answered == 0) return;
  const double answers = ended.answered;
  const auto sum = static_cast<double>(std::max<std::uint64_t>(1, ended.latency_sum_us));
  const double mean = sum / answers;
  double deviation = 0;
  if (ended.answered > 1) {
    deviation = ended.latency_deviation_us ? static_cast<double>(*ended.latency_deviation_us)
                                           : guessed_variation * mean;
    // That of one long answer among others that took no time; whoever says more is wrong.
    deviation = std::min(deviation, mean * std::sqrt(answers - 1));
  }
  answers_ += answers;
  sum_us_ += sum;
  squares_ += answers * (mean * mean + deviation * deviation);
}

void LatencySample::add(const LatencySample& more) {
  answers_ += more.answers_;
  sum_us_ += more.sum_us_;
  squares_ += more.squares_;
}

void LatencySample::weigh_as_many_as(double most_answers) {
  if (answers_ <= most_answers) return;
  const double share = most_answers / answers_;
  for (double* one : {&answers_, &sum_us_, &squares_}) *one *= share;
}

double LatencySample::variation() const {
  const double mean = this->mean();
  const double squares = std::max(0.0, squares_ - sum_us_ * mean);
  const double guess = guessed_variation * mean;
  const double free_answers = std::max(1.0, answers_) - 1;
  return std::sqrt((squares + answers_of_guess * guess * guess) / (free_answers + answers_of_guess)) / mean;
}

ConcurrencySearch::ConcurrencySearch(std::uint32_t start)
    : limit_(std::max(1u, start)), most_(limit_), rest_(first_rest) {}

void ConcurrencySearch::search_soon() {
  rest_ = first_rest;
  windows_to_rest_ = 0;
}

void ConcurrencySearch::set_most(std::uint32_t most) {
  const auto before = std::exchange(most_, std::max(1u, most));
  if (most_ > before && kept_.limit >= before) {
    // What lies beyond was not allowed: nothing is known of it.
    more_brought_nothing_ = false;
    search_soon();
  }
  if (limit_ <= most_) return;
  // A step that is cut off says nothing of the number that it was to try.
  const bool was_a_step = phase_ == Phase::trying_more || phase_ == Phase::trying_fewer;
  go_on_with(most_, was_a_step ? Phase::settled : phase_);
}

std::optional<std::uint32_t> ConcurrencySearch::found() const {
  if (!more_brought_nothing_ || kept_.limit >= most_) return std::nullopt;
  return kept_.limit;
}

void ConcurrencySearch::remember(const EndedCalls& ended) {
  answers_since_failure_ = ended.failed > 0 ? 0 : answers_since_failure_ + ended.answered;
  if (ended.failed > 0 && !before_failures_)
    before_failures_ = Standing{phase_, limit_, kept_, more_brought_nothing_};
  if (answers_since_failure_ >= answers_to_forget) before_failures_.reset();
}

void ConcurrencySearch::interrupt() {
  const Standing now{phase_, limit_, kept_, more_brought_nothing_};
  const auto before = std::exchange(before_failures_, std::nullopt).value_or(now);
  kept_ = before.kept;
  more_brought_nothing_ = before.more_brought_nothing;
  opening_ = {};
  opened_with_ = 0;
  opening_failures_ = 0;
  const std::uint64_t hung = limit_;
  go_on_with(before.limit, before.phase);
  // What hung in the outage still ends, and then took as long as that.
  window_.to_skip = std::max(window_.to_skip, hung);
}

void ConcurrencySearch::grow_by(std::uint64_t answers) {
  limit_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(most_, limit_ + answers));
}

void ConcurrencySearch::open_further(const EndedCalls& ended) {
  opening_.add(ended);
  opened_with_ += ended.answered;
  opening_failures_ += ended.failed;
  // One that fails among the first ones is no more than that.
  const bool seen_enough = opened_with_ + opening_failures_ >= smallest_window;
  const bool fails = ended.failed > 0 && seen_enough && too_many(opening_failures_, opened_with_);
  const auto before = limit_;
  // What answers take without a queue is seen before there is one.
  const bool grows = unqueued_.answers() > 0;
  if (grows) grow_by(ended.answered);
  // With each of them the number grows: few enough to see the queue while it is short.
  const auto awaited = std::max<std::uint64_t>(
      std::clamp<std::uint64_t>(before, fewest_latencies, enough_latencies), before / 4);
  if (opening_.answers() <
          static_cast<double>(grows ? awaited : std::min<std::uint64_t>(before, fewest_latencies)) &&
      !fails)
    return;
  if (!grows) grow_by(static_cast<std::uint64_t>(opening_.answers()));
  if (opening_.answers() > 0) {
    if (grows && longer(opening_, unqueued_).beyond(longer_when_queued)) {
      // So many as would not have had to wait: by the time that these answers came there were more calls.
      const double unqueued = before * unqueued_.mean() / opening_.mean();
      return end_opening(static_cast<std::uint32_t>(std::ceil(unqueued)), Phase::weighing);
    }
    compare_with_unqueued();
  }
  if (fails) return end_opening(before, Phase::weighing);
  before_failures_.reset();  // What failed was no outage's.
  if (limit_ >= most_) end_opening(most_, Phase::settled);
}

/// What is clearly shorter shows that those before waited, or that the server was cold. What is likely the
/// same makes it more exact. What is longer may be the beginning of a queue, and is left out.
void ConcurrencySearch::compare_with_unqueued() {
  if (unqueued_.answers() == 0) {
    unqueued_ = opening_;
  } else {
    const auto [log_ratio, error] = longer(opening_, unqueued_);
    if (log_ratio < -errors_beyond_chance * error) {
      unqueued_ = opening_;
    } else if (log_ratio < errors_likely * error) {
      unqueued_.add(opening_);
    }
  }
  opening_ = {};
}

void ConcurrencySearch::end_opening(std::uint32_t limit, Phase phase) {
  opening_ = {};
  opened_with_ = opening_failures_ = 0;
  go_on_with(limit, phase);
}

void ConcurrencySearch::go_on_with(std::uint32_t limit, Phase phase) {
  phase_ = phase;
  const auto before = limit_;
  limit_ = std::clamp(limit, 1u, most_);
  window_ = {};
  // The opening sees a queue by each answer, and skips none.
  if (phase == Phase::opening) return;
  // Where there are more calls the short ones of them end first.
  window_.to_skip = phase == Phase::trying_more ? 2 * std::uint64_t{before} : before;
}

void ConcurrencySearch::on_outcomes(const EndedCalls& ended, std::uint64_t wanted) {
  remember(ended);
  const std::uint64_t count = std::uint64_t{ended.answered} + ended.failed;
  if (phase_ == Phase::opening) {
    if (wanted < limit_) return;
    if (window_.to_skip == 0) return open_further(ended);
    window_.to_skip -= std::min(window_.to_skip, count);
    return;
  }
  // Too little was wanted: the answers show nothing of the number.
  if (wanted < limit_) {
    window_ = {};
    window_.to_skip = limit_;
    return;
  }
  if (!window_.measuring) {
    if (count < window_.to_skip) {
      window_.to_skip -= count;
      return;
    }
    window_ = {};
    window_.measuring = true;
    return;
  }
  window_.answered += ended.answered;
  window_.failed += ended.failed;
  window_.latency.add(ended);
  if (window_.answered + window_.failed >= awaited()) window_is_over();
}

/// Enough to see what a step brings, beside what answers differ in length.
std::uint64_t ConcurrencySearch::awaited() const {
  const auto enough = std::max<std::uint64_t>(limit_, smallest_window);
  // Few calls may fail together by chance: before the number becomes smaller for it, as many again are
  // awaited.
  if (too_many(window_.failed, window_.answered)) return 2 * enough;
  if (window_.answered == 0) return enough;
  const double errors = variation() / (error_of_step * share_of_step());
  return std::max(enough, static_cast<std::uint64_t>(errors * errors));
}

void ConcurrencySearch::window_is_over() {
  if (too_many(window_.failed, window_.answered)) {
    leaps_ = false;
    more_brought_nothing_ = true;
    search_soon();
    kept_ = {std::max(1u, static_cast<std::uint32_t>(std::lround(limit_ * after_failures))), 1, {}};
    return go_on_with(kept_.limit, Phase::settled);
  }
  before_failures_.reset();  // What failed was no outage's.
  const auto answered = static_cast<double>(window_.answered);
  const Level level{limit_, answered / static_cast<double>(window_.answered + window_.failed),
                    window_.latency};
  switch (phase_) {
    case Phase::opening:
      return;
    case Phase::weighing:
      return weigh(level);
    case Phase::settled:
      return settle(level);
    case Phase::trying_more:
    case Phase::trying_fewer:
      return judge_step(level);
  }
}

void ConcurrencySearch::weigh(const Level& level) {
  kept_ = level;
  // While the number grows the short answers come first: it may have been no queue.
  leaps_ = window_.failed * 10 <= window_.answered;
  try_fewer_next_ = answers_are_alike();
  try_a_step();
}

void ConcurrencySearch::settle(const Level& level) {
  if (kept_.limit != level.limit || has_changed(level)) {
    kept_ = level;
    search_soon();
  } else {
    kept_.answered_share = level.answered_share;
    kept_.latency.weigh_as_many_as(static_cast<double>(windows_remembered * level.limit));
    kept_.latency.add(level.latency);
  }
  try_a_step();
}

/// The server is another than before.
bool ConcurrencySearch::has_changed(const Level& level) const {
  if (kept_.latency.answers() == 0) return false;
  const auto [log_ratio, error] = longer(level.latency, kept_.latency);
  return std::abs(log_ratio) > errors_beyond_chance * error;
}

void ConcurrencySearch::judge_step(const Level& level) {
  const double change = std::log(level.throughput() / kept_.throughput());
  const double share = std::abs(std::log(static_cast<double>(level.limit) / kept_.limit));
  if (phase_ == Phase::trying_more) {
    more_brought_nothing_ = change < gain_of_step * share;
    if (!more_brought_nothing_) return go_on_from(level, leaps_ && change > gain_without_queue * share);
  } else {
    if (change >= -loss_of_step * share) return go_on_from(level, false);
    // Where fewer bring as much less there is no queue.
    if (change < -clear_loss_of_step * share &&
        (unqueued_.answers() == 0 || level.latency.mean() > unqueued_.mean()))
      unqueued_ = level.latency;
  }
  try_fewer_next_ = phase_ == Phase::trying_more;
  if (leaps_) {
    if (try_fewer_next_ && answers_queue()) return try_a_step();
    leaps_ = false;
  } else if (++steps_in_vain_ % 2 == 0) {
    windows_to_rest_ = rest_;
    rest_ = std::min(2 * rest_, longest_rest);
  }
  go_on_with(kept_.limit, Phase::settled);
}

/// `opens`: nothing queued at either number, so that it was no queue that ended the opening.
void ConcurrencySearch::go_on_from(const Level& level, bool opens) {
  try_fewer_next_ = level.limit < kept_.limit;
  const Level left = std::exchange(kept_, level);
  steps_in_vain_ = 0;
  search_soon();
  if (!opens) return try_a_step();
  unqueued_ = left.latency;
  go_on_with(limit_, Phase::opening);
}

/// Answers take clearly longer than those that waited for no other, or more calls would only wait.
bool ConcurrencySearch::answers_queue() const {
  if (more_brought_nothing_) return true;
  return unqueued_.answers() > 0 && longer(kept_.latency, unqueued_).beyond(longer_when_queue_is_short);
}

double ConcurrencySearch::variation() const {
  return kept_.latency.answers() > 0 ? kept_.latency.variation() : window_.latency.variation();
}

/// What the first ones took is what others take that wait for none.
bool ConcurrencySearch::answers_are_alike() const {
  return variation() < variation_of_like_answers;
}

/// As large as answers of different length ask for: what a smaller step brings would not be seen.
double ConcurrencySearch::share_of_step() const {
  if (leaps_ || phase_ == Phase::weighing) return 1;
  const double number = std::max(1u, kept_.limit);
  return std::clamp(share_by_variation * variation() / std::sqrt(number), smallest_step, 1.0);
}

std::uint32_t ConcurrencySearch::step_up() const {
  return kept_.limit + std::max(1u, static_cast<std::uint32_t>(std::lround(kept_.limit * share_of_step())));
}

std::uint32_t ConcurrencySearch::step_down() const {
  // Where Little's law has the knee.
  const double fewer = leaps_ && answers_are_alike() && unqueued_.answers() > 0
                           ? std::ceil(kept_.throughput() * unqueued_.mean() * room_over_knee)
                           : std::round(kept_.limit / (1 + share_of_step()));
  return static_cast<std::uint32_t>(std::clamp(fewer, 1.0, std::max(1.0, kept_.limit - 1.0)));
}

void ConcurrencySearch::try_a_step() {
  if (windows_to_rest_ > 0) {
    --windows_to_rest_;
    return go_on_with(kept_.limit, Phase::settled);
  }
  if (kept_.limit >= most_) leaps_ = false;
  const bool may_try_fewer = kept_.limit > 1 && answers_queue();
  const bool may_try_more = kept_.limit < most_;
  if (may_try_fewer && (try_fewer_next_ || !may_try_more))
    return go_on_with(step_down(), Phase::trying_fewer);
  if (may_try_more) return go_on_with(step_up(), Phase::trying_more);
  go_on_with(kept_.limit, Phase::settled);
}

}  // namespace sluice

#include "coordinator/governor/in_flight_limit.hpp"

#include "coordinator/governor/defaults.hpp"
#include "coordinator/governor/slot_rule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace sluice {

using namespace defaults::in_flight_limit;

namespace {

/// What workers report is a call off, of many calls a few.
bool are_close(std::uint64_t one, std::uint64_t other) {
  const auto more = std::max(one, other);
  return static_cast<double>(more - std::min(one, other)) <= share_of_doubt * static_cast<double>(more);
}

}  // namespace

void InFlightLimit::begin_with(std::uint32_t limit) {
  // Whatever its pace was, it is another than this run's.
  refusals_ = {{limit, 0, 0, 0.0}};
}

void InFlightLimit::on_calls(const Calls& calls, BootTime now) {
  if (is_refuted_) return;
  latency_.add(calls.ended);
  latency_.weigh_as_many_as(answers_remembered);
  answered_ += calls.ended.answered;
  if (now >= together_until_) {
    flowing_ += calls.ended.answered;
    marks_.push_back({now, flowing_});
    while (marks_.size() > 1 && now - marks_[1].at >= time_to_compare) marks_.pop_front();
    compare_speed(now);
  }
  answered_since_ += calls.ended.answered;
  if (answered_since_ >= answers_that_forgive * std::max<std::uint64_t>(1, found_.value_or(1))) {
    answered_since_ = 0;
    if (refused_in_vain_ > 0) --refused_in_vain_;
  }
  if (calls.refused == 0 || is_refuted_) return;
  const bool is_new = now >= together_until_;
  if (is_new) {
    if (!found_) speed_ = speed_of_late(now);
    flowing_ = 0;
    marks_.clear();
  }
  if (is_new || !found_) together_until_ = now + std::max(calls.pause, come_together);
  if (found_) {
    if (is_new) try_less(now);
    // The last of those that came together have left as many as are taken.
    if (found_) found_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(calls.in_flight, *found_));
    const double least = std::min(shown_ - 1.0, shown_ * (1 - share_of_contradiction));
    if (found_ && *found_ < std::max(1.0, least)) refute();
    return;
  }
  note(calls, is_new);
  const bool is_own =
      static_cast<double>(calls.in_flight) > share_of_places * static_cast<double>(calls.places);
  if (is_own || !is_the_number()) return;
  found_ = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(refusals_.back().in_flight, std::numeric_limits<std::uint32_t>::max()));
  shown_ = *found_;
  refused_in_vain_ = 0;
  answered_since_ = 0;
  hold_ = first_hold;
  grows_at_ = now + hold_;
}

/// The first of those that came together may still be on their way to be refused.
void InFlightLimit::note(const Calls& calls, bool is_new) {
  if (is_new || refusals_.empty()) {
    const auto left = refusals_.empty() ? 0 : refusals_.back().in_flight;
    refusals_.push_back({calls.in_flight, left, std::exchange(answered_, 0), calls.pace});
    if (refusals_.size() > refusals_remembered) refusals_.pop_front();
  } else {
    auto& newest = refusals_.back();
    newest.in_flight = std::min(newest.in_flight, calls.in_flight);
  }
}

bool InFlightLimit::is_the_number() const {
  const Refusal& newest = refusals_.back();
  const std::size_t needed = newest.in_flight < few_calls ? refusals_that_show : refusals_that_show - 1;
  if (newest.in_flight == 0) return false;
  if (newest.in_flight < few_calls && !speed_) return false;
  if (latency_.answers() < fewest_answers || latency_.variation() < least_variation) return false;
  double slowest = std::numeric_limits<double>::infinity();
  double fastest = 0;
  double fewest = std::numeric_limits<double>::infinity();
  double most = 0;
  std::size_t agreeing = 0;
  for (const Refusal& one : refusals_) {
    // A call may have been on its way.
    if (!are_close(one.in_flight, newest.in_flight)) {
      if (one.in_flight != newest.in_flight + 1) agreeing = 0;
      continue;
    }
    if (agreeing++ == 0) {
      slowest = fewest = std::numeric_limits<double>::infinity();
      fastest = most = 0;
    }
    const double pace = one.pace.value_or(std::numeric_limits<double>::infinity());
    slowest = std::min(slowest, pace);
    fastest = std::max(fastest, pace);
    fewest = std::min(fewest, one.taken());
    most = std::max(most, one.taken());
  }
  // By a rate so many would differ by chance, if not by its pace.
  if (agreeing == refusals_remembered && newest.in_flight >= many_calls) return true;
  // Two without a pace do not differ.
  const bool paces_differ = std::isfinite(slowest) && fastest >= different_pace * slowest;
  return agreeing >= needed && paces_differ && most >= different_calls * fewest;
}

std::optional<double> InFlightLimit::speed_of_late(BootTime now) const {
  if (marks_.empty() || now - marks_.front().at < shortest_flow) return std::nullopt;
  return static_cast<double>(flowing_ - marks_.front().answered) / in_seconds(now - marks_.front().at);
}

/// Fewer calls than a rate lets be in flight are not refused, either: but they bring less than that rate did.
void InFlightLimit::compare_speed(BootTime now) {
  if (!found_ || !speed_) return;
  const auto time = now - together_until_;
  if (time < time_to_compare || flowing_ < answers_to_compare) return;
  if (static_cast<double>(flowing_) < least_of_speed * *speed_ * in_seconds(time)) return refute();
  speed_.reset();
}

void InFlightLimit::refute() {
  found_.reset();
  refusals_.clear();
  is_refuted_ = true;
}

void InFlightLimit::try_less(BootTime now) {
  const bool was_growth = *found_ > shown_;
  if (!was_growth && ++refused_in_vain_ > most_in_vain) return refute();
  answered_since_ = 0;
  found_ = was_growth ? shown_ : std::max(1u, *found_ - 1);
  hold_ = std::min(2 * hold_, longest_hold);
  grows_at_ = now + hold_;
}

void InFlightLimit::grow(BootTime now) {
  if (!found_ || now < grows_at_) return;
  shown_ = *found_;
  *found_ += std::max(1u, *found_ / 16);
  grows_at_ = now + hold_;
}

}  // namespace sluice

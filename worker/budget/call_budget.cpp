#include "worker/budget/call_budget.hpp"

#include "worker/defaults.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sluice {

namespace {

std::string too_large(const char* what, std::uint64_t tokens, std::uint64_t most) {
  return "up to " + std::to_string(tokens) + " " + what + " where a single call may take " +
         std::to_string(most);
}

}  // namespace

void CallBudget::take(const wire::Grant& grant, TimePoint now) {
  granted_ = true;
  unlimited_ = grant.unlimited;
  places_were_taken_ = places_were_taken_ || grant.places < places_;
  places_ = grant.places;
  searched_ = grant.searched;
  ceiling_ = grant.ceiling;
  hold_ = grant.hold;
  // An outage is over when the coordinator ends it: single calls may probe it meanwhile.
  const std::chrono::milliseconds pause(grant.pause_ms);
  in_outage() ? shorten_pause(pause, now) : take_pause(pause, now);
  for (const auto& permit : grant.permits) permits_.grant(permit);
  sent_.permits += grant.permits.size();
  measure_holds(now);
}

void CallBudget::pause(std::chrono::milliseconds delay, TimePoint now) {
  ++outcomes_.named_delays;
  asked_pause_.until = std::max(asked_pause_.until, now + delay);
  prompt_until_ = now + delay + defaults::prompt_time;
  if (delay >= case_time_) asked_pause_.long_until = std::max(asked_pause_.long_until, now + delay);
  measure_holds(now);
}

/// A pause that others were asked for, or none: each grant says it anew, since it may end early. Whether it
/// is a long one is the same for all workers: some of it has passed since a provider named it.
void CallBudget::take_pause(std::chrono::milliseconds left, TimePoint now) {
  const auto until = now + left;
  const auto passed_on_the_way = std::min<Duration>(defaults::granted_pause_age, case_time_ / 20);
  granted_pause_.until = until;
  granted_pause_.long_until =
      left + passed_on_the_way >= case_time_ ? until : std::min(granted_pause_.long_until, until);
  if (until > now) prompt_until_ = until + defaults::prompt_time;
}

/// In an outage a pause may end early all the same.
void CallBudget::shorten_pause(std::chrono::milliseconds left, TimePoint now) {
  granted_pause_.until = std::min(granted_pause_.until, now + left);
  granted_pause_.long_until = std::min(granted_pause_.long_until, now + left);
}

void CallBudget::measure_holds(TimePoint now) {
  outages_.hold_until(in_outage() ? TimePoint::max() : long_pause_until(), now);
  pauses_.hold_until(in_outage() ? TimePoint::max() : paused_until(), now);
}

void CallBudget::forget_permits() {
  granted_ = false;
  permits_.forget();
  settled_.clear();
}

bool CallBudget::may_start(const Moment& moment) const {
  if (!granted_ || given_up() || moment.now < paused_until() || in_flight_ >= places_) return false;
  const bool needs_permit = !unlimited_ || in_outage();
  return !needs_permit || permits_.held() > 0;
}

std::optional<CallBudget::Start> CallBudget::start(const wire::CallSize& call, const ClockBounds& clock,
                                                   const Moment& moment) {
  if (!may_start(moment)) return std::nullopt;
  Start start;
  if (!unlimited_ || in_outage()) {
    start.permit = permits_.take(call, in_outage(), clock, moment.boot);
    if (!start.permit) return std::nullopt;
  }
  ++in_flight_;
  return start;
}

std::optional<Error> CallBudget::ceiling_problem(const wire::CallSize& call) const {
  const std::uint64_t input = call.input_tokens;
  const std::uint64_t output = call.output_tokens;
  std::string problem;
  if (ceiling_.input_tokens > 0 && input > ceiling_.input_tokens) {
    problem = too_large("input tokens", input, ceiling_.input_tokens) +
              "; shorten the case, or raise input_tokens_per_minute or burst_seconds";
  } else if (ceiling_.output_tokens > 0 && output > ceiling_.output_tokens) {
    problem = too_large("output tokens", output, ceiling_.output_tokens) + "; lower --max-output-tokens to " +
              std::to_string(ceiling_.output_tokens) + ", or raise output_tokens_per_minute or burst_seconds";
  } else if (ceiling_.total_tokens > 0 && input + output > ceiling_.total_tokens) {
    problem = too_large("tokens", input + output, ceiling_.total_tokens) + " (" + std::to_string(input) +
              " of input, " + std::to_string(output) + " of output); ";
    if (input < ceiling_.total_tokens) {
      problem += "lower --max-output-tokens to " + std::to_string(ceiling_.total_tokens - input) + ", or ";
    } else {
      problem += "shorten the case, or ";
    }
    problem += "raise tokens_per_minute or burst_seconds";
  }
  if (problem.empty()) return std::nullopt;
  return Error{Reason::request_refused, "the call does not fit into the budget of provider \"" + provider_ +
                                            "\": it takes " + problem};
}

std::optional<TimePoint> CallBudget::next_chance(const ClockBounds& clock, const Moment& moment) const {
  const auto change = permits_.next_change(clock, moment.boot);
  std::optional<TimePoint> next;
  if (change) next = moment.now + std::chrono::duration_cast<Duration>(*change - moment.boot);
  const bool paused = granted_ && moment.now < paused_until();
  if (paused && (!next || paused_until() < *next)) next = paused_until();
  return next;
}

void CallBudget::answered(std::chrono::microseconds latency, TimePoint now) {
  last_answer_ = now;
  const auto latency_us = std::max<std::int64_t>(latency.count(), 1);
  outcomes_.latency_sum_us += static_cast<std::uint64_t>(latency_us);
  latency_squares_us2_ += static_cast<double>(latency_us) * static_cast<double>(latency_us);
  ++outcomes_.answered;
}

void CallBudget::give_back(std::span<const wire::CallSize> ready, const ClockBounds& clock,
                           const Moment& moment) {
  permits_.drop_closed(clock, moment.boot);
  permits_.keep_for(ready);
}

bool CallBudget::is_due(std::size_t ready, TimePoint now) const {
  const bool pause_is_new = asked_pause_.until > now && asked_pause_.until != sent_.paused_until;
  const bool is_urgent = outcomes_.rate_limited > 0 || outcomes_.failed > 0 || outcomes_.timed_out > 0 ||
                         places_were_taken_ || pause_is_new || announced_ != sent_.announced ||
                         permits_.has_unused();
  return is_urgent || change_is_due(ready, now);
}

bool CallBudget::change_is_due(std::size_t ready, TimePoint now) const {
  const auto wanted = ready + in_flight_;
  const std::size_t sent = std::size_t{sent_.ready} + sent_.in_flight;
  if (!granted_ || !unlimited_) {
    if (!has_changed(ready)) return false;
    // Others may have the places of one that has much less to do.
    const bool is_done = 4 * wanted < 3 * sent;
    return is_done || would_get_more(ready) || now - sent_.at >= gathering_time(now);
  }
  if (searched_) {
    const auto round = std::max(places_, defaults::smallest_round);
    if (outcomes_.answered >= round && now - sent_.at >= defaults::shortest_round) return true;
    return (sent == 0) != (wanted == 0);
  }
  // Places are split by what is wanted; which calls of these are in flight does not matter.
  return places_ != wire::unlimited_places && wanted != sent;
}

bool CallBudget::has_changed(std::size_t ready) const {
  return ready != sent_.ready || in_flight_ != sent_.in_flight || !settled_.empty() || permits_.has_spent();
}

std::optional<TimePoint> CallBudget::next_report(std::size_t ready, TimePoint now) const {
  if (unlimited_ || !granted_ || !has_changed(ready)) return std::nullopt;
  return sent_.at + gathering_time(now);
}

/// More calls wait for permits, or have places for them, than the coordinator will have found permits for
/// soon.
bool CallBudget::would_get_more(std::size_t ready) const {
  const auto beyond = [](std::size_t one, std::size_t other) { return one > other ? one - other : 0; };
  const auto held = permits_.held();
  const auto lacking = beyond(ready, held);
  const auto free = beyond(places_, in_flight_ + held);
  const auto known_lacking = beyond(sent_.ready, sent_.permits);
  const auto known_free = beyond(places_, sent_.in_flight + sent_.permits);
  return std::min(lacking, free) > 2 * std::min(known_lacking, known_free);
}

wire::CallOutcomes CallBudget::take_outcomes() {
  auto outcomes = std::exchange(outcomes_, {});
  const double squares = std::exchange(latency_squares_us2_, 0);
  if (outcomes.answered > 0) {
    const double mean = static_cast<double>(outcomes.latency_sum_us) / outcomes.answered;
    const double variance = std::max(0.0, squares / outcomes.answered - mean * mean);
    outcomes.latency_deviation_us = static_cast<std::uint64_t>(std::sqrt(variance));
  }
  return outcomes;
}

wire::Demand CallBudget::demand(std::size_t ready, std::vector<wire::CallSize> sizes, TimePoint now) {
  wire::Demand demand;
  demand.provider = provider_;
  demand.ready_calls = static_cast<std::uint32_t>(ready);
  demand.in_flight = in_flight_;
  if (asked_pause_.until > now) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(asked_pause_.until - now);
    demand.pause_ms = static_cast<std::uint32_t>(std::min<std::int64_t>(left.count(), 0xffffffff));
  }
  demand.sizes = std::move(sizes);
  demand.spent = permits_.take_spent();
  demand.settled = std::exchange(settled_, {});
  demand.outcomes = take_outcomes();
  demand.announced = announced_;
  demand.doubted = doubted_;
  places_were_taken_ = false;
  if (demand.outcomes.rate_limited > 0) prompt_until_ = now + defaults::prompt_time;
  sent_ = {demand.ready_calls, in_flight_, permits_.held(), asked_pause_.until, announced_, now};
  return demand;
}

}  // namespace sluice

#include "coordinator/governor/provider_budget.hpp"

#include "coordinator/governor/defaults.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

namespace {

/// Rounded up: never shorter than the server named.
std::uint32_t in_milliseconds(BootTime time) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(time).count();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(left, 0, 0xffffffff));
}

}  // namespace

ProviderBudget::ProviderBudget(std::string name, const ProviderLimits& limits, const BudgetTimes& times,
                               const LearnedLimits& learned, BootTime now)
    : name_(std::move(name)),
      times_(times),
      limits_(limits),
      health_(name_, times.outage_timeout),
      concurrency_(limits.max_in_flight),
      permits_(limits, times, now),
      known_before_(learned),
      began_(now) {
  if (learned.requests_per_minute && !limits_.names_a_rate()) {
    rate_search_.begin_with(*learned.requests_per_minute / seconds_a_minute, learned.burst, now);
    if (learned.source == LimitSource::found && learned.age >= defaults::rate_search::outdated_after)
      rate_search_.is_outdated();
  } else if (learned.burst && !limits.burst_seconds) {
    auto conditions = permits_.conditions();
    conditions.burst = std::max(1.0, *learned.burst);
    permits_.set_conditions(conditions, now);
  }
  if (learned.in_flight) {
    concurrency_.begin_with(*learned.in_flight);
    in_flight_limit_.begin_with(*learned.in_flight);
  }
  follow_rate();
}

// --- who is there ---

void ProviderBudget::join(WorkerId worker, WorkerConcurrency concurrency, BootTime now) {
  // Calls that it had under way before count as taken until it reports how many there are.
  drop(worker, true, now);
  members_.emplace(worker, Member{WorkerAccount(concurrency), std::nullopt, {}, now});
  concurrency_.join(worker, members_, now);
}

void ProviderBudget::leave(WorkerId worker, bool lost, BootTime now) {
  drop(worker, lost, now);
  pause_.forget(worker, now);
  // What others were told of its pause holds no longer than the pause: a shorter one is news again.
  published_pause_ = std::min(published_pause_, pause_.until());
}

void ProviderBudget::distrust(WorkerId worker, BootTime now) {
  if (limits_.distrust(worker)) permits_.set_limits(limits_.in_force(), members_, now);
  follow_rate();
}

/// What it was granted is void; what its provider asked of it stands.
void ProviderBudget::drop(WorkerId worker, bool lost, BootTime now) {
  const auto found = members_.find(worker);
  if (found == members_.end()) return;
  permits_.on_gone(worker, found->second, health_.breaker(), now);
  members_.erase(found);
  if (limits_.forget(worker)) permits_.set_limits(limits_.in_force(), members_, now);
  concurrency_.leave(worker, members_, lost ? now + times_.request_timeout : now, now);
}

// --- what they report ---

void ProviderBudget::on_demand(WorkerId worker, const wire::Demand& demand, bool newest,
                               BootTime newest_grants, BootTime now) {
  const auto found = members_.find(worker);
  if (found == members_.end()) return;
  auto& member = found->second;
  const auto before = std::exchange(member.last_heartbeat, now);
  if (demand.ready_calls > 0) {
    use_.on_demand(now);
    rate_search_.on_demand(now);
  }
  if (newest) member.round_trip = BootTime(demand.uncertainty_us);
  if (demand.variation_us > 0) member.variation = BootTime(demand.variation_us);
  const bool knew_rate = limits_.names_a_rate();
  const auto rate_before = limits_.requests_per_second();
  bool limits_changed = limits_.on_announced(worker, demand.announced);
  if (demand.outcomes.rate_limited + demand.outcomes.named_delays > 0)
    limits_changed = limits_.on_refused() || limits_changed;
  if (demand.outcomes.answered > 0) limits_changed = limits_.on_answered() || limits_changed;
  if (limits_changed) permits_.set_limits(limits_.in_force(), members_, now);
  const auto rate = limits_.requests_per_second();
  const bool is_lower = rate_before && rate && *rate < *rate_before;
  // What an earlier run read of the headers is what they said then.
  if (!rate_before && rate && known_before_.source == LimitSource::announced)
    rate_search_.forget_remembered();
  if ((!knew_rate && limits_.names_a_rate()) || is_lower) {
    for (auto& [id, one] : members_) one.calls_freely = true;
  }
  if (limits_.on_doubted(demand.doubted)) health_.note(BudgetEvent::doubts_limits, {}, limits_.doubted());
  pause_.extend(worker, demand.pause_ms, now);
  note_long_pause(now);
  permits_.on_spent(worker, member, demand.spent, health_.breaker(), use_, now);
  permits_.on_settled(demand.settled);
  for (const auto& call : demand.settled) use_.on_settled(call.used);
  const bool came_back = on_outcomes(worker, member, demand, newest, before, now);
  if (newest) permits_.on_demand(member, demand);
  if (!limits_.names_a_rate() || std::ranges::any_of(demand.spent, &wire::SpentPermit::used))
    member.calls_freely = false;
  if (came_back) {
    for (auto& [id, one] : members_) one.account.provider_returned();
  }
  if (newest) concurrency_.on_demand(worker, members_, newest_grants);
}

/// Where nothing is sent somebody wonders why; a provider that names a pause again and again is noted once.
void ProviderBudget::note_long_pause(BootTime now) {
  const auto left = pause_.left(now);
  if (left < defaults::noted_pause || left < 2 * longest_noted_pause_) return;
  longest_noted_pause_ = left;
  health_.note(BudgetEvent::paused, left);
}

/// True if they end an outage.
bool ProviderBudget::on_outcomes(WorkerId worker, Member& member, const wire::Demand& demand, bool newest,
                                 BootTime since, BootTime now) {
  const auto& outcomes = demand.outcomes;
  use_.on_outcomes(outcomes);
  const auto ended =
      outcomes.answered + outcomes.declined + outcomes.named_delays + outcomes.rate_limited + outcomes.failed;
  const auto in_flight_before = member.account.in_flight();
  const auto began = ended + (newest ? demand.in_flight : in_flight_before);
  const auto started = began > in_flight_before ? began - in_flight_before : 0;
  // What single probes meet says nothing of a rate.
  if (!health_.is_down()) {
    const auto under_way = newest ? demand.in_flight : in_flight_before;
    on_refusals(worker, outcomes, {started, ended, under_way}, since, now);
    prove_rate({started, outcomes.named_delays + outcomes.rate_limited}, now);
  }
  const auto change = health_.on_outcomes(worker, members_, demand, now);
  follow_rate();
  concurrency_.on_outcomes(outcomes, change.failed, change.went_down, health_.is_down(), members_);
  return change.came_back;
}

void ProviderBudget::prove_rate(const RateProof::Calls& calls, BootTime now) {
  rate_proof_.on_outcomes(calls, {rate_search_.accepted(), rate_search_.burst()}, {now, held_up_.time(now)});
}

/// What they show of the rate that the provider takes.
void ProviderBudget::on_refusals(WorkerId worker, const wire::CallOutcomes& outcomes,
                                 const CallsOfReport& calls, BootTime since, BootTime now) {
  auto& member = members_.at(worker);
  const auto& [started, ended, in_flight] = calls;
  // A named delay is waited for; but all would only come together again after it, and be refused again.
  // A provider that has answered nothing at all says nothing of a rate: it is closed.
  const bool is_closed = !use_.was_answered() && known_before_.empty() && in_flight == 0 &&
                         std::ranges::none_of(members_, [&](const auto& one) {
                           return one.first != worker && one.second.account.in_flight() > 0;
                         });
  if (!is_closed && is_of_the_number(worker, outcomes, in_flight, now)) return;
  const auto refused = outcomes.rate_limited + outcomes.named_delays;
  // What began before the limit was announced says nothing of what it takes at once.
  if (member.calls_freely)
    member.account.before_cut().mark(ended + in_flight +
                                     static_cast<std::uint32_t>(member.account.held_count()));
  const auto late = member.account.before_cut().among(refused, ended);
  const bool spaced = rate_search_.rate().has_value();
  const bool was_burst =
      refused > late && !spaced && margins_.halve_burst(permits_, known_before_.burst, now);
  CallsSeen seen;
  seen.started = started;
  seen.refused = was_burst ? 0 : refused - late;
  seen.refused_late = was_burst ? refused : late;
  seen.delay_named = !was_burst && outcomes.named_delays > 0 && (spaced || !member.calls_freely);
  seen.is_closed = is_closed;
  seen.was_answered = use_.was_answered();
  seen.are_waiting = is_held_back();
  seen.searches = searches_rate();
  seen.since = since;
  seen.at = now;
  if (rate_search_.on_calls(seen, pause_.left(now), now) || was_burst) on_cut(spaced, now);
}

/// What is refused is refused for the number of calls in flight, and none of it for a rate.
bool ProviderBudget::is_of_the_number(WorkerId worker, const wire::CallOutcomes& outcomes,
                                      std::uint32_t in_flight, BootTime now) {
  // Where the number in flight is not searched for, one that was found would bound nothing.
  if (limits_.names_a_rate() || concurrency_.is_set() || has_others_ ||
      members_.size() > defaults::in_flight_limit::most_workers) {
    forget_the_number();
    return false;
  }
  InFlightLimit::Calls calls;
  calls.ended = {outcomes.answered, 0, outcomes.latency_sum_us, outcomes.latency_deviation_us};
  calls.refused = outcomes.rate_limited + outcomes.named_delays;
  calls.in_flight = in_flight;
  for (const auto& [id, member] : members_) {
    if (id != worker) calls.in_flight += member.account.in_flight();
    calls.places += concurrency_.places_for(id, member);
  }
  calls.pace = rate_search_.rate();
  calls.pause = pause_.left(now);
  const bool was_found = in_flight_limit_.found().has_value();
  in_flight_limit_.on_calls(calls, now);
  const auto found = in_flight_limit_.found();
  concurrency_.refuse_beyond(found, members_);
  if (found && !was_found) {
    rate_search_.set_aside();
    permits_.set_found_rate(std::nullopt, std::nullopt, now);
    learned_at_ = now;
  } else if (was_found && !found) {
    rate_search_.take_up();
  }
  return found.has_value();
}

/// What has been seen of it is not all that there is.
void ProviderBudget::forget_the_number() {
  if (!in_flight_limit_.found()) return;
  in_flight_limit_.forget();
  concurrency_.refuse_beyond(std::nullopt, members_);
  rate_search_.take_up();
}

bool ProviderBudget::searches_rate() const {
  return !limits_.requests_per_second() || rate_search_.rate();
}

void ProviderBudget::on_cut(bool was_spaced, BootTime now) {
  // What another run found it tells, and keeps.
  if (!rate_search_.leader()) {
    learned_at_ = now;
    if (!was_spaced && rate_search_.rate()) health_.note(BudgetEvent::refuses_calls);
  }
  // Calls that are under way began at another rate than those from now on.
  for (auto& [id, one] : members_) one.account.rate_was_cut();
}

/// Where a rate is known the number in flight is not searched for.
void ProviderBudget::follow_rate() {
  concurrency_.follow(limits_.names_a_rate() || rate_search_.rate());
}

// --- what other runs do ---

void ProviderBudget::share(std::uint64_t run, std::span<const ForeignUse> uses, bool is_cut) {
  is_shared_ = true;
  rate_search_.share(run);
  permits_.record_use(true);
  std::optional<BootTime> first;
  for (const ForeignUse& one : uses) {
    const auto* slot = std::get_if<SlotTaken>(&one.use);
    if (slot != nullptr && (!first || slot->opens < *first)) first = slot->opens;
  }
  if (first) permits_.restart(*first, is_cut ? BucketLevel::empty : BucketLevel::full);
}

void ProviderBudget::stop_sharing(BootTime now) {
  is_shared_ = false;
  left_behind_ = 0;
  permits_.record_use(false);
  permits_.set_beside_others(false);
  has_others_ = false;
  rate_search_.stop_sharing(now);
  concurrency_.leave_to_others({}, now);
}

void ProviderBudget::count(std::span<const ForeignUse> uses, const OtherPlaces& others, BootTime now) {
  for (const ForeignUse& one : uses) {
    if (const auto* delay = std::get_if<DelayNamed>(&one.use)) {
      pause_.extend_to(delay->until, now);
      published_pause_ = std::max(published_pause_, delay->until);
    } else if (const auto* seen = std::get_if<CallsSeen>(&one.use); seen != nullptr && seen->at >= began_) {
      prove_rate({seen->started, seen->refused + seen->refused_late}, now);
    }
  }
  has_others_ = !others.living.empty();
  // Before what they found is taken in.
  if (has_others_) forget_the_number();
  const bool spaced = rate_search_.rate().has_value();
  const SharedRateSearch::Others others_did{uses, others.living};
  const SharedRateSearch::Standing own{searches_rate(), health_.is_down()};
  if (rate_search_.count(others_did, own, pause_.left(now), now)) on_cut(spaced, now);
  permits_.set_found_rate(rate_search_.rate(), rate_search_.burst(), now);
  permits_.set_beside_others(has_others_);
  permits_.count(uses, rate_search_.leader());
  concurrency_.leave_to_others(others, now);
  other_runs_ = std::max(other_runs_, static_cast<std::uint32_t>(others.living.size()));
  left_behind_ = others.left_behind;
  left_until_ = others.left_until;
}

std::vector<KeyUse> ProviderBudget::take_use(BootTime now) {
  auto use = permits_.take_use();
  if (is_shared_ && pause_.until() > published_pause_) {
    published_pause_ = pause_.until();
    use.emplace_back(DelayNamed{published_pause_});
  }
  rate_search_.tell_calls(use);
  rate_search_.tell_rate(use, permits_.found_level(now), now);
  return use;
}

KeyPlaces ProviderBudget::places(BootTime now) const {
  return concurrency_.of_key(now);
}

// --- what is decided ---

bool ProviderBudget::is_held_back() const {
  return std::ranges::any_of(members_, [](const auto& item) { return item.second.account.lacking() > 0; });
}

PermitGrants::Room ProviderBudget::room() const {
  return [this](WorkerId worker, const Member& member) { return concurrency_.places_for(worker, member); };
}

void ProviderBudget::turn(std::uint64_t& next_id, BootTime now) {
  permits_.drop_lost(members_, health_.breaker(), now);
  const bool is_flowing = !health_.is_down() && !pause_.is_on(now);
  rate_search_.grow(is_flowing, is_held_back(), limits_.requests_per_second(), now);
  permits_.set_found_rate(rate_search_.rate(), rate_search_.burst(), now);
  margins_.follow_ways(permits_, members_, now);
  follow_rate();
  if (is_flowing && concurrency_.wants_beyond_refused(members_)) in_flight_limit_.grow(now);
  concurrency_.refuse_beyond(in_flight_limit_.found(), members_);
  concurrency_.allot(now);
  const auto from = std::max(now, pause_.until());
  health_.tick(now);
  if (health_.is_down()) {
    permits_.probe(members_, room(), health_.breaker(), from, next_id, now);
  } else {
    permits_.distribute(members_, room(), from, next_id, now);
    if (permits_.lacks_places()) concurrency_.widen(now);
  }
  held_up_.run((permits_.needed() || pause_.is_on(now)) && is_held_back(), now);
}

// --- what is sent ---

BudgetState ProviderBudget::state_for(WorkerId worker, const Member& member, BootTime now) const {
  BudgetState state;
  state.unlimited = !permits_.needed();
  state.places = concurrency_.places_for(worker, member);
  state.searched = concurrency_.is_open();
  state.ceiling = permits_.ceiling();
  if (pause_.is_on(now)) {
    state.paused_until = pause_.until();
    state.hold = wire::HoldReason::named_delay;
  }
  if (health_.is_down()) {
    const bool given_up = health_.breaker().given_up(now);
    state.hold = given_up ? wire::HoldReason::given_up : wire::HoldReason::outage;
  }
  return state;
}

bool ProviderBudget::has_news(WorkerId worker, BootTime now) const {
  const auto found = members_.find(worker);
  if (found == members_.end()) return false;
  const auto& member = found->second;
  if (!member.new_permits.empty() || !member.sent) return true;
  auto state = state_for(worker, member, now);
  // That a named delay is over when it was to be every worker knows by itself.
  if (state.hold == wire::HoldReason::none && member.sent->hold == wire::HoldReason::named_delay &&
      member.sent->paused_until <= now) {
    state.hold = member.sent->hold;
    state.paused_until = member.sent->paused_until;
  }
  return state != *member.sent;
}

wire::Grant ProviderBudget::grant_for(WorkerId worker, BootTime now) {
  auto& member = members_.at(worker);
  const auto& state = member.sent.emplace(state_for(worker, member, now));
  wire::Grant grant;
  grant.provider = name_;
  grant.unlimited = state.unlimited;
  grant.places = state.places;
  grant.searched = state.searched;
  grant.hold = state.hold;
  grant.ceiling = state.ceiling;
  grant.pause_ms = in_milliseconds(pause_.left(now));
  if (health_.is_down()) {
    grant.pause_ms =
        std::max(grant.pause_ms, in_milliseconds(defaults::hold_heartbeats * times_.heartbeat_interval));
  }
  grant.permits = std::exchange(member.new_permits, {});
  return grant;
}

std::optional<BootTime> ProviderBudget::next_wake(BootTime now) const {
  std::optional<BootTime> next;
  const auto at = [&](std::optional<BootTime> time) {
    if (!time) return;
    *time = std::max(*time, now + BootTime(1));
    if (!next || *time < *next) next = time;
  };
  const auto& breaker = health_.breaker();
  at(permits_.next_wake(members_, room(), breaker, pause_.until(), now));
  if (breaker.open() && !breaker.given_up(now)) at(breaker.gives_up_at());
  at(concurrency_.next_change(now));
  if (permits_.lacks_places()) at(concurrency_.widens_at());
  return next;
}

}  // namespace sluice

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
                               BootTime now)
    : name_(std::move(name)),
      times_(times),
      limits_(limits),
      health_(name_, times.outage_timeout),
      concurrency_(limits.max_in_flight),
      permits_(limits, times, now) {
  follow_rate();
}

// --- who is there ---

void ProviderBudget::join(WorkerId worker, WorkerConcurrency concurrency, BootTime now) {
  // Calls that it had under way before count as taken until it reports how many there are.
  leave(worker, true, now);
  members_.emplace(worker, Member{WorkerAccount(concurrency), std::nullopt, {}, now});
  concurrency_.join(worker, members_, now);
}

void ProviderBudget::leave(WorkerId worker, bool lost, BootTime now) {
  const auto found = members_.find(worker);
  if (found == members_.end()) return;
  permits_.on_gone(worker, found->second, health_.breaker(), now);
  members_.erase(found);
  limits_.forget(worker);
  concurrency_.leave(worker, members_, lost ? now + times_.request_timeout : now, now);
}

// --- what they report ---

void ProviderBudget::on_demand(WorkerId worker, const wire::Demand& demand, bool newest,
                               BootTime newest_grants, BootTime now) {
  const auto found = members_.find(worker);
  if (found == members_.end()) return;
  auto& member = found->second;
  member.last_heartbeat = now;
  if (demand.ready_calls > 0) use_.on_demand(now);
  if (limits_.on_announced(worker, demand.announced)) permits_.set_limits(limits_.in_force(), members_, now);
  if (limits_.on_doubted(demand.doubted)) health_.note(BudgetEvent::doubts_limits, {}, limits_.doubted());
  pause_.extend(demand.pause_ms, now);
  permits_.on_spent(worker, member, demand.spent, health_.breaker(), use_, now);
  permits_.on_settled(demand.settled);
  for (const auto& call : demand.settled) use_.on_settled(call.used);
  const bool came_back = on_outcomes(worker, member, demand, newest, now);
  if (newest) permits_.on_demand(member, demand);
  if (came_back) {
    for (auto& [id, one] : members_) one.account.provider_returned();
  }
  if (newest) concurrency_.on_demand(worker, members_, newest_grants);
}

/// True if they end an outage.
bool ProviderBudget::on_outcomes(WorkerId worker, Member& member, const wire::Demand& demand, bool newest,
                                 BootTime now) {
  const auto& outcomes = demand.outcomes;
  use_.on_outcomes(outcomes);
  const auto ended =
      outcomes.answered + outcomes.declined + outcomes.named_delays + outcomes.rate_limited + outcomes.failed;
  const auto in_flight_before = member.account.in_flight();
  const auto began = ended + (newest ? demand.in_flight : in_flight_before);
  const auto started = began > in_flight_before ? began - in_flight_before : 0;
  // What single probes meet says nothing of a rate.
  if (!health_.is_down()) on_refusals(member, outcomes, started, ended, now);
  const auto change = health_.on_outcomes(worker, members_, demand, now);
  follow_rate();
  concurrency_.on_outcomes(outcomes, change.failed, change.went_down, health_.is_down(), members_);
  return change.came_back;
}

/// What they show of the rate that the provider takes.
void ProviderBudget::on_refusals(Member& member, const wire::CallOutcomes& outcomes, std::uint32_t started,
                                 std::uint32_t ended, BootTime now) {
  // A named delay is waited for; but all would only come together again after it, and be refused again.
  // Before the first answer it says nothing of a rate.
  const auto refused = outcomes.rate_limited + (use_.was_answered() ? outcomes.named_delays : 0);
  const auto late = member.account.before_cut().among(refused, ended);
  const bool spaced = rate_search_.rate().has_value();
  if (rate_search_.on_outcomes(started, refused - late, late, now)) {
    if (!spaced) health_.note(BudgetEvent::refuses_calls);
    for (auto& [id, one] : members_) one.account.rate_was_cut();
  }
  if (outcomes.named_delays > 0) rate_search_.pause(pause_.left(now), now);
}

/// Where a rate is known the number in flight is not searched for.
void ProviderBudget::follow_rate() {
  concurrency_.follow(limits_.names_a_rate() || rate_search_.rate());
}

// --- what other runs do ---

void ProviderBudget::share(std::span<const ForeignUse> uses, bool is_cut) {
  is_shared_ = true;
  permits_.record_use();
  std::optional<BootTime> first;
  for (const ForeignUse& one : uses) {
    const auto* slot = std::get_if<SlotTaken>(&one.use);
    if (slot != nullptr && (!first || slot->opens < *first)) first = slot->opens;
  }
  if (first) permits_.restart(*first, is_cut ? BucketLevel::empty : BucketLevel::full);
}

void ProviderBudget::count(std::span<const ForeignUse> uses, const OtherPlaces& others, BootTime now) {
  permits_.count(uses);
  for (const ForeignUse& one : uses) {
    if (const auto* delay = std::get_if<DelayNamed>(&one.use)) {
      pause_.extend_to(delay->until, now);
      published_pause_ = std::max(published_pause_, delay->until);
    }
  }
  concurrency_.leave_to_others(others, now);
  other_runs_ = std::max(other_runs_, static_cast<std::uint32_t>(others.places.size()));
}

std::vector<KeyUse> ProviderBudget::take_use() {
  auto use = permits_.take_use();
  if (is_shared_ && pause_.until() > published_pause_) {
    published_pause_ = pause_.until();
    use.emplace_back(DelayNamed{published_pause_});
  }
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
  rate_search_.grow(is_flowing && is_held_back(), limits_.requests_per_second(), now);
  permits_.set_found_rate(rate_search_.rate(), now);
  follow_rate();
  concurrency_.allot(now);
  const auto from = std::max(now, pause_.until());
  health_.tick(now);
  if (health_.is_down()) {
    permits_.probe(members_, room(), health_.breaker(), from, next_id, now);
  } else {
    permits_.distribute(members_, room(), from, next_id, now);
  }
}

// --- what is sent ---

BudgetState ProviderBudget::state_for(WorkerId worker, const Member& member, BootTime now) const {
  BudgetState state;
  state.unlimited = !permits_.needed();
  state.places = concurrency_.places_for(worker, member);
  state.searched = concurrency_.searches();
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
  // That a named delay is over every worker knows by itself.
  if (state.hold == wire::HoldReason::none && member.sent->hold == wire::HoldReason::named_delay) {
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
  return next;
}

// --- facts ---

void ProviderBudget::describe_rate(BudgetFacts& facts) const {
  if (facts.requests) facts.effective_per_minute = facts.requests->per_minute;
  if (const auto rate = rate_search_.rate()) {
    const double per_minute = *rate * seconds_a_minute;
    facts.effective_per_minute = std::min(per_minute, facts.effective_per_minute.value_or(per_minute));
  }
  const auto accepted = rate_search_.accepted();
  if (!accepted) return;
  const double found = *accepted * seconds_a_minute;
  if (!facts.requests) {
    facts.requests = KnownLimit{found, LimitSource::found};
  } else if (found < defaults::clearly_less * facts.requests->per_minute) {
    facts.found_below_limit = found;
  }
}

BudgetFacts ProviderBudget::facts(BootTime now) const {
  BudgetFacts facts;
  facts.provider = name_;
  if (pause_.is_on(now)) {
    facts.hold = wire::HoldReason::named_delay;
    facts.hold_left = pause_.left(now);
  }
  facts.paused_time = pause_.time(now);
  limits_.describe(facts);
  describe_rate(facts);
  concurrency_.describe(facts);
  permits_.describe(facts);
  use_.describe(facts);
  facts.other_runs = other_runs_;
  health_.describe(facts, now);
  for (const auto& [worker, member] : members_) {
    facts.in_flight += member.account.in_flight();
    facts.waiting_calls += member.account.ready();
    facts.backing_off_calls += member.account.backing_off();
    if (member.account.ready() > 0) ++facts.waiting_workers;
  }
  return facts;
}

}  // namespace sluice

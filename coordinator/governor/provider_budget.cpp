#include "coordinator/governor/provider_budget.hpp"

#include "common/defaults.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace sluice {

namespace {

/// What was found is no more precise than this.
constexpr double clearly_less = 0.9;

bool names_a_rate(const ProviderLimits& limits) {
  return limits.requests_per_minute || limits.tokens_per_minute || limits.input_tokens_per_minute ||
         limits.output_tokens_per_minute;
}

/// The limits that both the settings and a provider can name.
struct NamedTwice {
  std::optional<std::uint64_t> ProviderLimits::*setting;
  std::uint64_t wire::AnnouncedLimits::*announced;
};
constexpr NamedTwice rates[] = {
    {&ProviderLimits::requests_per_minute, &wire::AnnouncedLimits::requests_per_minute},
    {&ProviderLimits::tokens_per_minute, &wire::AnnouncedLimits::tokens_per_minute},
    {&ProviderLimits::input_tokens_per_minute, &wire::AnnouncedLimits::input_tokens_per_minute},
    {&ProviderLimits::output_tokens_per_minute, &wire::AnnouncedLimits::output_tokens_per_minute},
};

/// What is not named anew stays.
wire::AnnouncedLimits renewed(wire::AnnouncedLimits known, const wire::AnnouncedLimits& announced) {
  for (const auto& rate : rates) {
    if (announced.*rate.announced > 0) known.*rate.announced = announced.*rate.announced;
  }
  return known;
}

}  // namespace

ProviderBudget::ProviderBudget(std::string name, const ProviderLimits& limits, const BudgetTimes& times,
                               BootTime now)
    : name_(std::move(name)),
      configured_(limits),
      in_force_(limits),
      times_(times),
      slots_(limits, now),
      places_(limits.max_in_flight ? Places::Bound::fixed : Places::Bound::searched),
      breaker_(times.outage_timeout) {}

// --- who is there ---

void ProviderBudget::join(WorkerId worker, WorkerConcurrency concurrency, BootTime now) {
  // Calls that it had under way before count as taken until it says how many there are.
  leave(worker, true, now);
  const auto& joined =
      members_.emplace(worker, Member{WorkerAccount(concurrency), std::nullopt, {}, {}, now}).first->second;
  places_.join(worker, joined.account.most_places(), now);
  bound_search();
}

void ProviderBudget::leave(WorkerId worker, bool lost, BootTime now) {
  const auto found = members_.find(worker);
  if (found == members_.end()) return;
  for (const auto& permit : found->second.account.drop_all()) drop(permit, worker, now);
  members_.erase(found);
  // What is only searched for is no promise to the provider: nobody waits for the calls of the dead.
  const bool may_still_call = lost && configured_.max_in_flight.has_value();
  places_.leave(worker, may_still_call ? now + times_.request_timeout : now);
  breaker_.probe_lost(worker, now);
}

// --- what they say ---

void ProviderBudget::hear(WorkerId worker, const wire::Demand& demand, bool newest, BootTime heard,
                          BootTime now) {
  const auto found = members_.find(worker);
  if (found == members_.end()) return;
  auto& member = found->second;
  member.last_heard = now;
  if (!first_demand_ && demand.ready_calls > 0) first_demand_ = now;
  take_announced(member, demand.announced, now);
  take_doubted(demand.doubted);
  take_pause(demand.pause_ms, now);
  take_spent(worker, member, demand, now);
  take_settled(demand.settled);
  const bool returned = take_outcomes(worker, member, demand, newest, now);
  if (newest) member.account.want(demand, slots_);
  if (returned) {
    for (auto& [id, one] : members_) one.account.provider_returned();
  }
  if (!newest) return;
  begin_search();
  places_.hear(worker, member.account.wanted(), demand.in_flight, heard);
  // A worker with less to do than it said leaves its turn to others.
  next_slot_.reset();
}

std::uint64_t ProviderBudget::least_announced(std::uint64_t wire::AnnouncedLimits::*limit) const {
  std::uint64_t least = 0;
  for (const auto& [worker, member] : members_) {
    const auto announced = member.announced.*limit;
    if (announced > 0 && (least == 0 || announced < least)) least = announced;
  }
  return least;
}

/// Workers may be told different limits: the least of each is in force, whoever speaks last.
void ProviderBudget::take_announced(Member& member, const wire::AnnouncedLimits& announced, BootTime now) {
  const auto known = renewed(member.announced, announced);
  if (known == member.announced) return;
  member.announced = known;
  auto limits = in_force_;
  for (const auto& rate : rates) {
    const auto least = least_announced(rate.announced);
    if (!(configured_.*rate.setting) && least > 0) limits.*rate.setting = least;
  }
  if (limits == in_force_) return;
  in_force_ = limits;
  slots_.set_limits(in_force_, now);
  for (auto& [id, one] : members_) one.account.limits_changed(slots_);
}

/// Each odd limit is said once. What is set in the settings holds anyway.
void ProviderBudget::take_doubted(const wire::AnnouncedLimits& doubted) {
  bool is_news = false;
  for (const auto& rate : rates) {
    const auto limit = doubted.*rate.announced;
    if (limit == 0 || configured_.*rate.setting) continue;
    is_news = is_news || doubted_.*rate.announced != limit;
    doubted_.*rate.announced = limit;
  }
  if (is_news) notices_.push_back({name_, BudgetEvent::doubts_limits, {}, doubted_});
}

void ProviderBudget::take_pause(std::uint32_t pause_ms, BootTime now) {
  const auto until = now + std::chrono::milliseconds(pause_ms);
  if (pause_ms == 0 || until <= paused_until_) return;
  // A worker repeats what is left of its pause: rounding and the way here may add a little each time, which
  // costs a message and no more.
  paused_time_ += until - std::max(now, paused_until_);
  paused_until_ = until;
}

void ProviderBudget::take_spent(WorkerId worker, Member& member, const wire::Demand& demand, BootTime now) {
  for (const auto& spent : demand.spent) {
    const auto permit = member.account.spend(spent);
    if (!permit) continue;
    if (permit->used) {
      ++permits_used_;
      last_start_ = std::max(last_start_, std::min(permit->slot.closes, now));
      continue;
    }
    ++permits_unused_;
    charged_.erase(spent.id);
    if (permit->probe) breaker_.probe_lost(worker, now);
    if (permit->slot.charge != 0) slots_.give_back(permit->slot, now);
  }
}

void ProviderBudget::take_settled(const std::vector<wire::SettledCall>& settled) {
  for (const auto& call : settled) {
    input_tokens_ += call.used.input_tokens;
    output_tokens_ += call.used.output_tokens;
    const auto found = charged_.find(call.permit);
    if (found == charged_.end()) continue;
    slots_.settle(found->second.charge, call.used);
    charged_.erase(found);
  }
}

/// True if they end an outage.
bool ProviderBudget::take_outcomes(WorkerId worker, Member& member, const wire::Demand& demand, bool newest,
                                   BootTime now) {
  const auto& outcomes = demand.outcomes;
  const auto answered = outcomes.answered + outcomes.declined;
  answered_ += answered;
  rate_limited_ += outcomes.rate_limited + outcomes.named_delays;
  named_delays_ += outcomes.named_delays;
  failed_ += outcomes.failed;
  const auto signs_of_life = answered + outcomes.named_delays;
  const auto not_failed = signs_of_life + outcomes.rate_limited;
  const auto ended = not_failed + outcomes.failed;
  const auto in_flight_before = member.account.in_flight();
  const auto began = ended + (newest ? demand.in_flight : in_flight_before);
  const auto started = began > in_flight_before ? began - in_flight_before : 0;
  const bool was_down = breaker_.open();
  // What single probes meet says nothing of a rate.
  if (!was_down) take_refusals(member, outcomes, started, ended, now);
  if (demand.reached) breaker_.reached();
  const auto failed = was_down ? outcomes.failed : new_failures(member, outcomes.failed, not_failed);
  if (breaker_.hear(worker, {signs_of_life, failed, outcomes.rate_limited}, now)) note_turn(now);
  search_on(outcomes, failed, !was_down && breaker_.open());
  return was_down && !breaker_.open();
}

/// What they say of the rate that the provider takes.
void ProviderBudget::take_refusals(Member& member, const wire::CallOutcomes& outcomes, std::uint32_t started,
                                   std::uint32_t ended, BootTime now) {
  // A named delay is waited for; but all would only come together again after it, and be refused again.
  // Before the first answer it says nothing of a rate.
  const auto refused = outcomes.rate_limited + (answered_ > 0 ? outcomes.named_delays : 0);
  const auto late = member.account.before_cut().among(refused, ended);
  const bool spaced = rate_search_.rate().has_value();
  if (rate_search_.hear(started, refused - late, late, now)) {
    if (!spaced) note(BudgetEvent::refuses_calls);
    for (auto& [id, one] : members_) one.account.rate_was_cut();
  }
  if (outcomes.named_delays > 0) rate_search_.pause(paused_until_ - std::min(paused_until_, now), now);
}

/// Calls that hung when the provider came back time out after that, and together: no new outage. Unless there
/// are many of them and no answer between.
std::uint32_t ProviderBudget::new_failures(Member& member, std::uint32_t failed,
                                           std::uint32_t signs_of_life) {
  const auto stale = member.account.before_return().among(failed, signs_of_life + failed);
  stale_in_a_row_ = signs_of_life > 0 ? 0 : stale_in_a_row_ + stale;
  if (stale_in_a_row_ >= defaults::breaker_sample) {
    for (auto& [id, one] : members_) one.account.before_return().mark(0);
  }
  return failed - stale;
}

/// The breaker has opened or closed.
void ProviderBudget::note_turn(BootTime now) {
  if (!breaker_.open()) return note(BudgetEvent::came_back, now - down_since_);
  down_since_ = now;
  given_up_noted_ = false;
  note(BudgetEvent::went_down);
}

void ProviderBudget::search_on(const wire::CallOutcomes& outcomes, std::uint32_t failed, bool went_down) {
  if (!concurrency_search_ || !searches_concurrency()) return;
  if (went_down) concurrency_search_->interrupt();
  if (breaker_.open()) return;
  std::uint64_t wanted = 0;
  for (const auto& [id, one] : members_) wanted += one.account.wanted();
  concurrency_search_->hear(outcomes.answered, failed, outcomes.latency_sum_us, wanted);
}

void ProviderBudget::note(BudgetEvent event, BootTime after) {
  notices_.push_back({name_, event, after, {}});
}

bool ProviderBudget::searches_concurrency() const {
  if (names_a_rate(in_force_) || rate_search_.rate()) return false;
  // Where every number was named there is nothing to find.
  const auto named = [](const auto& item) { return item.second.account.max_concurrent_named(); };
  return !configured_.max_in_flight || !std::ranges::all_of(members_, named);
}

/// No search goes beyond what was named, for a worker or for all.
void ProviderBudget::bound_search() {
  if (!concurrency_search_) return;
  std::uint64_t most = 0;
  for (const auto& [worker, member] : members_) most += member.account.most_places();
  const auto named = configured_.max_in_flight.value_or(std::numeric_limits<std::uint32_t>::max());
  concurrency_search_->set_most(static_cast<std::uint32_t>(std::min<std::uint64_t>(most, named)));
}

void ProviderBudget::begin_search() {
  if (concurrency_search_ || !searches_concurrency()) return;
  std::uint32_t all = 0;
  for (const auto& [worker, member] : members_) {
    all += std::min(member.account.max_concurrent(), defaults::search_first_places);
  }
  concurrency_search_.emplace(std::min(all, defaults::search_first_places));
  bound_search();
}

// --- facts ---

bool ProviderBudget::held_back() const {
  return std::ranges::any_of(members_, [](const auto& item) { return item.second.account.lacking() > 0; });
}

void ProviderBudget::count_utilisation(BudgetFacts& facts) const {
  if (!first_demand_ || last_start_ <= *first_demand_) return;
  const double minutes =
      static_cast<double>((last_start_ - *first_demand_).count()) * 1e-6 / seconds_a_minute;
  const auto count = [&](const std::optional<KnownLimit>& limit, double used) {
    if (!limit) return;
    facts.utilisation = std::max(facts.utilisation.value_or(0), used / (limit->per_minute * minutes));
  };
  const auto input = static_cast<double>(input_tokens_);
  const auto output = static_cast<double>(output_tokens_);
  count(facts.requests, static_cast<double>(permits_used_));
  count(facts.tokens, input + output);
  count(facts.input_tokens, input);
  count(facts.output_tokens, output);
}

BudgetFacts ProviderBudget::facts(BootTime now) const {
  BudgetFacts facts;
  facts.provider = name_;
  const auto known = [](const std::optional<std::uint64_t>& in_force,
                        const std::optional<std::uint64_t>& configured) -> std::optional<KnownLimit> {
    if (!in_force) return std::nullopt;
    return KnownLimit{static_cast<double>(*in_force),
                      configured ? LimitSource::configured : LimitSource::announced};
  };
  facts.requests = known(in_force_.requests_per_minute, configured_.requests_per_minute);
  facts.tokens = known(in_force_.tokens_per_minute, configured_.tokens_per_minute);
  facts.input_tokens = known(in_force_.input_tokens_per_minute, configured_.input_tokens_per_minute);
  facts.output_tokens = known(in_force_.output_tokens_per_minute, configured_.output_tokens_per_minute);
  facts.doubted = doubted_;
  facts.max_in_flight = configured_.max_in_flight;
  if (facts.requests) facts.effective_per_minute = facts.requests->per_minute;
  if (const auto rate = rate_search_.rate()) {
    const double per_minute = *rate * seconds_a_minute;
    facts.effective_per_minute = std::min(per_minute, facts.effective_per_minute.value_or(per_minute));
  }
  if (const auto accepted = rate_search_.accepted()) {
    const double found = *accepted * seconds_a_minute;
    if (!facts.requests) {
      facts.requests = KnownLimit{found, LimitSource::found};
    } else if (found < clearly_less * facts.requests->per_minute) {
      facts.found_below_limit = found;
    }
  }
  const bool searched = concurrency_search_ && searches_concurrency();
  if (searched) facts.found_concurrency = concurrency_search_->found();
  facts.places = searched ? concurrency_search_->limit() : configured_.max_in_flight.value_or(0);
  facts.permits_granted = permits_granted_;
  facts.permits_used = permits_used_;
  facts.permits_unused = permits_unused_;
  facts.answered = answered_;
  facts.rate_limited = rate_limited_;
  facts.named_delays = named_delays_;
  facts.failed = failed_;
  count_utilisation(facts);
  for (const auto& [worker, member] : members_) {
    facts.in_flight += member.account.in_flight();
    facts.waiting_calls += member.account.ready();
    facts.backing_off_calls += member.account.backing_off();
    if (member.account.ready() > 0) ++facts.waiting_workers;
  }
  facts.paused_time = paused_time_ - std::max(paused_until_ - now, BootTime::zero());
  facts.outage_time = breaker_.outage_time(now);
  facts.given_up = breaker_.given_up(now);
  if (breaker_.open()) {
    facts.hold = facts.given_up ? wire::HoldReason::given_up : wire::HoldReason::outage;
    facts.hold_left = std::max(breaker_.probe_at() - now, BootTime::zero());
    facts.probing = breaker_.probing();
  } else if (paused_until_ > now) {
    facts.hold = wire::HoldReason::named_delay;
    facts.hold_left = paused_until_ - now;
  }
  return facts;
}

}  // namespace sluice

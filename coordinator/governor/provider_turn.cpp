#include "common/defaults.hpp"
#include "coordinator/governor/provider_budget.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

namespace {

/// Heartbeats that a worker may miss until it is lost: a hold of unknown length is said anew with each.
constexpr int hold_heartbeats = 3;
/// A worker that speaks so long after a permit's end without a report of it has lost the report.
constexpr int report_heartbeats = 2;

/// Rounded up: never shorter than the server named.
std::uint32_t milliseconds_left(BootTime time) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(std::max(time, BootTime::zero())).count();
  return static_cast<std::uint32_t>(std::min<std::int64_t>(left, 0xffffffff));
}

std::uint64_t on_the_wire(BootTime time) {
  return static_cast<std::uint64_t>(time.count());
}

}  // namespace

void ProviderBudget::turn(std::uint64_t& next_id, BootTime now) {
  drop_lost_permits(now);
  slots_.tidy(now - times_.request_timeout - 2 * times_.heartbeat_interval, now);
  std::optional<double> known;
  if (in_force_.requests_per_minute) {
    known = static_cast<double>(*in_force_.requests_per_minute) / seconds_a_minute;
  }
  const bool flowing = !breaker_.open() && now >= paused_until_;
  rate_search_.grow(flowing && held_back(), known, now);
  slots_.set_found_rate(rate_search_.rate(), now);
  if (searches_concurrency()) {
    if (concurrency_search_) places_.allot(concurrency_search_->limit(), now);
  } else if (configured_.max_in_flight) {
    places_.allot(*configured_.max_in_flight, now);
  }
  next_slot_.reset();
  if (breaker_.open()) {
    if (breaker_.given_up(now) && !std::exchange(given_up_noted_, true))
      note(BudgetEvent::was_given_up, now - down_since_);
    probe(next_id, now);
  } else {
    distribute(next_id, now);
  }
}

void ProviderBudget::drop(const HeldPermit& permit, WorkerId worker, BootTime now) {
  // Whether a call started on it is not known: what it took of the limits stays taken.
  ++permits_unused_;
  if (permit.probe) breaker_.probe_lost(worker, now);
}

void ProviderBudget::drop_lost_permits(BootTime now) {
  for (auto& [worker, member] : members_) {
    // Silence loses no report: who died or stopped would only let more permits pass.
    const auto reported_by = member.last_heard - report_heartbeats * times_.heartbeat_interval;
    for (const auto& permit : member.account.drop_unreported(reported_by)) drop(permit, worker, now);
  }
  const auto settled_by = now - times_.request_timeout - report_heartbeats * times_.heartbeat_interval;
  while (!charged_.empty() && charged_.begin()->second.opens < settled_by) charged_.erase(charged_.begin());
}

std::uint32_t ProviderBudget::places_for(WorkerId worker, const Member& member) const {
  if (searches_concurrency()) return places_.of(worker);
  if (configured_.max_in_flight) return std::min(places_.of(worker), member.account.max_concurrent());
  return member.account.max_concurrent();
}

bool ProviderBudget::may_have_permit(WorkerId worker, const Member& member, BootTime now) const {
  const auto& account = member.account;
  if (account.lacking() == 0 || account.blocked(now)) return false;
  return account.in_flight() + account.held_count() < places_for(worker, member);
}

void ProviderBudget::grant(WorkerId worker, Member& member, const Slot& slot, bool probe,
                           std::uint64_t& next_id) {
  const auto id = next_id++;
  member.account.hold(id, {slot, probe, false});
  member.new_permits.push_back({id, on_the_wire(slot.opens), on_the_wire(slot.closes), slot.size, probe});
  if (slots_.by_tokens() && slot.charge != 0) charged_.emplace(id, Charged{slot.charge, slot.opens});
  served_last_ = worker;
  ++permits_granted_;
}

/// One call each in turn, beginning after the worker that was served last.
void ProviderBudget::distribute(std::uint64_t& next_id, BootTime now) {
  const auto from = std::max(now, paused_until_);
  const auto horizon = now + defaults::permit_lookahead;
  if (!slots_.needed() || now < next_distribution_ || from > horizon) return;
  std::vector<std::pair<WorkerId, Member*>> waiting;
  for (auto& [worker, member] : members_) {
    if (may_have_permit(worker, member, now)) waiting.emplace_back(worker, &member);
  }
  const auto first =
      std::ranges::upper_bound(waiting, served_last_, {}, &std::pair<WorkerId, Member*>::first);
  std::ranges::rotate(waiting, first);
  bool granted = false;
  while (!waiting.empty() && !next_slot_) {
    std::size_t kept = 0;
    for (const auto& one : waiting) {
      const auto& [worker, member] = one;
      const auto size = *member->account.next_wanted();
      const auto slot = slots_.take(size, from, horizon, now);
      if (!slot) {
        next_slot_ = slots_.earliest(size, from);
        break;
      }
      grant(worker, *member, *slot, false, next_id);
      granted = true;
      if (may_have_permit(worker, *member, now)) waiting[kept++] = one;
    }
    waiting.resize(std::min(kept, waiting.size()));
  }
  if (granted) next_distribution_ = now + defaults::grant_interval;
}

void ProviderBudget::probe(std::uint64_t& next_id, BootTime now) {
  const auto from = std::max(now, paused_until_);
  const auto horizon = now + defaults::permit_lookahead;
  if (now < breaker_.probe_at() || from > horizon || breaker_.given_up(now)) return;
  std::pair<WorkerId, Member*> chosen{0, nullptr};
  for (auto& [worker, member] : members_) {
    if (!member.account.next_wanted() || member.account.blocked(now)) continue;
    if (member.account.in_flight() >= places_for(worker, member)) continue;
    const bool in_turn = worker > served_last_;
    if (!chosen.second || (in_turn && chosen.first <= served_last_)) chosen = {worker, &member};
  }
  if (!chosen.second) return;
  Slot slot{0, now, now + defaults::probe_lifetime, any_size};
  if (slots_.needed()) {
    const auto size = *chosen.second->account.next_wanted();
    const auto taken = slots_.take(size, from, horizon, now);
    if (!taken) {
      next_slot_ = slots_.earliest(size, from);
      return;
    }
    slot = *taken;
  }
  grant(chosen.first, *chosen.second, slot, true, next_id);
  breaker_.probe_started(chosen.first, now);
}

// --- what is said ---

ProviderBudget::Told ProviderBudget::told_now(WorkerId worker, const Member& member, BootTime now) const {
  Told told;
  told.unlimited = !slots_.needed();
  told.places = places_for(worker, member);
  told.searched = searches_concurrency();
  told.ceiling = slots_.ceiling();
  if (paused_until_ > now) {
    told.paused_until = paused_until_;
    told.hold = wire::HoldReason::named_delay;
  }
  if (breaker_.open()) {
    told.hold = breaker_.given_up(now) ? wire::HoldReason::given_up : wire::HoldReason::outage;
  }
  return told;
}

bool ProviderBudget::has_news(WorkerId worker, BootTime now) const {
  const auto found = members_.find(worker);
  if (found == members_.end()) return false;
  const auto& member = found->second;
  if (!member.new_permits.empty() || !member.told) return true;
  auto told = told_now(worker, member, now);
  // That a named delay is over every worker knows by itself.
  if (told.hold == wire::HoldReason::none && member.told->hold == wire::HoldReason::named_delay) {
    told.hold = member.told->hold;
    told.paused_until = member.told->paused_until;
  }
  return told != *member.told;
}

wire::Grant ProviderBudget::grant_for(WorkerId worker, BootTime now) {
  auto& member = members_.at(worker);
  member.told = told_now(worker, member, now);
  wire::Grant grant;
  grant.provider = name_;
  grant.unlimited = member.told->unlimited;
  grant.places = member.told->places;
  grant.searched = member.told->searched;
  grant.hold = member.told->hold;
  grant.ceiling = member.told->ceiling;
  grant.pause_ms = milliseconds_left(paused_until_ - now);
  if (breaker_.open()) {
    grant.pause_ms = std::max(grant.pause_ms, milliseconds_left(hold_heartbeats * times_.heartbeat_interval));
  }
  grant.permits = std::exchange(member.new_permits, {});
  return grant;
}

std::optional<BootTime> ProviderBudget::next_wake(BootTime now) const {
  std::optional<BootTime> next;
  const auto at = [&](BootTime time) {
    time = std::max(time, now + BootTime(1));
    if (!next || time < *next) next = time;
  };
  bool waiting = false;
  bool can_probe = false;
  for (const auto& [worker, member] : members_) {
    const auto& account = member.account;
    if (account.lacking() == 0) continue;
    can_probe |= !account.blocked(now) && account.in_flight() < places_for(worker, member);
    waiting |= may_have_permit(worker, member, now);
  }
  const auto opening = std::max(next_slot_.value_or(now), paused_until_) - defaults::permit_lookahead;
  if (breaker_.open()) {
    if (can_probe && !breaker_.given_up(now)) at(std::max(breaker_.probe_at(), opening));
    if (!breaker_.given_up(now)) at(*breaker_.gives_up_at());
  } else if (waiting && slots_.needed()) {
    at(std::max(next_distribution_, opening));
  }
  if (configured_.max_in_flight || searches_concurrency()) {
    if (const auto change = places_.next_change(now)) at(*change);
  }
  return next;
}

}  // namespace sluice

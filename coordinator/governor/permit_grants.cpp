#include "coordinator/governor/permit_grants.hpp"

#include "common/clock_distance.hpp"
#include "common/defaults.hpp"
#include "coordinator/governor/defaults.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

namespace {

std::uint64_t on_the_wire(BootTime time) {
  return static_cast<std::uint64_t>(time.count());
}

/// It gets no more permits: it owes reports of some for longer than they take on their way.
bool is_blocked(const Member& member, BootTime now) {
  return member.account.blocked(now - granted_ahead(member.round_trip));
}

/// How long before they open permits are granted: in time for the farthest worker that wants some.
BootTime lead(const Members& members) {
  BootTime ahead{};
  for (const auto& [worker, member] : members) {
    if (member.account.wanted() > 0) ahead = std::max(ahead, granted_ahead(member.round_trip));
  }
  return std::min<BootTime>(defaults::permit_lead + ahead, defaults::longest_permit_lead);
}

/// The earliest opening that this worker can use.
BootTime first_opening(const Member& member, BootTime from, BootTime now) {
  const auto ahead = granted_ahead(member.round_trip);
  return ahead > BootTime::zero() ? std::max(from, now + ahead) : from;
}

bool may_have_permit(WorkerId worker, const Member& member, const PermitGrants::Room& room, BootTime now) {
  const auto& account = member.account;
  if (account.lacking() == 0 || is_blocked(member, now)) return false;
  return account.in_flight() + account.held_count() < room(worker, member);
}

}  // namespace

void PermitGrants::set_limits(const ProviderLimits& limits, Members& members, BootTime now) {
  slots_.set_limits(limits, now);
  for (auto& [worker, member] : members) member.account.limits_changed(slots_);
}

void PermitGrants::on_demand(Member& member, const wire::Demand& demand) {
  member.account.want(demand, slots_);
  next_slot_.reset();
}

void PermitGrants::on_spent(WorkerId worker, Member& member, const std::vector<wire::SpentPermit>& spent,
                            Breaker& breaker, ProviderUse& use, BootTime now) {
  for (const auto& one : spent) {
    const auto permit = member.account.spend(one);
    if (!permit) continue;
    if (permit->used) {
      use.on_start(std::min(permit->slot.closes, now));
      continue;
    }
    ++unused_;
    charged_.erase(one.id);
    if (permit->probe) breaker.probe_lost(worker, now);
    if (permit->slot.charge != 0) slots_.give_back(permit->slot, now);
  }
}

void PermitGrants::on_settled(const std::vector<wire::SettledCall>& settled) {
  for (const auto& call : settled) {
    const auto found = charged_.find(call.permit);
    if (found == charged_.end()) continue;
    slots_.settle(found->second.charge, call.used);
    charged_.erase(found);
  }
}

void PermitGrants::on_gone(WorkerId worker, Member& member, Breaker& breaker, BootTime now) {
  for (const auto& permit : member.account.drop_all()) drop(permit, worker, breaker, now);
  breaker.probe_lost(worker, now);
}

void PermitGrants::drop(const HeldPermit& permit, WorkerId worker, Breaker& breaker, BootTime now) {
  // Whether a call started on it is not known: what it took of the limits stays taken.
  ++unused_;
  if (permit.probe) breaker.probe_lost(worker, now);
}

void PermitGrants::drop_lost(Members& members, Breaker& breaker, BootTime now) {
  const auto patience = defaults::report_heartbeats * times_.heartbeat_interval;
  for (auto& [worker, member] : members) {
    // Silence loses no report: who died or stopped would only let more permits pass.
    for (const auto& permit : member.account.drop_unreported(member.last_heartbeat - patience)) {
      drop(permit, worker, breaker, now);
    }
  }
  const auto settled_by = now - times_.request_timeout - patience;
  while (!charged_.empty() && charged_.begin()->second.opens < settled_by) charged_.erase(charged_.begin());
  slots_.tidy(settled_by, now);
}

void PermitGrants::grant(WorkerId worker, Member& member, const Slot& slot, bool probe,
                         std::uint64_t& next_id) {
  const auto id = next_id++;
  member.account.hold(id, {slot, probe, false});
  member.new_permits.push_back({id, on_the_wire(slot.opens), on_the_wire(slot.closes), slot.size, probe});
  if (slots_.by_tokens() && slot.charge != 0) charged_.emplace(id, Charged{slot.charge, slot.opens});
  served_last_ = worker;
  ++granted_;
}

/// One call each in turn, beginning after the worker that was served last.
void PermitGrants::distribute(Members& members, const Room& room, BootTime from, std::uint64_t& next_id,
                              BootTime now) {
  next_slot_.reset();
  lacks_places_ = false;
  const auto latest = now + lead(members);
  const auto horizon = latest - defaults::permit_lead + slots_.lookahead();
  if (!slots_.needed() || now < next_distribution_ || from > latest) return;
  std::vector<std::pair<WorkerId, Member*>> waiting;
  bool all_taken = false;
  for (auto& [worker, member] : members) {
    if (may_have_permit(worker, member, room, now)) {
      waiting.emplace_back(worker, &member);
    } else if (member.account.in_flight() > 0 && !is_blocked(member, now)) {
      // It need not have begun what it has no place for.
      all_taken |= member.account.in_flight() + member.account.held_count() >= room(worker, member);
    }
  }
  // Far away a place has to be free when the permit is granted, long before the call.
  const bool is_far = latest > now + defaults::permit_lead;
  lacks_places_ = waiting.empty() && all_taken && slots_.earliest({}, from) <= (is_far ? horizon : now);
  const auto first =
      std::ranges::upper_bound(waiting, served_last_, {}, &std::pair<WorkerId, Member*>::first);
  std::rotate(waiting.begin(), first, waiting.end());
  if (!waiting.empty()) {
    // Until then there may be more to go with it.
    const auto& member = *waiting.front().second;
    const auto next = slots_.earliest(*member.account.next_wanted(), first_opening(member, from, now));
    if (next > latest && !slots_.has_returned()) {
      next_slot_ = next;
      return;
    }
  }
  bool granted = false;
  while (!waiting.empty() && !next_slot_) {
    std::size_t kept = 0;
    for (const auto& one : waiting) {
      const auto& [worker, member] = one;
      const auto size = *member->account.next_wanted();
      const auto opening = first_opening(*member, from, now);
      const auto slot = slots_.take(size, opening, horizon, now);
      if (!slot) {
        next_slot_ = slots_.earliest(size, opening);
        break;
      }
      grant(worker, *member, *slot, false, next_id);
      granted = true;
      if (may_have_permit(worker, *member, room, now)) waiting[kept++] = one;
    }
    waiting.resize(std::min(kept, waiting.size()));
  }
  if (granted) next_distribution_ = now + defaults::grant_interval;
}

void PermitGrants::probe(Members& members, const Room& room, Breaker& breaker, BootTime from,
                         std::uint64_t& next_id, BootTime now) {
  next_slot_.reset();
  const auto horizon = now + defaults::permit_lead;
  if (now < breaker.probe_at() || from > horizon || breaker.given_up(now)) return;
  std::pair<WorkerId, Member*> chosen{0, nullptr};
  for (auto& [worker, member] : members) {
    if (!member.account.next_wanted() || is_blocked(member, now)) continue;
    if (member.account.in_flight() >= room(worker, member)) continue;
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
  breaker.probe_started(chosen.first, now);
}

std::optional<BootTime> PermitGrants::next_wake(const Members& members, const Room& room,
                                                const Breaker& breaker, BootTime paused_until,
                                                BootTime now) const {
  bool waiting = false;
  bool can_probe = false;
  for (const auto& [worker, member] : members) {
    const auto& account = member.account;
    if (account.lacking() == 0) continue;
    can_probe |= !is_blocked(member, now) && account.in_flight() < room(worker, member);
    waiting |= may_have_permit(worker, member, room, now);
  }
  const auto opening = std::max(next_slot_.value_or(now), paused_until) - lead(members);
  if (breaker.open()) {
    if (!can_probe || breaker.given_up(now)) return std::nullopt;
    return std::max(breaker.probe_at(), opening);
  }
  if (!waiting || !slots_.needed()) return std::nullopt;
  return std::max(next_distribution_, opening);
}

void PermitGrants::describe(BudgetFacts& facts) const {
  facts.permits_granted = granted_;
  facts.permits_unused = unused_;
}

}  // namespace sluice

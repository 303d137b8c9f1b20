#pragma once

#include "coordinator/facts/budget_facts.hpp"
#include "coordinator/governor/breaker.hpp"
#include "coordinator/governor/member.hpp"
#include "coordinator/governor/permit_slots.hpp"
#include "coordinator/governor/provider_use.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace sluice {

/// The permits of one provider: makes them of slots, and hands them out. Workers that want some are served in
/// turn, a call each; who waits for a large one is not overtaken. Pure; not thread-safe.
class PermitGrants {
 public:
  /// How many calls a worker may have in flight.
  using Room = std::function<std::uint32_t(WorkerId, const Member&)>;

  PermitGrants(const ProviderLimits& limits, const BudgetTimes& times, BootTime now)
      : slots_(limits, now), times_(times) {}

  void set_limits(const ProviderLimits& limits, Members& members, BootTime now);
  void set_found_rate(std::optional<double> per_second, std::optional<double> burst, BootTime now) {
    slots_.set_found_rate(per_second, burst, now);
  }
  void set_beside_others(bool is_beside) { slots_.set_beside_others(is_beside); }
  double found_level(BootTime now) const { return slots_.found_level(now); }
  void record_use(bool records) { slots_.record_use(records); }
  std::vector<KeyUse> take_use() { return slots_.take_use(); }
  /// What other runs with this key took. Who waits for a slot may wait longer now.
  void count(std::span<const ForeignUse> uses, std::optional<std::uint64_t> leader) {
    slots_.count(uses, leader);
    if (!uses.empty()) next_slot_.reset();
  }
  void restart(BootTime at, BucketLevel level) { slots_.restart(at, level); }
  void set_conditions(const SlotConditions& conditions, BootTime now) {
    slots_.set_conditions(conditions, now);
  }
  const SlotConditions& conditions() const { return slots_.conditions(); }
  /// Calls at once that the known rate of requests counts on; 0 without one.
  double burst() const { return slots_.burst(); }
  /// True if calls need permits at all.
  bool needed() const { return slots_.needed(); }
  const wire::CallCeiling& ceiling() const { return slots_.ceiling(); }

  // --- What workers report ---

  /// What the worker wants now. One with less to do than it reported leaves its turn to others.
  void on_demand(Member& member, const wire::Demand& demand);
  /// What became of permits.
  void on_spent(WorkerId worker, Member& member, const std::vector<wire::SpentPermit>& spent,
                Breaker& breaker, ProviderUse& use, BootTime now);
  void on_settled(const std::vector<wire::SettledCall>& settled);
  /// The worker is gone, with the permits that it held.
  void on_gone(WorkerId worker, Member& member, Breaker& breaker, BootTime now);

  // --- A turn ---

  /// Permits that nobody reports any more are lost, and what nobody settled stays charged.
  void drop_lost(Members& members, Breaker& breaker, BootTime now);
  /// Grants what there is to grant from `from` on. `next_id` numbers the permits.
  void distribute(Members& members, const Room& room, BootTime from, std::uint64_t& next_id, BootTime now);
  /// During an outage: grants one call that tries whether it is over, if it is time for one.
  void probe(Members& members, const Room& room, Breaker& breaker, BootTime from, std::uint64_t& next_id,
             BootTime now);
  /// When there may be something to grant though no message came; nothing while nobody waits.
  std::optional<BootTime> next_wake(const Members& members, const Room& room, const Breaker& breaker,
                                    BootTime paused_until, BootTime now) const;

  /// In the last turn a slot was open, and no place was free for a call.
  bool lacks_places() const { return lacks_places_; }

  void describe(BudgetFacts& facts) const;

 private:
  struct Charged {
    std::uint64_t charge = 0;
    BootTime opens{};
  };

  void drop(const HeldPermit& permit, WorkerId worker, Breaker& breaker, BootTime now);
  void grant(WorkerId worker, Member& member, const Slot& slot, bool probe, std::uint64_t& next_id);

  PermitSlots slots_;
  BudgetTimes times_;
  std::map<std::uint64_t, Charged> charged_;  ///< By permit, where tokens are limited; until settled.
  WorkerId served_last_ = 0;
  std::optional<BootTime> next_slot_;  ///< Of the call that is next, when it was too early.
  BootTime next_distribution_{};
  bool lacks_places_ = false;
  std::uint64_t granted_ = 0;
  std::uint64_t unused_ = 0;
};

}  // namespace sluice

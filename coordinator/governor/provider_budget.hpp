#pragma once

#include "coordinator/facts/budget_facts.hpp"
#include "coordinator/governor/breaker.hpp"
#include "coordinator/governor/concurrency_search.hpp"
#include "coordinator/governor/permit_slots.hpp"
#include "coordinator/governor/places.hpp"
#include "coordinator/governor/rate_search.hpp"
#include "coordinator/governor/worker_account.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

/// Times that all budgets of a run go by.
struct BudgetTimes {
  BootTime request_timeout{};     ///< After it a call of a lost worker has certainly ended.
  BootTime heartbeat_interval{};  ///< Two of them without a report, and an expired permit is lost.
  BootTime outage_timeout{};      ///< An outage that lasts longer is given up.
};

/// One provider's budget: slots, places, pauses and the breaker, and who gets what of them. `hear` takes in
/// what workers say, `turn` decides, `grant_for` says it. Workers that want permits are served in turn, a
/// call each; who waits for a large one is not overtaken. Pure; not thread-safe.
class ProviderBudget {
 public:
  ProviderBudget(std::string name, const ProviderLimits& limits, const BudgetTimes& times, BootTime now);

  /// A worker that says HELLO (again): it holds no permits.
  void join(WorkerId worker, std::uint32_t max_concurrent, BootTime now);
  void leave(WorkerId worker, bool lost, BootTime now);
  /// `newest`: no HEARTBEAT of this worker that was sent later has been heard. `heard`: Heartbeat::heard_us.
  void hear(WorkerId worker, const wire::Demand& demand, bool newest, BootTime heard, BootTime now);

  /// Grants what there is to grant. `next_id` numbers the permits.
  void turn(std::uint64_t& next_id, BootTime now);
  /// True if the worker should hear of something at once.
  bool has_news(WorkerId worker, BootTime now) const;
  /// What is granted to the worker, at the `now` of the last turn; its new permits are taken out.
  wire::Grant grant_for(WorkerId worker, BootTime now);
  /// When `turn` may bring something though nothing was heard.
  std::optional<BootTime> next_wake(BootTime now) const;

  const std::string& name() const { return name_; }
  std::vector<BudgetNotice> take_notices() { return std::exchange(notices_, {}); }
  BudgetFacts facts(BootTime now) const;

 private:
  /// What a worker was told last, permits aside.
  struct Told {
    bool unlimited = false;
    std::uint32_t places = 0;
    bool searched = false;
    wire::HoldReason hold = wire::HoldReason::none;
    BootTime paused_until{};
    wire::CallCeiling ceiling;
    friend bool operator==(const Told&, const Told&) = default;
  };
  struct Member {
    WorkerAccount account;
    std::optional<Told> told;
    std::vector<wire::Permit> new_permits;
    wire::AnnouncedLimits announced;  ///< The newest of each that its provider named to it.
    BootTime last_heard{};
  };
  struct Charged {
    std::uint64_t charge = 0;
    BootTime opens{};
  };

  void take_spent(WorkerId worker, Member& member, const wire::Demand& demand, BootTime now);
  void take_settled(const std::vector<wire::SettledCall>& settled);
  bool take_outcomes(WorkerId worker, Member& member, const wire::Demand& demand, bool newest, BootTime now);
  void take_refusals(Member& member, const wire::CallOutcomes& outcomes, std::uint32_t started,
                     std::uint32_t ended, BootTime now);
  std::uint32_t new_failures(Member& member, std::uint32_t failed, std::uint32_t signs_of_life);
  void note_turn(BootTime now);
  void search_on(const wire::CallOutcomes& outcomes, std::uint32_t failed, bool went_down);
  void take_announced(Member& member, const wire::AnnouncedLimits& announced, BootTime now);
  std::uint64_t least_announced(std::uint64_t wire::AnnouncedLimits::*limit) const;
  void take_pause(std::uint32_t pause_ms, BootTime now);
  void note(BudgetEvent event, BootTime after = {});
  void begin_search();
  bool searches_concurrency() const;

  void drop(const HeldPermit& permit, WorkerId worker, BootTime now);
  void drop_lost_permits(BootTime now);
  void probe(std::uint64_t& next_id, BootTime now);
  void distribute(std::uint64_t& next_id, BootTime now);
  void grant(WorkerId worker, Member& member, const Slot& slot, bool probe, std::uint64_t& next_id);
  bool may_have_permit(WorkerId worker, const Member& member, BootTime now) const;
  std::uint32_t places_for(WorkerId worker, const Member& member) const;
  Told told_now(WorkerId worker, const Member& member, BootTime now) const;
  bool held_back() const;
  void count_utilisation(BudgetFacts& facts) const;

  std::string name_;
  ProviderLimits configured_;
  ProviderLimits in_force_;  ///< With what was announced.
  BudgetTimes times_;
  PermitSlots slots_;
  Places places_;
  Breaker breaker_;
  RateSearch rate_search_;
  std::optional<ConcurrencySearch> concurrency_search_;

  std::map<WorkerId, Member> members_;
  std::map<std::uint64_t, Charged> charged_;  ///< By permit, where tokens are limited; until settled.
  WorkerId served_last_ = 0;
  std::optional<BootTime> next_slot_;  ///< Of the call that is next, when it was too early.
  BootTime next_distribution_{};
  BootTime paused_until_{};

  std::optional<BootTime> first_demand_;
  BootTime last_start_{};
  BootTime paused_time_{};
  std::uint64_t permits_granted_ = 0;
  std::uint64_t permits_used_ = 0;
  std::uint64_t permits_unused_ = 0;
  std::uint64_t answered_ = 0;
  std::uint64_t rate_limited_ = 0;
  std::uint64_t named_delays_ = 0;  ///< Of these, with a delay.
  std::vector<BudgetNotice> notices_;
  BootTime down_since_{};
  /// Failures of calls from before a return, since the last sign of life.
  std::uint32_t stale_in_a_row_ = 0;
  bool given_up_noted_ = false;
  std::uint64_t failed_ = 0;
  std::uint64_t input_tokens_ = 0;
  std::uint64_t output_tokens_ = 0;
};

}  // namespace sluice

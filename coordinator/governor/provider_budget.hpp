#pragma once

#include "coordinator/facts/budget_facts.hpp"
#include "coordinator/governor/concurrency_budget.hpp"
#include "coordinator/governor/in_flight_limit.hpp"
#include "coordinator/governor/known_limits.hpp"
#include "coordinator/governor/member.hpp"
#include "coordinator/governor/named_pause.hpp"
#include "coordinator/governor/permit_grants.hpp"
#include "coordinator/governor/provider_health.hpp"
#include "coordinator/governor/provider_use.hpp"
#include "coordinator/governor/rate_proof.hpp"
#include "coordinator/governor/shared_rate_search.hpp"
#include "coordinator/governor/slot_margins.hpp"
#include "coordinator/governor/stop_watch.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sluice {

/// One provider's budget: its limits, pauses and health, and who gets what of its permits and places.
/// `on_demand` takes in what workers report, `turn` decides, `grant_for` is what to send. Pure; not
/// thread-safe.
class ProviderBudget {
 public:
  /// `learned`: what an earlier run learnt of it.
  ProviderBudget(std::string name, const ProviderLimits& limits, const BudgetTimes& times,
                 const LearnedLimits& learned, BootTime now);

  /// A worker that says HELLO (again): it holds no permits. A pause that it was asked for goes on.
  void join(WorkerId worker, WorkerConcurrency concurrency, BootTime now);
  void leave(WorkerId worker, bool lost, BootTime now);
  /// Before it leaves, since it was sent away: limits that nobody else reads are none.
  void distrust(WorkerId worker, BootTime now);
  /// `newest`: no HEARTBEAT of this worker that was sent later has come. `newest_grants`:
  /// Heartbeat::received_us.
  void on_demand(WorkerId worker, const wire::Demand& demand, bool newest, BootTime newest_grants,
                 BootTime now);

  /// Grants what there is to grant. `next_id` numbers the permits.
  void turn(std::uint64_t& next_id, BootTime now);
  /// True if the worker should be sent something at once.
  bool has_news(WorkerId worker, BootTime now) const;
  /// What is granted to the worker, at the `now` of the last turn; its new permits are taken out.
  wire::Grant grant_for(WorkerId worker, BootTime now);
  /// When `turn` may bring something though no message came.
  std::optional<BootTime> next_wake(BootTime now) const;

  /// Other runs may use the key, and are told what this one does with it. See Governor::share.
  void share(std::uint64_t run, std::span<const ForeignUse> uses, bool is_cut);
  /// They are not told any more, and what they have is not known.
  void stop_sharing(BootTime now);
  /// What the others did since the last turn, in their order, and the places that they have; before `turn`.
  void count(std::span<const ForeignUse> uses, const OtherPlaces& others, BootTime now);
  /// What this run did since the last call.
  std::vector<KeyUse> take_use(BootTime now);
  KeyPlaces places(BootTime now) const;

  const std::string& name() const { return name_; }
  std::vector<BudgetNotice> take_notices() { return health_.take_notices(); }
  BudgetFacts facts(BootTime now) const;

 private:
  void drop(WorkerId worker, bool lost, BootTime now);
  bool on_outcomes(WorkerId worker, Member& member, const wire::Demand& demand, bool newest, BootTime since,
                   BootTime now);
  /// What a report says of calls.
  struct CallsOfReport {
    std::uint32_t started = 0;
    std::uint32_t ended = 0;
    std::uint32_t in_flight = 0;
  };
  void prove_rate(const RateProof::Calls& calls, BootTime now);
  void on_refusals(WorkerId worker, const wire::CallOutcomes& outcomes, const CallsOfReport& calls,
                   BootTime since, BootTime now);
  bool is_of_the_number(WorkerId worker, const wire::CallOutcomes& outcomes, std::uint32_t in_flight,
                        BootTime now);
  void forget_the_number();
  void note_long_pause(BootTime now);
  void on_cut(bool was_spaced, BootTime now);
  void follow_rate();
  bool is_held_back() const;
  bool searches_rate() const;
  PermitGrants::Room room() const;
  BudgetState state_for(WorkerId worker, const Member& member, BootTime now) const;
  std::optional<double> proved_rate(BootTime now) const;
  void describe_rate(BudgetFacts& facts, BootTime now) const;
  void describe_learned(BudgetFacts& facts, BootTime now) const;

  std::string name_;
  BudgetTimes times_;
  Members members_;
  KnownLimits limits_;
  NamedPause pause_;
  BootTime longest_noted_pause_{};
  ProviderHealth health_;
  SharedRateSearch rate_search_;
  RateProof rate_proof_;
  InFlightLimit in_flight_limit_;
  ConcurrencyBudget concurrency_;
  PermitGrants permits_;
  SlotMargins margins_;
  ProviderUse use_;
  StopWatch held_up_;  ///< Calls are ready for which there is no permit.
  bool is_shared_ = false;
  bool has_others_ = false;  ///< Now.
  BootTime published_pause_{};
  std::uint32_t other_runs_ = 0;  ///< At most at a time.
  std::uint32_t left_behind_ = 0;
  BootTime left_until_{};
  LearnedLimits known_before_;
  BootTime began_;
  std::optional<BootTime> learned_at_;  ///< Something that is not `known_before_`.
};

}  // namespace sluice

#pragma once

#include "coordinator/facts/budget_facts.hpp"
#include "coordinator/governor/concurrency_search.hpp"
#include "coordinator/governor/defaults.hpp"
#include "coordinator/governor/key_use.hpp"
#include "coordinator/governor/member.hpp"
#include "coordinator/governor/places.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

namespace sluice {

/// How many calls to one provider may be in flight at each worker: what is set for it, or in all
/// (max_in_flight). Where nobody set a number for the workers there are as many as the rate that is known
/// takes, or as a search finds where none is; never more than is set. Pure; not thread-safe.
class ConcurrencyBudget {
 public:
  explicit ConcurrencyBudget(std::optional<std::uint32_t> max_in_flight)
      : max_in_flight_(max_in_flight),
        places_(max_in_flight ? Places::Bound::fixed : Places::Bound::searched) {}

  /// The worker is among the `members` now.
  void join(WorkerId worker, const Members& members, BootTime now);
  /// It is no more. `busy_until`: its calls may go on until then.
  void leave(WorkerId worker, const Members& members, BootTime busy_until, BootTime now);
  /// What an earlier run found: a search begins there. Before the first `on_demand`.
  void begin_with(std::uint32_t in_flight) { first_places_ = in_flight; }
  /// A rate is known, so that the number in flight follows from it.
  void follow(bool rate_is_known) { rate_is_known_ = rate_is_known; }
  /// Calls could start by the rate, but for their places: there are more of them from now on.
  void widen(BootTime now);
  /// The provider refuses what is more; nothing: that is not known. Nothing changes where the number is set.
  void refuse_beyond(std::optional<std::uint32_t> most, const Members& members);
  /// Calls wait for that alone.
  bool wants_beyond_refused(const Members& members) const;
  /// When they may next become more; nothing: never.
  std::optional<BootTime> widens_at() const;
  /// What the worker wants and has in flight; `newest_grants`: Heartbeat::received_us.
  void on_demand(WorkerId worker, const Members& members, BootTime newest_grants);
  /// What calls came to, `failed` of them as an outage that `went_down` just now would have it.
  void on_outcomes(const wire::CallOutcomes& outcomes, std::uint32_t failed, bool went_down, bool is_down,
                   const Members& members);
  /// What other runs with the key have and want of max_in_flight.
  void leave_to_others(const OtherPlaces& others, BootTime now);
  /// What this run has and wants of it.
  KeyPlaces of_key(BootTime now) const;
  void allot(BootTime now);

  /// Every number is set: there is nothing to find.
  bool is_set() const { return max_in_flight_ && all_named_; }
  bool searches() const { return !rate_is_known_ && !is_set(); }
  /// The number is not set: workers are to begin as many calls as they have places.
  bool is_open() const { return searches() || (rate_is_known_ && !all_named_); }
  std::uint32_t places_for(WorkerId worker, const Member& member) const;
  /// When another allotment may come out differently though no message came.
  std::optional<BootTime> next_change(BootTime now) const;
  void describe(BudgetFacts& facts) const;

 private:
  /// What max_in_flight and the other runs leave to this one.
  std::uint32_t total() const {
    return std::min(max_in_flight_.value_or(std::numeric_limits<std::uint32_t>::max()), of_this_run_);
  }
  void bound_search(const Members& members);
  /// As many as the settings and the workers allow.
  std::uint64_t most_named(const Members& members) const;
  void count_named(const Members& members);

  std::optional<std::uint32_t> max_in_flight_;
  Places places_;
  std::optional<ConcurrencySearch> search_;
  std::uint32_t of_this_run_ = std::numeric_limits<std::uint32_t>::max();  ///< Of max_in_flight.
  std::uint32_t first_places_ = defaults::search_first_places;
  bool all_named_ = true;  ///< Each worker's number was set.
  bool rate_is_known_ = false;
  std::optional<std::uint32_t> refused_beyond_;
  std::uint32_t widened_ = 0;  ///< With a known rate: places of a worker whose number is not set.
  BootTime widened_at_{};
};

}  // namespace sluice

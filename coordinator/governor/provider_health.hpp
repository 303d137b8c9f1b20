#pragma once

#include "coordinator/facts/budget_facts.hpp"
#include "coordinator/governor/breaker.hpp"
#include "coordinator/governor/member.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

/// Whether a provider is up, by what its calls come to: a Breaker that is not misled by the calls that an
/// outage left behind, and the notices of it. Pure; not thread-safe.
class ProviderHealth {
 public:
  ProviderHealth(std::string provider, BootTime outage_timeout)
      : provider_(std::move(provider)), breaker_(outage_timeout) {}

  /// What became of an outage.
  struct Change {
    bool went_down = false;
    bool came_back = false;
    std::uint32_t failed = 0;  ///< Failures without those that an earlier outage left behind.
  };
  Change on_outcomes(WorkerId worker, Members& members, const wire::Demand& demand, BootTime now);
  /// Notes once that an outage was given up.
  void tick(BootTime now);

  Breaker& breaker() { return breaker_; }
  const Breaker& breaker() const { return breaker_; }
  bool is_down() const { return breaker_.open(); }
  std::vector<BudgetNotice> take_notices() { return std::exchange(notices_, {}); }
  void note(BudgetEvent event, BootTime after = {}, const wire::AnnouncedLimits& doubted = {}) {
    notices_.push_back({provider_, event, after, doubted});
  }
  void describe(BudgetFacts& facts, BootTime now) const;

 private:
  std::uint32_t new_failures(WorkerId worker, Members& members, std::uint32_t failed,
                             std::uint32_t not_failed);

  std::string provider_;
  Breaker breaker_;
  BootTime down_since_{};
  /// Failures of calls from before a return, since the last sign of life.
  std::uint32_t stale_in_a_row_ = 0;
  bool given_up_noted_ = false;
  std::vector<BudgetNotice> notices_;
};

}  // namespace sluice

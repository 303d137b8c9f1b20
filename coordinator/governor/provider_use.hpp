#pragma once

#include "coordinator/facts/budget_facts.hpp"

#include <cstdint>
#include <optional>

namespace sluice {

/// What a run's calls to one provider came to so far. Pure; not thread-safe.
class ProviderUse {
 public:
  /// Calls were ready to start.
  void on_demand(BootTime now) {
    if (!first_demand_) first_demand_ = now;
  }
  /// A call started on a permit.
  void on_start(BootTime at);
  void on_outcomes(const wire::CallOutcomes& outcomes);
  void on_settled(const wire::CallSize& used);

  /// Something was answered, be it with an error that was the request's.
  bool was_answered() const { return answered_ > 0; }
  /// How much of its limits was used: after KnownLimits::describe.
  void describe(BudgetFacts& facts) const;

 private:
  void count_utilisation(BudgetFacts& facts) const;
  BootTime mean_latency() const;

  std::optional<BootTime> first_demand_;
  BootTime last_start_{};
  std::uint64_t starts_ = 0;
  std::uint64_t answered_ = 0;
  std::uint64_t rate_limited_ = 0;
  std::uint64_t named_delays_ = 0;  ///< Of these, with a delay.
  std::uint64_t failed_ = 0;
  std::uint64_t timed_out_ = 0;
  std::uint64_t timed_answers_ = 0;  ///< Whose latency is known,
  double latency_us_ = 0;            ///< and the sum of it.
  std::uint64_t input_tokens_ = 0;
  std::uint64_t output_tokens_ = 0;
};

}  // namespace sluice

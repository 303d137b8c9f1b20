#pragma once

#include "common/model/provider_limits.hpp"
#include "coordinator/facts/budget_facts.hpp"
#include "coordinator/facts/worker_id.hpp"

#include <cstdint>
#include <map>
#include <optional>

namespace sluice {

/// The limits of one provider: those that the settings name, and of the others those that its response
/// headers name; of those that both name the settings', until calls are refused: then the lesser, unless it
/// is so much less that the headers may mean another time. Workers may read different ones: the least of each
/// is in force, whoever reports last, except that one which is far below what all others read is not believed
/// (where there are others). What a worker read ends with it; where nobody else reads it, with the next
/// answer to another. Pure; not thread-safe.
class KnownLimits {
 public:
  explicit KnownLimits(const ProviderLimits& configured) : configured_(configured), in_force_(configured) {}

  /// What a worker read; 0: nothing new. True if other limits are in force now.
  bool on_announced(WorkerId worker, const wire::AnnouncedLimits& announced);
  /// The provider refused calls, after `on_announced` of the same report: what it announces counts where the
  /// settings have more. True if other limits are in force now.
  bool on_refused();
  /// What a worker read and does not believe. True if that is new.
  bool on_doubted(const wire::AnnouncedLimits& doubted);
  /// The worker has gone. True if other limits are in force now.
  bool forget(WorkerId worker);
  /// The worker was sent away: what nobody else reads ends at once. True if other limits are in force now.
  bool distrust(WorkerId worker);
  /// The provider has answered a worker that is there, after `on_announced` of the same report: limits that
  /// only workers read which have gone are none that it announces. True if other limits are in force now.
  bool on_answered();

  const ProviderLimits& configured() const { return configured_; }
  const ProviderLimits& in_force() const { return in_force_; }
  const wire::AnnouncedLimits& doubted() const { return doubted_; }
  /// True if calls are limited by anything but their number in flight.
  bool names_a_rate() const;
  std::optional<double> requests_per_second() const;
  void describe(BudgetFacts& facts) const;

 private:
  /// Of those that are believed; 0: none.
  std::uint64_t least_announced(std::uint64_t wire::AnnouncedLimits::*limit,
                                std::uint64_t least_credible) const;
  bool update(bool keeps_unread = true);

  ProviderLimits configured_;
  ProviderLimits in_force_;
  wire::AnnouncedLimits doubted_;
  bool is_refused_ = false;
  std::map<WorkerId, wire::AnnouncedLimits> announced_;  ///< The newest of each.
  bool holds_unread_ = false;                            ///< Limits in force that nobody there has read.
};

}  // namespace sluice

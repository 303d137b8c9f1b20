#pragma once

#include "common/error.hpp"
#include "common/model/grading.hpp"
#include "common/model/judge.hpp"
#include "common/model/paid_tokens.hpp"
#include "common/model/result.hpp"
#include "common/model/trial.hpp"
#include "coordinator/facts/paid_by_arm.hpp"
#include "coordinator/facts/worker_id.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace sluice {

/// What a unit's calls may take at most: the tokens of its request, estimated from above, and of its answer;
/// where meanings are compared, those of the embeddings too; where a model judges, those of its votes, each
/// asked for as often as it may be when it cannot be read.
PaidTokens most_of(const WorkUnit& unit, const JudgeSettings& judge = {},
                   const std::optional<GradingSettings>& grading = {});

/// The kinds of calls of which some came without their usage.
std::vector<CallKind> unmetered_kinds(const Spend& spend);

/// The run's budgets of tokens and dollars (docs/budgets.md): a unit is leased only if what it may take still
/// fits what is neither paid nor reserved by other leases. Pure; not thread-safe.
///
/// A reservation stays until its worker reports what it paid. That of a worker that was lost while it was at
/// work stays unless it comes back, since its calls may have been paid: a budget is never exceeded, at the
/// price that it may not be used to the full.
class RunBudget {
 public:
  struct Limits {
    std::optional<std::uint64_t> tokens;  ///< Input, output and embedded.
    std::optional<double> cost;           ///< US dollars.
  };
  /// The price is needed only where the cost is limited. `arm_of` says which arm pays for a unit; null: the
  /// run has one.
  RunBudget(Limits limits, RunPrice price, std::function<std::size_t(UnitId)> arm_of = {});

  /// False if nothing is limited: no call is reserved then.
  bool limited() const { return limits_.tokens || limits_.cost; }
  /// Whether `most` fits beside what is paid and reserved.
  bool has_room(UnitId unit, const PaidTokens& most) const;
  bool has_reservations() const { return !reservations_.empty(); }
  /// Reserves `most` for a unit that is about to be leased; false, and nothing reserved, if it does not fit.
  bool reserve(WorkerId worker, UnitId unit, const PaidTokens& most);
  /// The same for a unit that its worker is at work on already, whether it fits or not.
  void reserve_held(WorkerId worker, UnitId unit, const PaidTokens& most);
  /// The worker never began with it.
  void give_back(WorkerId worker, UnitId unit);
  /// The same for all units but those that the worker still holds.
  void give_back_all_but(WorkerId worker, const std::vector<UnitId>& held);
  /// The worker has not reported yet what it paid for a unit.
  bool has_reserved(WorkerId worker) const;
  /// What the worker paid for it, failed calls included, takes the place of what was reserved. `unknown`:
  /// kinds of which the provider did not report what some call took; no less than what was reserved for the
  /// kind counts as paid.
  void settle(WorkerId worker, UnitId unit, PaidTokens paid, std::span<const CallKind> unknown = {});
  /// Paid beside what the unit's own report says: by calls that ended after it.
  void pay(UnitId unit, const PaidTokens& paid) { paid_.add(arm_of(unit), paid); }
  /// Paid before the run, and part of its limits.
  void pay_before(const PaidByArm& paid) { paid_ += paid; }
  /// Paid by calls whose unit is settled already, and before the run.
  PaidTokens paid() const { return paid_.total(); }

  /// Why the run ends when a unit that may take `most` does not fit and no other one is at work.
  Error spent(UnitId unit, const PaidTokens& most) const;

 private:
  bool exceeds_tokens(const PaidByArm& most) const;
  bool exceeds_cost(const PaidByArm& most) const;
  PaidByArm with_reserved(const PaidByArm& most) const;
  double cost(const PaidByArm& usage) const;
  std::size_t arm_of(UnitId unit) const { return arm_of_ ? arm_of_(unit) : 0; }

  Limits limits_;
  RunPrice price_;
  std::function<std::size_t(UnitId)> arm_of_;
  PaidByArm paid_;
  PaidByArm reserved_;
  std::map<std::pair<WorkerId, UnitId>, PaidTokens> reservations_;
};

}  // namespace sluice

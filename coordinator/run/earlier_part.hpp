#pragma once

#include "common/error.hpp"
#include "common/model/result.hpp"
#include "coordinator/facts/committed_results.hpp"
#include "coordinator/plan/plan.hpp"
#include "coordinator/run/run_tally.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sluice {

/// What the earlier parts of a run left in the ledger, where RunController goes on: which units have their
/// results, and what it all took. Pure; not thread-safe. The plan must outlive it.
class EarlierPart {
 public:
  EarlierPart(const Plan& plan, const std::string& run_id);

  /// A committed trial, with the name of the worker whose result it is. ledger_failed if it does not fit the
  /// plan.
  Result<void> add(const CommittedTrial& trial, const std::string& worker);
  /// Spent beside the results.
  void add(const UnitSpend& spent);
  void took(std::chrono::milliseconds time) { tally_.took_before(time); }

  bool is_settled(UnitId unit) const { return workers_of_.at(unit) > 0; }
  /// REQUIRES: is_settled.
  const std::string& worker_of(UnitId unit) const { return workers_.at(workers_of_.at(unit) - 1); }
  const RunTally& tally() const { return tally_; }
  /// Of these units nobody knows what some calls took: no less than what may be reserved for them counts in
  /// the run's budgets.
  const std::vector<UnitSpend>& unmetered() const { return unmetered_; }
  /// Units of which the ledger has lost some trials (`sluice doctor --repair`), with what their results took:
  /// as long as it has the others, it takes no new result of them.
  std::vector<UnitSpend> torn() const;

 private:
  void count(UnitId unit, const Spend& spend);

  const Plan& plan_;
  RunTally tally_;
  std::vector<UnitSpend> unmetered_;
  struct Shared {
    std::size_t trials = 0;
    Spend spend;
  };
  std::map<UnitId, Shared> shared_;  ///< What is there of units of several trials.
  std::vector<std::string> workers_;
  std::vector<std::uint32_t> workers_of_;  ///< By unit: 1 + position in `workers_`; 0: it has no result.
};

}  // namespace sluice

#pragma once

#include "common/transport/envelopes.hpp"
#include "coordinator/facts/committed_results.hpp"
#include "coordinator/facts/worker_id.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace sluice {

/// A result that fits the run, to be committed.
struct RecordResult {
  WorkerId worker = 0;
  ResultToCommit item;
  bool is_late = false;  ///< Its unit had a result before it: only the first that is committed counts.
};

/// Results that came together.
struct RecordResults {
  std::vector<RecordResult> results;
  InHand in_hand{};
};

/// Some metric of the trial did not pass: for the progress line; thresholds and baseline count at the end.
inline bool has_failed(const TrialScore& score) {
  return std::ranges::any_of(
      score.metrics, [](const MetricOutcome& metric) { return metric.passed == std::optional(false); });
}

/// A check of the trial could not say whether it passes: it will be an error.
inline bool is_undecided(const TrialScore& score) {
  return std::ranges::any_of(score.metrics, &MetricOutcome::is_undecided);
}

/// Results that are in the ledger, in the order in which they came.
struct ResultsRecorded {
  struct Item {
    WorkerId worker = 0;
    UnitId unit = 0;
    Digest key{};
    CommitOutcome outcome;
    bool error = false;
    bool answered = false;        ///< An answer came, be it one that nobody can use.
    std::vector<TrialId> failed;  ///< Trials of the unit whose metrics did not all pass.
    Spend spend;
    std::vector<TrialId> undecided{};  ///< Trials of the unit that will be errors.
  };
  std::vector<Item> items;
};

/// Results that will not be recorded: what they took was paid all the same.
struct ResultsDropped {
  struct Item {
    WorkerId worker = 0;
    UnitId unit = 0;
    Digest key{};
    Spend spend;
  };
  std::vector<Item> items;

  static Item item_of(WorkerId worker, const UnitResult& result) {
    return {worker, result.unit, result.key, result.spend};
  }
  void add(const RecordResult& record) { items.push_back(item_of(record.worker, record.item.result)); }
};

}  // namespace sluice

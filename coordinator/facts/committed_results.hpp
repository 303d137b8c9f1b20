#pragma once

#include "common/cache_tools.hpp"
#include "common/hash.hpp"
#include "common/model/result.hpp"
#include "common/model/trial.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// A result on its way into the ledger.
struct ResultToCommit {
  UnitResult result;
  std::vector<TrialId>
      trials;            ///< All trials of the unit; `result.scores` has one for each that was assessed.
  std::string worker;    ///< Name, for people.
  std::string cache_id;  ///< Whose cache holds the answer now; empty when it was not stored.
  std::optional<UsedAnswer> baseline = {};  ///< In a run that grades: what that cache has stored besides.
};

/// What became of it. The first committed result of a unit is its result.
struct CommitOutcome {
  bool first = false;
  Digest winner{};  ///< The answer that is committed; zero for an error without one.
};

/// A trial's committed result. Units have ids in the order of their first trial, so a unit's answer is
/// counted at the first trial that shows it.
struct CommittedTrial {
  TrialId trial = 0;
  UnitResult unit;  ///< `scores` holds this trial's score alone; empty for an error of this trial.
};

using VisitTrial = std::function<void(const CommittedTrial&)>;

/// The committed results of a run, read in plan order (ascending trial id).
class ResultSource {
 public:
  virtual ~ResultSource() = default;
  /// Calls `visit` once for each committed trial from `first` on, in ascending order. May be called more than
  /// once, with the same results each time.
  virtual Result<void> visit_from(TrialId first, const VisitTrial& visit) const = 0;
  Result<void> visit(const VisitTrial& visit) const { return visit_from(0, visit); }
};

}  // namespace sluice

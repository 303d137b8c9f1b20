#pragma once

#include "common/error.hpp"
#include "common/metrics.hpp"
#include "common/result.hpp"
#include "coordinator/gate/gate.hpp"
#include "coordinator/merge/result_source.hpp"
#include "coordinator/merge/scores.hpp"
#include "coordinator/suite/suite.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace sluice {

/// The results of a run beside the plan that they answer. Holds references: whoever makes one keeps the suite
/// and the source alive.
struct RunResults {
  const Suite& suite;
  const ResultSource& source;
  std::size_t trials = 0;                       ///< Trials of the plan: ids 0 .. trials - 1.
  std::function<std::size_t(TrialId)> case_of;  ///< Index into suite.cases of each trial.
  std::function<Error(TrialId)> unfinished;     ///< Why a trial has no committed result.
  const Gate& gate;                             ///< What turns outcomes into statuses.
};

/// What one case came to. A view: valid only while the callback that it is handed to runs.
struct CaseResult {
  const Case& fixture;
  TrialId trial = 0;
  CaseStatus status = CaseStatus::error;
  const Error* error = nullptr;       ///< Set exactly when status is `error`.
  const UnitResult* unit = nullptr;   ///< Null when no result was committed.
  const TrialScore* score = nullptr;  ///< Null when status is `error`.
  std::optional<Counts> counts;       ///< Of a claims case; empty when status is `error`.
  CaseJudgement judgement{};          ///< Without metrics when status is `error`.

  std::span<const JudgedMetric> metrics() const { return judgement.metrics; }
};

/// Calls `visit` once for each trial of the plan in ascending order, those without a committed result
/// included. A result that does not fit its case (positions out of range, counts that do not add up, a
/// metric without an outcome, a score beyond 0..1) becomes a case error `internal_error`. Fails when the
/// source or a case's file fails, or when trials are not of the plan or not ascending.
Result<void> visit_cases(const RunResults& results, const std::function<void(const CaseResult&)>& visit);

/// A claim that was expected and not found, and what came instead: the nearest extracted claim about the same
/// subject that met no other expectation, or null.
struct MissedClaim {
  const ExpectedClaim* expected = nullptr;
  const FinalClaim* got = nullptr;
  bool below_min_confidence = false;  ///< `got` was left out because the case asks for more confidence.
};

/// A claim that was forbidden and extracted all the same.
struct ForbiddenClaim {
  const ExpectedClaim* forbidden = nullptr;
  const FinalClaim* got = nullptr;
};

/// Why a case failed, in the order of its expectations and of the answer. Views like CaseResult.
struct CaseDetails {
  std::vector<MissedClaim> missing;
  std::vector<const FinalClaim*> unexpected;  ///< False positives; forbidden ones are not repeated here.
  std::vector<ForbiddenClaim> forbidden;
};

/// Fills `details` (its memory is reused); empty for a case error.
void explain(const CaseResult& result, CaseDetails& details);

}  // namespace sluice

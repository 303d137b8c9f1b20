#pragma once

#include "common/claim.hpp"
#include "common/completion.hpp"
#include "common/ontology.hpp"
#include "common/result.hpp"
#include "common/trial.hpp"

#include <vector>

namespace sluice {

/// Judges the claims of an answer for one trial: all metrics of common/metrics.hpp in the order of their
/// numbers, claims_absent only where nothing is expected. Pure and thread-safe.
TrialScore score_trial(const std::vector<FinalClaim>& claims, const ScoringTask& task);

/// Fills the part of a unit's result that follows from its answer: `answer`, `usage`, and either `error` (a
/// refusal, a truncated answer or unparsable claims) or `parsed`, `claims` and a score for each of the unit's
/// tasks. Leaves `unit`, `key` and `spend` alone. Pure and thread-safe.
void score_answer(const Completion& completion, const Ontology& ontology, const WorkUnit& unit,
                  UnitResult& out);

}  // namespace sluice

#pragma once

#include "coordinator/gate/assess_metrics.hpp"
#include "coordinator/gate/compare.hpp"
#include "coordinator/gate/gate.hpp"

#include <string_view>

/// What a case of the current side of a comparison comes to beside the base's. All of it is pure.
namespace sluice {

/// Null if the case has none of this name.
const ComparedMetric* find_metric(const ComparedCase& from, std::string_view name);

/// AssessedMetric. A baseline does not say what is expected: either side's word counts.
bool is_silence_best(const ComparedMetric& metric, const ComparedCase& current, const ComparedCase& base);

/// What the base says of a score of the current side; nothing of one that asks something else there. `base`
/// is null where it lacks the case.
PinnedScore pinned_score(const ComparedMetric& metric, const ComparedCase& current, const ComparedCase* base,
                         const CompareRules& rules);

/// In which repeats of the base all checks of the case passed (passes_of_base).
BasePasses passes_of(const ComparedCase& base, bool (*counts)(std::string_view repeats));

/// By its repeats, as the run assessed it. `is_left_out`: the base lacks the case by intention, so that its
/// scores are compared with nothing.
CaseAssessment assess_compared(const ComparedCase& current, const ComparedCase* base,
                               const CompareRules& rules, bool is_left_out);

}  // namespace sluice

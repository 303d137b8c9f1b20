#pragma once

#include "coordinator/output/json_writer.hpp"
#include "coordinator/report/report.hpp"

#include <cstddef>
#include <optional>

namespace sluice {

/// The members `stability`, a number or null, and `stability_details` of a run with repeats or perturbations
/// (docs/report.md, "Stability"). REQUIRES: input.stability.
void write_json_stability(Json& json, const ReportInput& input);

/// The members `repeats`, `stability` and `flips` of the case with this index in plan order.
void write_json_case_stability(Json& json, const CaseResult& result, const RunStability& run,
                               std::size_t case_index);

/// The member `statistics` of a comparison: null unless the gate was a statistical one.
void write_json_statistics(Json& json, const BaselineComparison& gate, std::size_t depth);

/// The member `stability` of `sluice compare`: null unless CURRENT has perturbed answers.
void write_json_stability_gate(Json& json, const std::optional<StabilityAssessment>& assessed);

}  // namespace sluice

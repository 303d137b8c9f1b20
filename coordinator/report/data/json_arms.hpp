#pragma once

#include "coordinator/output/json_writer.hpp"
#include "coordinator/report/report.hpp"

namespace sluice {

/// `arms` and `arm_comparisons` of a run that has arms (docs/report.md). REQUIRES: input.arms.
void write_json_arms(Json& json, const ReportInput& input);

/// `arm_latencies`, which differ from run to run. REQUIRES: input.arms.
void write_json_arm_latencies(Json& json, const ReportInput& input);

}  // namespace sluice

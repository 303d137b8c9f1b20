#pragma once

#include "coordinator/output/json_writer.hpp"
#include "coordinator/report/report.hpp"

namespace sluice {

/// `judge_bias` of a run whose judge was measured (docs/report.md). REQUIRES: input.judge_bias.
void write_json_judge(Json& json, const ReportInput& input);

/// `judge_calibration` of a run whose gate asks for one. REQUIRES: input.calibrations.
void write_json_calibrations(Json& json, const ReportInput& input);

}  // namespace sluice

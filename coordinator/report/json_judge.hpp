#pragma once

#include "coordinator/output/json_writer.hpp"
#include "coordinator/report/report.hpp"

namespace sluice {

/// `judge_bias` of a run whose judge was measured (docs/report.md). REQUIRES: input.judge_bias.
void write_json_judge(Json& json, const ReportInput& input);

}  // namespace sluice

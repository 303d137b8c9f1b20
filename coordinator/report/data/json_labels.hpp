#pragma once

#include "coordinator/output/json_writer.hpp"
#include "coordinator/report/report.hpp"

namespace sluice {

/// `labels` of a run whose answers were read as labels (docs/report.md). REQUIRES: input.labels.
void write_json_labels(Json& json, const ReportInput& input);

}  // namespace sluice

#pragma once

#include "common/error.hpp"
#include "coordinator/merge/aggregate.hpp"
#include "coordinator/session/harvest.hpp"
#include "coordinator/session/report_options.hpp"
#include "coordinator/session/run_assessment.hpp"

#include <cstddef>
#include <string>
#include <vector>

/// What is said at the end of a run to whoever watches it.
namespace sluice {

/// What became of --export-baseline.
void print_pinned(const std::string& file, std::size_t results, const RunAssessment& assessment);
/// What became of --harvest.
void print_harvest(const std::string& file, const Harvest& harvest);
/// What the run came to, of one whose report goes to files alone.
void print_outcome(const std::vector<ReportTarget>& targets, const RunAssessment& assessment);
/// `interrupted by SIGINT; 44 of 60 cases were not started`.
Error with_not_run(Error cut_short, const Totals& all);

}  // namespace sluice

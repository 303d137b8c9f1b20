#pragma once

#include "common/error.hpp"
#include "coordinator/merge/aggregate.hpp"
#include "coordinator/session/harvest.hpp"
#include "coordinator/session/report_options.hpp"
#include "coordinator/session/run_assessment.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace sluice {

/// What --export-baseline came to: `pinned 40 results in FILE`.
std::string pinned_line(const std::string& file, std::size_t results, const RunAssessment& assessment);

/// What --harvest came to.
std::string harvest_line(const std::string& file, const Harvest& harvest);

/// What a run came to whose report goes to files alone; empty for any other.
std::string outcome_line(const std::vector<ReportTarget>& targets, const RunAssessment& assessment);

/// `interrupted by SIGINT; 44 of 60 cases were not started, 3 ended in an error`.
Error with_not_started(Error cut_short, const Totals& all);

}  // namespace sluice

#pragma once

#include "coordinator/cli/past_runs/asked_again.hpp"
#include "coordinator/cli/past_runs/past_report.hpp"
#include "coordinator/facts/run_record.hpp"
#include "coordinator/gate/gate.hpp"
#include "coordinator/report/commands/compare_report.hpp"
#include "coordinator/report/report.hpp"
#include "coordinator/score_files/score_file.hpp"
#include "coordinator/session/report_options.hpp"

#include <functional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace sluice {

/// A side of a comparison, and what is to be known of a run that it was made of.
struct LoadedSide {
  std::string name;  ///< As the user named it.
  ScoreFile file;
  std::vector<GateNotice> notices{};
  std::string run_id{};   ///< Of a run of the ledger; empty: a file.
  ComparedCases cases{};  ///< The same.
};

/// The side of a run, whose report is made again, of the tests that its suite still has; `also` gets it too,
/// and may be empty. `targets`: as report_past_run. Error: the exit code, after it was reported.
tl::expected<LoadedSide, int> side_of_run(const PastRun& past, const std::string& name, const RunPlace& place,
                                          const std::vector<ReportTarget>& targets,
                                          const UseReport& also = {});

struct CompareRequest {
  Thresholding limits{};  ///< Go before those of the cases.
  bool strict = false;
};

/// usage_invalid where both sides are this one run: nothing can differ.
Result<void> check_are_two_runs(const std::string& base_run_id, const std::string& current_run_id);

/// Compares two sides, and hands what came of it to `write`. Returns the exit code; errors were reported.
int compare_sides(const LoadedSide& base, const LoadedSide& current, const CompareRequest& request,
                  const std::function<Result<void>(const CompareReportInput&)>& write);

}  // namespace sluice

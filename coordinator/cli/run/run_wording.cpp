#include "coordinator/cli/run/run_wording.hpp"

#include "common/defaults.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/report/wording/assessment_wording.hpp"
#include "coordinator/report/wording/wording.hpp"

namespace sluice {

std::string pinned_line(const std::string& file, std::size_t results, const RunAssessment& assessment) {
  const Totals& all = assessment.aggregates.all;
  const StatusCounts& statuses = all.statuses;
  std::string words = "pinned " + wording::counted(results, "result") + " in " + file;
  if (statuses.failed > 0)
    words += "; " + wording::counted(statuses.failed, "case") +
             " of this run failed: the baseline records that, and this run's verdict stays as it is";
  const std::uint64_t uncertain = all.warned() + statuses.flaky;
  if (uncertain > 0)
    words += "; " + wording::counted(uncertain, "case") + (uncertain == 1 ? " warns or is" : " warn or are") +
             " flaky: no baseline excuses that under --strict";
  return words;
}

std::string harvest_line(const std::string& file, const Harvest& harvest) {
  // There may be no such file.
  if (harvest.added + harvest.lost + harvest.beyond == 0)
    return "no solved example for " + file + ": no test that it lacks passed without a warning";
  std::string words = "added " + wording::counted(harvest.added, "solved example") + " to " + file;
  if (harvest.lost > 0)
    words += "; " + wording::counted(harvest.lost, "answer") +
             " left out, since no cache of this home holds all of it";
  if (harvest.beyond > 0)
    words += "; " + wording::counted(harvest.beyond, "answer") + " left out, since the file is full (" +
             wording::grouped(defaults::max_solved_examples) + " examples, " +
             std::to_string(defaults::max_suite_bytes >> 20) + " MiB)";
  return words;
}

std::string outcome_line(const std::vector<ReportTarget>& targets, const RunAssessment& assessment) {
  std::string files;
  for (const ReportTarget& target : targets) {
    if (!target.file) return {};
    files += (files.empty() ? "" : ", ") + *target.file;
  }
  return std::string(to_string(assessment.verdict)) + ": " + wording::tally(assessment.aggregates.all) +
         "; see " + files;
}

Error with_not_started(Error cut_short, const Totals& all) {
  if (all.not_started == 0) return cut_short;
  cut_short.message += "; " + wording::counted_of(all.not_started, all.statuses.total(), "case") +
                       (all.not_started == 1 ? " was" : " were") + " not started";
  if (all.errors() > 0) cut_short.message += ", " + wording::grouped(all.errors()) + " ended in an error";
  return cut_short;
}

}  // namespace sluice

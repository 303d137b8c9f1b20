#pragma once

#include "coordinator/cli/asked_again.hpp"
#include "coordinator/cli/run_report.hpp"
#include "coordinator/facts/run_record.hpp"
#include "coordinator/session/report_options.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace sluice {

/// Cases of a run that its suite has no more, so that nothing judges them.
struct LostCases {
  std::vector<std::string> ids;  ///< Ascending.
  std::size_t failed = 0;        ///< Those that had a failed check or an error when they ran.
};

/// Which runs have a report. Of one that has no end it is what there is so far, as if the run had ended: only
/// a page that shows the run as it goes on takes it (`any`).
enum class Ends : std::uint8_t { reached, any };

/// Hands the report of a run of the ledger to `use`, made again of the run's results, with the flags of the
/// run for its gate. `place`: as plan_again. Checks or settings that would judge otherwise than those of the
/// run are refused, and so are `targets` that would replace what the run reads or keeps. Where the requests
/// or the verdict are others since, its notices say so; of other requests prompts are left out. Returns the
/// cases that the suite has no more, where `place` takes those alone that both have. Error: the exit code,
/// after it was reported.
tl::expected<LostCases, int> report_past_run(const PastRun& past, const RunPlace& place,
                                             const std::vector<ReportTarget>& targets, const UseReport& use,
                                             Ends ends = Ends::reached);

}  // namespace sluice

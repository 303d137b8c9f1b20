#pragma once

#include "coordinator/cli/past_runs/asked_again.hpp"
#include "coordinator/cli/past_runs/judged_cases.hpp"
#include "coordinator/facts/run_record.hpp"
#include "coordinator/session/assessed_run.hpp"
#include "coordinator/session/report_options.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace sluice {

/// What the notices are about that concern a past run itself, whatever it is compared with.
inline constexpr std::string_view past_run_subject = "Run";

/// Of a comparison (Tests::shared): what it is to know of a run's cases beside their report.
struct ComparedCases {
  std::vector<std::string>
      lost;                     ///< Those that its suite has no more, so that nothing judges them; ascending.
  std::size_t lost_failed = 0;  ///< Of them those that had a failed check or an error when they ran.
  std::vector<JudgedCase> judged;  ///< The others, by id.
};

/// Which runs have a report. Of one that has no end it is what there is so far, as if the run had ended: only
/// a page that shows the run as it goes on takes it (`any`).
enum class Ends : std::uint8_t { reached, any };

/// Hands the report of a run of the ledger to `use`, made again of the run's results, with the flags of the
/// run for its gate. `place`: as plan_again. Checks or settings that would judge otherwise than those of the
/// run are refused, and so are `targets` that would replace what the run reads or keeps. Where the requests
/// or the verdict are others since, its notices say so; of other requests prompts are left out. Returns what
/// a comparison is to know; nothing where `place` is of none. Error: the exit code, after it was reported.
tl::expected<ComparedCases, int> report_past_run(const PastRun& past, const RunPlace& place,
                                                 const std::vector<ReportTarget>& targets,
                                                 const UseReport& use, Ends ends = Ends::reached);

}  // namespace sluice

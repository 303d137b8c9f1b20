#pragma once

#include "common/settings/settings.hpp"
#include "coordinator/cli/run_report.hpp"
#include "coordinator/facts/run_record.hpp"
#include "coordinator/ledger/ledger.hpp"
#include "coordinator/session/report_options.hpp"

#include <cstdint>
#include <vector>

#include <tl/expected.hpp>

namespace CLI {
class App;
}

namespace sluice {

/// Hands the report of a run of the ledger to `use`, made again of the run's results, with the flags of the
/// run for its gate. `command`, `settings` and `ledger`: as plan_again. Of a run that has no end what it has
/// so far; a report of it as if it had ended is nobody's, so that only a page of it as it goes on takes it
/// (`Ends::any`). A suite or settings that would judge otherwise
/// than those of the run are refused, and so are `targets` that would replace what the run reads or keeps.
/// Where the requests or the verdict are others since, its notices say so; of other requests prompts are left
/// out. Error: the exit code, after it was reported.
enum class Ends : std::uint8_t { reached, any };
tl::expected<void, int> report_past_run(const PastRun& past, const CLI::App& command,
                                        const Settings& settings, const Ledger& ledger,
                                        const std::vector<ReportTarget>& targets, const UseReport& use,
                                        Ends ends = Ends::reached);

}  // namespace sluice

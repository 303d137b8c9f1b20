#pragma once

#include "common/settings/settings.hpp"
#include "coordinator/cli/run_report.hpp"
#include "coordinator/facts/run_record.hpp"

#include <tl/expected.hpp>

namespace CLI {
class App;
}

namespace sluice {

/// Hands the report of a run of the ledger to `use`, made again of the run's results, with the flags of the
/// run for its gate. `command` and `settings`: as plan_again. Where prompts, model or checks have changed
/// since, its notices say so, and prompts are left out. Error: the exit code, after it was reported.
tl::expected<void, int> report_past_run(const PastRun& past, const CLI::App& command,
                                        const Settings& settings, const UseReport& use);

}  // namespace sluice

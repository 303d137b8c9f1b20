#pragma once

#include "common/error.hpp"
#include "common/settings/settings.hpp"
#include "coordinator/session/run_options.hpp"
#include "coordinator/suite/suite.hpp"

#include <string>
#include <string_view>

namespace sluice {

/// What is certain to go wrong with the files that a run writes (reports, baseline, call log) is reported
/// before the work is done: output_failed for a place that cannot be written, usage_invalid for one where
/// something stands that the run reads or keeps (a file of the suite, the baseline, prompt, ontology and
/// prices, any TOML file, the home's ledger and caches), for one that two of them or --harvest name, and for
/// a TOML file among the fixtures, which the next run would read as one.
Result<void> check_run_outputs(const RunOptions& options, const Suite& suite);

/// The same of a file without a suite at hand: no TOML or YAML file, ledger, observations or cache gets lost.
Result<void> check_output(std::string_view content, const std::string& file, const Settings& settings);

}  // namespace sluice

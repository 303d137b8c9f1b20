#pragma once

#include "common/cache_tools.hpp"
#include "coordinator/cli/run_flags.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/facts/observation.hpp"
#include "coordinator/facts/run_record.hpp"

#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace sluice {

/// The run that the words name: an id, its first digits, or `last`. Nothing if no run is recorded yet.
Result<std::optional<PastRun>> find_past_run(const Settings& settings, const std::string& words);

/// What observations of a case would say, made of what the ledger and the caches hold of the run. The suite
/// and whatever else decides what is asked must be as they were: the flags say it again, and the run's own
/// suite, provider and model stand for what they leave out. Error: the exit code, after what is wrong was
/// reported.
tl::expected<std::vector<Observation>, int> observations_from_caches(const SettingFlags& settings,
                                                                     RunFlags flags, const PastRun& past,
                                                                     const std::string& case_id,
                                                                     const CacheTools& tools);

}  // namespace sluice

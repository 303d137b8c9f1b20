#pragma once

#include "common/cache_tools.hpp"
#include "common/settings/settings.hpp"
#include "coordinator/ledger/ledger.hpp"

#include <tl/expected.hpp>

namespace CLI {
class App;
}

namespace sluice {

/// What caches hold of a past run, and it takes to replay it: the answers that its results show, and what
/// these were scored by. Where anything was scored by more than the answers, the suite and what asks are to
/// be as they were. Error: the exit code, after what is wrong was reported.
tl::expected<UsedEntries, int> entries_of_run(const PastRun& past, const CLI::App& command,
                                              const Settings& settings, Ledger& ledger,
                                              const CacheTools& tools);

}  // namespace sluice

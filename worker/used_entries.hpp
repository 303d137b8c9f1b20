#pragma once

#include "common/cache_tools.hpp"

namespace sluice {

/// CacheTools::find_used: takes the units from their answers to what they are scored by, as a run in cached
/// mode does, and notes what that reads.
Result<UsedEntries> find_used_entries(const ReplayedUnits& replayed);

}  // namespace sluice

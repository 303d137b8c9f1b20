#pragma once

#include "common/cache_tools.hpp"

#include <string>

/// What `sluice cache` reads and says.
namespace sluice::cache_text {

std::string exported(const ExportedCassette& done, const std::string& file, bool of_one_run);
std::string imported(const ImportedCassette& done, const std::string& file);
std::string pruned(const PrunedCaches& done, bool dry_run);
/// Two or three lines a cache.
std::string stats_text(const std::vector<CacheFacts>& caches);
/// An object with one member, `caches`: an array of objects. Counts of a cache that is in use or cannot be
/// read are null.
std::string stats_json(const std::vector<CacheFacts>& caches);

}  // namespace sluice::cache_text

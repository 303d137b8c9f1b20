#pragma once

#include "common/error.hpp"

#include <filesystem>
#include <string>

namespace sluice {

/// Reads a cache directory's id (its file ID, 32 hex digits); makes one if it may, and
/// what is there is no id. REQUIRES: the directory's lock is held. Error: cache_failed.
Result<std::string> directory_id(const std::filesystem::path& dir, bool read_only);

}  // namespace sluice

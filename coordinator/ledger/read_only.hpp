#pragma once

#include <filesystem>
#include <string>

namespace sluice {

/// SQLite's name for a file that is only read. Without a log of commits beside it the file is all there is,
/// and SQLite learns that nobody changes it: else it would make files beside it.
std::string read_only_name(const std::filesystem::path& file);
/// The same where others may write to it at any time, unless its folder is read-only: SQLite has to look for
/// that.
std::string name_beside_writers(const std::filesystem::path& file);

}  // namespace sluice

#pragma once

#include "common/error.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace sluice {

/// What others than a file's owner must not be able to do with it.
enum class Privacy : std::uint8_t {
  nobody_else_reads,   ///< The group may read a file of root's: so container engines hand over secrets.
  nobody_else_writes,  ///< Group and others.
};

/// The content of a small file (1 MiB at most). Errors: file_unreadable; settings_invalid where its
/// permissions are too wide, with the command that narrows them.
Result<std::string> read_private_file(const std::filesystem::path& file, Privacy privacy);

}  // namespace sluice

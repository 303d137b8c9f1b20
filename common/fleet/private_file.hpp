#pragma once

#include "common/error.hpp"
#include "common/files.hpp"
#include "common/hash.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace sluice {

/// What others than a file's owner must not be able to do with it.
enum class Privacy : std::uint8_t {
  nobody_else_reads,   ///< The group may read a file of root's: so container engines hand over secrets.
  nobody_else_writes,  ///< Group and others.
};

/// The content of a small file (1 MiB at most). Errors: as read_file; settings_invalid where its
/// permissions are too wide, with the command that narrows them.
Result<std::string> read_private_file(const std::filesystem::path& file, Privacy privacy);

/// Makes a file that is its owner's alone from the first byte on, and such a folder around it; what it holds
/// is on the disk then. Errors: output_failed, also where there is such a file already, which is left as it
/// is.
Result<void> create_private_file(const std::filesystem::path& file, const std::string& content);

/// Makes the folder, its owner's alone, if it is not there, and keeps everybody else who does this waiting
/// until the result is closed. Errors: output_failed.
Result<FileDescriptor> lock_folder(const std::filesystem::path& folder);

/// What nobody else can guess.
Digest new_secret();
/// A secret that the coordinators of a home share, which the first that asks makes: 64 hexadecimal digits in
/// `file`. Errors: as of the functions above, and settings_invalid for a file that holds something else.
Result<Digest> shared_secret(const std::filesystem::path& file);

}  // namespace sluice

#pragma once

#include <filesystem>

/// What it takes that files outlive a loss of power, and take each other's place at one instant.
namespace sluice {

/// Has what a file holds, or which files a folder has, written to the disk. False where that failed.
bool sync_to_disk(const std::filesystem::path& path);
/// The same with a folder and all that are above it, which may have been made with it. What nobody lets us
/// open we have not made.
bool sync_folders(const std::filesystem::path& folder);
/// Makes a folder and those above it that are not there, and has them written to the disk. False where that
/// failed.
bool make_folders_on_disk(const std::filesystem::path& folder);
/// Exchanges two paths at one instant. False where the file system cannot, or one is not there.
bool exchange_paths(const std::filesystem::path& one, const std::filesystem::path& other);

}  // namespace sluice

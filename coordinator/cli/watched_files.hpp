#pragma once

#include "common/error.hpp"

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// Files, and folders with all below them, whose changes are waited for (inotify). Not counted are hidden
/// names (with a dot in front), copies that editors leave (`~` at the end), and what is ignored. Not
/// thread-safe. Errors: file_unreadable.
class WatchedFiles {
 public:
  static Result<WatchedFiles> open();
  WatchedFiles(WatchedFiles&& other) noexcept;
  WatchedFiles& operator=(WatchedFiles&&) = delete;
  ~WatchedFiles();

  /// A file, or a folder; one that comes to be below it later counts as well.
  Result<void> add(const std::filesystem::path& path);
  /// Changes of this file, of the drafts from which it is made, and of all below it count no more.
  void ignore(const std::filesystem::path& path);

  /// Blocks until something has changed and nothing more did for `settled`, since editors write a file in
  /// several steps; at once if something has changed since the last call. Nothing: `until`, a descriptor, can
  /// be read.
  Result<std::optional<std::filesystem::path>> wait(int until, std::chrono::milliseconds settled);

 private:
  explicit WatchedFiles(int descriptor) : descriptor_(descriptor) {}

  struct Folder {
    std::filesystem::path path;
    bool is_whole = false;  ///< Else `files` alone count in it.
    std::vector<std::string> files{};
  };
  Result<int> watch(const std::filesystem::path& folder);
  Result<void> add_folders(const std::filesystem::path& root);
  std::optional<std::filesystem::path> read_changes();
  bool counts(const Folder& folder, const std::string& name) const;

  int descriptor_;
  std::map<int, Folder> folders_;  ///< By what inotify calls them.
  std::vector<std::string> ignored_;
};

}  // namespace sluice

#pragma once

#include "common/error.hpp"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sluice {

/// The files of a tree, before anything is known of them.
struct FileList {
  std::vector<std::string> paths;  ///< Relative to the tree, with '/', sorted, each once; any bytes.
  /// Why git was not asked what it ignores: a clause. Empty: it was.
  std::string without_git;
};

/// What git does not ignore below the folder: tracked files, and new ones. Where git is missing or the folder
/// is in no repository: every file outside of folders with one of the excluded names; links to folders are
/// not followed. file_unreadable if the folder cannot be read, or git fails in a repository.
Result<FileList> list_files(const std::filesystem::path& folder,
                            std::span<const std::string> excluded_folders);

/// Reads files of one tree and of nothing else.
class TreeReader {
 public:
  virtual ~TreeReader() = default;
  /// The content; nothing for one of more than `max_bytes`. file_unreadable for what is no regular file, or
  /// is reached by a link that leaves the tree.
  virtual Result<std::optional<std::string>> read(const std::string& path, std::size_t max_bytes) const = 0;
};

/// file_unreadable if the folder cannot be opened.
Result<std::unique_ptr<TreeReader>> open_tree(const std::filesystem::path& folder);

}  // namespace sluice

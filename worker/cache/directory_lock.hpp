#pragma once

#include "common/error.hpp"
#include "common/files.hpp"

#include <filesystem>
#include <utility>

namespace sluice {

/// A lock on a cache directory (flock on its LOCK.sluice), held until destruction or the process's death.
/// RocksDB has a lock of its own, but does not distinguish "in use" from other failures.
class DirectoryLock {
 public:
  enum class Kind { exclusive, shared };

  /// Does not wait. Where the file is missing there is no owner, and nothing to share. Errors: cache_in_use;
  /// cache_failed if the file cannot be made or opened.
  static Result<DirectoryLock> take(const std::filesystem::path& dir, Kind kind);

  /// Of whoever needs none.
  static Result<DirectoryLock> none() { return DirectoryLock(FileDescriptor()); }

  /// Gives the lock back early.
  void release() { file_ = FileDescriptor(); }

 private:
  explicit DirectoryLock(FileDescriptor file) : file_(std::move(file)) {}
  FileDescriptor file_;
};

}  // namespace sluice

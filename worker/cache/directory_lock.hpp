#pragma once

#include "common/error.hpp"

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
  static Result<DirectoryLock> none() { return DirectoryLock(-1); }

  DirectoryLock(DirectoryLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  DirectoryLock& operator=(DirectoryLock&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~DirectoryLock();

  /// Gives the lock back early.
  void release();

 private:
  explicit DirectoryLock(int file) : file_(file) {}
  int file_;
};

}  // namespace sluice

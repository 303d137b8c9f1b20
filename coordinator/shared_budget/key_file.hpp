#pragma once

#include "common/error.hpp"
#include "common/files.hpp"
#include "coordinator/governor/key_use.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace sluice {

/// Where the runs on one machine that use one key tell each other what they do with it: a file of a fixed
/// size with the newest of what was done, in the order in which it was done, and an entry for each run. Who
/// holds the lock sees all that was done before. A process that dies leaves nothing locked, and its entry
/// counts no more. Not thread-safe; several may open a file at once, in one process as well.
class KeyFile {
 public:
  /// What others did since the last time.
  struct News {
    std::vector<ForeignUse> uses;
    OtherPlaces others;
    /// What was done before `uses` is not in the file any more.
    bool is_cut = false;
  };

  /// What becomes of a run's calls when its process dies.
  enum class Calls : std::uint8_t { may_outlive, end_with_process };

  /// Opens or makes the file, and adds this run to it. output_failed if that cannot be done, the file is
  /// something else, or defaults::max_runs_of_key runs are there.
  static Result<KeyFile> open(const std::filesystem::path& path);
  KeyFile(KeyFile&&) noexcept = default;
  KeyFile& operator=(KeyFile&& other) noexcept;
  /// Its calls are over: its places are free at once.
  ~KeyFile();

  /// Waits a moment for the lock; false if another run holds it for longer. output_failed, as for what
  /// follows: the file cannot be used.
  Result<bool> lock();
  /// REQUIRES: locked. The first time all that the file has. The places of a run that has died, or had no
  /// turn for so long, count for `patience`: its calls may be under way. Of one that has died they do not
  /// count at all if its calls ended with it.
  Result<News> read(BootTime now, BootTime patience);
  /// Adds what this run did, and lets the others in. `calls`: those that it may have from here on. REQUIRES:
  /// locked.
  Result<void> write(std::span<const KeyUse> uses, const KeyPlaces& places, Calls calls, BootTime now);
  void unlock();
  /// Runs are numbered in the order in which they came.
  std::uint64_t run() const { return run_; }

 private:
  KeyFile(std::filesystem::path path, FileDescriptor file) : path_(std::move(path)), file_(std::move(file)) {}

  Result<void> join();
  Result<void> read_at(std::uint64_t offset, void* to, std::size_t bytes) const;
  Result<void> write_at(std::uint64_t offset, const void* from, std::size_t bytes) const;
  bool is_held(std::size_t entry) const;
  tl::unexpected<Error> unusable(const std::string& why) const;

  std::filesystem::path path_;
  FileDescriptor file_;
  std::size_t entry_ = 0;     ///< Of this run.
  std::uint64_t run_ = 0;     ///< Its number.
  std::uint64_t seen_ = 0;    ///< Records that it has read or written.
  std::uint64_t newest_ = 0;  ///< Records that were ever written, as read under the lock.
};

}  // namespace sluice

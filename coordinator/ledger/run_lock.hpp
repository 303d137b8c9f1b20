#pragma once

#include "common/error.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>

#include <fcntl.h>

namespace sluice {

/// Says that a process works on a run: a lock on a byte of its own in the home's `runs.lock`, held until
/// destruction or the process's death, however that dies. Within a process too nobody else gets it.
class RunLock {
 public:
  /// usage_invalid if somebody works on the run; ledger_failed if the file cannot be made or locked. Whoever
  /// has `take_all` is waited for: `before_waiting` is called first.
  static Result<RunLock> take(const std::filesystem::path& home, const std::string& run_id,
                              const std::function<void()>& before_waiting = {});
  /// Whether somebody works on the run. Changes nothing, and makes no file.
  static bool is_held(const std::filesystem::path& home, const std::string& run_id);
  /// Who keeps others from working on all runs of the home: nobody, somebody who works on one of them, or who
  /// has `take_all`.
  enum class Holder : std::uint8_t { nobody, one, all };
  /// As `is_held`. Nobody where there is no file either.
  static Holder holder_in(const std::filesystem::path& home);
  /// Keeps all runs of the home from being worked on: those that begin wait. Does not wait itself:
  /// usage_invalid if somebody works on one. ledger_failed as `take`.
  static Result<RunLock> take_all(const std::filesystem::path& home);

  /// Leaves word that the home has a ledger: one that is not there any more is missing.
  void expect_ledger() const;
  static bool is_ledger_expected(const std::filesystem::path& home);

  RunLock(RunLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  RunLock& operator=(RunLock&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~RunLock();

 private:
  explicit RunLock(int file) : file_(file) {}
  static Result<RunLock> open(const std::filesystem::path& home);
  /// False if somebody else has it. The error: ledger_failed.
  Result<bool> lock(const std::filesystem::path& home, struct flock wanted) const;
  /// Who is in the way of the lock.
  Holder holder_of(struct flock wanted) const;
  static Holder holder_in(const std::filesystem::path& home, struct flock wanted);
  int file_;
};

}  // namespace sluice

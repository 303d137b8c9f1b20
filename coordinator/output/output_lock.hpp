#pragma once

#include "common/error.hpp"
#include "common/files.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <utility>

namespace sluice {

/// Keeps others waiting who add to the same output file, from its reading to its writing: a lock on a hidden
/// file of its own beside it (`.NAME.lock`), which goes with this. Where no such file can be made, and on
/// file systems without locks, everybody is on their own.
class OutputLock {
 public:
  /// Waits for whoever has it, but no longer than `patience`; calls `before_waiting`, if any, once before.
  /// Error: output_failed when that time is over.
  static Result<OutputLock> take(const std::string& path, std::chrono::milliseconds patience,
                                 const std::function<void()>& before_waiting);

  OutputLock(OutputLock&& other) noexcept
      : name_(std::exchange(other.name_, {})), file_(std::move(other.file_)) {}
  OutputLock& operator=(OutputLock&&) = delete;
  ~OutputLock();

 private:
  explicit OutputLock(std::string name) : name_(std::move(name)) {}
  /// False if somebody else has it.
  bool try_take();

  std::string name_;
  FileDescriptor file_;  ///< Not open without the lock.
};

}  // namespace sluice

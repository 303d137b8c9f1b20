#pragma once

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/files.hpp"

#include <atomic>
#include <filesystem>
#include <memory>
#include <string_view>

namespace sluice {

/// A file with one JSON object a line for each call, written at the instant at which its request goes out:
/// {"started_us": boot clock, ...}. Each line is one write to the end of the file, so that many processes can
/// share it. Thread-safe.
class CallLog {
 public:
  /// Error: output_failed.
  static Result<std::shared_ptr<CallLog>> open(const std::filesystem::path& path);

  /// `members`: the JSON members beside the time, without braces.
  void write(BootTime started, std::string_view members);

 private:
  CallLog(FileDescriptor file, std::filesystem::path path);

  FileDescriptor file_;
  std::filesystem::path path_;
  std::atomic<bool> failed_{false};  ///< Reported once.
};

}  // namespace sluice

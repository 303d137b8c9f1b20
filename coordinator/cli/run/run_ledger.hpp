#pragma once

#include "common/error.hpp"
#include "common/settings/settings.hpp"

#include <filesystem>
#include <utility>

namespace sluice {

/// Where a run is recorded: the ledger of the home. A run that calls no provider needs nothing but what the
/// home holds, so that a read-only one serves it: it is recorded in a temporary file then, beside what the
/// home's ledger knows of caches, and nowhere else. Movable; the temporary file goes with this.
class RunLedger {
 public:
  /// ledger_failed, also for a live run with a read-only home.
  static Result<RunLedger> open(const Settings& settings);
  RunLedger(RunLedger&& other) noexcept;
  RunLedger& operator=(RunLedger&&) = delete;
  ~RunLedger();

  const std::filesystem::path& file() const { return file_; }
  /// It goes with this: nobody goes on with the run.
  bool is_temporary() const { return !temporary_folder_.empty(); }

 private:
  explicit RunLedger(std::filesystem::path file) : file_(std::move(file)) {}

  std::filesystem::path file_;
  std::filesystem::path temporary_folder_;  ///< Is removed at the end; empty: there is none.
};

}  // namespace sluice

#pragma once

#include "common/error.hpp"
#include "coordinator/session/run_options.hpp"
#include "coordinator/suite/suite.hpp"

#include <cstddef>
#include <string>

namespace sluice {

/// The files that a run reads beside its suite: from the disk, read along for the copy that the ledger keeps;
/// or those of a past run from its copy, as far as it has them. What it is made of must outlive it.
class RunFiles {
 public:
  /// Those of the disk, for nobody's copy.
  RunFiles() = default;
  RunFiles(const RunOptions& options, const Suite& suite)
      : copy_(options.copy.get()), copier_(suite.copier.get()) {}

  /// Errors as of read_file.
  Result<std::string> read(const std::string& file, std::size_t max_bytes) const;
  /// Null where the disk is to be read.
  const std::string* copied(const std::string& file) const;
  /// Has the copy get a file that is read elsewhere, if it is no longer.
  void read_along(const std::string& file, std::size_t max_bytes) const;

 private:
  const SuiteCopy* copy_ = nullptr;
  SuiteCopier* copier_ = nullptr;
};

}  // namespace sluice

#pragma once

#include "common/error.hpp"
#include "coordinator/facts/run_record.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

/// Whether a home's SQLite files are as they were written, and what can be saved of those that are not
/// (`sluice doctor`). Nothing here changes the file that is looked at.
namespace sluice {

struct CheckedFile {
  std::vector<std::string> damage;  ///< What was found, a sentence without a full stop each.
  std::vector<std::string> nested;  ///< The same of sound rows whose JSON nests too deeply for its readers.
  /// Of something else, or of a later sluice: not to be repaired.
  bool is_foreign = false;
};

/// Of `ledger.db`: its log of commits, its pages, the checksum of each row, and the depth of JSON. Error:
/// ledger_failed if it is in nobody's power to look at it (permissions).
Result<CheckedFile> check_ledger_file(const std::filesystem::path& file);
/// The same of observations.
Result<CheckedFile> check_observations_file(const std::filesystem::path& file);

struct RestoredFile {
  std::uint64_t rows = 0;             ///< Taken over.
  std::vector<std::string> left_out;  ///< What was not, a clause each.
  std::vector<std::string>
      reopened;  ///< Ids of runs that lack results now: `sluice run --resume` asks again.
};

/// Whether somebody could go on with a run if it had no end.
using MayGoOn = std::function<bool(const PastRun& run)>;

/// Writes what of the file can be read and verifies into a new one, which is on the disk when this returns.
/// Runs that lost results have no end any more, if somebody may go on with them; others keep theirs, and are
/// left out by name. A file that is not there has nothing. Error: ledger_failed, for what is no damage.
Result<RestoredFile> restore_ledger_file(const std::filesystem::path& damaged,
                                         const std::filesystem::path& restored, const MayGoOn& may_go_on);
/// The same of observations. Error: output_failed.
Result<RestoredFile> restore_observations_file(const std::filesystem::path& damaged,
                                               const std::filesystem::path& restored);

/// What is wrong with SQLite's log of commits beside the file: it stops reading at a frame whose checksum
/// does not fit, without a word. Empty: nothing.
std::string log_damage(const std::filesystem::path& file);

}  // namespace sluice

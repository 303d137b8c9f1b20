#pragma once

#include "common/error.hpp"

#include <filesystem>

/// How a restored SQLite file takes the place of a damaged one (`sluice doctor --repair`), whatever ends the
/// process in between. SQLite's log of commits lies in a file of its own and cannot be exchanged at the same
/// instant: as long as FILE.restored is there, nobody opens the file, and the next repair goes on.
namespace sluice {

/// Where the restored file is made: in the file's own folder, which may be another disk than the home's.
std::filesystem::path draft_beside(const std::filesystem::path& file);
/// Removes what a repair that failed has left of it.
void remove_draft(const std::filesystem::path& file);

/// A repair of the file was cut off between its restored file and its end.
bool is_half_replaced(const std::filesystem::path& file);
/// There is something under its name that is neither a file nor a folder: SQLite would wait for the other end
/// of a pipe.
bool is_pipe_or_device(const std::filesystem::path& file);
/// Refuses both. ledger_failed.
Result<void> check_may_open(const std::filesystem::path& file);

/// Puts the draft in the file's place; the damaged file stays whole as `aside`, with what SQLite keeps beside
/// it. Error: output_failed, with the file as it was.
Result<void> replace_by_draft(const std::filesystem::path& file, const std::filesystem::path& aside);
/// The same of the restored file that a repair left which was cut off. REQUIRES: is_half_replaced(file).
Result<void> finish_replacing(const std::filesystem::path& file, const std::filesystem::path& aside);

}  // namespace sluice

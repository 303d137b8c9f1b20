#pragma once

#include "common/error.hpp"
#include "coordinator/facts/cache_holders.hpp"
#include "coordinator/facts/run_record.hpp"
#include "coordinator/facts/suite_copy.hpp"
#include "coordinator/run/run_controller.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>

/// Going on with a run that stopped before its plan was done (docs/durability.md).
namespace sluice {

/// Why `sluice run --resume` does not go on with the run whatever is asked: another command's, one that is
/// under way or came to its end, one of another version. usage_invalid, one sentence.
Result<void> check_unfinished(const PastRun& past);

/// A run that was cut short for this reason (a reason code) would meet it again: other settings, or another
/// mode, make another run.
bool would_end_again(std::string_view reason);

/// The run stopped before its plan was done, nothing stands in the way of going on with it, and it would not
/// end as it did: it is offered to be gone on with. Who names one that would may still try.
inline bool is_unfinished(const PastRun& past) {
  return check_unfinished(past).has_value() && !(past.summary && would_end_again(past.summary->reason_code));
}

/// Whether what would run now is what the run was: else a trial's number means another question.
/// usage_invalid names what differs. `files`: those of the suite that changed, if it comes to that.
Result<void> check_same_run(const RunRecord& past, const RunRecord& now,
                            const std::function<std::string()>& files);

/// Where two readings of a suite differ, for an error: `tests.csv from line 4, short.txt is gone`, relative
/// to the suite's folder. At most defaults::named_trials of them by name. Empty if they do not differ.
std::string changed_files(const SuiteCopy& past, const SuiteCopy& now);

/// The command that goes on with the run: `sluice run --resume 1b4e28ba`. It names no suite, so that one
/// whose checks run commands needs --allow-commands (run_commands.hpp, check_commands).
std::string resume_command(const std::string& run_id, bool runs_commands);
std::string resume_command(const RunRecord& run);

/// Units without a pin wait for the cache of whom they were leased to: it may have their answers. REQUIRES:
/// affinities_of and add_pins in the config.
void add_noted_leases(std::span<const NotedLease> leases, RunController::Config& config);

}  // namespace sluice

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

/// The constants that tune the ledger and the observations' file.
namespace sluice::defaults {

using namespace std::chrono_literals;

inline constexpr int checkpoint_pages =
    1000;  ///< Of the log, before it goes into the file: SQLite's own number.
/// A run that is killed has its time to a second.
inline constexpr std::chrono::milliseconds part_noted_every{1000};
inline constexpr int named_damages = 5;                         ///< Of a file's pages: more say no more.
inline constexpr std::size_t max_checked_log_bytes = 1u << 30;  ///< Of a log of commits; it is read whole.
inline constexpr int ledger_busy_timeout_ms = 10'000;  ///< For another process's transaction: far longer than
                                                       ///< one of ours takes.
/// The beginning and the end of a run wait longer: without them there is no run, or nothing to show of it.
inline constexpr int run_busy_timeout_ms = 60'000;
/// The change to a write-ahead log is refused at once where SQLite waits elsewhere; so it is tried for 5 s.
inline constexpr int log_change_tries = 500;
inline constexpr auto log_change_wait = 10ms;
/// A run that begins while the ledger is made smaller, or repaired, looks so often whether that is done.
inline constexpr std::chrono::milliseconds all_runs_lock_wait{50};
inline constexpr int compact_busy_timeout_ms = 1000;  ///< Short: later runs find the room in the file.
inline constexpr std::int64_t max_suite_copies_bytes = 256 << 20;  ///< Packed; the oldest go first.
/// Observations give way: whoever waits so long for another process goes without.
inline constexpr int observations_busy_timeout_ms = 5000;
/// In one transaction, of observations or of runs: some 50 ms, and another process waits so long.
inline constexpr int rows_pruned_at_once = 5000;
inline constexpr std::size_t max_unsettled_pins = 4096;  ///< Bounds what settling sorts and writes at once:
                                                         ///< some 10 ms.

}  // namespace sluice::defaults

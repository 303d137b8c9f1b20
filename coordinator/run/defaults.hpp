#pragma once

#include "common/defaults.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

/// The constants that tune a run as a state machine.
namespace sluice::defaults {

using namespace std::chrono_literals;

/// Workers that a run knows at a time, with those that left after they had work: bounds what peers can make a
/// coordinator keep and report.
inline constexpr std::size_t max_workers = 16'384;

/// Notes that the ledger takes of what a worker says beside its results, for each unit that it was leased and
/// as many at most in a run: more than the calls and entries of any unit come to, and a bound of what one
/// that lies can fill it with.
inline constexpr std::size_t notes_per_lease = 1024;
inline constexpr std::size_t max_worker_notes = std::size_t{1} << 24;

/// How long units whose answers are in the cache of a worker that is not there wait for it, from the first
/// worker's READY: workers that were started together come within a second or two of each other, and as long
/// as a worker may be silent before it counts as lost.
inline constexpr auto holder_wait = 3s;
/// How long those that worked on an earlier part of a run are waited for, from the first worker's READY: one
/// of them may not notice for `liveness` heartbeats that its coordinator died, looks only once a heartbeat,
/// and has to connect.
inline constexpr auto return_wait = (liveness + 2) * heartbeat_interval;
/// How long a worker that has ended may still be heard of, once another has its cache: as long as one may be
/// silent before it counts as lost.
inline constexpr auto namesake_wait = liveness * heartbeat_interval;
/// Stops of the coordinator that do not count as waiting: one that is always late has to begin as well.
inline constexpr std::uint32_t max_uncounted_stops = 10;

/// Heartbeats that a lender, or the ledger, may take: a healthy one takes milliseconds, and a call that could
/// have begun meanwhile is waiting.
inline constexpr int lending_patience = 2;
/// Many workers may report the same pause, each with its rounding.
inline constexpr std::chrono::seconds delay_rounding{5};
/// In dollars: far below any price of a token, far above the rounding of sums of prices.
inline constexpr double smallest_cost = 1e-9;

// --- Checks by commands
/// Of answers that wait for them, until no more units are leased: eight of the longest. What is leased by
/// then comes beside it, and each command that waits has a copy.
inline constexpr std::size_t max_bytes_to_check = 64u << 20;
inline constexpr std::size_t max_verdict_bytes = 64u << 10;   ///< A verdict is a line; more is a mistake.
inline constexpr std::size_t quoted_check_error_bytes = 120;  ///< A detail holds more than the error.

}  // namespace sluice::defaults

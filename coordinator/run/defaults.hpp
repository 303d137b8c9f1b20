#pragma once

#include "common/defaults.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice::defaults {

/// Notes that the ledger takes of what a worker says beside its results, for each unit that it was leased and
/// as many at most in a run: more than the calls and entries of any unit come to, and a bound of what one
/// that lies can fill it with.
inline constexpr std::size_t notes_per_lease = 1024;
inline constexpr std::size_t max_worker_notes = std::size_t{1} << 24;

/// How long those that worked on an earlier part of a run are waited for, from the first worker's READY: one
/// of them may not notice for `liveness` heartbeats that its coordinator died, looks only once a heartbeat,
/// and has to connect.
inline constexpr auto return_wait = (liveness + 2) * heartbeat_interval;
/// Stops of the coordinator that do not count as waiting: one that is always late has to begin as well.
inline constexpr std::uint32_t max_uncounted_stops = 10;

}  // namespace sluice::defaults

#pragma once

#include <cstddef>

namespace sluice::defaults {

/// Notes that the ledger takes of what a worker says beside its results, for each unit that it was leased and
/// as many at most in a run: more than the calls and entries of any unit come to, and a bound of what one
/// that lies can fill it with.
inline constexpr std::size_t notes_per_lease = 1024;
inline constexpr std::size_t max_worker_notes = std::size_t{1} << 24;

}  // namespace sluice::defaults

#pragma once

#include "common/clock.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

/// The constants that tune what runs with one key share, with their reasons.
namespace sluice::defaults {

using namespace std::chrono_literals;

inline constexpr std::size_t max_runs_of_key = 64;  ///< On one machine at once.
/// What a run that looks once a second misses none of at 10,000 calls a second; 1.5 MiB.
inline constexpr std::uint64_t key_records = 32'768;
/// A turn takes some 50 us: a queue of many runs is through in 5 ms.
inline constexpr int key_lock_tries = 25;
inline constexpr long key_lock_wait_ns = 200'000;
inline constexpr BootTime key_lock_retry = 5ms;
inline constexpr BootTime key_lock_patience = 3s;  ///< A process that holds the lock so long was stopped.
/// Beyond what is granted ahead, which is 1.15 s for workers far away: else the file was damaged.
inline constexpr BootTime longest_slot_ahead = 2s;
/// A longer one each run meets by itself, and says what it means for the run.
inline constexpr BootTime longest_shared_delay = 5min;
inline constexpr std::chrono::hours key_file_lifetime{24 * 7};

}  // namespace sluice::defaults

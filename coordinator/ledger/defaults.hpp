#pragma once

#include <chrono>
#include <cstddef>

/// The ledger's own numbers; those that other rooms read as well stand in coordinator/defaults.hpp.
namespace sluice::defaults {

inline constexpr int checkpoint_pages =
    1000;  ///< Of the log, before it goes into the file: SQLite's own number.
/// A run that is killed has its time to a second.
inline constexpr std::chrono::milliseconds part_noted_every{1000};
inline constexpr int named_damages = 5;                         ///< Of a file's pages: more say no more.
inline constexpr std::size_t max_checked_log_bytes = 1u << 30;  ///< Of a log of commits; it is read whole.

}  // namespace sluice::defaults

#pragma once

#include <chrono>
#include <cstddef>

namespace sluice::defaults {

/// Findings that are printed, of all files: more is no list to work through.
inline constexpr std::size_t max_shown_findings = 1000;

/// How often files are looked at for changes, and less often where that takes longer than a twentieth of it.
inline constexpr std::chrono::milliseconds watch_interval{300};
inline constexpr int watch_share_of_time = 20;
/// How long nothing may change before a run begins anew: editors write a file in several steps.
inline constexpr std::chrono::milliseconds watch_settled{100};

/// So many runs in a row that change a file write it themselves.
inline constexpr int runs_that_change_a_file = 3;

/// Of `sluice view`: one reader with a few pages open, of which some wait for a report to be made.
inline constexpr std::size_t view_threads = 8;

}  // namespace sluice::defaults

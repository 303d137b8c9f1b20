#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

/// The constants that tune single commands.
namespace sluice::defaults {

using namespace std::chrono_literals;

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

inline constexpr std::uint32_t max_runs_named =
    1'000'000;  ///< Of `runs --limit` and `--keep`: in effect all.
inline constexpr std::uint32_t max_observations_named = 1'000'000'000;  ///< Of `observations prune --keep`.
inline constexpr auto unfinished_run_age = 7 * 24h;  ///< A run without an end may be going on for so long:
                                                     ///< `sluice runs prune` leaves it.

/// Fixtures that `sluice generate-corpus` makes: as many as a person reviews.
inline constexpr std::uint32_t generated_fixtures = 50;
inline constexpr std::uint32_t max_generated_fixtures = 1'000'000;
inline constexpr double claim_confidence = 0.7;  ///< That a claim needs to become a fixture.

/// Committed results that are kept for the reports, packed: a million of claims take some 100 MiB, less than
/// the plan of as many cases.
inline constexpr std::size_t max_held_result_bytes = 128u << 20;
/// Of the cases of a JSON report, packed, where results are held as well.
inline constexpr std::size_t max_json_beside_results = 32u << 20;

/// Results of larger runs are judged when the run is over: what judges them takes memory beside it.
inline constexpr std::size_t max_followed_trials = 100'000;

inline constexpr std::size_t cases_written_at_once = 10'000;  ///< A transaction of some ten milliseconds.
inline constexpr std::size_t grades_written_at_once = 1000;   ///< A transaction of some milliseconds.

inline constexpr std::uint64_t max_diffed_trials = 100'000;  ///< Of a run: both are held, prompts and all.

}  // namespace sluice::defaults

#pragma once

#include "common/error.hpp"
#include "coordinator/plan/plan.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// What ends a run before its plan does, as one sentence each.
namespace sluice {

/// `units`: those that no connected worker could answer from its cache, ascending. `why`: what a cache lacks
/// for the first of them; shown where its cases need more than the answer (votes, embeddings, or in a run
/// that `grades` the baseline's answer), or the answer may be stored now (cache_in_use): nobody is told to
/// pay then. Its message may be empty.
Error missing_answers(const Plan& plan, const std::vector<UnitId>& units, const Error& why,
                      bool grades = false);
/// What becomes of a run whose worker fell silent, as the end of a sentence.
std::string after_silence(bool others_are_there, std::chrono::milliseconds worker_timeout);
/// `refused`: connections that were made and did not come in. `last_farewell`: who left last and why; may be
/// empty.
Error no_worker_connected(std::chrono::milliseconds waited, std::uint64_t refused,
                          const std::string& last_farewell, const std::string& how_to_start_one);
Error deadline_reached(std::chrono::milliseconds deadline);
/// A provider named a pause of `delay`, which no case can wait for; it answers again at `until`. `is_cached`:
/// what was answered before.
Error provider_paused(const std::string& provider, const std::string& worker, std::chrono::milliseconds delay,
                      std::chrono::system_clock::time_point until, bool is_cached);
/// What workers have of a run that is stopped.
struct UnderWay {
  std::size_t leased = 0;   ///< Units without a result.
  std::size_t started = 0;  ///< Of these: with a call under way, as far as their workers have reported.
  std::chrono::milliseconds time_to_finish{};
  std::size_t in_check = 0;  ///< Results whose commands are waited for.
};
/// What goes on once a run is stopped, for whoever watches: how many calls and commands are waited for, and
/// how long at most. Empty where nothing is waited for and nobody asked for the end.
std::string stop_in_words(const Error& why, const UnderWay& under_way);
/// A time of day in UTC, to the second: "2026-11-23 08:00:00 UTC".
std::string utc_time(std::chrono::system_clock::time_point time);

}  // namespace sluice

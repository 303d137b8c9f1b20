#pragma once

#include "common/defaults.hpp"

#include <cstddef>

/// What tunes planning.
namespace sluice::defaults {

/// Cases that are read, and have the keys of their requests made, before they get their numbers: some
/// milliseconds of work for two threads, and a few MiB where cases are long.
inline constexpr std::size_t cases_planned_at_once = 2'048;
inline constexpr std::size_t max_metrics_of_unit = 100'000;  ///< Keeps a result within one message.
/// Of a unit's result on the wire, but for the claims that it came with, and those of them that no test
/// expects: the worker bounds these (max_unmatched_claims_of_unit), with room for all in a message.
inline constexpr std::size_t max_values_of_unit = max_wire_values / 16 * 13;
/// Of a trial in a result: of itself and its empty lists; of its claims metrics; of one that an expectation
/// adds at most, with the claim that met it; of a metric.
inline constexpr std::size_t values_of_trial = 12;
inline constexpr std::size_t values_of_claims_metrics = 33;
inline constexpr std::size_t values_of_expected_claim = 3;
inline constexpr std::size_t values_of_metric = 5;

}  // namespace sluice::defaults

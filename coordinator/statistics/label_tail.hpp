#pragma once

#include "coordinator/statistics/label_permutation.hpp"

#include <cstdint>
#include <optional>

/// How much of a permutation distribution lies at an observed excess or above, where the whole distribution
/// is too costly (LabelPermutation). Pure.
namespace sluice {

struct ExactTail {
  std::optional<double> p;         ///< Nothing where it would take more states than allowed.
  std::uint64_t tried_states = 0;  ///< Its cost, whether or not that came to an end.
};

/// P(T >= excess), without the labellings that cannot reach the excess, so that it is the cheaper the smaller
/// it is. Time: O(unperturbed x answers + states x log states).
ExactTail exact_upper_tail(const AnswerPattern& pattern, std::int64_t excess, std::uint64_t max_states);

/// No less than P(T >= excess), from the variance alone (Cantelli 1928): far above a small p. Time:
/// O(classes).
double upper_tail_bound(const AnswerPattern& pattern, std::int64_t excess);

}  // namespace sluice

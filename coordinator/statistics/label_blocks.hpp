#pragma once

#include "coordinator/statistics/label_permutation.hpp"

#include <cstdint>
#include <vector>

namespace sluice {

/// Classes of answers that unperturbed ones are chosen from together: one class, or all answers that are like
/// no other.
struct LabelBlock {
  std::vector<double> ways;            ///< To choose 0, 1, ... unperturbed answers.
  std::vector<std::int64_t> excesses;  ///< What that adds to the excess.
  std::uint32_t answers = 0;
};

/// In the order of the class sizes; what is like no other comes last.
std::vector<LabelBlock> label_blocks(const AnswerPattern& pattern, const AgreementExcess& scale);

/// Ways to have chosen so many unperturbed answers with a given excess, from the blocks so far.
struct LabelState {
  std::uint32_t chosen = 0;
  std::int64_t excess = 0;
  double ways = 0.0;
};

/// Sorts, and adds up equal ones. REQUIRES: there are some.
void merge_equal(std::vector<LabelState>& states);

}  // namespace sluice

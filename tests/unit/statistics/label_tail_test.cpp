#include "coordinator/statistics/label_tail.hpp"

#include "coordinator/statistics/special_functions.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace sluice::label_tail_test {

constexpr std::uint64_t any_states = std::numeric_limits<std::uint64_t>::max();

const std::vector<AnswerPattern> patterns{{3, 1, {3, 1}},
                                          {3, 5, {4, 2, 1, 1}},
                                          {5, 6, {6, 5}},
                                          {5, 7, {5, 3, 2, 1, 1}},
                                          {4, 4, {8}},
                                          {6, 12, {7, 5, 3, 2, 1}},
                                          {10, 30, {10, 10, 10, 8, 2}},
                                          {4, 6, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}}};

TEST(LabelTail, IsThatOfTheWholeDistribution) {
  for (const AnswerPattern& pattern : patterns) {
    const LabelPermutation labels(pattern, any_states);
    for (const auto& outcome : labels.outcomes()) {
      const double p = labels.upper_tail(outcome.excess);
      const ExactTail tail = exact_upper_tail(pattern, outcome.excess, any_states);
      ASSERT_TRUE(tail.p);
      EXPECT_NEAR(*tail.p, p, 1e-12 + 1e-9 * p);
      EXPECT_GT(tail.tried_states, 0u);
      EXPECT_GE(upper_tail_bound(pattern, outcome.excess), p * (1.0 - 1e-9));
    }
    const std::int64_t beyond = labels.outcomes().back().excess + 1;
    EXPECT_EQ(exact_upper_tail(pattern, beyond, any_states).p, 0.0);
  }
}

TEST(LabelTail, ASmallTailTakesFewStates) {
  // Fifty repeats of 350 answers, each flipped to one of thirty others: the whole distribution would take
  // 51^30 states.
  AnswerPattern flipped{50, 360, std::vector<std::uint32_t>(30, 12)};
  flipped.class_sizes.insert(flipped.class_sizes.begin(), 50);
  const ExactTail tail = exact_upper_tail(flipped, AgreementExcess(50, 360).denominator(), 1000);
  ASSERT_TRUE(tail.p);
  const double ways = binomial_coefficient(410, 50);
  EXPECT_NEAR(*tail.p * ways, 1.0, 1e-9);
  EXPECT_LE(tail.tried_states, 100u);
}

TEST(LabelTail, EndsWhereItTakesTooManyStates) {
  AnswerPattern many{30, 210, std::vector<std::uint32_t>(30, 8)};
  const ExactTail tail = exact_upper_tail(many, 1, 5000);
  EXPECT_FALSE(tail.p);
  EXPECT_GT(tail.tried_states, 5000u);
  EXPECT_LE(tail.tried_states, 5100u);
  EXPECT_EQ(upper_tail_bound(many, 0), 1.0);
}

}  // namespace sluice::label_tail_test

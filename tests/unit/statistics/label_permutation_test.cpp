#include "coordinator/statistics/label_permutation.hpp"

#include "coordinator/statistics/special_functions.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <map>

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr std::uint64_t any_states = std::numeric_limits<std::uint64_t>::max();

/// T as it is defined, pair by pair.
double excess_of(const std::vector<int>& answers, unsigned unperturbed_mask) {
  double equal = 0.0;
  double pairs = 0.0;
  double equal_across = 0.0;
  double pairs_across = 0.0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    for (std::size_t j = i + 1; j < answers.size(); ++j) {
      const bool first = (unperturbed_mask >> i & 1) != 0;
      const bool second = (unperturbed_mask >> j & 1) != 0;
      const bool same = answers[i] == answers[j];
      if (first && second) {
        ++pairs;
        equal += same;
      } else if (first != second) {
        ++pairs_across;
        equal_across += same;
      }
    }
  }
  return equal / pairs - equal_across / pairs_across;
}

TEST(LabelPermutation, AgreesWithAllLabellingsOneByOne) {
  const std::vector<std::vector<std::uint32_t>> patterns{{3, 1},       {2, 2, 1}, {5, 2, 1, 1},
                                                         {1, 1, 1, 1}, {8, 2},    {9}};
  for (const auto& sizes : patterns) {
    std::vector<int> answers;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      answers.insert(answers.end(), sizes[i], static_cast<int>(i));
    const auto count = static_cast<std::uint32_t>(answers.size());
    for (std::uint32_t unperturbed = 2; unperturbed < count; ++unperturbed) {
      const LabelPermutation labels({unperturbed, count - unperturbed, sizes}, any_states);
      ASSERT_TRUE(labels.is_exact());
      std::map<std::int64_t, double> by_hand;
      double labellings = 0.0;
      for (unsigned mask = 0; mask < 1u << count; ++mask) {
        if (static_cast<std::uint32_t>(__builtin_popcount(mask)) != unperturbed) continue;
        ++labellings;
        ++by_hand[std::llround(excess_of(answers, mask) * static_cast<double>(labels.denominator()))];
      }
      ASSERT_EQ(labels.outcomes().size(), by_hand.size());
      auto expected = by_hand.begin();
      for (const auto& outcome : labels.outcomes()) {
        EXPECT_EQ(outcome.excess, expected->first);
        EXPECT_NEAR(outcome.probability, expected->second / labellings, 1e-12);
        ++expected;
      }
    }
  }
}

TEST(LabelPermutation, ADrawAddsUpItsAnswersOneByOne) {
  const AgreementExcess scale(6, 14);
  for (const std::uint32_t size : {1u, 2u, 9u}) {
    std::int64_t excess = 0;
    for (std::uint32_t chosen = 0; chosen < size; ++chosen) {
      EXPECT_EQ(scale.of_class(chosen, size), excess);
      excess += scale.of_next(chosen, size);
    }
  }
}

TEST(LabelPermutation, HasMeanZero) {
  const LabelPermutation labels({5, 35, {25, 9, 3, 2, 1}}, any_states);
  double mean = 0.0;
  double total = 0.0;
  for (const auto& outcome : labels.outcomes()) {
    mean += outcome.probability * static_cast<double>(outcome.excess);
    total += outcome.probability;
  }
  EXPECT_NEAR(total, 1.0, 1e-12);
  EXPECT_NEAR(mean / static_cast<double>(labels.denominator()), 0.0, 1e-12);
}

double variance_of(const LabelPermutation& labels) {
  double squares = 0.0;
  for (const auto& outcome : labels.outcomes()) {
    const double excess = static_cast<double>(outcome.excess) / static_cast<double>(labels.denominator());
    squares += outcome.probability * excess * excess;
  }
  return squares;
}

TEST(LabelPermutation, ItsVarianceHasAClosedForm) {
  const AnswerPattern patterns[] = {{2, 1, {2, 1}},
                                    {2, 1, {3}},
                                    {3, 7, {7, 3}},
                                    {6, 14, {9, 6, 3, 1, 1}},
                                    {5, 35, {25, 9, 3, 2, 1}},
                                    {2, 2, {1, 1, 1, 1}},
                                    {10, 10, {8, 5, 3, 2, 2}}};
  for (const AnswerPattern& pattern : patterns) {
    const LabelPermutation labels(pattern, any_states);
    ASSERT_TRUE(labels.is_exact());
    EXPECT_NEAR(AgreementExcess(pattern.unperturbed, pattern.perturbed).variance(pattern),
                variance_of(labels), 1e-12);
  }
}

TEST(LabelPermutation, ItsCostIsKnownBeforehand) {
  const AnswerPattern pattern{5, 35, {25, 9, 3, 2, 1, 1, 1}};
  EXPECT_EQ(pattern.states_at_most(), 6.0 * 4 * 3 * 4);
  EXPECT_TRUE(LabelPermutation(pattern, 6 * 288).is_exact());
  EXPECT_FALSE(LabelPermutation(pattern, 10).is_exact());
  EXPECT_GT(LabelPermutation(pattern, any_states).tried_states(), 0u);
  EXPECT_EQ(LabelPermutation(pattern, 0).tried_states(), 0u);
  EXPECT_EQ(LabelPermutation(pattern, 0).upper_tail(-1), 1.0) << "what is not known is no evidence";
}

TEST(LabelPermutation, OneLabellingInAHundredAndTwenty) {
  // Three equal unperturbed answers and seven equal others: only the observed labelling is as extreme.
  const AgreementExcess scale(3, 7);
  const LabelPermutation labels({3, 7, {7, 3}}, any_states);
  const std::int64_t observed = scale.of_class(3, 3) + scale.of_class(0, 7);
  EXPECT_EQ(observed, scale.denominator());
  EXPECT_NEAR(labels.upper_tail(observed), 1.0 / 120.0, 1e-14);
}

TEST(LabelPermutation, DrawsFollowTheExactDistribution) {
  const AnswerPattern pattern{6, 14, {9, 6, 3, 1, 1}};
  const LabelPermutation exact(pattern, any_states);
  LabelSampler sampler(pattern, 77);
  std::map<std::int64_t, int> counts;
  for (int i = 0; i < 20'000; ++i) ++counts[sampler.draw()];
  double drawn = 0.0;
  for (const auto& outcome : exact.outcomes()) {
    drawn += counts[outcome.excess] / 20'000.0;
    EXPECT_NEAR(drawn, 1.0 - exact.upper_tail(outcome.excess + 1), 0.02);
  }
  EXPECT_NEAR(drawn, 1.0, 1e-9) << "nothing but the outcomes is drawn";
}

TEST(LabelPermutation, LargePatternsAreDrawnToo) {
  LabelSampler sampler({700, 800, std::vector<std::uint32_t>(1500, 1)}, 1);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(sampler.draw(), 0) << "all answers differ";
}

}  // namespace
}  // namespace sluice

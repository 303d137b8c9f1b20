#include "coordinator/statistics/tail_bound.hpp"

#include "coordinator/statistics/random_stream.hpp"
#include "coordinator/statistics/swap_test.hpp"
#include "paired_cases.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::tail_bound_test {

std::vector<CaseRepeats> of(const CaseRepeats& one, std::size_t cases) {
  return std::vector<CaseRepeats>(cases, one);
}

CaseRepeats repeats(const std::vector<double>& base, const std::vector<double>& current) {
  CaseRepeats one;
  one.base = base.size();
  for (const double score : base) one.answers.push_back(share_of_score(score));
  for (const double score : current) one.answers.push_back(share_of_score(score));
  return one;
}

TEST(TailBound, IsNoLessThanTheShareOfSwaps) {
  RandomStream random(51);
  for (int run = 0; run < 100; ++run) {
    std::vector<PairedCase> cases;
    for (int i = 0; i < 3 + run % 10; ++i)
      cases.push_back(scored(0.1 * (2 + random.below(9)), 0.1 * random.below(9)));
    const PairedSample sample = pair_cases(cases, false);
    const SwapTestResult exact = swap_test(sample, {}, 1);
    if (exact.method != PairedMethod::enumeration) continue;
    const OneSidedPs bound = swap_tail_bound(swap_parts(sample));
    EXPECT_GE(bound.drop, exact.p.drop * (1.0 - 1e-9)) << run;
    EXPECT_GE(bound.improvement, exact.p.improvement * (1.0 - 1e-9)) << run;
  }
}

TEST(TailBound, NoSumIsCertain) {
  const std::vector<PairedCase> cases(5000, scored(1.0, 0.0));
  const OneSidedPs bound = swap_tail_bound(swap_parts(pair_cases(cases, false)));
  EXPECT_GT(bound.drop, 0.0);
  EXPECT_LT(bound.drop, 1e-300);
  EXPECT_EQ(bound.improvement, 1.0);
}

TEST(TailBound, OfLabelsTakesTheSideWithFewerAnswers) {
  // One of six: exact. Two of five at once have a chance of 1/10, and with replacement of 4/25.
  EXPECT_NEAR(label_tail_bound(of(repeats({1}, {0, 0, 0, 0, 0}), 6)).drop, std::pow(6.0, -6), 1e-12);
  EXPECT_NEAR(label_tail_bound(of(repeats({1, 1, 1}, {0, 0}), 6)).drop, std::pow(0.16, 6), 1e-12);
  EXPECT_EQ(label_tail_bound(of(repeats({1, 1, 1}, {0, 0}), 6)).improvement, 1.0);
  EXPECT_NEAR(label_tail_bound(of(repeats({0, 0}, {1, 1, 1}), 6)).improvement, std::pow(0.16, 6), 1e-12);
}

TEST(TailBound, OfLabelsIsNoneForRatios) {
  CaseRepeats one;
  one.base = 1;
  one.answers = {share_of_f1(3, 0, 0), share_of_f1(0, 1, 3), share_of_f1(0, 2, 3)};
  EXPECT_EQ(label_tail_bound(of(one, 30)).drop, 1.0);
}

TEST(TailBound, CountsOnlyWhereNoDrawWasAHit) {
  const auto less = [] { return OneSidedPs{1e-7, 1e-7}; };
  EXPECT_EQ(beyond_draws({2.0 / 10'000, 0.9}, 9999, less).drop, 2.0 / 10'000);
  EXPECT_EQ(beyond_draws({1.0 / 10'000, 0.9}, 9999, less).drop, 1e-7);
  EXPECT_EQ(beyond_draws({1.0 / 10'000, 0.9}, 9999, less).improvement, 0.9);
  const auto more = [] { return OneSidedPs{1e-3, 1.0}; };
  EXPECT_EQ(beyond_draws({1.0 / 10'000, 0.9}, 9999, more).drop, 1.0 / 10'000);
}

}  // namespace sluice::tail_bound_test

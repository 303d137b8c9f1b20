#include "coordinator/statistics/instability_test.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

/// Three equal repeats, and a perturbed answer that differs: T = 1; by chance 1 of 4 labellings.
const AnswerPattern one_flip{3, 1, {3, 1}};
std::int64_t whole() {
  return AgreementExcess(3, 1).denominator();
}
/// One of the three repeats differs: T = 1/3 - 2/3.
std::int64_t noisy_repeat() {
  return -whole() / 3;
}

TEST(InstabilityTest, AddsUpCasesExactly) {
  // Two cases flipped and one whose own repeat differs; T takes 1 with 1/4 and -1/3 with 3/4 in each. The sum
  // 5/3 or more: at least two of three.
  InstabilityTest test;
  test.add(one_flip, whole());
  test.add(one_flip, noisy_repeat());
  test.add(one_flip, whole());
  test.add({3, 1, {4}}, 0);  // Says nothing.
  EXPECT_EQ(test.cases(), 3u);
  const InstabilityResult result = test.finish({}, 1);
  EXPECT_EQ(result.method, InstabilityMethod::exact);
  EXPECT_NEAR(result.p, 3 * (1.0 / 16) * (3.0 / 4) + 1.0 / 64, 1e-12);
}

TEST(InstabilityTest, MixesPatternsOfDifferentDenominators) {
  // {2 unperturbed, 1 perturbed; 2 + 1}: T = 1 with 1/3, else -1/2. Both at their greatest: 1/3 * 1/4.
  InstabilityTest test;
  test.add({2, 1, {2, 1}}, AgreementExcess(2, 1).denominator());
  test.add(one_flip, whole());
  const InstabilityResult result = test.finish({}, 1);
  EXPECT_EQ(result.method, InstabilityMethod::exact);
  EXPECT_NEAR(result.p, 1.0 / 12.0, 1e-12);
}

InstabilityTest mixed_cases(int flips, int repeats_differ) {
  InstabilityTest test;
  for (int i = 0; i < flips; ++i) test.add(one_flip, whole());
  for (int i = 0; i < repeats_differ; ++i) test.add(one_flip, noisy_repeat());
  return test;
}

TEST(InstabilityTest, IsABinomialTestWhereEachCaseHasOneOddAnswer) {
  // k of n odd answers came from the perturbed input, each by chance with 1/4.
  double tail = 0.0;
  for (int k = 40; k-- > 0;) {
    tail = 0.0;
    for (int i = k; i <= 40; ++i) {
      tail += std::exp(std::lgamma(41) - std::lgamma(i + 1) - std::lgamma(41 - i)) * std::pow(0.25, i) *
              std::pow(0.75, 40 - i);
    }
    EXPECT_NEAR(mixed_cases(k, 40 - k).finish({}, 1).p, tail, 1e-11);
  }
}

TEST(InstabilityTest, DrawsAgreeWithTheExactSum) {
  InstabilityLimits drawn;
  drawn.exact_steps = 0;
  const InstabilityTest test = mixed_cases(14, 26);
  const InstabilityResult exact = test.finish({}, 3);
  const InstabilityResult result = test.finish(drawn, 3);
  EXPECT_EQ(result.method, InstabilityMethod::draws);
  EXPECT_NEAR(result.p, exact.p, 0.01);
  EXPECT_EQ(result.p, test.finish(drawn, 3).p);
  EXPECT_EQ(mixed_cases(40, 0).finish(drawn, 3).p, 1.0 / 10'000.0);
}

TEST(InstabilityTest, TheNormalAgreesForManyCases) {
  InstabilityLimits normal;
  normal.exact_steps = 0;
  normal.drawn_cases = 0;
  const InstabilityTest test = mixed_cases(530, 1470);
  const InstabilityResult exact = test.finish({}, 1);
  const InstabilityResult result = test.finish(normal, 1);
  ASSERT_EQ(exact.method, InstabilityMethod::exact);
  EXPECT_EQ(result.method, InstabilityMethod::normal);
  EXPECT_NEAR(result.p, exact.p, 0.01);
}

TEST(InstabilityTest, PatternsBeyondTheBudgetAreDrawnOrLeftToTheNormal) {
  // 30 repeats a side with answers of five kinds, in 20 cases.
  const auto answered = [](std::uint32_t kinds) {
    InstabilityTest test;
    RandomStream random(3);
    for (int i = 0; i < 20; ++i) {
      std::vector<std::uint32_t> sizes(kinds);
      for (int answer = 0; answer < 60; ++answer) ++sizes[random.below(kinds)];
      std::ranges::sort(sizes, std::greater<>());
      test.add({30, 30, sizes}, AgreementExcess(30, 30).denominator() / 100);
    }
    return test;
  };
  InstabilityLimits drawn;
  drawn.all_states = 0;
  InstabilityLimits normal = drawn;
  normal.drawn_answers = 0;
  const InstabilityResult result = answered(5).finish(drawn, 3);
  const InstabilityResult cheap = answered(5).finish(normal, 3);
  EXPECT_EQ(result.method, InstabilityMethod::draws);
  EXPECT_EQ(cheap.method, InstabilityMethod::normal);
  EXPECT_LT(result.p, 0.2);
  EXPECT_NEAR(result.p, cheap.p, 0.03);
}

TEST(InstabilityTest, TooManyPatternsAreLeftToTheNormal) {
  InstabilityTest test;
  std::uint32_t size = 2;
  for (; size < 4200; ++size) test.add({2, size, {size + 1, 1}}, 0);
  const InstabilityResult result = test.finish({}, 1);
  EXPECT_EQ(result.method, InstabilityMethod::normal);
  EXPECT_EQ(result.p, 0.5);
}

TEST(InstabilityTest, IdenticalAnswersAreNoEvidence) {
  const InstabilityResult result = InstabilityTest().finish({}, 1);
  EXPECT_EQ(result.method, InstabilityMethod::none);
  EXPECT_EQ(result.p, 1.0);
}

}  // namespace
}  // namespace sluice

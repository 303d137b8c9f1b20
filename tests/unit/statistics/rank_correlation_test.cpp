#include "coordinator/statistics/rank_correlation.hpp"

#include "coordinator/statistics/random_stream.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::rank_correlation_test {

std::vector<RankedAnswer> pairs(const std::vector<double>& traits, const std::vector<double>& scores) {
  std::vector<RankedAnswer> answers;
  for (std::size_t i = 0; i < traits.size(); ++i) {
    answers.push_back({static_cast<std::uint32_t>(i), traits[i], scores[i]});
  }
  return answers;
}

RankCorrelation correlate(const std::vector<RankedAnswer>& answers, std::uint32_t draws = 9999) {
  return rank_correlation(answers, 0.95, {2000, draws}, 1);
}

TEST(RankCorrelation, IsAsCalculatedByHand) {
  // Ranks 1 2 3 4 5 against 2 1 4 3 5: the squared differences add up to 4, so rho = 1 - 6 * 4 / (5 * 24).
  EXPECT_NEAR(*correlate(pairs({10, 20, 30, 40, 50}, {0.2, 0.1, 0.4, 0.3, 0.5})).rho, 0.8, 1e-12);
  // Only the order counts.
  EXPECT_NEAR(*correlate(pairs({1, 2, 3, 4, 5000}, {0.2, 0.1, 0.4, 0.3, 0.9})).rho, 0.8, 1e-12);
  EXPECT_NEAR(*correlate(pairs({1, 2, 3, 4, 5}, {5, 4, 3, 2, 1})).rho, -1.0, 1e-12);
}

TEST(RankCorrelation, EqualValuesShareTheirMeanRank) {
  // Traits 1 1 1 2 2 have the ranks 2 2 2 4.5 4.5, scores 0 1 0 1 1 the ranks 1.5 4 1.5 4 4. From their mean
  // 3: -1 -1 -1 1.5 1.5 and -1.5 1 -1.5 1 1; products 1.5 - 1 + 1.5 + 1.5 + 1.5 = 5; squares 7.5 each: 2/3.
  EXPECT_NEAR(*correlate(pairs({1, 1, 1, 2, 2}, {0, 1, 0, 1, 1})).rho, 2.0 / 3.0, 1e-12);
}

TEST(RankCorrelation, PIsThatOfAllOrders) {
  // Of the 120 orders of five, 16 have a |rho| of 0.8 or more (published tables: two-sided p = 0.133).
  EXPECT_NEAR(correlate(pairs({1, 2, 3, 4, 5}, {2, 1, 4, 3, 5})).p, 16.0 / 120.0, 0.012);
  EXPECT_NEAR(correlate(pairs({1, 2, 3, 4, 5}, {1, 2, 3, 4, 5})).p, 2.0 / 120.0, 0.005);
  // Two of five long, two of five failed, and it is the same two: 1 of the 10 ways to choose two. |rho| of
  // the other side is at most 2/3.
  EXPECT_NEAR(correlate(pairs({1, 1, 1, 2, 2}, {1, 1, 1, 0, 0})).p, 0.1, 0.012);
}

TEST(RankCorrelation, IntervalIsBonettAndWrightsWhereNothingIsUneven) {
  // For independent normal values both standard errors are the same but for chance: this is a lower limit of
  // the width, and nearly the width.
  RandomStream random(3);
  std::vector<double> traits;
  std::vector<double> scores;
  for (int i = 0; i < 400; ++i) {
    traits.push_back(random.unit());
    scores.push_back(random.unit());
  }
  const RankCorrelation found = correlate(pairs(traits, scores), 9);
  const double rho = *found.rho;
  const double reach = 1.959963984540054 * std::sqrt((1.0 + 0.5 * rho * rho) / 397.0);
  EXPECT_LE(found.interval.low, std::tanh(std::atanh(rho) - reach) + 1e-12);
  EXPECT_GE(found.interval.high, std::tanh(std::atanh(rho) + reach) - 1e-12);
  EXPECT_NEAR(found.interval.high - found.interval.low, 2.0 * reach, 0.2 * reach);
}

TEST(RankCorrelation, UndefinedWithoutDifferencesOrCases) {
  for (const auto& answers :
       {pairs({}, {}), pairs({1}, {1}), pairs({1, 2, 3, 4}, {1, 2, 3, 4}),
        pairs({1, 1, 1, 1, 1}, {1, 2, 3, 4, 5}), pairs({1, 2, 3, 4, 5}, {1, 1, 1, 1, 1})}) {
    const RankCorrelation found = correlate(answers);
    EXPECT_FALSE(found.rho);
    EXPECT_EQ(found.p, 1.0);
    EXPECT_EQ(found.interval, (Interval{-1.0, 1.0}));
  }
}

TEST(RankCorrelation, APerfectOrderKeepsAnInterval) {
  const RankCorrelation found = correlate(pairs({1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(found.interval.high, 1.0);
  EXPECT_LT(found.interval.low, 0.95);
  EXPECT_GT(found.interval.low, 0.0);
}

TEST(RankCorrelation, RepeatsOfACaseAreOneAndTheirOrderDoesNotMatter) {
  // Six cases ten times over, with the same numbers: the same result as once.
  const std::vector<double> traits{1, 2, 3, 4, 5, 6};
  const std::vector<double> scores{0.1, 0.3, 0.2, 0.5, 0.4, 0.6};
  std::vector<RankedAnswer> repeated;
  for (int repeat = 0; repeat < 10; ++repeat) {
    for (const RankedAnswer& one : pairs(traits, scores)) repeated.push_back(one);
  }
  const RankCorrelation once = correlate(pairs(traits, scores));
  const RankCorrelation found = correlate(repeated);
  EXPECT_EQ(found.answers, 60u);
  EXPECT_EQ(found.cases, 6u);
  EXPECT_NEAR(*found.rho, *once.rho, 1e-12);
  EXPECT_EQ(found.p, once.p);
  std::reverse(repeated.begin(), repeated.end());
  const RankCorrelation reversed = correlate(repeated);
  EXPECT_EQ(found.p, reversed.p);
  EXPECT_EQ(found.rho, reversed.rho);
  EXPECT_EQ(found.interval, reversed.interval);
}

TEST(RankCorrelation, MeansThatDifferByRoundingAloneAreTies) {
  // 0.1 + 0.2 + 0.7 and 0.7 + 0.2 + 0.1 differ in their last bit, as do thirds of votes.
  std::vector<RankedAnswer> answers;
  for (std::uint32_t number = 0; number < 6; ++number) {
    const double sign = number % 2 == 0 ? 1.0 : -1.0;
    for (const double score : {0.1, 0.2, 0.7}) answers.push_back({number, number + sign * score, score});
    answers.push_back({number, number + 1.0, 1.0 / 3.0});
  }
  EXPECT_FALSE(correlate(answers).rho);
}

TEST(RankCorrelation, TheNormalAgreesWithDraws) {
  RandomStream random(8);
  std::vector<double> traits;
  std::vector<double> scores;
  for (int i = 0; i < 300; ++i) {
    traits.push_back(random.unit());
    scores.push_back(random.unit() + 0.2 * traits.back());
  }
  const auto answers = pairs(traits, scores);
  EXPECT_NEAR(rank_correlation(answers, 0.95, {2000, 9999}, 1).p,
              rank_correlation(answers, 0.95, {10, 9999}, 1).p, 0.01);
}

}  // namespace sluice::rank_correlation_test

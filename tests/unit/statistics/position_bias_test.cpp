#include "coordinator/statistics/position_bias.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::position_bias_test {

PositionBias measured(const std::vector<PositionPair>& pairs) {
  return position_bias(pairs, 0.95, {}, 1);
}

/// Pairs of which some go to whoever stands first, some to whoever stands second, and some stay.
std::vector<PositionPair> flips(int first, int second, int steady) {
  std::vector<PositionPair> pairs;
  const auto next = [&] { return static_cast<std::uint32_t>(pairs.size()); };
  for (int i = 0; i < first; ++i) pairs.push_back({next(), 1.0, 0.0});
  for (int i = 0; i < second; ++i) pairs.push_back({next(), 0.0, 1.0});
  for (int i = 0; i < steady; ++i) pairs.push_back({next(), i % 2 * 1.0, i % 2 * 1.0});
  return pairs;
}

TEST(PositionBias, IsAsCalculatedByHand) {
  // Eight flips of 40 go to the first position, none to the second: it wins 48 of the 80 judgements. By
  // chance all of eight go one way in 2 of 256 runs.
  const PositionBias found = measured(flips(8, 0, 32));
  EXPECT_EQ(found.pairs, 40u);
  EXPECT_EQ(found.flips, 8u);
  EXPECT_EQ(found.toward_first, 8u);
  EXPECT_EQ(found.toward_second, 0u);
  EXPECT_NEAR(*found.bias, 48.0 / 80.0 - 0.5, 1e-9);
  EXPECT_NEAR(found.p, 2.0 / 256.0, 1e-12);
  EXPECT_EQ(found.method, PairedMethod::mcnemar);
  EXPECT_LT(found.interval.low, 0.1);
  EXPECT_GT(found.interval.high, 0.1);
}

TEST(PositionBias, FlipsWithoutADirectionAreNoise) {
  const PositionBias found = measured(flips(20, 20, 0));
  EXPECT_EQ(found.flips, 40u);
  EXPECT_NEAR(*found.bias, 0.0, 1e-12);
  EXPECT_EQ(found.p, 1.0);
  EXPECT_NEAR(found.interval.low, -found.interval.high, 1e-12);
}

TEST(PositionBias, TheSecondPositionMirrorsTheFirst) {
  const PositionBias first = measured(flips(9, 2, 30));
  const PositionBias second = measured(flips(2, 9, 30));
  EXPECT_EQ(first.p, second.p);
  EXPECT_NEAR(*first.bias, -*second.bias, 1e-12);
  EXPECT_NEAR(first.interval.low, -second.interval.high, 1e-12);
}

TEST(PositionBias, ATieInOneOrderIsHalfAFlip) {
  // A tie when first and a loss when second: half a win in two judgements.
  const PositionBias found = measured({{0, 0.5, 0.0}, {1, 1.0, 1.0}, {2, 0.5, 0.5}, {3, 0.0, 0.0}});
  EXPECT_EQ(found.flips, 1u);
  EXPECT_EQ(found.toward_first, 1u);
  EXPECT_NEAR(*found.bias, 0.5 / 2.0 / 4.0, 1e-9);
}

TEST(PositionBias, ScoresShowABiasThatFlipsNothing) {
  std::vector<PositionPair> pairs;
  for (std::uint32_t i = 0; i < 10; ++i) pairs.push_back({i, 0.8, 0.7});
  const PositionBias found = measured(pairs);
  EXPECT_EQ(found.flips, 0u);
  EXPECT_NEAR(*found.bias, 0.05, 1e-9);
  EXPECT_NEAR(found.p, 2.0 / 1024.0, 1e-12);
  EXPECT_EQ(found.method, PairedMethod::enumeration);
}

TEST(PositionBias, RepeatsOfACaseAreOne) {
  // One case eight times over is one piece of evidence, however often it flips.
  std::vector<PositionPair> pairs(8, PositionPair{3, 1.0, 0.0});
  const PositionBias found = measured(pairs);
  EXPECT_EQ(found.pairs, 8u);
  EXPECT_EQ(found.cases, 1u);
  EXPECT_EQ(found.toward_first, 8u);
  EXPECT_EQ(found.p, 1.0);
}

TEST(PositionBias, WithoutPairsNothingIsKnown) {
  const PositionBias none = measured({});
  EXPECT_FALSE(none.bias);
  EXPECT_EQ(none.p, 1.0);
  EXPECT_EQ(none.interval, (Interval{-0.5, 0.5}));
  const PositionBias one = measured(flips(1, 0, 0));
  EXPECT_EQ(one.p, 1.0);
  EXPECT_EQ(*one.bias, 0.5);
  // Nothing flipped: what 20 pairs did not show may still be one in six, for half a point each.
  const PositionBias steady = measured(flips(0, 0, 20));
  EXPECT_EQ(*steady.bias, 0.0);
  EXPECT_NEAR(steady.interval.high, 0.5 * (1.0 - std::pow(0.025, 1.0 / 20.0)), 1e-9);
}

TEST(PositionBias, TheOrderOfPairsDoesNotMatter) {
  std::vector<PositionPair> pairs;
  for (std::uint32_t i = 0; i < 60; ++i) pairs.push_back({i / 2, (i * 7 % 11) / 10.0, (i * 5 % 11) / 10.0});
  const PositionBias one = measured(pairs);
  EXPECT_EQ(one.method, PairedMethod::draws);
  std::reverse(pairs.begin(), pairs.end());
  EXPECT_EQ(one.p, measured(pairs).p);
  EXPECT_EQ(one.interval, measured(pairs).interval);
}

}  // namespace sluice::position_bias_test

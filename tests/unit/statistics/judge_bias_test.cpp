#include "coordinator/statistics/judge_bias.hpp"

#include <gtest/gtest.h>

namespace sluice::judge_bias_test {

TEST(JudgeBias, SeveralMeasuresShareOneLevel) {
  // By Holm 0.01 counts three times, 0.02 twice, and 0.04 no less than the one before.
  const std::vector<BiasEvidence> evidence{{0.02, {}}, {0.01, {}}, {0.04, {}}};
  const auto decisions = decide_biases(evidence, 0.95);
  EXPECT_NEAR(decisions[0].adjusted_p, 0.04, 1e-12);
  EXPECT_NEAR(decisions[1].adjusted_p, 0.03, 1e-12);
  EXPECT_NEAR(decisions[2].adjusted_p, 0.04, 1e-12);
  for (const BiasDecision& one : decisions) EXPECT_TRUE(one.beyond_chance);
  const std::vector<BiasEvidence> weak{{0.02, {}}, {0.03, {}}, {0.04, {}}};
  for (const BiasDecision& one : decide_biases(weak, 0.95)) EXPECT_FALSE(one.beyond_chance);
  EXPECT_TRUE(decide_biases({}, 0.95).empty());
}

TEST(JudgeBias, ACorrelationWhoseIntervalHoldsZeroIsNone) {
  const std::vector<BiasEvidence> evidence{
      {0.001, Interval{-0.01, 0.4}}, {0.001, Interval{0.01, 0.4}}, {0.001, Interval{-0.4, -0.01}}};
  const auto decisions = decide_biases(evidence, 0.95);
  EXPECT_FALSE(decisions[0].beyond_chance);
  EXPECT_TRUE(decisions[1].beyond_chance);
  EXPECT_TRUE(decisions[2].beyond_chance);
}

}  // namespace sluice::judge_bias_test

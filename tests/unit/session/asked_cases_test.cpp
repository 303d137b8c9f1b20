#include "coordinator/session/asked_cases.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using Ids = std::vector<std::string>;

TEST(AskedCases, SharedOnesHaveTheirNumbersOfThenAndOfNow) {
  const std::vector<AskedCase> then{{"a", 2, 1}, {"b", 3, 2}, {"d", 2, 4}, {"e", 1, 5}};
  const std::vector<AskedCase> now{{"a", 2, 1}, {"c", 4, 3}, {"d", 2, 4}};
  const SharedCases shared = shared_cases(then, now);
  EXPECT_EQ(shared.trials, (std::vector<RenumberedTrials>{{0, 0, 2}, {5, 6, 2}}));
  EXPECT_EQ(shared.lost, (Ids{"b", "e"}));
  EXPECT_EQ(shared.first_of_lost, (std::vector<TrialId>{2, 7}));
  EXPECT_TRUE(shared.otherwise.empty());
}

TEST(AskedCases, WhatIsJudgedOtherwiseOrHasOtherTrialsIsNoSharedCase) {
  const std::vector<AskedCase> then{{"a", 2, 1}, {"b", 2, 2}, {"c", 1, 3}};
  const std::vector<AskedCase> now{{"a", 2, 9}, {"b", 1, 2}, {"c", 1, 3}};
  const SharedCases shared = shared_cases(then, now);
  EXPECT_EQ(shared.otherwise, (Ids{"a", "b"}));
  EXPECT_EQ(shared.trials, (std::vector<RenumberedTrials>{{4, 3, 1}}));
  EXPECT_TRUE(shared.lost.empty());
}

}  // namespace
}  // namespace sluice

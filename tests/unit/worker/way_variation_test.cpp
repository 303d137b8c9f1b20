#include "worker/budget/way_variation.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace way_variation_test {

using namespace std::chrono_literals;

struct WayVariationTest : testing::Test {
  void note(std::chrono::microseconds variation, Duration after) { way.note(variation, start + after); }

  TimePoint start{1000s};
  WayVariation way;
};

TEST_F(WayVariationTest, NothingIsKnownBeforeAConnectionHasMeasured) {
  EXPECT_EQ(way.most(), 0us);
  note(0us, 1s);
  EXPECT_EQ(way.most(), 0us);
}

TEST_F(WayVariationTest, TheWorstOfAllConnectionsCounts) {
  note(300us, 0s);
  note(9ms, 1s);
  note(200us, 2s);
  EXPECT_EQ(way.most(), 9ms);
}

TEST_F(WayVariationTest, WhatWasWorseIsForgottenAfterHalfAMinuteAndNotBeforeAQuarter) {
  note(9ms, 0s);
  for (auto at = 1s; at < 15s; ++at) note(1ms, at);
  EXPECT_EQ(way.most(), 9ms);
  for (auto at = 15s; at < 30s; ++at) note(1ms, at);
  EXPECT_EQ(way.most(), 9ms) << "of the window before";
  note(1ms, 30s);
  EXPECT_EQ(way.most(), 1ms);
}

TEST_F(WayVariationTest, ASilenceForgetsWhatWasBeforeIt) {
  note(9ms, 0s);
  note(1ms, 40s);
  EXPECT_EQ(way.most(), 1ms);
}

}  // namespace way_variation_test
}  // namespace sluice

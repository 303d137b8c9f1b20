#include "worker/http/answer_pacing.hpp"

#include "common/defaults.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using namespace std::chrono_literals;

AnswerPacing after(std::chrono::microseconds elapsed, int calls = 100) {
  AnswerPacing pacing;
  for (int i = 0; i < calls; ++i) pacing.answered(elapsed);
  return pacing;
}

TEST(AnswerPacing, PausesForASmallPartOfWhatCallsTake) {
  const auto pause = after(25ms).pause(10);
  EXPECT_LE(pause, 1ms);
  EXPECT_GT(pause, 900us);
}

TEST(AnswerPacing, NeverPausesLong) {
  EXPECT_EQ(after(10s).pause(10), defaults::max_answer_pause);
}

TEST(AnswerPacing, DoesNotPauseWithNothingToWaitFor) {
  EXPECT_EQ(after(1s).pause(0), 0us);
  EXPECT_EQ(AnswerPacing().pause(10), 0us) << "nothing is known yet";
}

TEST(AnswerPacing, DoesNotPauseWhereAnswersComeAtOnce) {
  EXPECT_EQ(after(0us).pause(50), 0us);
  EXPECT_EQ(after(4ms).pause(50), 0us);
}

TEST(AnswerPacing, FastCallsAmongSlowOnesAreNotHeldUp) {
  auto pacing = after(5s);
  pacing.answered(2ms);
  EXPECT_EQ(pacing.pause(10), 0us);
  pacing.answered(5s);
  pacing.answered(2ms);
  EXPECT_EQ(pacing.pause(10), 0us);
}

TEST(AnswerPacing, FollowsAProviderThatHasBecomeSlow) {
  auto pacing = after(1ms);
  for (int i = 0; i < 20; ++i) pacing.answered(100ms);
  EXPECT_GT(pacing.pause(10), 1ms);
}

}  // namespace
}  // namespace sluice

#include "coordinator/run/run_start.hpp"

#include "coordinator/run/defaults.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint run_began = TimePoint() + 1h;

TEST(RunStart, TheFirstWorkerWillDoWhereNoneAreExpected) {
  RunStart start(0, 60s, 120s, run_began);
  EXPECT_FALSE(start.on_ready(0, 0, run_began + 5s).begins);
  EXPECT_FALSE(start.begun());
  const auto step = start.on_ready(1, 0, run_began + 6s);
  EXPECT_TRUE(step.begins);
  EXPECT_FALSE(step.holders_overdue) << "holders have a moment from here on";
  EXPECT_FALSE(step.some_are_missing);
  EXPECT_TRUE(start.begun());
  EXPECT_FALSE(start.on_ready(1, 0, run_began + 6s + defaults::holder_wait - 1ms).holders_overdue);
  EXPECT_TRUE(start.on_ready(0, 0, run_began + 6s + defaults::holder_wait).holders_overdue);
  EXPECT_FALSE(start.on_ready(1, 0, run_began + 60s).holders_overdue) << "it is reported once";
}

TEST(RunStart, ExpectedWorkersAreWaitedFor) {
  RunStart start(3, 60s, 120s, run_began);
  EXPECT_FALSE(start.on_ready(2, 0, run_began + 60s).begins);
  const auto step = start.on_ready(3, 0, run_began + 60s);
  EXPECT_TRUE(step.begins);
  EXPECT_TRUE(step.holders_overdue) << "and for nobody else";
  EXPECT_FALSE(step.some_are_missing);
}

TEST(RunStart, AfterTheTimeoutItBeginsWithThoseThatAreThere) {
  RunStart start(3, 60s, 120s, run_began);
  EXPECT_FALSE(start.on_ready(0, 0, run_began + 61s).begins) << "there is nobody";
  const auto step = start.on_ready(1, 0, run_began + 62s);
  EXPECT_TRUE(step.begins);
  EXPECT_TRUE(step.some_are_missing);
}

// The first to come back was given what another had begun when the coordinator died, and paid for it again.
TEST(RunStart, ThoseThatHadUnitsBeforeAreWaitedForAMoment) {
  RunStart start(0, 60s, 120s, run_began);
  EXPECT_FALSE(start.on_ready(1, 2, run_began + 1s).begins);
  EXPECT_FALSE(start.on_ready(2, 1, run_began + 1s + defaults::return_wait - 1ms).begins)
      << "longer than it takes to notice a coordinator's death";
  const auto step = start.on_ready(2, 1, run_began + 1s + defaults::return_wait);
  EXPECT_TRUE(step.begins);
  EXPECT_TRUE(step.holders_overdue) << "they are the same";
  RunStart other(0, 60s, 120s, run_began);
  EXPECT_FALSE(other.on_ready(1, 1, run_began + 1s).begins);
  EXPECT_TRUE(other.on_ready(2, 0, run_began + 2s).begins) << "all are back";
}

// It gave units of others away as soon as it went on, and they were paid for again.
TEST(RunStart, AStopOfTheProcessIsNoTimeInWhichSomebodyCouldHaveCome) {
  RunStart start(0, 60s, 2s, run_began);
  EXPECT_FALSE(start.on_ready(1, 1, run_began + 1s).begins);
  const auto goes_on = run_began + 20s;
  EXPECT_FALSE(start.on_ready(1, 1, goes_on).begins);
  for (const auto after : {1500ms, 3000ms, 4500ms})
    EXPECT_FALSE(start.on_ready(1, 1, goes_on + after).begins);
  EXPECT_FALSE(start.on_ready(1, 1, goes_on + defaults::return_wait - 1ms).begins);
  EXPECT_TRUE(start.on_ready(1, 1, goes_on + defaults::return_wait).begins);
}

TEST(RunStart, ACoordinatorThatIsAlwaysLateBeginsAllTheSame) {
  RunStart start(0, 60s, 2s, run_began);
  auto now = run_began;
  int looks = 0;
  while (!start.on_ready(1, 1, now += 3s).begins) ASSERT_LT(++looks, 20);
}

}  // namespace
}  // namespace sluice

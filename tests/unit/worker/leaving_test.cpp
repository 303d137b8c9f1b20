#include "worker/leaving.hpp"

#include <gtest/gtest.h>

namespace sluice::leaving_test {

using namespace std::chrono_literals;

constexpr TimePoint start{1h};
constexpr bool connected = true;
constexpr bool cut_off = false;

class LeavingTest : public ::testing::Test {
 protected:
  void hold(UnitId id) {
    WorkUnit unit;
    unit.unit = id;
    ASSERT_TRUE(held.add(std::move(unit)));
  }
  void finish(UnitId id) {
    UnitResult result;
    result.unit = id;
    ASSERT_TRUE(held.finish(result));
  }

  HeldUnits held;
  Leaving leaving;
};

TEST(Leaving, SaysHowManyHaveHowLong) {
  const std::string at_once = "; press Ctrl-C again, or send one more signal, to end at once";
  EXPECT_EQ(leaving_in_words(12, 25s), "leaving; 12 units under way have 25 s to end" + at_once);
  EXPECT_EQ(leaving_in_words(1, 1500ms), "leaving; 1 unit under way has 1.5 s to end" + at_once);
  EXPECT_EQ(leaving_in_words(0, 25s), "leaving; results on their way have 25 s to be taken" + at_once);
}

TEST_F(LeavingTest, NobodyLeavesWhoWasNotAskedTo) {
  EXPECT_FALSE(leaving.begun());
  EXPECT_FALSE(leaving.ends());
  EXPECT_FALSE(leaving.when_done(held, connected, start + 1h));
}

TEST_F(LeavingTest, WhatWaitsOrRunsIsWaitedFor) {
  hold(0);
  leaving.begin({"SIGTERM", std::nullopt, true}, start + 25s);
  EXPECT_TRUE(leaving.begun());
  EXPECT_FALSE(leaving.when_done(held, connected, start)) << "it waits";
  held.begin(0);
  EXPECT_FALSE(leaving.when_done(held, connected, start)) << "it runs";
  EXPECT_FALSE(leaving.when_done(held, cut_off, start)) << "its answer goes into the cache all the same";
  held.give_back(0);
  const auto farewell = leaving.when_done(held, connected, start);
  ASSERT_TRUE(farewell);
  EXPECT_EQ(farewell->why, "SIGTERM");
}

TEST_F(LeavingTest, TheAckIsWaitedForOfACoordinatorThatIsThere) {
  hold(0);
  finish(0);
  leaving.begin({"SIGTERM", std::nullopt, true}, start + 25s);
  EXPECT_FALSE(leaving.when_done(held, connected, start));
  EXPECT_TRUE(leaving.when_done(held, cut_off, start));
  held.acknowledge(0);
  EXPECT_TRUE(leaving.when_done(held, connected, start));
}

TEST_F(LeavingTest, WhatIsNotDoneInTimeIsGivenUp) {
  hold(0);
  leaving.begin({"SIGTERM", std::nullopt, true}, start + 25s);
  EXPECT_FALSE(leaving.when_done(held, connected, start + 25s - 1ms));
  EXPECT_TRUE(leaving.when_done(held, connected, start + 25s));
}

TEST_F(LeavingTest, AskedTwiceTheFirstReasonStaysAndTheEarlierTimeCounts) {
  hold(0);
  leaving.begin({"drained", Error{Reason::key_missing, "no key"}, false}, start + 25s);
  EXPECT_FALSE(leaving.ends()) << "it stays for the next run";
  leaving.begin({"SIGTERM", std::nullopt, true}, start + 5s);
  EXPECT_TRUE(leaving.ends());
  leaving.begin({"again", std::nullopt, false}, start + 60s);
  EXPECT_FALSE(leaving.when_done(held, connected, start + 4s));
  const auto farewell = leaving.when_done(held, connected, start + 5s);
  ASSERT_TRUE(farewell);
  EXPECT_EQ(farewell->why, "drained");
  ASSERT_TRUE(farewell->error);
  EXPECT_EQ(farewell->error->reason, Reason::key_missing);
  EXPECT_TRUE(farewell->ends);
}

TEST_F(LeavingTest, WhoLeavesAtOnceKeepsTheReasonThatItBeganWith) {
  EXPECT_EQ(leaving.at_once({"SIGINT", std::nullopt, true}).why, "SIGINT");
  EXPECT_FALSE(leaving.begun()) << "there is nothing to wait for";
  leaving.begin({"drained", std::nullopt, false}, start + 25s);
  const auto farewell = leaving.at_once({"SIGINT", std::nullopt, true});
  EXPECT_EQ(farewell.why, "drained");
  EXPECT_TRUE(farewell.ends);
}

TEST_F(LeavingTest, ANewRunFindsNothingOfTheLastOne) {
  leaving.begin({"drained", Error{Reason::key_missing, "no key"}, false}, start);
  leaving.end();
  EXPECT_FALSE(leaving.begun());
  hold(0);
  leaving.begin({"SIGTERM", std::nullopt, true}, start + 60s);
  EXPECT_FALSE(leaving.when_done(held, connected, start + 1s)) << "the earlier time was another run's";
  EXPECT_EQ(leaving.at_once({}).why, "SIGTERM");
}

}  // namespace sluice::leaving_test

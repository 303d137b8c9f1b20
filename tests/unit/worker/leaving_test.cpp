#include "worker/leaving.hpp"

#include "common/wire/versions.hpp"
#include "worker/defaults.hpp"

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
  held.acknowledge({.unit = 0});
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

TEST_F(LeavingTest, WhoMeantToComeBackAndEndsAfterAllEndsWithTheReasonForThat) {
  hold(0);
  leaving.begin({"it cannot be read", std::nullopt, false, true}, start + 25s);
  const auto stopped = leaving.at_once({"SIGTERM", std::nullopt, true});
  EXPECT_TRUE(stopped.unread) << "the coordinator is to learn it all the same";
  EXPECT_TRUE(stopped.ends);
  EXPECT_FALSE(stopped.error) << "it was told to stop";
  const auto failed = leaving.at_once({"too far", Error{Reason::coordinator_too_far, "too far"}, true});
  ASSERT_TRUE(failed.error);
  EXPECT_EQ(failed.error->reason, Reason::coordinator_too_far);
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

// --- what cannot be read ---

Error cannot_be_read() {
  return {Reason::message_malformed, "it cannot be read"};
}

TEST(UnreadWork, TheWorkerComesBackUnlessItReadsNothingAtAll) {
  UnreadWork unread;
  for (std::uint32_t times = 1; times < defaults::max_unread_in_a_row; ++times) {
    const auto farewell = unread.on_unread(cannot_be_read(), wire::protocol_version);
    EXPECT_TRUE(farewell.unread);
    EXPECT_FALSE(farewell.ends) << times;
    EXPECT_FALSE(farewell.error) << times;
    EXPECT_EQ(farewell.why, "it cannot be read");
  }
  const auto last = unread.on_unread(cannot_be_read(), wire::protocol_version);
  EXPECT_TRUE(last.ends);
  ASSERT_TRUE(last.error);
  EXPECT_EQ(last.error->reason, Reason::message_malformed);
}

TEST(UnreadWork, WhatWasReadInBetweenCounts) {
  UnreadWork unread;
  for (std::uint32_t times = 0; times < 3 * defaults::max_unread_in_a_row; ++times) {
    EXPECT_FALSE(unread.on_unread(cannot_be_read(), wire::protocol_version).ends) << times;
    unread.on_read();
  }
}

// It would lease the same unit again, for ever.
TEST(UnreadWork, ACoordinatorThatCannotBeToldWhySeesTheWorkerEnd) {
  UnreadWork unread;
  EXPECT_TRUE(unread.on_unread(cannot_be_read(), wire::first_with_errors_of_goodbyes - 1).ends);
  EXPECT_TRUE(UnreadWork().on_unread(cannot_be_read(), 0).ends) << "it never said WELCOME";
}

}  // namespace sluice::leaving_test

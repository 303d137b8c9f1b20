#include "coordinator/governor/breaker.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace sluice::breaker_test {

using namespace std::chrono_literals;

constexpr BootTime start = std::chrono::hours(1);

class BreakerTest : public ::testing::Test {
 protected:
  void answer(BootTime now, WorkerId worker = 1) { breaker.on_outcomes(worker, {1, 0}, now); }
  bool fail(std::uint32_t calls, BootTime now, WorkerId worker = 1) {
    return breaker.on_outcomes(worker, {0, calls}, now);
  }
  void open() {
    answer(start);
    EXPECT_TRUE(fail(5, start));
  }
  Breaker breaker{10min};
};

TEST_F(BreakerTest, OpensAfterFiveFailuresInARowOverTheFleet) {
  answer(start);
  EXPECT_FALSE(fail(2, start, 1));
  EXPECT_FALSE(fail(2, start, 2));
  answer(start, 3);
  EXPECT_FALSE(fail(4, start, 1));
  EXPECT_TRUE(fail(1, start, 2));
  EXPECT_TRUE(breaker.open());
  EXPECT_EQ(breaker.probe_at(), start + 1s);
}

TEST_F(BreakerTest, OpensFromTheStartForOneThatIsThere) {
  EXPECT_FALSE(fail(30, start)) << "nobody has reached it: its address may be wrong";
  breaker.reached();
  EXPECT_TRUE(fail(1, start + 1s));
}

TEST_F(BreakerTest, WhatFailedBeforeItWasReachedIsNoOutage) {
  EXPECT_FALSE(fail(30, start));
  answer(start + 1s);
  EXPECT_FALSE(breaker.open());
  EXPECT_FALSE(fail(4, start + 2s));
}

TEST_F(BreakerTest, OpensWhenHalfOfTheLastCallsFailed) {
  for (int i = 0; i < 9; ++i) breaker.on_outcomes(1, {1, 1}, start + i * 100ms);
  EXPECT_FALSE(breaker.open()) << "18 calls are too few";
  EXPECT_TRUE(breaker.on_outcomes(1, {1, 1}, start + 1s));
  EXPECT_TRUE(breaker.open());
}

TEST_F(BreakerTest, WhatFailedLongAgoDoesNotCount) {
  for (int i = 0; i < 4; ++i) {
    answer(start);
    fail(4, start);
  }
  for (int i = 0; i < 12; ++i) answer(start + 11s);
  EXPECT_FALSE(fail(4, start + 11s)) << "20 of 32 in all, but 4 of the last 16";
  for (int i = 0; i < 4; ++i) answer(start + 12s);
  EXPECT_FALSE(fail(4, start + 12s));
}

TEST_F(BreakerTest, AnOutageIsNoticedToBeOverWithinAQuarterOfItsTime) {
  for (auto outage = BootTime(500ms); outage < 9min; outage += 700ms) {
    SCOPED_TRACE(outage.count());
    breaker = Breaker{10min};
    open();
    std::uint32_t probes = 0;
    while (breaker.probe_at() < start + outage) {
      const auto now = breaker.probe_at();
      breaker.probe_started(1, now);
      fail(1, now);
      ++probes;
    }
    const auto late = breaker.probe_at() - start - outage;
    EXPECT_LE(late, std::max<BootTime>(outage / 4, 1s));
    EXPECT_LE(late, 15s);
    EXPECT_LE(probes, 20 + outage / 15s) << "a provider that is down is left alone";
  }
}

TEST_F(BreakerTest, FailuresOfCallsThatWereUnderWayAreNoProbes) {
  open();
  fail(3, start + 100ms, 2);
  EXPECT_EQ(breaker.probe_at(), start + 1s);
  breaker.probe_started(1, start + 1s);
  fail(3, start + 1100ms, 2);
  EXPECT_TRUE(breaker.probes(1));
}

TEST_F(BreakerTest, AnswersOfCallsThatWereUnderWayAreNoProbes) {
  open();
  answer(start + 100ms, 2);
  EXPECT_TRUE(breaker.open()) << "it began before the outage";
  breaker.probe_started(1, start + 1s);
  answer(start + 1100ms, 2);
  EXPECT_TRUE(breaker.open());
  answer(start + 1200ms, 1);
  EXPECT_FALSE(breaker.open());
}

TEST_F(BreakerTest, AProbeThatHangsIsFollowedByAnother) {
  open();
  breaker.probe_started(1, start + 1s);
  EXPECT_EQ(breaker.probe_at(), start + 6s);
}

TEST_F(BreakerTest, EachOfSeveralProbesThatTakeLongMayEndTheOutage) {
  open();
  breaker.probe_started(1, start + 1s);
  breaker.probe_started(2, start + 6s);
  answer(start + 7s, 1);
  EXPECT_FALSE(breaker.open()) << "the first took longer than the wait for the second";
}

TEST_F(BreakerTest, OfSeveralProbesOneMayFailOrBeLost) {
  open();
  breaker.probe_started(1, start + 1s);
  breaker.probe_started(2, start + 6s);
  breaker.probe_started(3, start + 11s);
  fail(1, start + 12s, 1);
  EXPECT_EQ(breaker.probe_at(), start + 15s);
  breaker.probe_lost(2, start + 12s);
  EXPECT_EQ(breaker.probe_at(), start + 15s) << "another is under way";
  answer(start + 13s, 1);
  EXPECT_TRUE(breaker.open()) << "its probe failed";
  answer(start + 13s, 3);
  EXPECT_FALSE(breaker.open());
}

TEST_F(BreakerTest, AProbeThatIsNotMadeIsMadeElsewhereAtOnce) {
  open();
  breaker.probe_started(1, start + 1s);
  breaker.probe_lost(2, start + 2s);
  EXPECT_EQ(breaker.probe_at(), start + 6s) << "not the prober";
  breaker.probe_lost(1, start + 2s);
  EXPECT_EQ(breaker.probe_at(), start + 2s);
}

TEST_F(BreakerTest, AnAnswerClosesIt) {
  open();
  breaker.probe_started(1, start + 1s);
  EXPECT_TRUE(breaker.on_outcomes(1, {1, 0}, start + 1500ms));
  EXPECT_FALSE(breaker.open());
  EXPECT_EQ(breaker.outage_time(start + 1min), 1500ms);
  EXPECT_FALSE(fail(4, start + 2s)) << "it counts anew";
}

TEST_F(BreakerTest, AnswersThatAreReportedWithAFailureCameBefore) {
  breaker.on_outcomes(1, {9, 1}, start);
  EXPECT_FALSE(fail(3, start));
  EXPECT_TRUE(fail(1, start));
}

// A tenth of the calls to a well provider failed, at random: reports of many calls each opened it again and
// again, and 10,000 cases took 29 s instead of 4.
TEST_F(BreakerTest, FailuresAmongManyAnswersAreNotInARow) {
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(breaker.on_outcomes(1, {107, 12}, start + i * 20ms)) << i;
  EXPECT_FALSE(fail(3, start + 2s));
}

TEST_F(BreakerTest, NoNumberOfAnswersMakesItWrap) {
  answer(start);
  EXPECT_FALSE(breaker.on_outcomes(1, {0xffffffff, 1}, start));
}

TEST_F(BreakerTest, FewAnswersAmongFailuresLeaveSomeInARow) {
  EXPECT_FALSE(breaker.on_outcomes(1, {1, 9}, start));
  EXPECT_TRUE(fail(1, start)) << "half of the nine, at least, came after the answer";
}

// A burst of 429 without a delay ended 6 to 11 of 61 cases, where one of 503 ended none.
TEST_F(BreakerTest, OpensWhenNothingButRefusalsComesForAWhile) {
  answer(start);
  for (auto now = start; now < start + 5s; now += 500ms) {
    EXPECT_FALSE(breaker.on_outcomes(1, {0, 0, 2}, now)) << "a rate may be found yet";
  }
  EXPECT_TRUE(breaker.on_outcomes(2, {0, 0, 1}, start + 5s));
}

TEST_F(BreakerTest, RefusalsAmongAnswersAreARateToBeFound) {
  for (auto now = start; now < start + 30s; now += 500ms) {
    EXPECT_FALSE(breaker.on_outcomes(1, {0, 0, 20}, now));
    EXPECT_FALSE(breaker.on_outcomes(1, {1, 0, 20}, now + 250ms));
  }
}

TEST_F(BreakerTest, AFewRefusalsOpenNothing) {
  EXPECT_FALSE(breaker.on_outcomes(1, {0, 0, 1}, start));
  EXPECT_FALSE(breaker.on_outcomes(1, {0, 0, 3}, start + 20s));
}

TEST_F(BreakerTest, ARefusedProbeEndsNoOutage) {
  open();
  breaker.probe_started(1, start + 1s);
  EXPECT_FALSE(breaker.on_outcomes(1, {0, 0, 1}, start + 1s));
  EXPECT_TRUE(breaker.open());
  EXPECT_EQ(breaker.probe_at(), start + 2s);
  breaker.probe_started(1, start + 2s);
  EXPECT_TRUE(breaker.on_outcomes(1, {1, 0, 0}, start + 2s));
}

TEST_F(BreakerTest, AnOutageThatLastsTooLongIsGivenUp) {
  open();
  EXPECT_FALSE(breaker.given_up(start + 10min - 1us));
  EXPECT_TRUE(breaker.given_up(start + 10min));
  EXPECT_EQ(breaker.gives_up_at(), start + 10min);
}

}  // namespace sluice::breaker_test

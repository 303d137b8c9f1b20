#include "worker/budget/late_permits.hpp"

#include "worker/budget/late_grants.hpp"

#include <string>

#include <gtest/gtest.h>

namespace sluice {
namespace late_permits_test {

using namespace std::chrono_literals;

/// A worker whose messages take so long, each way; both clocks show the same.
class LatePermitsTest : public testing::Test {
 protected:
  /// A permit of this lifetime, granted `ahead` of its opening in answer to a demand.
  void grant(BootTime one_way, BootTime lifetime, BootTime ahead = 50ms) {
    clock.on_grants(now, now - one_way, now + one_way);
    wire::Permit permit;
    permit.opens_us = static_cast<std::uint64_t>((now + ahead).count());
    permit.closes_us = static_cast<std::uint64_t>((now + ahead + lifetime).count());
    late.on_permit(permit, clock, now + one_way);
    now += 1s;
  }

  BootTime now = 1h;
  ClockBounds clock;
  LatePermits late;
};

TEST_F(LatePermitsTest, NearbyAllAreInTime) {
  for (int i = 0; i < 100; ++i) grant(1ms, 10ms);
  EXPECT_FALSE(late.problem("p"));
}

TEST_F(LatePermitsTest, FarAwayEachIsTooShort) {
  for (int i = 0; i < 10; ++i) {
    grant(60ms, 10ms);
    EXPECT_FALSE(late.problem("p")) << i;
  }
  grant(60ms, 10ms);
  const auto problem = late.problem("p");
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->reason, Reason::coordinator_too_far);
  EXPECT_EQ(problem->message,
            "the permits of provider \"p\" last 10 ms, and messages to and from the coordinator take so long "
            "that its time is known to 120 ms only; run this worker nearer to the coordinator, or raise "
            "burst_seconds of the provider if its limit allows more calls at once");
}

TEST_F(LatePermitsTest, LongEnoughTheyCanBeUsedFarAway) {
  for (int i = 0; i < 100; ++i) grant(40ms, 100ms);
  EXPECT_FALSE(late.problem("p"));
}

TEST_F(LatePermitsTest, OneInTimeIsEnough) {
  for (int i = 0; i < 10; ++i) grant(200ms, 100ms);
  grant(200ms, 5s);
  for (int i = 0; i < 10; ++i) grant(200ms, 100ms);
  EXPECT_FALSE(late.problem("p"));
}

TEST_F(LatePermitsTest, OneSlowMessageAndAnotherLongAfterAreNoSign) {
  for (int i = 0; i < 100; ++i) grant(1ms, 100ms);
  for (int message = 0; message < 5; ++message) {
    for (int permit = 0; permit < 6; ++permit) {
      grant(200ms, 100ms);
      now -= 1s;
    }
    now += 3min;
  }
  EXPECT_FALSE(late.problem("p"));
}

TEST_F(LatePermitsTest, RarePermitsAreCountedTogether) {
  for (int i = 0; i < 5; ++i) {
    grant(60ms, 10ms);
    now += 1min;
  }
  EXPECT_TRUE(late.problem("p"));
}

TEST_F(LatePermitsTest, AHandfulAtOnceIsNoSign) {
  clock.on_grants(now, now - 1s, now);
  wire::Permit passed;
  passed.closes_us = static_cast<std::uint64_t>((now - 1s).count());
  for (int i = 0; i < 100; ++i) late.on_permit(passed, clock, now);
  EXPECT_FALSE(late.problem("p"));
}

TEST(LateGrants, AreAProblemOnlyIfAllAreLateForLong) {
  LateGrants late;
  BootTime now = 1h;
  for (int i = 0; i < 100; ++i) late.on_grants(4s, 3s, now);
  EXPECT_FALSE(late.problem()) << "what came at once after a stop";
  for (int i = 0; i < 60; ++i) {
    EXPECT_FALSE(late.problem()) << i;
    late.on_grants(4s, 3s, now += 1s);
  }
  const auto problem = late.problem();
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->reason, Reason::coordinator_too_far);
  EXPECT_NE(problem->message.find("take 4000 ms, and after 3000 ms of silence no call may start"),
            std::string::npos)
      << problem->message;
  late.on_grants(3s, 3s, now += 1s);
  EXPECT_FALSE(late.problem()) << "one in time is enough";

  for (int i = 0; i < 10; ++i) late.on_grants(4s, 3s, now);
  late.on_grants(4s, 3s, now += 1h);
  EXPECT_FALSE(late.problem()) << "the machine slept";
}

}  // namespace late_permits_test
}  // namespace sluice

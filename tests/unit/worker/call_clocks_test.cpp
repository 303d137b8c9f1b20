// What a call's waits and its provider's outages come to: WaitClock and OutageClock.
#include "worker/calls/outage_clock.hpp"
#include "worker/calls/wait_clock.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace call_clocks_test {

using namespace std::chrono_literals;

constexpr TimePoint at(Duration time) {
  return TimePoint(time);
}

TEST(WaitClock, PausesAreDistinguishedFromPermits) {
  WaitClock waits(at(0s));
  waits.begin(at(1s), 10s);
  waits.end_ready(at(6s), 12s);  // Of five seconds two were paused.
  waits.begin(at(10s));
  waits.end_back_off(at(11s));
  waits.begin(at(20s), 12s);
  waits.end_ready(at(21s), 12s);
  Spend spend;
  spend.waited_permit_ms = 1;
  waits.add_to(spend);
  EXPECT_EQ(spend.waited_permit_ms, 4001u);
  EXPECT_EQ(spend.waited_pause_ms, 2000u);
  EXPECT_EQ(spend.waited_retry_ms, 1000u);
}

TEST(OutageClock, OnlyOutagesSinceItsBeginExtendACall) {
  OutageClock outages(100s, 2);
  EXPECT_EQ(outages.extension(100s), 0s);
  EXPECT_EQ(outages.extension(107s), 7s);
  EXPECT_EQ(outages.extension(107s), 0s);
  EXPECT_EQ(outages.extension(110s), 3s);
  EXPECT_EQ(outages.extended(), 10s);
}

TEST(OutageClock, AnOutageThatIsTheCallsOwnDoingExtendsNothing) {
  OutageClock outages(0s, 2);
  outages.probe_failed();
  outages.probe_failed();
  EXPECT_FALSE(outages.is_own_fault());
  EXPECT_EQ(outages.extension(1s), 1s);
  outages.probe_failed();
  EXPECT_TRUE(outages.is_own_fault());
  EXPECT_EQ(outages.extension(5s), 0s);
  EXPECT_EQ(outages.extended(), 1s);
}

}  // namespace call_clocks_test
}  // namespace sluice

#include "coordinator/governor/governor.hpp"

#include <utility>

#include <gtest/gtest.h>

namespace sluice::outage_test {

using namespace std::chrono_literals;

constexpr BootTime start = std::chrono::hours(1);

ProviderLimits with_places(std::uint32_t places) {
  ProviderLimits limits;
  limits.max_in_flight = places;
  return limits;
}

/// One worker reports what its calls came to.
class OutageTest : public ::testing::Test {
 protected:
  OutageTest() { governor.join(1, {400, true}, start); }

  wire::HoldReason send(const wire::CallOutcomes& outcomes, std::uint32_t in_flight, BootTime now) {
    wire::Demand demand;
    demand.provider = "openai";
    demand.ready_calls = 500;
    demand.in_flight = in_flight;
    demand.outcomes = outcomes;
    governor.on_heartbeat(1, {"run", ++sent, 10, {std::move(demand)}, 0}, now);
    governor.turn(now);
    return governor.facts(now)[0].hold;
  }
  /// `hung` calls go on after five failures; the report of `end`, when `under_way` are left, ends it.
  void go_through_an_outage(const wire::CallOutcomes& end, std::uint32_t hung, std::uint32_t under_way) {
    send({.answered = 1}, hung + 5, start);
    EXPECT_EQ(send({.failed = 5}, hung, start + 1s), wire::HoldReason::outage);
    governor.turn(start + 2s);  // Which lets one call probe.
    EXPECT_EQ(send(end, under_way, start + 2100ms), wire::HoldReason::none);
  }

  std::uint64_t sent = 0;
  Governor governor{{{{"openai", with_places(400)}}, {60s, 1s, 600s}}, start};
};

// What hangs when a provider is down times out when it is back, many at once: that was taken for the next
// outage.
TEST_F(OutageTest, CallsThatHungThroughItOpenNoOther) {
  go_through_an_outage({.answered = 1}, 3, 3);
  EXPECT_EQ(send({.failed = 3}, 4, start + 2200ms), wire::HoldReason::none);
  EXPECT_EQ(send({.failed = 4}, 1, start + 2300ms), wire::HoldReason::none) << "three of seven hung before";
  EXPECT_EQ(send({.failed = 1}, 0, start + 2400ms), wire::HoldReason::outage);
}

// What ended in the very report that ended the outage is over.
TEST_F(OutageTest, OnlyWhatIsStillUnderWayAtItsEndIsForgiven) {
  go_through_an_outage({.answered = 1, .failed = 150}, 153, 3);
  EXPECT_EQ(send({.failed = 7}, 0, start + 2200ms), wire::HoldReason::none) << "three of them hung";
  EXPECT_EQ(send({.failed = 1}, 0, start + 2300ms), wire::HoldReason::outage);
}

// However many calls hung: a provider that answers nothing any more is down.
TEST_F(OutageTest, WhatHungHidesNoOtherForLong) {
  go_through_an_outage({.answered = 1}, 195, 195);
  for (int i = 0; i < 24; ++i) {
    EXPECT_EQ(send({.failed = 1}, 195, start + 2200ms + i * 1ms), wire::HoldReason::none);
  }
  EXPECT_EQ(send({.failed = 1}, 195, start + 2300ms), wire::HoldReason::outage);
}

}  // namespace sluice::outage_test

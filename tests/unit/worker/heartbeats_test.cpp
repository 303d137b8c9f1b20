#include "worker/heartbeats.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace heartbeats_test {

using namespace std::chrono_literals;

TEST(Heartbeats, TheClientIsAskedOnceUntilItAnswers) {
  Heartbeats heartbeats;
  EXPECT_TRUE(heartbeats.ask_for_demand(true));
  EXPECT_FALSE(heartbeats.ask_for_demand(true)) << "it is held up: the HEARTBEAT goes out without it";
  heartbeats.on_demand({});
  EXPECT_TRUE(heartbeats.ask_for_demand(true));
}

TEST(Heartbeats, WithoutACoordinatorTheClientIsLeftAlone) {
  Heartbeats heartbeats;
  EXPECT_FALSE(heartbeats.ask_for_demand(false));
  EXPECT_TRUE(heartbeats.ask_for_demand(true)) << "it is back, and nobody was asked meanwhile";
}

TEST(Heartbeats, CarriesTheClockTheDemandAndTheNewestGrants) {
  Heartbeats heartbeats;
  wire::Demand demand;
  demand.provider = "openai";
  const auto first = heartbeats.compose("run-1", 5s, 3, {demand});
  EXPECT_EQ(first, (wire::Heartbeat{"run-1", 5'000'000, 3, {demand}, 0}));
  heartbeats.on_demand({"run-1", {demand}, 42, 2});
  EXPECT_EQ(heartbeats.compose("run-1", 6s, 3, {}), (wire::Heartbeat{"run-1", 6'000'000, 3, {}, 42}));
}

}  // namespace heartbeats_test
}  // namespace sluice

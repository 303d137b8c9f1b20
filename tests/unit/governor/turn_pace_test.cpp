#include "coordinator/governor/turn_pace.hpp"

#include "coordinator/governor/defaults.hpp"
#include "coordinator/run/defaults.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using namespace std::chrono_literals;

constexpr BootTime turn_time = 5h;

TEST(TurnPace, AFewWorkersNeverWait) {
  TurnPace pace;
  EXPECT_EQ(pace.due(turn_time), turn_time) << "the first turn";
  pace.on_turn(defaults::workers_without_gathering, turn_time);
  EXPECT_EQ(pace.due(turn_time), turn_time);
}

TEST(TurnPace, MessagesOfManyWorkersShareATurn) {
  TurnPace pace;
  pace.on_turn(500, turn_time);
  EXPECT_EQ(pace.due(turn_time), turn_time + 5ms);
  EXPECT_EQ(pace.due(turn_time + 2ms), turn_time + 5ms);
  EXPECT_EQ(pace.due(turn_time + 7ms), turn_time + 7ms) << "after a quiet time at once";
}

TEST(TurnPace, NobodyWaitsForLong) {
  TurnPace pace;
  pace.on_turn(defaults::max_workers, turn_time);
  EXPECT_EQ(pace.due(turn_time), turn_time + defaults::longest_turn_gathering);
}

}  // namespace
}  // namespace sluice

#include "coordinator/governor/stop_watch.hpp"

#include <chrono>

#include <gtest/gtest.h>

namespace sluice {
namespace {

using namespace std::chrono_literals;

TEST(StopWatch, CountsTheTimeInWhichItRuns) {
  StopWatch watch;
  EXPECT_EQ(watch.time(5s), 0s);
  watch.run(true, 5s);
  EXPECT_EQ(watch.time(7s), 2s);
  watch.run(true, 8s);
  watch.run(false, 9s);
  EXPECT_EQ(watch.time(100s), 4s);
  watch.run(false, 100s);
  watch.run(true, 100s);
  EXPECT_EQ(watch.time(101s), 5s);
}

}  // namespace
}  // namespace sluice

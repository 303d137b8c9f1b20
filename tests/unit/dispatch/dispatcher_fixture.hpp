#pragma once

#include "coordinator/dispatch/dispatcher.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::dispatcher_test {

using namespace std::chrono_literals;

inline constexpr Dispatcher::Config config{1000ms, 3, 3, 60s};

inline std::vector<UnitAffinity> units(std::size_t count) {
  std::vector<UnitAffinity> affinities;
  for (std::size_t i = 0; i < count; ++i) affinities.push_back({i * 0x9e3779b97f4a7c15ull, 0});
  return affinities;
}

class DispatcherTest : public ::testing::Test {
 protected:
  TimePoint at(std::chrono::milliseconds time) const { return TimePoint() + 1h + time; }

  void join(Dispatcher& dispatcher, WorkerId worker, std::uint32_t window,
            std::chrono::milliseconds now = 0ms) {
    dispatcher.join(worker, "cache-" + std::to_string(worker), {}, at(now));
    dispatcher.set_window(worker, window);
  }
};

}  // namespace sluice::dispatcher_test

// Fleets against providers that take so many calls at a time, and refuse what is more.
#include "tests/properties/limits_grid.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>

namespace sluice::limits_in_flight_test {

using namespace std::chrono_literals;
using namespace testing;

enum class Delays : std::uint8_t { whole_seconds, milliseconds, nothing };

constexpr double ideal = 60;  ///< Seconds, with all places taken.

LimitedRow row_of(std::uint32_t limit, BootTime latency, double sigma, Delays delays) {
  LimitedRow row;
  row.nature.limits = {SimulatedLimit::in_flight(limit)};
  row.nature.latency = latency;
  row.nature.latency_sigma = sigma;
  row.nature.names_delays = delays != Delays::nothing;
  row.nature.in_whole_seconds = delays == Delays::whole_seconds;
  row.in_flight = std::max(50u, 5 * limit / 2);
  row.count = static_cast<std::size_t>(limit * ideal / (static_cast<double>(latency.count()) * 1e-6));
  return row;
}

/// The mean of how many times the ideal runs take, over delays and latencies.
double mean_of_ideal(std::uint32_t limit, std::uint32_t workers) {
  double logarithms = 0;
  int rows = 0;
  for (const Delays delays : {Delays::whole_seconds, Delays::milliseconds, Delays::nothing}) {
    for (const BootTime latency : {BootTime(200ms), BootTime(2s)}) {
      for (const double sigma : {0.3, 0.5, 0.8}) {
        auto row = row_of(limit, latency, sigma, delays);
        row.workers = workers;
        const auto run = run_fleet(row);
        EXPECT_TRUE(run.is_done);
        SCOPED_TRACE(::testing::Message()
                     << limit << " at a time of " << latency.count() << " us, sigma " << sigma << ", delays "
                     << static_cast<int>(delays) << ", " << workers << " workers");
        EXPECT_LE(run.seconds / ideal, workers > 1 || limit == 1 ? 2.2 : 1.95);
        logarithms += std::log(run.seconds / ideal);
        ++rows;
      }
    }
  }
  const double mean = std::exp(logarithms / rows);
  if (std::getenv("SLUICE_LIMITS_GRID") != nullptr)
    std::printf("%2u calls at a time, %u workers: %.3f of the ideal\n", limit, workers, mean);
  return mean;
}

// Each refusal was taken for one of a rate: answers of different length left places empty, and runs took 1.3
// to 1.75 times the ideal in the mean.
TEST(LimitsInFlight, AreFoundAndUsed) {
  for (const std::uint32_t limit : {4u, 8u, 20u, 64u}) EXPECT_LE(mean_of_ideal(limit, 1), 1.2) << limit;
  EXPECT_LE(mean_of_ideal(1, 1), 1.5);
}

TEST(LimitsInFlight, AreFoundByAFewWorkersToo) {
  for (const std::uint32_t limit : {8u, 20u, 64u}) EXPECT_LE(mean_of_ideal(limit, 2), 1.3) << limit;
  for (const std::uint32_t limit : {20u, 64u}) EXPECT_LE(mean_of_ideal(limit, 4), 1.3) << limit;
}

TEST(LimitsInFlight, AreLeftToLaterRuns) {
  auto row = row_of(20, 200ms, 0.5, Delays::whole_seconds);
  row.learned.requests_per_minute = 3000;
  const auto first = run_fleet(row);
  EXPECT_NEAR(first.facts.found_concurrency.value_or(0), 20, 1);
  EXPECT_FALSE(first.facts.learned.requests_per_minute) << "it was not the rate";
  ASSERT_TRUE(first.facts.learned.in_flight);
  row.learned = first.facts.learned;
  const auto second = run_fleet(row);
  EXPECT_LE(second.seconds, first.seconds);
  EXPECT_LE(second.seconds, 1.1 * ideal);
}

}  // namespace sluice::limits_in_flight_test

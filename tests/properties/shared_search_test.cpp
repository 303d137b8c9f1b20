// Runs that share a key of which nobody named the limit, on simulated time.
#include "tests/properties/limits_grid.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::shared_search_test {

using namespace testing;
using namespace std::chrono_literals;

struct SharedRow {
  std::string name;
  ProviderNature nature;
  std::vector<std::size_t> counts = {500, 500};  ///< Calls of each run.
  BootTime apart{};                              ///< From one run's beginning to the next one's.
  std::uint64_t seed = 1;
  ProviderLimits said{};
};

struct SharedRuns {
  std::vector<double> seconds;  ///< Until each has its last answer, from the first one's beginning.
  std::uint64_t refused = 0;
  double last() const { return *std::ranges::max_element(seconds); }
};

FleetOptions options_of(const SharedRow& row) {
  FleetOptions options;
  options.seed = row.seed;
  options.workers = 1;
  options.max_concurrent = 50;
  options.max_concurrent_named = true;
  options.network.delay_max = 2ms;
  options.arrival_jitter = 2ms;
  options.request_timeout = 2min;
  options.shares_its_key = true;
  return options;
}

SharedRuns run_beside_each_other(const SharedRow& row) {
  FleetProvider provider;
  provider.nature = row.nature;
  provider.limits = row.said;
  provider.calls = calls(row.counts.front());
  auto options = options_of(row);
  std::vector<std::unique_ptr<Fleet>> fleets;
  fleets.push_back(std::make_unique<Fleet>(options, std::vector{provider}));
  auto& events = fleets.front()->events();
  SharedRuns runs;
  runs.seconds.resize(row.counts.size());
  std::vector<bool> ended(row.counts.size());
  const auto is_over = [&] { return std::ranges::all_of(ended, [](bool one) { return one; }); };
  while (!is_over() && events.step(EventQueue::beginning + 1h)) {
    const auto passed = events.now() - EventQueue::beginning;
    if (fleets.size() < row.counts.size() && passed >= static_cast<int>(fleets.size()) * row.apart) {
      provider.calls = calls(row.counts[fleets.size()]);
      ++options.seed;
      fleets.push_back(std::make_unique<Fleet>(options, provider, *fleets.front()));
    }
    for (std::size_t i = 0; i < fleets.size(); ++i) {
      if (ended[i] || !fleets[i]->is_done()) continue;
      ended[i] = true;
      runs.seconds[i] = static_cast<double>(passed.count()) * 1e-6;
      fleets[i]->end();
    }
  }
  EXPECT_TRUE(is_over()) << row.name;
  runs.refused = fleets.front()->refused();
  return runs;
}

/// What one run with the calls of all takes.
LimitedRow alone(const SharedRow& row) {
  LimitedRow one;
  one.name = row.name;
  one.nature = row.nature;
  one.said = row.said;
  one.count = 0;
  for (const auto count : row.counts) one.count += count;
  one.in_flight = 50;
  one.seed = row.seed;
  return one;
}

ProviderNature bucket(double rate, double size, bool in_whole_seconds) {
  ProviderNature nature;
  nature.requests_per_second = rate;
  nature.burst = size;
  nature.latency = 50ms;
  nature.names_delays = true;
  nature.in_whole_seconds = in_whole_seconds;
  return nature;
}

std::vector<SharedRow> rows() {
  std::vector<SharedRow> rows;
  for (const bool in_whole_seconds : {true, false}) {
    for (const auto& [rate, size] : {std::pair{100.0, 10.0}, {20.0, 2.0}, {100.0, 100.0}}) {
      const auto server = bucket(rate, size, in_whole_seconds);
      const std::string name = std::string(in_whole_seconds ? "seconds" : "milliseconds") + ", " +
                               std::to_string(static_cast<int>(rate)) + "/s, bucket " +
                               std::to_string(static_cast<int>(size));
      rows.push_back({name, server, {500, 500}, 20ms});
      rows.push_back({name + ", 3 s apart", server, {500, 500}, 3s});
      rows.push_back({name + ", a short second one", server, {900, 100}, 1s});
      rows.push_back({name + ", a short first one", server, {100, 900}, 1s});
      rows.push_back({name + ", a first one of ten", server, {10, 990}, 20ms});
      rows.push_back({name + ", four", server, {250, 250, 250, 250}, 20ms});
    }
  }
  for (const auto& [rate, size] : {std::pair{100.0, 10.0}, {20.0, 2.0}}) {
    rows.push_back({"no delay", bucket(rate, size, false), {500, 500}, 20ms});
    rows.back().nature.names_delays = false;
  }
  // What was told late made one bucket's calls those of a window: up to three times as long.
  for (const auto apart : {0ms, 20ms, 70ms, 300ms}) {
    for (const auto& [rate, size] : {std::pair{100.0, 10.0}, {100.0, 30.0}, {40.0, 20.0}}) {
      const std::string name = "seconds, " + std::to_string(static_cast<int>(rate)) + "/s, bucket " +
                               std::to_string(static_cast<int>(size)) + ", " + std::to_string(apart.count()) +
                               " ms apart";
      rows.push_back({name, bucket(rate, size, true), {500, 500}, apart});
      if (apart == 0ms) continue;
      rows.push_back({name + ", four", bucket(rate, size, true), {250, 250, 250, 250}, apart});
    }
  }
  return rows;
}

// Each searched for its own part: four runs took 500 s for what one did in 54.
TEST(SharedSearch, RunsOnOneKeyTakeLittleLongerThanOneRunWithTheirCalls) {
  constexpr std::uint64_t seeds = 3;
  for (auto row : rows()) {
    double seconds = 0;
    double alone_seconds = 0;
    std::uint64_t refused = 0;
    for (row.seed = 1; row.seed <= seeds; ++row.seed) {
      const auto runs = run_beside_each_other(row);
      const auto one = run_fleet(alone(row));
      EXPECT_LE(runs.last(), 1.35 * one.seconds) << row.name << ", seed " << row.seed;
      seconds += runs.last();
      alone_seconds += one.seconds;
      refused += runs.refused;
    }
    EXPECT_LE(seconds, 1.15 * alone_seconds) << row.name;
    EXPECT_LE(static_cast<double>(refused), seeds * 0.13 * 1000) << row.name;
    if (std::getenv("SLUICE_LIMITS_GRID") != nullptr) {
      std::printf("%-45s %6.1f s, one run %6.1f s, %4.1f refused\n", row.name.c_str(), seconds / seeds,
                  alone_seconds / seeds, static_cast<double>(refused) / seeds);
    }
  }
}

// Who is ahead with its bucket, or takes the permits of 200 ms at once, had them all: half of the time is one
// run after the other.
TEST(SharedSearch, RunsOnOneKeyHaveEqualParts) {
  for (const bool is_known : {false, true}) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      SharedRow row{is_known ? "known" : "unknown", bucket(100, 10, true), {500, 500}, 20ms, seed};
      if (is_known) row.said.requests_per_minute = 6000;
      const auto runs = run_beside_each_other(row);
      EXPECT_GE(*std::ranges::min_element(runs.seconds), 0.8 * runs.last()) << row.name << ", seed " << seed;
    }
  }
}

}  // namespace sluice::shared_search_test

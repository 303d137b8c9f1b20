// How the other tests here measure what a fleet did.

#include "tests/support/call_log.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace sluice {
namespace {

using namespace support;

TEST(CallLog, PassesOverTheLineThatAKilledProcessLeft) {
  const auto calls = read_call_log(
      "{\"started_us\": 5, \"provider\": \"a\", \"unit\": 1}\n{\"started_us\": 7, \"provider\": \"b\"}\n"
      "{\"started_us\": 9, \"prov");
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].started_us, 5);
  EXPECT_EQ(calls[1].provider, "b");
  EXPECT_THROW(read_call_log("nonsense\n"), std::runtime_error);
  EXPECT_THROW(read_call_log("{\"provider\": \"a\"}\n"), std::runtime_error);
}

TEST(CallLog, IsMergedByTimeAndProvider) {
  const std::vector<std::string> logs{
      "{\"started_us\":5,\"provider\":\"a\"}\n{\"started_us\":9,\"provider\":\"a\"}\n",
      "{\"started_us\":7,\"provider\":\"a\"}\n{\"started_us\":8,\"provider\":\"b\"}\n", ""};
  EXPECT_EQ(merged_starts(logs, "a"), (std::vector<std::int64_t>{5, 7, 9}));
  EXPECT_EQ(merged_starts(logs, "b"), (std::vector<std::int64_t>{8}));
}

TEST(WorstWindow, OfAnEvenFlowIsWithinItsOwnLimit) {
  std::vector<std::int64_t> starts;
  for (int i = 0; i < 100; ++i) starts.push_back(1'000'000 + i * 10'000);
  EXPECT_NEAR(worst_window(starts, 100, 1).excess, 0, 1e-6);
  EXPECT_LT(worst_window(starts, 110, 1).excess, 1e-6);
  const auto too_fast = worst_window(starts, 90, 1);
  EXPECT_EQ(too_fast.starts, 100u);
  EXPECT_NEAR(too_fast.excess, 100 - 90 * 0.99 - 1, 1e-6);
}

TEST(WorstWindow, FindsABurstInsideAFlow) {
  std::vector<std::int64_t> starts;
  for (int i = 0; i < 50; ++i) starts.push_back(i * 20'000);
  for (int i = 0; i < 12; ++i) starts.push_back(500'000);
  std::ranges::sort(starts);
  const auto worst = worst_window(starts, 100, 10);
  EXPECT_EQ(worst.from_us, 500'000);
  EXPECT_EQ(worst.until_us, 500'000);
  EXPECT_EQ(worst.starts, 13u) << "the one of the flow included";
  EXPECT_NEAR(worst.excess, 3, 1e-6);
}

TEST(WorstWindow, IsTheWorstOfAllPairs) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    std::mt19937_64 random(seed);
    std::uniform_int_distribution<std::int64_t> moment(0, 400'000);
    std::vector<std::int64_t> starts(60);
    for (auto& start : starts) start = moment(random);
    std::ranges::sort(starts);
    constexpr double rate = 120;
    double worst = -1e9;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      for (std::size_t j = i; j < starts.size(); ++j) {
        const double length = static_cast<double>(starts[j] - starts[i]) * 1e-6;
        worst = std::max(worst, static_cast<double>(j - i + 1) - rate * length - 5);
      }
    }
    const auto found = worst_window(starts, rate, 5);
    EXPECT_NEAR(found.excess, worst, 1e-6) << "seed " << seed;
    const double length = static_cast<double>(found.until_us - found.from_us) * 1e-6;
    EXPECT_NEAR(static_cast<double>(found.starts) - rate * length - 5, found.excess, 1e-6) << "seed " << seed;
  }
}

}  // namespace
}  // namespace sluice

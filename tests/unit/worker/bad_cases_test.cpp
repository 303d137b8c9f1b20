// Cases that fail for good, and outages, as a whole run meets them.
#include "tests/unit/worker/simulated_run.hpp"

#include <optional>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace sluice {
namespace bad_cases_test {

using Cases = std::set<UnitId>;

constexpr std::uint64_t seeds = 20;
/// Six tries wait 15.5 s for each other at most, and a beat of the clock may come late.
constexpr Duration most_of_tries = 16s;

SimulatedRun::Fails always(Cases cases) {
  return [cases = std::move(cases)](UnitId unit, Duration) { return cases.contains(unit); };
}

/// They end as errors after their tries, as soon as these are made, and nothing is called an outage.
void expect_own_errors(UnitId cases, const Cases& bad, Duration latency, Duration most) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SimulatedRun run(cases, latency, always(bad), seed);
    ASSERT_TRUE(run.run());
    EXPECT_EQ(run.errors(), bad);
    EXPECT_EQ(run.outages(), 0);
    EXPECT_LT(run.elapsed(), most + 12 * latency);
    for (const auto one : bad) EXPECT_EQ(run.tries(one), 6u) << "case " << one;
  }
}

TEST(BadCases, OneOfTwentyIsNoOutageHoweverFastAnswersAre) {
  for (const auto latency : {0ms, 100ms, 300ms, 1000ms}) {
    for (const UnitId bad : {1, 7, 16, 18, 19}) {
      SCOPED_TRACE("case " + std::to_string(bad) + ", " + std::to_string(latency.count()) + " ms");
      expect_own_errors(20, {bad}, latency, most_of_tries);
    }
  }
}

TEST(BadCases, FourOfTwentyAreNone) {
  for (const auto latency : {0ms, 100ms, 300ms, 1000ms}) {
    for (const Cases& bad : {Cases{1, 2, 3, 4}, Cases{3, 7, 13, 17}, Cases{5, 10, 15, 20}}) {
      SCOPED_TRACE("case " + std::to_string(*bad.begin()) + ", " + std::to_string(latency.count()) + " ms");
      expect_own_errors(20, bad, latency, most_of_tries);
    }
  }
}

TEST(BadCases, TensOfHundredsAreNone) {
  Cases bad;
  for (UnitId id = 4; id <= 300; id += 10) bad.insert(id);
  expect_own_errors(300, bad, 100ms, 45s);
}

TEST(BadCases, AnOutageOfMinutesCostsNoCase) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Cases bad{4, 40, 80, 120, 200, 280};
    const auto is_out = [](Duration now) { return now > 2s && now < 122s; };
    SimulatedRun run(
        300, 300ms, [&](UnitId unit, Duration now) { return is_out(now) || bad.contains(unit); }, seed);
    ASSERT_TRUE(run.run());
    EXPECT_EQ(run.errors(), bad);
    EXPECT_EQ(run.outages(), 1);
    EXPECT_GT(run.outage_time(), 117s) << "it is noticed soon";
    EXPECT_LT(run.outage_time(), 136s);
  }
}

// With one place or two there are never three others whose failures would show an outage.
TEST(BadCases, AnOutageBesideABadCaseIsSeenHoweverFewPlacesThereAre) {
  for (const std::uint32_t places : {1u, 2u, 3u}) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      SCOPED_TRACE(std::to_string(places) + " places, seed " + std::to_string(seed));
      std::optional<Duration> begins;
      SimulatedRun run(
          40, 300ms,
          [&](UnitId unit, Duration now) {
            if (unit == 13 && !begins) begins = now + 700ms;
            return unit == 13 || (begins && now > *begins && now < *begins + 60s);
          },
          seed, places);
      ASSERT_TRUE(run.run());
      EXPECT_EQ(run.errors(), Cases{13});
      EXPECT_EQ(run.outages(), 1);
      EXPECT_GT(run.outage_time(), 50s) << "it is noticed soon";
    }
  }
}

TEST(BadCases, OneBadCaseIsNoOutageHoweverFewPlacesThereAre) {
  for (const std::uint32_t places : {1u, 2u}) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      SCOPED_TRACE(std::to_string(places) + " places, seed " + std::to_string(seed));
      SimulatedRun run(40, 100ms, always({13}), seed, places);
      ASSERT_TRUE(run.run());
      EXPECT_EQ(run.errors(), Cases{13});
      EXPECT_EQ(run.outages(), 0);
    }
  }
}

TEST(BadCases, AnOutageThatBeginsWithThreeCasesLeftCostsNone) {
  for (const auto latency : {0ms, 100ms, 1000ms}) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      SCOPED_TRACE(std::to_string(latency.count()) + " ms, seed " + std::to_string(seed));
      std::optional<Duration> begins;
      SimulatedRun run(
          20, latency,
          [&](UnitId unit, Duration now) {
            if (unit == 18 && !begins) begins = now;
            return begins && now < *begins + 30s;
          },
          seed);
      ASSERT_TRUE(run.run());
      EXPECT_EQ(run.errors(), Cases{});
      EXPECT_EQ(run.outages(), 1);
    }
  }
}

TEST(BadCases, AProviderThatIsDownFromTheStartCostsNone) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SimulatedRun run(
        20, 100ms, [](UnitId, Duration now) { return now < 60s; }, seed);
    ASSERT_TRUE(run.run());
    EXPECT_EQ(run.errors(), Cases{});
    EXPECT_EQ(run.outages(), 1);
    EXPECT_GT(run.outage_time(), 57s);
  }
}

}  // namespace bad_cases_test
}  // namespace sluice

#include "coordinator/governor/governor.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint start = TimePoint() + std::chrono::hours(1);

std::vector<wire::Demand> demand(std::uint32_t pause_ms, std::string provider = "openai") {
  return {{std::move(provider), 1, 1, pause_ms}};
}

std::uint32_t pause_at(const Governor& governor, TimePoint now, const std::string& provider = "openai") {
  for (const auto& grant : governor.grants(now)) {
    EXPECT_TRUE(grant.unlimited);
    if (grant.provider == provider) return grant.pause_ms;
  }
  ADD_FAILURE() << "no grant for " << provider;
  return 0;
}

TEST(Governor, GrantsWithoutLimitWhatWasAskedFor) {
  Governor governor;
  EXPECT_TRUE(governor.grants(start).empty());
  EXPECT_FALSE(governor.hear(demand(0), start));
  EXPECT_EQ(pause_at(governor, start), 0u);
}

TEST(Governor, APauseIsForAllAndEnds) {
  Governor governor;
  EXPECT_TRUE(governor.hear(demand(1000), start));
  EXPECT_EQ(pause_at(governor, start), 1000u);
  EXPECT_EQ(pause_at(governor, start + 600ms), 400u);
  EXPECT_EQ(pause_at(governor, start + 600ms + 1us), 400u)
      << "rounded up: never shorter than the server named";
  EXPECT_EQ(pause_at(governor, start + 999ms + 999us), 1u);
  EXPECT_EQ(pause_at(governor, start + 1000ms), 0u);
}

TEST(Governor, PausesAreLengthenedAndNeverShortened) {
  Governor governor;
  governor.hear(demand(1000), start);
  EXPECT_FALSE(governor.hear(demand(100), start));
  EXPECT_FALSE(governor.hear(demand(0), start));
  EXPECT_EQ(pause_at(governor, start), 1000u);
  EXPECT_TRUE(governor.hear(demand(5000), start));
  EXPECT_EQ(pause_at(governor, start), 5000u);
}

TEST(Governor, APauseThatIsALittleLongerIsKeptToTheMillisecond) {
  Governor governor;
  governor.hear(demand(1000), start);
  EXPECT_TRUE(governor.hear(demand(1010), start)) << "the others must not call 10 ms early";
  EXPECT_EQ(pause_at(governor, start), 1010u);
}

TEST(Governor, AShortPauseRightAfterAnotherCounts) {
  Governor governor;
  governor.hear(demand(1000), start);
  EXPECT_TRUE(governor.hear(demand(15), start + 1001ms));
  EXPECT_EQ(pause_at(governor, start + 1001ms), 15u);
}

TEST(Governor, WhatIsLeftOfAPauseIsNoNewOne) {
  Governor governor;
  governor.hear(demand(3000), start);
  EXPECT_FALSE(governor.hear(demand(2000), start + 1000ms));
  EXPECT_FALSE(governor.hear(demand(1000), start + 2000ms));
}

TEST(Governor, ProvidersPauseEachForItself) {
  Governor governor;
  governor.hear(demand(1000, "openai"), start);
  governor.hear(demand(0, "gemini"), start);
  EXPECT_EQ(pause_at(governor, start, "openai"), 1000u);
  EXPECT_EQ(pause_at(governor, start, "gemini"), 0u);
}

}  // namespace
}  // namespace sluice

// A provider that asks for a longer silence than a case may take.
#include "tests/unit/run/run_fixture.hpp"

namespace sluice {
namespace {

class NamedDelayTest : public RunControllerTest {
 protected:
  NamedDelayTest() {
    config.settings.case_timeout = 15min;
    config.settings.providers.emplace_back().name = "openai";
    config.time_of_day = [] {
      return std::chrono::sys_days(std::chrono::year(2026) / 11 / 23) + std::chrono::hours(8);
    };
  }
  Effects asked_for(std::chrono::milliseconds silence) {
    wire::Demand demand;
    demand.provider = "openai";
    demand.pause_ms = static_cast<std::uint32_t>(silence.count());
    return send("p", wire::Heartbeat{run_id, 1, 10, {demand}, 0});
  }
};

// Retry-After: 86400 failed case after case for hours.
TEST_F(NamedDelayTest, BeyondTheTimeOfACaseStopsTheRunAndNamesItsEnd) {
  begin();
  join("p", 1);
  asked_for(15min - 1ms);
  EXPECT_FALSE(controller->over());
  const auto effects = asked_for(24h);
  expect_stopped(Reason::provider_paused);
  EXPECT_EQ(sent<wire::Drain>(effects, "p").size(), 1u);
  const auto message = controller->facts().cut_short->message;
  EXPECT_NE(message.find("2026-11-24 08:00:00 UTC"), std::string::npos) << message;
  EXPECT_NE(message.find("\"openai\""), std::string::npos) << message;
}

TEST_F(NamedDelayTest, NamesTheCacheOnlyWhereThereIsOne) {
  for (const bool is_cached : {true, false}) {
    config.settings.write_cache = is_cached;
    begin();
    join("p", 1);
    asked_for(24h);
    expect_stopped(Reason::provider_paused);
    const auto message = controller->facts().cut_short->message;
    EXPECT_EQ(message.find("in the cache") != std::string::npos, is_cached) << message;
  }
}

TEST_F(NamedDelayTest, IsWaitedForWhereTheDeadlineLiesBeyond) {
  config.deadline = 25h;
  begin();
  join("p", 1);
  const auto effects = asked_for(24h);
  EXPECT_FALSE(controller->over());
  ASSERT_FALSE(effects.notes.empty());
  EXPECT_NE(effects.notes.back().text.find("2026-11-24 08:00:00 UTC"), std::string::npos)
      << effects.notes.back().text;
  EXPECT_EQ(effects.notes.back().about.provider, "openai");
  now = 1min;
  EXPECT_TRUE(asked_for(24h - 1min).notes.empty()) << "the same again";
  asked_for(25h);
  expect_stopped(Reason::provider_paused);
}

TEST_F(NamedDelayTest, BeyondTheDeadlineStopsTheRunAtOnce) {
  config.deadline = 24h;
  begin();
  join("p", 1);
  asked_for(24h);
  expect_stopped(Reason::provider_paused);
}

}  // namespace
}  // namespace sluice

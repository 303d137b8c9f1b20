#include "coordinator/display/budget_wording.hpp"

#include <gtest/gtest.h>

namespace sluice::wording {
namespace {

using namespace std::chrono_literals;

BudgetFacts limited_to(double requests_per_minute, LimitSource source) {
  BudgetFacts facts;
  facts.provider = "openai";
  facts.requests = KnownLimit{requests_per_minute, source};
  return facts;
}

TEST(BudgetWording, RatesAreShownInTheUnitThatReadsBest) {
  const auto requests = [](double per_minute) {
    return rate({"requests", {per_minute, LimitSource::configured}});
  };
  EXPECT_EQ(requests(6000.0), "100/s");
  EXPECT_EQ(requests(500.0), "8.3/s");
  EXPECT_EQ(requests(60.0), "1/s");
  EXPECT_EQ(requests(30.0), "30/min");
  EXPECT_EQ(requests(1.0), "1/min");
  EXPECT_EQ(requests(59.94), "60/min");
  EXPECT_EQ(rate({"input_tokens", {2'000'000.0, LimitSource::announced}}), "2,000,000 input tokens/min");
}

TEST(BudgetWording, ARefusalIsToldWithItsDelay) {
  const std::string words = "provider \"sim\" refuses calls (429 or 529)";
  for (const auto event : {BudgetEvent::paused, BudgetEvent::refuses_calls}) {
    EXPECT_EQ(notice({"sim", event, 7s, {}}),
              words + ": as it asks, none is made for 7.0 s, then as many as it takes");
  }
  EXPECT_EQ(notice({"sim", BudgetEvent::refuses_calls, {}, {}}),
            words + "; fewer are made until it takes them");
}

// One 429 was two warnings: that calls are refused, and that none is made for a while.
TEST(BudgetWording, ARefusalAndItsPauseAreOneSentence) {
  BudgetNews news;
  BudgetFacts paused;
  paused.provider = "sim";
  paused.hold = wire::HoldReason::named_delay;
  paused.hold_left = 4s;
  const auto told = [&](std::vector<BudgetNotice> notices, BootTime now) {
    std::vector<BootTime> delays;
    for (const auto& one : news.take(std::move(notices), {&paused, 1}, now)) delays.push_back(one.after);
    return delays;
  };
  const BudgetNotice pause{"sim", BudgetEvent::paused, 4s, {}};
  const BudgetNotice refusal{"sim", BudgetEvent::refuses_calls, {}, {}};
  EXPECT_EQ(told({pause, refusal}, 100s), std::vector<BootTime>{4s});
  EXPECT_TRUE(told({refusal}, 101s).empty()) << "the next call of the same wave";
  EXPECT_EQ(told({{"sim", BudgetEvent::went_down, {}, {}}}, 101s).size(), 1u);
  EXPECT_EQ(told({{"other", BudgetEvent::refuses_calls, {}, {}}}, 101s), std::vector<BootTime>{0s});
  EXPECT_EQ(told({refusal}, 104s), std::vector<BootTime>{4s}) << "after the pause it refused again";
  EXPECT_EQ(told({{"sim", BudgetEvent::paused, 60s, {}}}, 105s), std::vector<BootTime>{60s});
  paused.hold = wire::HoldReason::none;
  EXPECT_EQ(told({refusal}, 200s), std::vector<BootTime>{0s});
}

TEST(BudgetWording, UseIsRoundedDown) {
  BudgetFacts facts = limited_to(6000.0, LimitSource::configured);
  EXPECT_EQ(budget_use(facts), "100/s") << "nothing was asked for yet";
  facts.utilisation = 0.9999;
  EXPECT_EQ(budget_use(facts), "99% of 100/s");
  facts.utilisation = 1.0;
  EXPECT_EQ(budget_use(facts), "100% of 100/s");
  facts.tokens = KnownLimit{30000.0, LimitSource::configured};
  EXPECT_EQ(budget_use(facts), "100% of its limits");
}

TEST(BudgetWording, WhatWasFoundIsMarkedSo) {
  EXPECT_EQ(budget_use(limited_to(4980.0, LimitSource::found)), "about 83/s");
  BudgetFacts searched;
  EXPECT_EQ(budget_use(searched), "");
  searched.found_concurrency = 42;
  EXPECT_EQ(budget_use(searched), "42 at a time");
}

TEST(BudgetWording, HoldsNameWhatIsLeft) {
  BudgetFacts facts;
  EXPECT_EQ(hold(facts), "");
  // A run stood still for two minutes, and nothing said why.
  facts.left_behind = 2;
  facts.left_behind_for = 56'400ms;
  EXPECT_EQ(hold(facts), "") << "there are places for all";
  facts.waiting_calls = 3;
  EXPECT_EQ(hold(facts), "2 places left by a run that died, free in 0:57");
  facts.max_in_flight = 3;
  EXPECT_EQ(hold(facts), "") << "what waits waits for something else";
  facts.in_flight = 1;
  EXPECT_EQ(hold(facts), "2 places left by a run that died, free in 0:57");
  facts.waiting_calls = 0;
  facts.hold = wire::HoldReason::named_delay;
  facts.hold_left = 11'001ms;
  EXPECT_EQ(hold(facts), "paused 0:12");
  facts.hold = wire::HoldReason::outage;
  facts.hold_left = 3s;
  EXPECT_EQ(hold(facts), "down, next try in 0:03");
  facts.probing = true;
  EXPECT_EQ(hold(facts), "down, being tried") << "what is left is then until another try";
  facts.probing = false;
  facts.hold_left = BootTime::zero();
  EXPECT_EQ(hold(facts), "down, next try due");
  facts.given_up = true;
  EXPECT_EQ(hold(facts), "given up");
}

TEST(BudgetWording, TheSummarySaysWhatLimitedTheCalls) {
  EXPECT_EQ(budget_summary({}), "") << "nothing did";
  BudgetFacts facts = limited_to(4980.0, LimitSource::found);
  facts.rate_limited = 1;
  EXPECT_EQ(budget_summary(facts),
            "about 83/s (found); 1 call refused: name requests_per_minute if you know it, or max_in_flight "
            "where the provider limits calls at a time");
  facts.max_in_flight = 8;
  EXPECT_EQ(
      budget_summary(facts),
      "about 83/s (found), at most 8 in flight; 1 call refused: name requests_per_minute if you know it");
  facts = {};
  facts.rate_limited = 2;
  EXPECT_EQ(budget_summary(facts), "2 calls refused");
  facts.effective_per_minute = 300;
  EXPECT_EQ(budget_summary(facts),
            "2 calls refused: name requests_per_minute if you know it, or max_in_flight where the provider "
            "limits calls at a time")
      << "a search that has found nothing";
  facts = limited_to(3000.0, LimitSource::configured);
  facts.rate_limited = 2;
  facts.announced_below = 600;
  EXPECT_EQ(budget_summary(facts),
            "50/s (configured); 2 calls refused; the provider announces 10/s: lower requests_per_minute");
  facts = limited_to(6000.0, LimitSource::configured);
  facts.tokens = KnownLimit{30'000.0, LimitSource::configured};
  facts.output_tokens = KnownLimit{8'000.0, LimitSource::announced};
  facts.utilisation = 0.98;
  facts.max_in_flight = 64;
  facts.permits_granted = 1003;
  facts.permits_unused = 3;
  facts.paused_time = 12s;
  facts.outage_time = 125s;
  EXPECT_EQ(
      budget_summary(facts),
      "98% of 100/s (configured), 30,000 tokens/min (configured) and 8,000 output tokens/min (announced), "
      "at most 64 in flight, 1,003 permits, 3 unused; paused 12.0 s; down 2 min 05 s");
  BudgetFacts searched;
  searched.found_concurrency = 42;
  EXPECT_EQ(budget_summary(searched), "42 at a time (found)");
  EXPECT_EQ(budget_summary(searched, 100), "42 at a time (found)") << "no call needed a permit";
}

// `108 requests` stood above `98 permits; 8 calls refused`.
TEST(BudgetWording, PermitsAndRequestsAddUp) {
  BudgetFacts facts = limited_to(1080.0, LimitSource::found);
  facts.permits_granted = 100;
  facts.permits_unused = 2;
  EXPECT_EQ(budget_summary(facts, 108), "about 18/s (found), 100 permits, 2 unused, 10 calls without one");
  EXPECT_EQ(budget_summary(facts, 99), "about 18/s (found), 100 permits, 2 unused, 1 call without one");
  EXPECT_EQ(budget_summary(facts, 98), "about 18/s (found), 100 permits, 2 unused");
  EXPECT_EQ(budget_summary(facts, 90), budget_summary(facts, 98)) << "a worker was lost with its results";
  EXPECT_EQ(budget_summary(facts), budget_summary(facts, 98)) << "of one provider of several";
}

TEST(BudgetWording, LimitsComeInTheOrderOfTheSettings) {
  BudgetFacts facts = limited_to(1.0, LimitSource::announced);
  facts.output_tokens = KnownLimit{2.0, LimitSource::configured};
  const auto limits = limits_of(facts);
  ASSERT_EQ(limits.size(), 2u);
  EXPECT_EQ(limits[0].of, "requests");
  EXPECT_EQ(to_string(limits[0].limit.source), "announced");
  EXPECT_EQ(limits[1].of, "output_tokens");
  EXPECT_EQ(to_string(LimitSource::found), "found");
}

}  // namespace
}  // namespace sluice::wording

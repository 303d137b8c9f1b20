#include "tests/provider_sim/delay_words.hpp"
#include "tests/provider_sim/faults.hpp"
#include "tests/provider_sim/limiter.hpp"
#include "tests/provider_sim/outage.hpp"
#include "tests/provider_sim/serving_places.hpp"
#include "tests/provider_sim/timer_queue.hpp"
#include "tests/provider_sim/token_bucket.hpp"

#include <cmath>
#include <map>
#include <utility>

#include <gtest/gtest.h>

namespace sluice::sim {
namespace {

TEST(TokenBucket, LetsThroughNoMoreThanRateTimesWindowPlusCapacity) {
  TokenBucket bucket(100, 10);
  int taken = 0;
  for (std::int64_t now = 0; now <= 1'000'000; now += 500) {
    if (!bucket.holds(1, now)) continue;
    bucket.take(1);
    ++taken;
  }
  EXPECT_EQ(taken, 110);
}

TEST(TokenBucket, NamesTheTimeAtWhichItHoldsEnough) {
  TokenBucket bucket(3, 2);
  bucket.take(2);
  const auto wait = bucket.wait_us(1, 0);
  EXPECT_EQ(wait, 333'334);
  EXPECT_FALSE(bucket.holds(1, wait - 1));
  EXPECT_TRUE(bucket.holds(1, wait));
}

TEST(Limiter, DeniedRequestsCostNothing) {
  LimitSettings settings;
  settings.requests_per_second = 10;
  settings.burst = 1;
  settings.tokens_per_minute = 600;
  settings.token_burst = 100;
  Limiter limiter(settings);
  EXPECT_FALSE(limiter.admit({50, 10}, 0));
  ASSERT_TRUE(limiter.admit({50, 10}, 0));
  EXPECT_EQ(limiter.admit({50, 10}, 0)->wait.count(), 100);
  EXPECT_EQ(limiter.admit({50, 10}, 100'000)->wait.count(), 1900);
  EXPECT_FALSE(limiter.admit({40, 1}, 100'000));
}

TEST(Limiter, CountsPromptsAndAnswersApart) {
  LimitSettings settings;
  settings.input_tokens_per_minute = 6000;
  settings.output_tokens_per_minute = 600;
  settings.token_burst_seconds = 1;
  Limiter limiter(settings);
  EXPECT_FALSE(limiter.admit({90, 2}, 0));
  EXPECT_EQ(limiter.admit({20, 0}, 0)->wait.count(), 100);
  EXPECT_EQ(limiter.admit({0, 9}, 0)->wait.count(), 100);
  EXPECT_FALSE(limiter.admit({10, 8}, 0));
  EXPECT_TRUE(limiter.admit({101, 0}, 1'000'000)) << "more than the bucket holds";
}

TEST(Limiter, AnnouncesWhatTheProviderHasHeadersFor) {
  LimitSettings settings;
  settings.requests_per_second = 2;
  settings.input_tokens_per_minute = 6000;
  settings.announce = true;
  Limiter limiter(settings);
  std::string openai;
  limiter.append_headers(Provider::openai, 0, openai);
  EXPECT_NE(openai.find("x-ratelimit-limit-requests: 120\r\n"), std::string::npos) << openai;
  EXPECT_EQ(openai.find("input"), std::string::npos) << openai;
  std::string anthropic;
  limiter.append_headers(Provider::anthropic, 0, anthropic);
  EXPECT_NE(anthropic.find("anthropic-ratelimit-input-tokens-limit: 6000\r\n"), std::string::npos)
      << anthropic;
}

TEST(DelayWords, RoundAComputedDelayAsTheProviderDoes) {
  using std::chrono::milliseconds;
  const NamedDelay computed{milliseconds(250), true};
  std::string headers;
  EXPECT_EQ(append_delay_headers(Provider::openai, DelayForm::usual, computed, 0, headers),
            milliseconds(250));
  EXPECT_EQ(headers, "retry-after: 1\r\nretry-after-ms: 250\r\n");
  headers.clear();
  EXPECT_EQ(append_delay_headers(Provider::anthropic, DelayForm::usual, computed, 0, headers),
            milliseconds(1000));
  EXPECT_EQ(headers, "retry-after: 1\r\n");
  headers.clear();
  EXPECT_EQ(append_delay_headers(Provider::gemini, DelayForm::date, computed, 0, headers), milliseconds(250));
  EXPECT_EQ(headers, "");
}

TEST(DelayWords, NameADateOrMilliseconds) {
  using std::chrono::milliseconds;
  const NamedDelay given{milliseconds(1200)};
  std::string headers;
  EXPECT_EQ(append_delay_headers(Provider::openai, DelayForm::milliseconds, given, 0, headers),
            milliseconds(1200));
  EXPECT_EQ(headers, "retry-after-ms: 1200\r\n");
  headers.clear();
  // 1994-11-06 08:49:35.5 and 1.2 s: the next whole second is 37.
  const std::int64_t unix_us = 784'111'775'500'000;
  EXPECT_EQ(append_delay_headers(Provider::openai, DelayForm::date, given, unix_us, headers),
            milliseconds(1500));
  EXPECT_EQ(headers, "retry-after: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
}

TEST(Faults, StrikeAsOftenAsAsked) {
  FaultSettings settings;
  settings.drop = 0.2;
  settings.errors = {{0.1, 500}, {0.3, 529}};
  int drops = 0;
  int overloads = 0;
  for (std::uint64_t i = 0; i < 10000; ++i) {
    const auto choice = choose_fault(settings, 0, i);
    drops += choice.fault == Fault::drop;
    overloads += choice.fault == Fault::error && choice.status == 529;
  }
  EXPECT_NEAR(drops, 2000, 150);
  EXPECT_NEAR(overloads, 3000, 150);
}

TEST(Faults, PerContentDependsOnNothingElse) {
  FaultSettings settings;
  settings.mode = FaultSettings::Mode::per_content;
  settings.refusal = 0.5;
  int refusals = 0;
  for (std::uint64_t content = 0; content < 1000; ++content) {
    const auto first = choose_fault(settings, content, 1).fault;
    EXPECT_EQ(first, choose_fault(settings, content, 999).fault);
    refusals += first == Fault::refusal;
  }
  EXPECT_NEAR(refusals, 500, 60);
}

TEST(Faults, OfAStormComeEvenlyAndNoMoreThanTheBoundForAMessage) {
  FaultSettings settings;
  add_storm(settings, 0.8);
  EXPECT_NEAR(settings.total(), 0.8, 1e-9);
  settings.max_per_content = 3;
  FaultSource source(settings);
  std::map<std::pair<Fault, int>, int> kinds;
  std::map<std::uint64_t, std::uint32_t> given;
  std::uint64_t request = 0;
  for (std::uint64_t content = 0; content < 1000; ++content) {
    while (true) {
      const auto choice = source.choose(content, ++request);
      if (choice.fault == Fault::none) break;
      ++given[content];
      ++kinds[{choice.fault, choice.status}];
    }
  }
  EXPECT_EQ(kinds.size(), 8u);
  // A message meets 0.8 + 0.8^2 + 0.8^3 faults: some 244 of each kind.
  for (const auto& [kind, count] : kinds) EXPECT_NEAR(count, 244, 60) << to_string(kind.first) << kind.second;
  for (const auto& [content, count] : given) EXPECT_LE(count, 3u) << content;
  source.reset();
  settings.drop = 1;
  FaultSource again(settings);
  for (int i = 0; i < 3; ++i) EXPECT_NE(again.choose(7, 1).fault, Fault::none);
  EXPECT_EQ(again.choose(7, 1).fault, Fault::none);
  again.reset();
  EXPECT_NE(again.choose(7, 1).fault, Fault::none);
}

TEST(OutageSchedule, CountsFromTheFirstRequest) {
  OutageSchedule schedule({{1000, 2000, Outage::Kind::refuse, 503}, {5000, 6000, Outage::Kind::status, 500}});
  EXPECT_EQ(schedule.at(1500), nullptr);
  schedule.request_at(10'000);
  schedule.request_at(10'800);
  EXPECT_EQ(schedule.at(10'999), nullptr);
  ASSERT_NE(schedule.at(11'000), nullptr);
  EXPECT_EQ(schedule.at(11'000)->kind, Outage::Kind::refuse);
  EXPECT_EQ(schedule.at(12'000), nullptr);
  ASSERT_NE(schedule.at(15'999), nullptr);
  EXPECT_EQ(schedule.at(15'999)->status, 500);
  schedule.reset();
  EXPECT_EQ(schedule.at(15'999), nullptr);
}

TEST(ServingPlaces, WorkOnSoManyAndLetTheOthersWaitInLine) {
  ServingPlaces places(2);
  EXPECT_EQ(places.done_at(0, 100), 100);
  EXPECT_EQ(places.done_at(10, 100), 110);
  EXPECT_EQ(places.done_at(20, 100), 200) << "behind the first";
  EXPECT_EQ(places.done_at(20, 50), 160) << "behind the second";
  EXPECT_EQ(places.done_at(500, 100), 600) << "nobody waits any more";
  ServingPlaces unbounded(0);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(unbounded.done_at(5, 100), 105);
}

TEST(Latency, IsFixedOrLogNormal) {
  EXPECT_EQ(latency_us({}, 1), 0);
  EXPECT_EQ(latency_us({50, 0, 1}, 1), 50'000);
  int below = 0;
  double logs = 0;
  for (std::uint64_t i = 0; i < 10000; ++i) {
    const auto us = latency_us({100, 0.5, 3}, i);
    below += us < 100'000;
    logs += std::pow(std::log(static_cast<double>(us) / 100'000), 2);
  }
  EXPECT_NEAR(below, 5000, 250);
  EXPECT_NEAR(std::sqrt(logs / 10000), 0.5, 0.02);
}

TEST(TimerQueue, GivesDueTimersInOrder) {
  TimerQueue queue;
  EXPECT_FALSE(queue.next_due_us());
  for (const std::int64_t due : {30, 10, 20}) queue.add({due, 0, 0});
  EXPECT_EQ(queue.next_due_us(), 10);
  EXPECT_EQ(queue.take_due(20)->due_us, 10);
  EXPECT_EQ(queue.take_due(20)->due_us, 20);
  EXPECT_FALSE(queue.take_due(20));
}

}  // namespace
}  // namespace sluice::sim

#include "coordinator/governor/concurrency_search.hpp"
#include "coordinator/governor/rate_search.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

using namespace std::chrono_literals;

constexpr BootTime start = std::chrono::hours(1);

// --- RateSearch ---

/// Lets calls start at `rate` for `time`, in steps of 10 ms.
void run_at(RateSearch& search, double rate, BootTime& now, BootTime time, bool held_back = true) {
  double owed = 0;
  for (BootTime gone{}; gone < time; gone += 10ms) {
    now += 10ms;
    owed += rate * 0.01;
    const auto started = static_cast<std::uint32_t>(owed);
    owed -= started;
    search.hear(started, 0, 0, now);
    search.grow(held_back, std::nullopt, now);
  }
}

TEST(RateSearch, KnowsNoRateUntilACallIsRefused) {
  RateSearch search;
  auto now = start;
  run_at(search, 100, now, 5s);
  EXPECT_FALSE(search.rate());
}

TEST(RateSearch, RefusalsCutToHalfOfWhatWasAccepted) {
  RateSearch search;
  auto now = start;
  run_at(search, 100, now, 2s);
  EXPECT_TRUE(search.hear(0, 8, 0, now));
  EXPECT_NEAR(*search.rate(), 45, 5);
}

TEST(RateSearch, ASingleRefusalAmongManyCallsDoesNotCut) {
  RateSearch search;
  auto now = start;
  run_at(search, 100, now, 2s);
  EXPECT_FALSE(search.hear(0, 1, 0, now));
  EXPECT_FALSE(search.rate());
  EXPECT_TRUE(search.hear(0, 3, 0, now)) << "more than a twentieth of half a second's";
}

TEST(RateSearch, AtLowRatesTwoRefusalsCut) {
  RateSearch search;
  auto now = start;
  run_at(search, 2, now, 5s);
  EXPECT_FALSE(search.hear(0, 1, 0, now));
  EXPECT_TRUE(search.hear(0, 1, 0, now));
  EXPECT_GT(*search.rate(), 0.4);
  EXPECT_LT(*search.rate(), 2);
}

TEST(RateSearch, WhatIsRefusedBeforeAnythingWasAcceptedDoesNotStallTheRun) {
  RateSearch search;
  auto now = start;
  EXPECT_TRUE(search.hear(5, 5, 0, now));
  EXPECT_GE(*search.rate(), 0.5);
  for (int call = 0; call < 5; ++call) {
    run_at(search, 2, now += 1s, 1s);
    search.hear(0, 2, 0, now);
  }
  EXPECT_FALSE(search.accepted()) << "nothing was";
  const auto again = now;
  while (*search.rate() < 50 && now < again + 60s) run_at(search, *search.rate(), now, 500ms);
  EXPECT_LT(now, again + 20s) << "it grows as fast as at the start, not in slow steps";
}

TEST(RateSearch, WhatIsRefusedAtAnyRateDoesNotStarveTheFleet) {
  RateSearch search;
  auto now = start;
  double owed = 0;
  double refusals_owed = 0;
  run_at(search, 100, now, 2s);
  search.hear(0, 8, 0, now);
  double started_in_the_end = 0;
  for (int step = 0; step < 12'000; ++step) {
    now += 10ms;
    owed += std::min(100.0, *search.rate()) * 0.01;
    const auto started = static_cast<std::uint32_t>(owed);
    owed -= started;
    refusals_owed += started * 0.1;
    const auto refused = static_cast<std::uint32_t>(refusals_owed);
    refusals_owed -= refused;
    search.hear(started, refused, 0, now);
    search.grow(true, std::nullopt, now);
    if (step >= 6000) started_in_the_end += started;
  }
  EXPECT_GE(started_in_the_end / 60, 50) << "every tenth call is refused, whatever the rate";
}

TEST(RateSearch, DoublesUntilTheNextRefusalAndThenStaysJustBelowWhatWasAccepted) {
  RateSearch search;
  auto now = start;
  run_at(search, 100, now, 2s);
  search.hear(0, 8, 0, now);
  EXPECT_NEAR(*search.rate(), 45, 5);
  run_at(search, 50, now, 400ms);
  EXPECT_NEAR(*search.rate(), 90, 10);
  run_at(search, 100, now, 200ms);
  EXPECT_TRUE(search.hear(0, 8, 0, now));
  ASSERT_TRUE(search.accepted());
  EXPECT_NEAR(*search.accepted(), 70, 15) << "what was accepted since the first cut";
  EXPECT_NEAR(*search.rate(), *search.accepted() / 2, 1);
  run_at(search, 50, now, 390ms);
  EXPECT_NEAR(*search.rate(), *search.accepted() / 2, 1) << "half for a while";
  run_at(search, 75, now, 500ms);
  EXPECT_NEAR(*search.rate(), 0.95 * *search.accepted(), 1);
  run_at(search, 95, now, 1s);
  const double before = *search.rate();
  run_at(search, 95, now, 1s);
  EXPECT_GT(*search.rate(), before);
  EXPECT_LT(*search.rate(), before + 6) << "slow steps";
}

TEST(RateSearch, RefusalsOfCallsThatBeganBeforeACutDoNotCutAgain) {
  RateSearch search;
  auto now = start;
  run_at(search, 100, now, 2s);
  search.hear(0, 8, 0, now);
  const auto rate = search.rate();
  EXPECT_FALSE(search.hear(0, 20, 0, now + 50ms)) << "too soon";
  EXPECT_FALSE(search.hear(0, 0, 20, now + 500ms)) << "late ones";
  EXPECT_EQ(search.rate(), rate);
}

TEST(RateSearch, DoesNotGrowWhileItIsNotUsed) {
  RateSearch search;
  auto now = start;
  run_at(search, 100, now, 2s);
  search.hear(0, 8, 0, now);
  const auto rate = search.rate();
  run_at(search, 1, now, 10s, false);
  EXPECT_EQ(search.rate(), rate);
  now += 1h;
  search.grow(true, std::nullopt, now);
  EXPECT_LT(*search.rate(), *rate * 1.5) << "an hour in which nobody looked";
}

TEST(RateSearch, IsOverAtTheKnownRate) {
  RateSearch search;
  auto now = start;
  run_at(search, 100, now, 2s);
  search.hear(0, 8, 0, now);
  for (int i = 0; i < 50 && search.rate(); ++i) {
    search.hear(5, 0, 0, now);
    search.grow(true, 100.0, now += 50ms);
  }
  EXPECT_FALSE(search.rate());
}

/// A provider's bucket that refuses with a delay, and a fleet that waits for it.
struct Paused {
  double accepted = 0;
  double refused = 0;
  double found = 0;  ///< What the search takes the rate for in the end.
};

/// Calls of a fleet with `in_flight` at a time and 100 ms each, for two minutes at a bucket of `rate` and
/// `burst` whose refusals name `delay`. The calls of the last half are counted.
Paused run_with_pauses(double rate, double burst, BootTime delay, std::size_t in_flight,
                       std::optional<double> ceiling = std::nullopt) {
  constexpr BootTime step = 10ms;
  RateSearch search;
  Paused paused;
  double level = burst;
  double owed = 0;
  auto now = start;
  auto paused_until = start;
  std::deque<std::pair<BootTime, bool>> calls;  // When each ends, and whether it is answered.
  for (BootTime gone{}; gone < 2min; gone += step) {
    now += step;
    level = std::min(burst, level + rate * 0.01);
    const auto allowed = search.rate() ? search.rate() : ceiling;
    owed = allowed ? std::min(owed + *allowed * 0.01, 2.0) : 100;
    std::uint32_t started = 0;
    std::uint32_t refused = 0;
    while (!calls.empty() && calls.front().first <= now) {
      const bool answered = calls.front().second;
      if (!answered) ++refused;
      if (gone > 1min) (answered ? paused.accepted : paused.refused) += 1;
      calls.pop_front();
    }
    for (; now >= paused_until && owed >= 1 && calls.size() < in_flight; owed -= 1, ++started) {
      const bool answered = level >= 1;
      if (answered) level -= 1;
      calls.emplace_back(now + 100ms, answered);
    }
    search.hear(started, 0, 0, now);
    // Workers tell of each by itself.
    for (; refused > 0; --refused) {
      search.hear(0, 1, 0, now);
      paused_until = now + delay;
      search.pause(delay, now);
    }
    search.grow(now >= paused_until, ceiling, now);
  }
  paused.found = search.accepted().value_or(0);
  return paused;
}

TEST(RateSearch, NamedDelaysBelongToTheTimeInWhichTheProviderTookItsCalls) {
  for (const double rate : {2.0, 4.0, 20.0}) {
    for (const BootTime delay : {BootTime(1s), BootTime(6s), BootTime(20s)}) {
      SCOPED_TRACE(testing::Message() << rate << " calls a second, " << delay.count() / 1'000'000 << " s");
      const auto run = run_with_pauses(rate, rate, delay, 5);
      EXPECT_LE(run.refused, 0.1 * run.accepted);
      EXPECT_GE(run.accepted / 60, (delay == 1s ? 0.7 : 0.35) * rate) << "each refusal costs the delay";
      EXPECT_GE(run.found, 0.3 * rate);
      EXPECT_LE(run.found, 1.3 * rate);
    }
  }
}

TEST(RateSearch, ALimitThatIsSetTooHighIsFoundToBeSo) {
  const auto run = run_with_pauses(2, 2, 1s, 5, 10);
  EXPECT_LE(run.refused, 0.1 * run.accepted);
  EXPECT_GE(run.accepted / 60, 1.4);
  EXPECT_GE(run.found, 1);
  EXPECT_LE(run.found, 2.6);
}

// --- ConcurrencySearch ---

/// A server that serves `parallel` calls at a time, 1 s each: answers by Little's law. Returns the number
/// that the search has come to after `answers`.
std::uint32_t settle(ConcurrencySearch& search, std::uint32_t parallel, std::uint64_t answers) {
  for (std::uint64_t i = 0; i < answers; ++i) {
    const double latency = std::max(1.0, static_cast<double>(search.limit()) / parallel);
    search.hear(1, 0, static_cast<std::uint64_t>(latency * 1e6), search.limit() + 10);
  }
  return search.found().value_or(0);
}

TEST(ConcurrencySearch, FindsTheKneeOfAServer) {
  for (const std::uint32_t parallel : {1u, 4u, 32u, 128u, 400u}) {
    ConcurrencySearch search(5);
    search.set_most(512);
    const auto found = settle(search, parallel, 40'000);
    EXPECT_GE(found, parallel * 0.85) << parallel;
    EXPECT_LE(found, parallel * 1.5 + 1) << parallel;
  }
}

/// What a search comes to at a server with a line: a call takes one of its places for 100 ms, or waits for
/// one.
struct InLine {
  std::uint32_t most = 0;                 ///< The greatest number that the search allowed.
  std::uint64_t answers_until_found = 0;  ///< 0: it was not found.
};

/// `told_every`: in ms, how often the search hears what ended, as late as that.
InLine open_with_a_line(std::uint32_t places, int told_every) {
  constexpr int service = 100;
  ConcurrencySearch search(4);
  search.set_most(512);
  InLine seen;
  std::deque<int> line;                      // When each call began that has no place yet.
  std::vector<std::pair<int, int>> serving;  // When each ends, and when it began.
  std::uint32_t answered = 0;
  std::uint64_t latency_us = 0;
  std::uint64_t answers = 0;
  for (int now = 0; now < 20'000; ++now) {
    std::erase_if(serving, [&](const auto& call) {
      if (call.first > now) return false;
      ++answered;
      latency_us += static_cast<std::uint64_t>(now - call.second) * 1000;
      return true;
    });
    while (serving.size() + line.size() < search.limit()) line.push_back(now);
    while (serving.size() < places && !line.empty()) {
      serving.emplace_back(now + service, line.front());
      line.pop_front();
    }
    if (now % told_every != 0) continue;
    search.hear(answered, 0, latency_us, search.limit() + 10);
    answers += answered;
    answered = 0;
    latency_us = 0;
    seen.most = std::max(seen.most, search.limit());
    if (search.found() && seen.answers_until_found == 0) seen.answers_until_found = answers;
  }
  return seen;
}

TEST(ConcurrencySearch, OpensNoFurtherThanTheAnswersHadTimeToTell) {
  for (const std::uint32_t places : {8u, 20u, 60u}) {
    for (const int told_every : {1, 10, 50, 100, 200}) {
      SCOPED_TRACE(testing::Message() << places << " places, told every " << told_every << " ms");
      const auto seen = open_with_a_line(places, told_every);
      const bool promptly = told_every < 100;
      EXPECT_LE(seen.most, 5 * places + 40) << "doubling sees its line a latency late";
      EXPECT_GT(seen.answers_until_found, 0u);
      EXPECT_LE(seen.answers_until_found, places * (promptly ? 13 : 18) + 60);
    }
  }
}

/// Answers of very different length: how many places of a server were busy on average over five minutes.
double busy_places(std::uint32_t places, double sigma, unsigned seed) {
  std::mt19937 random(seed);
  std::lognormal_distribution<double> seconds(-sigma * sigma / 2, sigma);
  ConcurrencySearch search(5);
  search.set_most(512);
  using Call = std::pair<double, double>;  // When it ends, and when it began.
  std::priority_queue<Call, std::vector<Call>, std::greater<>> calls;
  std::priority_queue<double, std::vector<double>, std::greater<>> free_at;
  for (std::uint32_t i = 0; i < places; ++i) free_at.push(0);
  double now = 0;
  double busy = 0;
  constexpr double end = 300;
  while (now < end) {
    while (calls.size() < search.limit()) {
      const double begins = std::max(now, free_at.top());
      const double takes = 2 * seconds(random);
      free_at.pop();
      free_at.push(begins + takes);
      calls.emplace(begins + takes, now);
      if (begins < end) busy += std::min(takes, end - begins);
    }
    const auto [ended, began] = calls.top();
    calls.pop();
    now = ended;
    search.hear(1, 0, static_cast<std::uint64_t>((ended - began) * 1e6), calls.size() + 1000);
  }
  return busy / end;
}

TEST(ConcurrencySearch, AnswersOfDifferentLengthAreNoLine) {
  for (const std::uint32_t places : {8u, 200u, 512u}) {
    for (const double sigma : {0.3, 0.8}) {
      std::vector<double> busy;
      for (unsigned seed = 0; seed < 40; ++seed) busy.push_back(busy_places(places, sigma, seed));
      std::ranges::sort(busy);
      SCOPED_TRACE(testing::Message() << places << " places, sigma " << sigma);
      EXPECT_GE(busy[2], 0.5 * places) << "in 38 of 40 runs";
      EXPECT_GE(busy[20], 0.8 * places);
    }
  }
}

TEST(ConcurrencySearch, GoesNoFurtherThanItMay) {
  ConcurrencySearch search(5);
  search.set_most(40);
  EXPECT_LE(settle(search, 1000, 20'000), 40u);
  EXPECT_GE(search.limit(), 35u);
  search.set_most(10);
  EXPECT_LE(search.limit(), 10u);
}

TEST(ConcurrencySearch, FollowsAServerThatSlowsDown) {
  ConcurrencySearch search(5);
  search.set_most(512);
  settle(search, 100, 20'000);
  const auto found = settle(search, 20, 60'000);
  EXPECT_LE(found, 35u);
  EXPECT_GE(found, 17u);
}

TEST(ConcurrencySearch, LearnsNothingFromTimesWithoutDemand) {
  ConcurrencySearch search(5);
  search.set_most(512);
  for (int i = 0; i < 1000; ++i) search.hear(1, 0, 1'000'000, 3);
  EXPECT_EQ(search.limit(), 5u);
  EXPECT_FALSE(search.found());
}

TEST(ConcurrencySearch, AnOutageChangesNothing) {
  ConcurrencySearch search(5);
  search.set_most(512);
  const auto found = settle(search, 40, 20'000);
  for (int i = 0; i < 40; ++i) search.hear(0, 1, 0, 1000);
  search.interrupt();
  EXPECT_EQ(search.found(), found);
  EXPECT_GE(search.limit(), found * 0.8);
  ConcurrencySearch opening(5);
  opening.set_most(512);
  settle(opening, 400, 20);
  const auto limit = opening.limit();
  EXPECT_FALSE(opening.found());
  for (int i = 0; i < 10; ++i) opening.hear(0, 1, 0, 1000);
  opening.interrupt();
  EXPECT_EQ(opening.limit(), limit);
  EXPECT_FALSE(opening.found());
  settle(opening, 400, 400);
  EXPECT_GT(opening.limit(), 100u) << "it goes on opening";
}

TEST(ConcurrencySearch, AFailureBeforeTheFirstAnswerIsNoMeasure) {
  ConcurrencySearch search(5);
  search.set_most(512);
  search.hear(0, 1, 0, 1000);
  for (int i = 0; i < 60 && !search.found(); ++i) search.hear(1, 0, 1'000'000, 1000);
  EXPECT_EQ(search.found(), 5u);
}

TEST(ConcurrencySearch, NoNumberOfAnswersMakesItWrap) {
  ConcurrencySearch search(5);
  search.set_most(512);
  search.hear(0xffffffff, 0, 1'000'000, 1000);
  EXPECT_GE(search.limit(), 5u);
}

TEST(ConcurrencySearch, WhatFailedIsNotDoubled) {
  ConcurrencySearch search(5);
  search.set_most(512);
  const auto answer = [&search] {
    const double latency = std::max(1.0, search.limit() / 100.0);
    search.hear(1, 0, static_cast<std::uint64_t>(latency * 1e6), search.limit() + 10);
  };
  for (int i = 0; i < 40'000 && !search.found(); ++i) answer();
  ASSERT_TRUE(search.found());
  const auto before = search.limit();
  for (int i = 0; i < 4000 && search.limit() >= before; ++i) search.hear(1, 1, 1'000'000, 1000);
  const auto smaller = search.limit();
  ASSERT_LT(smaller, before);
  for (int i = 0; i < 4000 && search.limit() == smaller; ++i) answer();
  EXPECT_LE(search.limit(), smaller * 1.2);
}

// 500s that come at random, however many calls there are: the search once took each window with two of them
// for an overload, and ended at one call at a time.
TEST(ConcurrencySearch, FailuresThatComeAtRandomDoNotMakeItSmall) {
  for (const double share : {0.02, 0.05, 0.1}) {
    for (unsigned seed = 1; seed <= 5; ++seed) {
      std::mt19937 random(seed);
      std::bernoulli_distribution fails(share);
      ConcurrencySearch search(5);
      search.set_most(512);
      for (int i = 0; i < 10'000; ++i) {
        const bool failed = fails(random);
        const double latency = std::max(1.0, search.limit() / 100.0);  // It has 100 places.
        const auto latency_us = static_cast<std::uint64_t>(latency * 1e6);
        search.hear(failed ? 0 : 1, failed ? 1 : 0, failed ? 0 : latency_us, 1000);
      }
      EXPECT_GE(search.limit(), 60u) << share << ", seed " << seed;
      EXPECT_LE(search.limit(), 200u) << share << ", seed " << seed;
    }
  }
}

// A server that refuses what it has no place for: more calls bring more refusals and no more answers.
TEST(ConcurrencySearch, FailuresThatGrowWithTheCallsKeepItFromGrowing) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    std::mt19937 random(seed);
    ConcurrencySearch search(5);
    search.set_most(512);
    for (int i = 0; i < 20'000; ++i) {
      const double refused = std::max(0.0, 1.0 - 50.0 / search.limit());
      const bool failed = std::bernoulli_distribution(refused)(random);
      search.hear(failed ? 0 : 1, failed ? 1 : 0, failed ? 0 : 1'000'000, 1000);
    }
    EXPECT_GE(search.limit(), 30u) << "seed " << seed;
    EXPECT_LE(search.limit(), 75u) << "seed " << seed;
  }
}

TEST(ConcurrencySearch, FailuresMakeItSmaller) {
  ConcurrencySearch search(5);
  search.set_most(512);
  const auto found = settle(search, 100, 20'000);
  for (int i = 0; i < 400; ++i) search.hear(1, 1, 1'000'000, 1000);
  EXPECT_LT(search.limit(), found * 0.8);
}

}  // namespace
}  // namespace sluice

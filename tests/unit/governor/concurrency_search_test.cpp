#include "coordinator/governor/concurrency_search.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <numeric>
#include <optional>
#include <queue>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

EndedCalls one_call(bool failed, std::uint64_t latency_us) {
  return failed ? EndedCalls{0, 1} : EndedCalls{1, 0, latency_us};
}

/// A server that serves `parallel` calls at a time, 1 s each: answers by Little's law. Returns the number
/// that the search has come to after `answers`.
std::uint32_t settle(ConcurrencySearch& search, std::uint32_t parallel, std::uint64_t answers) {
  for (std::uint64_t i = 0; i < answers; ++i) {
    const double latency = std::max(1.0, static_cast<double>(search.limit()) / parallel);
    search.on_outcomes({1, 0, static_cast<std::uint64_t>(latency * 1e6)}, search.limit() + 10);
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

/// Calls that ended since the last report.
class Report {
 public:
  void add(int latency_ms) { latencies_us_.push_back(latency_ms * 1000.0); }
  EndedCalls take() {
    const auto latencies = std::exchange(latencies_us_, {});
    const auto count = static_cast<double>(latencies.size());
    const double sum = std::accumulate(latencies.begin(), latencies.end(), 0.0);
    double squares = 0;
    for (const double latency : latencies) squares += (latency - sum / count) * (latency - sum / count);
    EndedCalls ended{static_cast<std::uint32_t>(latencies.size()), 0, static_cast<std::uint64_t>(sum), {}};
    if (!latencies.empty())
      ended.latency_deviation_us = static_cast<std::uint64_t>(std::sqrt(squares / count));
    return ended;
  }

 private:
  std::vector<double> latencies_us_;
};

/// What a search comes to at a server with a line: a call takes one of its places for some 100 ms, or
/// waits for one.
struct InLine {
  std::uint32_t most = 0;                 ///< The greatest number that the search allowed,
  std::uint32_t most_late = 0;            ///< and once 30 answers had come for each place.
  std::uint64_t answers_until_found = 0;  ///< 0: it was not found.
};

/// `report_interval`: in ms, how often the search gets what ended, as late as that. `longest_stall`: in ms,
/// for how long at most nothing is done after a report.
InLine open_with_a_line(std::uint32_t places, int report_interval, int longest_stall, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> serving_time(95, 105);
  std::uniform_int_distribution<int> stall(0, longest_stall);
  ConcurrencySearch search(4);
  search.set_most(512);
  InLine seen;
  std::deque<int> line;                      // When each call began that has no place yet.
  std::vector<std::pair<int, int>> serving;  // When each ends, and when it began.
  Report report;
  std::uint64_t answers = 0;
  for (int now = 0; now < 20'000; ++now) {
    std::erase_if(serving, [&](const auto& call) {
      if (call.first > now) return false;
      report.add(now - call.second);
      return true;
    });
    while (serving.size() + line.size() < search.limit()) line.push_back(now);
    while (serving.size() < places && !line.empty()) {
      serving.emplace_back(now + serving_time(random), line.front());
      line.pop_front();
    }
    if (now % report_interval != 0) continue;
    const auto ended = report.take();
    search.on_outcomes(ended, search.limit() + 10);
    answers += ended.answered;
    seen.most = std::max(seen.most, search.limit());
    if (answers >= 30 * places) seen.most_late = std::max(seen.most_late, search.limit());
    if (search.found() && seen.answers_until_found == 0) seen.answers_until_found = answers;
    now += stall(random);
  }
  return seen;
}

TEST(ConcurrencySearch, OpensNoFurtherThanTheAnswersHadTimeToShow) {
  for (const std::uint32_t places : {8u, 20u, 60u}) {
    for (const int report_interval : {1, 10, 50, 100, 200}) {
      for (unsigned seed = 1; seed <= 5; ++seed) {
        SCOPED_TRACE(::testing::Message()
                     << places << " places, a report every " << report_interval << " ms, seed " << seed);
        const auto seen = open_with_a_line(places, report_interval, 0, seed);
        const bool promptly = report_interval < 100;
        EXPECT_LE(seen.most, 5 * places + 40) << "doubling sees its line a latency late";
        EXPECT_LE(seen.most_late, 3 * places);
        EXPECT_GT(seen.answers_until_found, 0u);
        EXPECT_LE(seen.answers_until_found, places * (promptly ? 24 : 30) + 110);
      }
    }
  }
}

// Answers that come together have waited together: their sum alone looked like answers of very different
// length, and the number was doubled once more.
TEST(ConcurrencySearch, AnswersThatComeTogetherAreNotDifferentForIt) {
  for (const std::uint32_t places : {8u, 20u, 60u}) {
    for (const int report_interval : {10, 100, 200}) {
      int stays_large = 0;
      for (unsigned seed = 1; seed <= 40; ++seed)
        stays_large += open_with_a_line(places, report_interval, 100, seed).most_late > 3 * places ? 1 : 0;
      EXPECT_LE(stays_large, 10) << places << " places, a report every " << report_interval << " ms";
    }
  }
}

/// Answers of very different length, of a server with so many places.
struct VariedServer {
  std::size_t places = 0;
  double sigma = 0;  ///< Of the logarithms of what the calls take, 1 s in the mean.
};

struct VariedRun {
  double seconds = 0;      ///< Until the last answer.
  double busy_places = 0;  ///< In the mean over that time.
  std::optional<std::uint32_t> found;
};

/// `limit`: of the calls in flight; 0: as the search has it.
VariedRun run_calls(int calls, const VariedServer& server, std::uint32_t most, unsigned seed,
                    std::uint32_t limit = 0) {
  std::mt19937 random(seed);
  std::lognormal_distribution<double> takes(-server.sigma * server.sigma / 2, server.sigma);
  ConcurrencySearch search(std::min(5u, most));
  search.set_most(most);
  using Call = std::pair<double, double>;  // When it ends, and when it began.
  std::priority_queue<Call, std::vector<Call>, std::greater<>> in_flight;
  std::priority_queue<double, std::vector<double>, std::greater<>> free_at;
  for (std::size_t i = 0; i < server.places; ++i) free_at.push(0);
  double now = 0;
  double work = 0;
  int waiting = calls;
  while (waiting > 0 || !in_flight.empty()) {
    while (waiting > 0 && in_flight.size() < (limit > 0 ? limit : search.limit())) {
      const double begins = std::max(now, free_at.top());
      const double ends = begins + takes(random);
      free_at.pop();
      free_at.push(ends);
      in_flight.emplace(ends, now);
      work += ends - begins;
      --waiting;
    }
    const auto [ended, began] = in_flight.top();
    in_flight.pop();
    now = ended;
    search.on_outcomes({1, 0, static_cast<std::uint64_t>((ended - began) * 1e6)},
                       in_flight.size() + static_cast<std::size_t>(waiting));
  }
  return {now, work / now, search.found()};
}

TEST(ConcurrencySearch, AnswersOfDifferentLengthAreNoQueue) {
  for (const std::size_t places : {8u, 200u, 512u}) {
    for (const double sigma : {0.3, 0.8}) {
      std::vector<double> busy;
      const int calls = static_cast<int>(places) * 150;
      for (unsigned seed = 0; seed < 20; ++seed)
        busy.push_back(run_calls(calls, {places, sigma}, 512, seed).busy_places /
                       static_cast<double>(places));
      std::ranges::sort(busy);
      SCOPED_TRACE(::testing::Message() << places << " places, sigma " << sigma);
      EXPECT_GE(busy[1], 0.7) << "in 19 of 20 runs";
      EXPECT_GE(busy[10], 0.85);
    }
  }
}

// 61 calls of half a second each took 15 s where six at a time take 6: the search took chance for a queue,
// went down to two at a time, and left that to later runs as the provider's limit.
TEST(ConcurrencySearch, AShortRunTakesNoLongerThanWithAllThatIsAllowed) {
  for (const std::uint32_t most : {2u, 6u, 20u}) {
    for (const int calls : {60, 200, 1000}) {
      for (const double sigma : {0.0, 0.5, 0.8, 1.2}) {
        std::vector<double> longer;
        int found = 0;
        for (unsigned seed = 1; seed <= 40; ++seed) {
          const VariedServer without_limit{1000, sigma};
          const auto run = run_calls(calls, without_limit, most, seed);
          longer.push_back(run.seconds / run_calls(calls, without_limit, most, seed, most).seconds);
          found += run.found ? 1 : 0;
        }
        std::ranges::sort(longer);
        SCOPED_TRACE(::testing::Message() << calls << " calls, at most " << most << ", sigma " << sigma);
        const double opening = most > 5 ? 0.25 * most * (most - 5) / calls : 0;
        EXPECT_LE(longer[20], 1.15 + opening);
        EXPECT_LE(longer[35], 1.4 + opening) << "in nine of ten runs";
        EXPECT_LE(found, 4) << "of 40 runs find a limit where there is none";
      }
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

// A worker that left during a step, and came back: the step was judged by the number that was left, and that
// number was the provider's limit to later runs.
TEST(ConcurrencySearch, WhatWasNotAllowedIsNoLimitOnceItIs) {
  for (const std::uint64_t answers_before : {10u, 40u, 80u, 150u, 250u}) {
    SCOPED_TRACE(::testing::Message() << answers_before << " answers after the second worker");
    ConcurrencySearch search(5);
    search.set_most(16);
    settle(search, 1000, 2000);
    search.set_most(24);
    settle(search, 1000, answers_before);
    search.set_most(8);
    settle(search, 1000, 200);
    search.set_most(24);
    EXPECT_FALSE(search.found());
    settle(search, 1000, 800);
    EXPECT_EQ(search.limit(), 24u);
  }
}

// The number had stayed for so long that steps were rare, and was found again after 16,000 answers.
TEST(ConcurrencySearch, GrowsSoonAfterFailuresThatEnd) {
  ConcurrencySearch search(5);
  search.set_most(512);
  settle(search, 100, 60'000);
  ASSERT_GE(search.limit(), 80u);
  for (int i = 0; i < 4000 && search.limit() >= 80; ++i) search.on_outcomes({1, 1, 1'000'000}, 1000);
  ASSERT_LT(search.limit(), 80u);
  settle(search, 100, 2000);
  EXPECT_GE(search.limit(), 80u);
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
  for (int i = 0; i < 1000; ++i) search.on_outcomes({1, 0, 1'000'000}, 3);
  EXPECT_EQ(search.limit(), 5u);
  EXPECT_FALSE(search.found());
}

TEST(ConcurrencySearch, AnOutageChangesNothing) {
  ConcurrencySearch search(5);
  search.set_most(512);
  const auto found = settle(search, 40, 20'000);
  for (int i = 0; i < 40; ++i) search.on_outcomes({0, 1, 0}, 1000);
  search.interrupt();
  EXPECT_EQ(search.found(), found);
  EXPECT_GE(search.limit(), found * 0.8);
  ConcurrencySearch opening(5);
  opening.set_most(512);
  settle(opening, 400, 20);
  const auto limit = opening.limit();
  EXPECT_FALSE(opening.found());
  for (int i = 0; i < 10; ++i) opening.on_outcomes({0, 1, 0}, 1000);
  opening.interrupt();
  EXPECT_EQ(opening.limit(), limit);
  EXPECT_FALSE(opening.found());
  settle(opening, 400, 400);
  EXPECT_GT(opening.limit(), 100u) << "it goes on opening";
}

// What hung in the outage and was answered after it was measured as what the number brings: all else brought
// more then, and the number was lost.
TEST(ConcurrencySearch, AnswersThatHungInAnOutageAreNoMeasure) {
  for (const int failures : {0, 40}) {
    SCOPED_TRACE(::testing::Message() << failures << " failures are told before it");
    ConcurrencySearch search(5);
    search.set_most(512);
    const auto found = settle(search, 40, 20'000);
    ASSERT_GE(found, 32u);
    for (int i = 0; i < failures; ++i) search.on_outcomes({0, 1, 0}, 1000);
    search.interrupt();
    const auto hung = search.limit();
    for (std::uint32_t i = 0; i < hung; ++i) search.on_outcomes({1, 0, 60'000'000}, 1000);
    std::uint32_t most = 0;
    for (int i = 0; i < 4000; ++i) {
      settle(search, 40, 1);
      most = std::max(most, search.limit());
      ASSERT_TRUE(search.found()) << "after " << i << " answers";
    }
    EXPECT_LE(most, found * 3 / 2);
  }
}

// They ended the opening: of a hundred calls at a time two were left.
TEST(ConcurrencySearch, AnswersThatHungInAnOutageDoNotEndTheOpening) {
  for (const bool come_together : {false, true}) {
    ConcurrencySearch search(5);
    search.set_most(512);
    while (search.limit() < 100) settle(search, 400, 1);
    search.interrupt();
    const auto hung = search.limit();
    if (come_together) search.on_outcomes({hung, 0, 60'000'000ull * hung, 0}, 1000);
    for (std::uint32_t i = 0; i < hung && !come_together; ++i) search.on_outcomes({1, 0, 60'000'000}, 1000);
    EXPECT_EQ(search.limit(), hung);
    settle(search, 400, 1000);
    EXPECT_GE(search.limit(), 400u);
  }
}

// Failures that are always there kept the standing of the opening, and each outage led back to it.
TEST(ConcurrencySearch, AnOutageChangesNothingWhereAFewCallsAlwaysFail) {
  ConcurrencySearch search(5);
  search.set_most(512);
  for (int i = 0; i < 500; ++i) {
    const auto latency_us = std::max(1'000'000.0, search.limit() * 10'000.0);  // It has 100 places.
    search.on_outcomes({19, 1, static_cast<std::uint64_t>(19 * latency_us)}, 1000);
  }
  const auto before = search.limit();
  ASSERT_GE(before, 80u);
  for (int i = 0; i < 5; ++i) search.on_outcomes({0, 1, 0}, 1000);
  search.interrupt();
  EXPECT_GE(search.limit(), 80u);
  EXPECT_LE(search.limit(), before * 5 / 4);
}

// The same while it opens: each outage led back to the number of the first failure.
TEST(ConcurrencySearch, AnOutageWhileItOpensChangesLittleWhereAFewCallsAlwaysFail) {
  ConcurrencySearch search(5);
  search.set_most(512);
  for (int i = 0; i < 1000 && search.limit() < 300; ++i) {
    const bool failed = i % 25 == 24;
    search.on_outcomes(one_call(failed, 1'000'000), 1000);
  }
  ASSERT_GE(search.limit(), 300u);
  for (int i = 0; i < 10; ++i) search.on_outcomes({0, 1, 0}, 1000);
  search.interrupt();
  EXPECT_GE(search.limit(), 200u);
}

TEST(ConcurrencySearch, FailuresBeforeTheFirstAnswerAreNoMeasure) {
  ConcurrencySearch search(5);
  search.set_most(512);
  search.on_outcomes({0, 16, 0}, 1000);
  for (int i = 0; i < 2000; ++i) search.on_outcomes({1, 0, 1'000'000}, 1000);
  EXPECT_EQ(search.limit(), 512u);
  EXPECT_FALSE(search.found());
}

TEST(ConcurrencySearch, NoNumberOfAnswersMakesItWrap) {
  ConcurrencySearch search(5);
  search.set_most(512);
  search.on_outcomes({0xffffffff, 0, 1'000'000}, 1000);
  EXPECT_GE(search.limit(), 5u);
}

// A worker may say anything: the answers that were waited for then had no end.
TEST(ConcurrencySearch, NoDeviationIsMoreThanThatOfOneLongAnswer) {
  LatencySample sample;
  sample.add({4, 0, 4'000'000, 0xffffffffffffffff});
  EXPECT_LE(sample.variation(), std::sqrt(3.0));
}

TEST(ConcurrencySearch, WhatFailedIsNotDoubled) {
  ConcurrencySearch search(5);
  search.set_most(512);
  const auto answer = [&search] {
    const double latency = std::max(1.0, search.limit() / 100.0);
    search.on_outcomes({1, 0, static_cast<std::uint64_t>(latency * 1e6)}, search.limit() + 10);
  };
  for (int i = 0; i < 40'000 && !search.found(); ++i) answer();
  ASSERT_TRUE(search.found());
  const auto before = search.limit();
  for (int i = 0; i < 4000 && search.limit() >= before; ++i) search.on_outcomes({1, 1, 1'000'000}, 1000);
  const auto smaller = search.limit();
  ASSERT_LT(smaller, before);
  for (int i = 0; i < 4000 && search.limit() == smaller; ++i) answer();
  EXPECT_LE(search.limit(), smaller * 1.2);
}

// 500s that come at random, however many calls there are: the search once took each window with two of them
// for an overload, and ended at one call at a time.
TEST(ConcurrencySearch, FailuresThatComeAtRandomDoNotMakeItSmall) {
  for (const double share : {0.02, 0.05, 0.1, 0.15, 0.2}) {
    for (unsigned seed = 1; seed <= 5; ++seed) {
      std::mt19937 random(seed);
      std::bernoulli_distribution fails(share);
      ConcurrencySearch search(5);
      search.set_most(512);
      for (int i = 0; i < 10'000; ++i) {
        const bool failed = fails(random);
        const double latency = std::max(1.0, search.limit() / 100.0);  // It has 100 places.
        const auto latency_us = static_cast<std::uint64_t>(latency * 1e6);
        search.on_outcomes(one_call(failed, latency_us), 1000);
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
      search.on_outcomes(one_call(failed, 1'000'000), 1000);
    }
    EXPECT_GE(search.limit(), 30u) << "seed " << seed;
    EXPECT_LE(search.limit(), 75u) << "seed " << seed;
  }
}

TEST(ConcurrencySearch, FailuresMakeItSmaller) {
  ConcurrencySearch search(5);
  search.set_most(512);
  const auto found = settle(search, 100, 20'000);
  for (int i = 0; i < 400; ++i) search.on_outcomes({1, 1, 1'000'000}, 1000);
  EXPECT_LT(search.limit(), found * 0.8);
}

}  // namespace
}  // namespace sluice

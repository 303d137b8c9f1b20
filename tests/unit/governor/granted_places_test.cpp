// How many calls workers may have in flight: what they name, what is set, and what a search goes to.
#include "tests/unit/governor/governor_fixture.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace sluice::governor_test {

/// The most places in all that workers of such concurrency are given at a server with room for 200 calls.
std::uint32_t most_places(const ProviderLimits& limits, const std::vector<WorkerConcurrency>& workers) {
  Governor searching({{{"openai", limits}}, {60s, 1s, 600s}}, start);
  std::vector<std::uint32_t> places;
  for (const auto& worker : workers) {
    searching.join(places.size() + 1, worker, start);
    places.push_back(0);
  }
  std::uint32_t most = 0;
  auto now = start;
  for (std::uint64_t round = 1; round <= 200; ++round) {
    now += 1s;
    for (std::size_t i = 0; i < places.size(); ++i) {
      wire::Demand demand;
      demand.provider = "openai";
      demand.ready_calls = 1000;
      demand.in_flight = places[i];
      demand.outcomes.answered = places[i];
      demand.outcomes.latency_sum_us = std::uint64_t{places[i]} * 100'000;
      const auto newest_grants = static_cast<std::uint64_t>((now - 1s).count());
      searching.on_heartbeat(i + 1, {"run", round, 10, {demand}, newest_grants}, now);
    }
    for (const auto& answer : searching.turn(now)) {
      const auto& grant = answer.grants.grants[0];
      places[answer.worker - 1] = grant.places;
      if (workers[answer.worker - 1].named) {
        EXPECT_LE(grant.places, workers[answer.worker - 1].calls);
      }
    }
    most = std::max(most, std::accumulate(places.begin(), places.end(), 0u));
  }
  return most;
}

ProviderLimits in_flight_at_most(std::uint32_t calls) {
  ProviderLimits limits;
  limits.max_in_flight = calls;
  return limits;
}

// --max-concurrent 5 made 461 calls at once.
TEST(GrantedPlaces, ANamedNumberOfCallsIsABoundForEachWorker) {
  EXPECT_EQ(most_places({}, {{5, true}}), 5u);
  EXPECT_EQ(most_places({}, {{5, true}, {2, true}}), 7u);
  EXPECT_EQ(most_places(in_flight_at_most(6), {{5, true}, {5, true}}), 6u);
}

TEST(GrantedPlaces, AWorkerThatCannotCallHasNoPlaceAlsoWhereTheRateIsKnown) {
  ProviderLimits limits;
  limits.requests_per_minute = 6000;
  EXPECT_EQ(most_places(limits, {{0, false}}), 0u);
  EXPECT_EQ(most_places(limits, {{0, true}}), 0u);
}

TEST(GrantedPlaces, ASearchGoesBeyondANumberThatNobodyNamed) {
  EXPECT_GT(most_places({}, {{5, false}}), 100u);
  EXPECT_GT(most_places({}, {{5, true}, {5, false}}), 100u) << "at the other worker";
}

TEST(GrantedPlaces, ASearchEndsAtMaxInFlight) {
  EXPECT_EQ(most_places(in_flight_at_most(64), {{5, false}}), 64u);
  EXPECT_EQ(most_places(in_flight_at_most(64), {{5, false}, {5, false}}), 64u);
}

// With --max-in-flight 3 the progress line counted its queue as calls that wait, and none as in flight.
TEST(GrantedPlaces, TellWhereWorkersCountWhatTheyHaveNotBegun) {
  const auto has_queued = [](const ProviderLimits& limits, bool named) {
    Governor one({{{"openai", limits}}, {60s, 1s, 600s}}, start);
    one.join(1, {5, named}, start);
    wire::Demand demand;
    demand.provider = "openai";
    one.on_heartbeat(1, {"run", 1, 10, {demand}, 0}, start);
    const auto answers = one.turn(start);
    EXPECT_EQ(answers.size(), 1u);
    const wire::Grant& grant = answers.at(0).grants.grants.at(0);
    const bool tells = one.facts(start).at(0).waiting_has_queued;
    EXPECT_EQ(tells, grant.searched && grant.unlimited) << "as the worker goes by it";
    return tells;
  };
  ProviderLimits rate;
  rate.requests_per_minute = 6000;
  EXPECT_TRUE(has_queued({}, false));
  EXPECT_TRUE(has_queued(in_flight_at_most(3), false));
  EXPECT_FALSE(has_queued(in_flight_at_most(3), true));
  EXPECT_FALSE(has_queued(rate, false));
}

// A run with --max-concurrent 2 taught the next ones that the provider takes two calls at a time.
TEST(GrantedPlaces, WhatTheUserAllowsIsNotLearntOfTheProvider) {
  for (const bool named : {true, false}) {
    Governor searching({{{"openai", {}}}, {60s, 1s, 600s}}, start);
    searching.join(1, {2, named}, start);
    wire::Demand demand;
    demand.provider = "openai";
    demand.ready_calls = 1000;
    // A server with four places: more calls wait longer.
    auto now = start;
    std::uint32_t places = 2;
    for (std::uint64_t round = 1; round <= 400; ++round) {
      now += 100ms;
      demand.in_flight = places;
      demand.outcomes.answered = std::min(places, 4u);
      demand.outcomes.latency_sum_us = std::uint64_t{places} * 100'000;
      searching.on_heartbeat(1, {"run", round, 10, {demand}, static_cast<std::uint64_t>((now - 1s).count())},
                             now);
      for (const auto& answer : searching.turn(now)) places = answer.grants.grants[0].places;
    }
    const auto facts = searching.facts(now);
    EXPECT_EQ(facts[0].found_concurrency.has_value(), !named) << places;
    EXPECT_EQ(facts[0].learned.in_flight.has_value(), !named) << places;
  }
}

// A server that hung taught the next run that four calls at a time are best.
TEST(GrantedPlaces, NothingIsLearntOfAProviderThatNeverAnswers) {
  Governor searching({{{"openai", {}}}, {60s, 1s, 600s}}, start);
  searching.join(1, {5}, start);
  wire::Demand demand;
  demand.provider = "openai";
  demand.ready_calls = 100;
  auto now = start;
  for (std::uint64_t round = 1; round <= 40; ++round) {
    now += 2s;
    demand.in_flight = 4;
    demand.outcomes.failed = 1;
    searching.on_heartbeat(1, {"run", round, 10, {demand}, static_cast<std::uint64_t>((now - 1s).count())},
                           now);
    searching.turn(now);
  }
  EXPECT_FALSE(searching.facts(now)[0].found_concurrency);
  EXPECT_TRUE(searching.facts(now)[0].learned.empty());
}

TEST(GrantedPlaces, ASearchGoesNoFurtherThanTheWorkersThatAreLeftMay) {
  Governor searching({{{"openai", {}}}, {60s, 1s, 600s}}, start);
  searching.join(1, {5, true}, start);
  searching.join(2, {40, true}, start);
  wire::Demand demand;
  demand.provider = "openai";
  demand.ready_calls = 1000;
  auto now = start;
  for (std::uint64_t round = 1; round <= 50; ++round) {
    now += 1s;
    demand.in_flight = round == 1 ? 0 : 40;
    demand.outcomes.answered = demand.in_flight;
    demand.outcomes.latency_sum_us = std::uint64_t{demand.in_flight} * 100'000;
    searching.on_heartbeat(2, {"run", round, 10, {demand}, 0}, now);
    searching.turn(now);
  }
  ASSERT_GT(searching.facts(now)[0].places, 5u);
  searching.leave(2, false, now);
  EXPECT_LE(searching.facts(now)[0].places, 5u);
  searching.leave(1, false, now);
  EXPECT_LE(searching.facts(now)[0].places, 5u) << "nobody is left, and whoever comes next begins from there";
}

}  // namespace sluice::governor_test

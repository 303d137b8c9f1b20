// Which of the runs that share a key searches for its rate, and what the others do.
#include "coordinator/governor/shared_rate_search.hpp"

#include "coordinator/governor/defaults.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace sluice::shared_rate_search_test {

using namespace std::chrono_literals;

constexpr BootTime start = 1h;
constexpr std::uint64_t others[] = {1, 3};

RateFound found(double rate, BootTime at, std::optional<double> accepted = {}) {
  return {rate, accepted ? accepted : rate, 3.0, 0, at};
}
RateFound sought(double rate, BootTime at) {
  return {rate, std::nullopt, std::nullopt, 0, at};
}
CallsSeen seen(std::uint32_t started, std::uint32_t refused, BootTime since, BootTime at) {
  CallsSeen calls;
  calls.started = started;
  calls.refused = refused;
  calls.was_answered = calls.are_waiting = calls.searches = true;
  calls.since = since;
  calls.at = at;
  return calls;
}

/// One of three runs.
class SecondRun : public ::testing::Test {
 protected:
  SecondRun() {
    search_.share(2);
    search_.on_demand(start);
  }
  bool reads(std::uint64_t run, const KeyUse& use, BootTime now, const SharedRateSearch::Standing& own = {}) {
    const std::vector<ForeignUse> uses{{run, use}};
    return search_.count({uses, others}, own, BootTime::zero(), now);
  }
  void finds_itself_alone(BootTime now) { search_.count({{}, {}}, {}, BootTime::zero(), now); }
  std::vector<KeyUse> tells(BootTime now) {
    std::vector<KeyUse> use;
    search_.tell_calls(use);
    search_.tell_rate(use, 0, now);
    return use;
  }
  SharedRateSearch search_;
};

TEST_F(SecondRun, FollowsTheFirstAndNotTheThird) {
  EXPECT_FALSE(reads(3, found(5, start), start));
  EXPECT_FALSE(search_.rate());
  EXPECT_TRUE(reads(1, found(20, start), start)) << "calls are under way that began without a limit";
  EXPECT_EQ(search_.rate(), 20);
  EXPECT_EQ(search_.accepted(), 20);
  EXPECT_EQ(search_.burst(), 3);
  search_.on_demand(start + 1s);
  EXPECT_FALSE(reads(1, found(19.9, start), start + 1s)) << "it is nearly the same";
  EXPECT_TRUE(reads(1, found(10, start), start + 1s));
  EXPECT_EQ(search_.rate(), 10);
  EXPECT_TRUE(tells(start + 1s).empty()) << "there is one that leads";
}

TEST_F(SecondRun, GoesOnFromTheRateOfALeaderThatIsSilent) {
  reads(1, found(10, start, 19), start);
  search_.on_demand(start + 2s);
  search_.grow(true, true, std::nullopt, start + defaults::shared_search::patience);
  EXPECT_TRUE(tells(start + 2s).empty());
  search_.grow(true, true, std::nullopt, start + 2001ms);
  EXPECT_EQ(search_.rate(), 19) << "what was accepted, and half of it was tried";
  EXPECT_EQ(tells(start + 2001ms), (std::vector<KeyUse>{found(19, start + 2001ms)}));
  EXPECT_FALSE(reads(1, found(40, start), start + 3s)) << "what it said long ago counts no more";
  EXPECT_EQ(search_.rate(), 19);
  reads(1, found(40, start + 3s), start + 3s);
  EXPECT_EQ(search_.rate(), 40) << "it was stopped, and goes on";
  finds_itself_alone(start + 3100ms);
  EXPECT_FALSE(search_.leader()) << "it has ended";
  EXPECT_EQ(search_.rate(), 40);
}

// What the leader made of it came back when that one was silent.
TEST_F(SecondRun, ForgetsWhatAnEarlierRunWasToldThoughItFollows) {
  search_.begin_with(2, std::nullopt, start);
  reads(1, found(2, start), start);
  search_.forget_remembered();
  EXPECT_FALSE(search_.rate());
}

TEST_F(SecondRun, KeepsWhatALeaderHasFound) {
  search_.begin_with(2, std::nullopt, start);
  reads(1, found(20, start), start);
  search_.grow(true, true, std::nullopt, start + 2001ms);
  search_.forget_remembered();
  EXPECT_EQ(search_.rate(), 20);
}

TEST(SharedRateSearch, WhatIsSetAsideIsTakenUpWhereItWas) {
  SharedRateSearch search;
  search.begin_with(2, std::nullopt, start);
  search.set_aside();
  EXPECT_FALSE(search.rate());
  search.take_up();
  EXPECT_EQ(search.rate(), 2);
  search.take_up();
  EXPECT_EQ(search.rate(), 2) << "nothing was set aside";
}

// What an earlier run had read of the headers came back beside what they say now.
TEST(SharedRateSearch, WhatIsRememberedIsForgottenWhileItIsSetAside) {
  SharedRateSearch search;
  search.begin_with(2, std::nullopt, start);
  search.set_aside();
  search.forget_remembered();
  search.take_up();
  EXPECT_FALSE(search.rate());
}

// It was another copy that was told to share, and what was taken up told nobody.
TEST(SharedRateSearch, WhatIsTakenUpIsSharedAsEver) {
  SharedRateSearch search;
  search.begin_with(2, std::nullopt, start);
  search.set_aside();
  search.share(2);
  search.on_demand(start);
  search.take_up();
  std::vector<KeyUse> use;
  search.tell_rate(use, 0, start);
  EXPECT_EQ(use.size(), 1u);
}

// Half of what was refused last was kept as the limit, for 15 s.
TEST_F(SecondRun, TakesASpeedThatIsTriedForNoLimit) {
  reads(1, sought(5, start), start);
  EXPECT_EQ(search_.rate(), 5);
  EXPECT_FALSE(search_.accepted());
  finds_itself_alone(start + 100ms);
  EXPECT_EQ(search_.rate(), 5);
  EXPECT_FALSE(search_.accepted());
  for (BootTime now = start + 200ms; now < start + 2s; now += 100ms) {
    search_.on_calls(seen(static_cast<std::uint32_t>(*search_.rate() / 10) + 1, 0, now - 100ms, now), {},
                     now);
    search_.grow(true, true, std::nullopt, now);
  }
  EXPECT_GT(*search_.rate(), 20);
}

// It looked once a second, and the others' search took ten times as long.
TEST_F(SecondRun, LeadsNoMoreWhenItHasNoCallsToMake) {
  search_.begin_with(20, 3, start);
  EXPECT_EQ(tells(start).size(), 1u);
  EXPECT_TRUE(tells(start + 1600ms).empty());
  reads(3, found(30, start + 1700ms), start + 1700ms);
  EXPECT_EQ(search_.leader(), 3u) << "a later one, which has calls";
  EXPECT_EQ(search_.rate(), 30);
}

// Its probes waited for a rate that the refusals of others had cut to nothing.
TEST_F(SecondRun, FollowsALaterRunDuringItsOutage) {
  search_.begin_with(20, 3, start);
  reads(3, found(30, start), start, {true, true});
  EXPECT_EQ(search_.leader(), 3u);
  EXPECT_TRUE(tells(start).empty());
}

// Its guess was followed for longer than it had calls, and the next run kept it.
TEST_F(SecondRun, TellsNoGuessOnceItHasNoCalls) {
  search_.on_calls(seen(30, 20, start - 100ms, start), {}, start);
  ASSERT_TRUE(search_.rate());
  ASSERT_FALSE(search_.accepted());
  reads(3, DelayNamed{start}, start);
  tells(start);
  EXPECT_EQ(tells(start + 500ms).size(), 1u);
  EXPECT_TRUE(tells(start + 1100ms).empty());
}

// It went on at the old rate for two seconds, and led everybody to it.
TEST_F(SecondRun, FollowsItsLeaderAlsoWhenItHasCallsAgain) {
  search_.begin_with(20, 3, start);
  reads(3, found(30, start + 2s), start + 2s);
  search_.on_demand(start + 3s);
  EXPECT_TRUE(reads(3, found(5, start + 3s), start + 3s));
  EXPECT_EQ(search_.rate(), 5);
}

TEST_F(SecondRun, RepeatsThatItLeads) {
  search_.begin_with(20, 3, start);
  EXPECT_EQ(tells(start).size(), 1u);
  EXPECT_TRUE(tells(start + 400ms).empty());
  EXPECT_EQ(tells(start + 500ms).size(), 1u) << "one that comes now is to know it before its first call";
}

TEST_F(SecondRun, LearnsFromTheCallsOfOthers) {
  EXPECT_FALSE(reads(3, seen(30, 0, start, start + 100ms), start + 100ms));
  EXPECT_TRUE(reads(3, seen(10, 8, start + 100ms, start + 200ms), start + 200ms));
  const auto rate = search_.rate();
  ASSERT_TRUE(rate);
  search_.grow(true, false, std::nullopt, start + 210ms);
  for (BootTime now = start + 300ms; now < start + 2s; now += 100ms) {
    const auto calls = static_cast<std::uint32_t>(*search_.rate() / 10) + 1;
    reads(3, seen(calls, 0, now - 100ms, now), now);
    search_.grow(true, false, std::nullopt, now);
  }
  EXPECT_GT(*search_.rate(), *rate) << "the other run's calls wait, if none of this one";
}

// Calls that were told of at the end of a pause were spread over it: 100 a second came out as 26.
TEST_F(SecondRun, CallsOfAnotherRunBeganWhenItSaysSo) {
  const auto refused_with = [](CallsSeen calls) {
    calls.delay_named = true;
    return calls;
  };
  // A bucket of ten at 100 a second. This run is refused at once, the other one does not hear of it in time.
  finds_itself_alone(start);
  search_.on_calls(refused_with(seen(10, 3, start, start + 54ms)), 1s, start + 54ms);
  const std::vector<ForeignUse> uses{{3, refused_with(seen(25, 2, start, start + 211ms))}};
  search_.count({uses, others}, {}, 68ms, start + 986ms);
  search_.grow(true, true, std::nullopt, start + 1060ms);
  search_.on_calls(refused_with(seen(14, 1, start + 1060ms, start + 1095ms)), 1s, start + 1095ms);
  search_.grow(true, true, std::nullopt, start + 2100ms);
  ASSERT_TRUE(search_.rate());
  EXPECT_GT(*search_.rate(), 60);
}

// It was taken for a refusal of what had been found since: one call a second.
TEST_F(SecondRun, ARefusalOfThePauseThatIsOverIsNoNewOne) {
  auto refused = seen(10, 3, start, start + 54ms);
  refused.delay_named = true;
  finds_itself_alone(start);
  search_.on_calls(refused, 1s, start + 54ms);
  search_.grow(true, true, std::nullopt, start + 1060ms);
  search_.on_calls(seen(3, 0, start + 1060ms, start + 1080ms), {}, start + 1080ms);
  const auto rate = search_.rate();
  ASSERT_TRUE(rate);
  auto late = seen(1, 1, start + 1030ms, start + 1040ms);
  late.delay_named = true;
  EXPECT_FALSE(reads(3, late, start + 1090ms));
  search_.grow(true, true, std::nullopt, start + 1095ms);
  EXPECT_GE(*search_.rate(), *rate);
}

// One refused call of a run that had just begun made the others forget their rate.
TEST_F(SecondRun, IsNotClosedWhereAnyRunWasAnswered) {
  auto refused = seen(1, 1, start, start);
  refused.delay_named = refused.is_closed = true;
  refused.was_answered = false;
  const auto read_after = [&](const KeyUse& before) {
    SharedRateSearch search;
    search.share(2);
    search.begin_with(20, 3, start);
    const std::vector<ForeignUse> uses{{1, before}, {3, refused}};
    search.count({uses, others}, {}, 1s, start);
    return search.rate().has_value();
  };
  EXPECT_TRUE(read_after(seen(1, 0, start, start)));
  EXPECT_FALSE(read_after(seen(1, 0, start - 1h, start - 1h))) << "yesterday it was open";
}

TEST_F(SecondRun, TellsItsCallsWhileOthersAreThere) {
  const auto calls = seen(3, 0, start, start);
  search_.on_calls(calls, {}, start);
  EXPECT_TRUE(tells(start).empty()) << "nobody is there";
  reads(3, DelayNamed{start}, start);
  search_.on_calls(calls, {}, start);
  search_.on_calls(CallsSeen(), {}, start);
  EXPECT_EQ(tells(start), (std::vector<KeyUse>{calls}));
  search_.stop_sharing(start);
  search_.on_calls(calls, {}, start);
  EXPECT_TRUE(tells(start).empty());
}

// Runs whose settings name the rate would tell each other of each report, for nothing.
TEST_F(SecondRun, TellsOfCallsAtAKnownRateWhereAnotherSearches) {
  auto known = seen(3, 0, start, start);
  known.searches = false;
  reads(3, known, start, {false, false});
  search_.on_calls(known, {}, start);
  EXPECT_TRUE(tells(start).empty());
  EXPECT_FALSE(reads(3, seen(9, 9, start, start), start, {false, false}));
  EXPECT_FALSE(search_.rate()) << "it goes by its settings";
  search_.on_calls(known, {}, start);
  EXPECT_EQ(tells(start), (std::vector<KeyUse>{known}));
}

TEST_F(SecondRun, KeepsTheRateWhenNothingIsSharedAnyMore) {
  reads(1, found(20, start), start);
  search_.stop_sharing(start + 1s);
  EXPECT_EQ(search_.rate(), 20);
}

}  // namespace sluice::shared_rate_search_test

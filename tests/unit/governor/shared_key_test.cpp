// Runs that share a key: each keeps the books of all of them.
#include "coordinator/governor/permit_slots.hpp"
#include "coordinator/governor/places.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice::shared_key_test {

using namespace std::chrono_literals;

ProviderLimits limits(std::uint64_t requests, double burst_seconds,
                      std::optional<std::uint64_t> tokens = {}) {
  ProviderLimits limits;
  limits.requests_per_minute = requests;
  limits.tokens_per_minute = tokens;
  limits.burst_seconds = burst_seconds;
  return limits;
}

/// Runs on one key that take turns, as the file between them has it.
class Runs {
 public:
  Runs(std::size_t count, const ProviderLimits& limits, BootTime now)
      : slots_(count, PermitSlots(limits, now)), seen_(count, 0) {
    for (PermitSlots& one : slots_) one.record_use(true);
  }

  /// The run's turn: what the others did, what `act` does, and what it did.
  template <class Act>
  void turn(std::size_t run, const Act& act) {
    std::vector<ForeignUse> news;
    for (; seen_[run] < log_.size(); ++seen_[run]) {
      if (log_[seen_[run]].run != run) news.push_back(log_[seen_[run]]);
    }
    slots_[run].count(news);
    act(slots_[run]);
    for (const KeyUse& use : slots_[run].take_use()) log_.push_back({run, use});
    seen_[run] = log_.size();
  }
  BootTime earliest(std::size_t run, const wire::CallSize& size, BootTime from) {
    turn(run, [](PermitSlots&) {});
    return slots_[run].earliest(size, from);
  }

 private:
  std::vector<PermitSlots> slots_;
  std::vector<ForeignUse> log_;
  std::vector<std::size_t> seen_;
};

constexpr wire::CallSize call{100, 50};

RC_GTEST_PROP(SharedKey, LimitsHoldForAllRunsTogether, ()) {
  const auto per_minute = *rc::gen::inRange<std::uint64_t>(60, 60'000);
  const double rate = static_cast<double>(per_minute) / 60;
  const double burst = *rc::gen::element(1.0, 2.0, 5.0, 20.0, rate);
  const auto count = *rc::gen::inRange<std::size_t>(1, 5);
  BootTime now = 1h;
  Runs runs(count, limits(per_minute, burst / rate), now);
  std::vector<BootTime> opened;
  std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
  for (int i = 0; i < 400; ++i) {
    runs.turn(random() % count, [&](PermitSlots& slots) {
      if (const auto slot = slots.take(call, now, now + 100ms, now)) opened.push_back(slot->opens);
    });
    now += BootTime(static_cast<BootTime::rep>(random() % static_cast<std::uint64_t>(2e6 / rate + 1)));
  }
  for (std::size_t i = 0; i < opened.size(); ++i) {
    for (std::size_t j = i; j < opened.size(); ++j) {
      const double window = static_cast<double>((opened[j] - opened[i]).count()) * 1e-6;
      RC_ASSERT(static_cast<double>(j - i + 1) <= burst + rate * window + 1e-6);
    }
  }
}

RC_GTEST_PROP(SharedKey, EachRunKnowsTheSameLevels, ()) {
  const auto tokens = *rc::gen::inRange<std::uint64_t>(6000, 600'000);
  const auto count = *rc::gen::inRange<std::size_t>(2, 5);
  BootTime now = 1h;
  Runs runs(count, limits(6000, 1.0, tokens), now);
  std::vector<std::vector<std::uint64_t>> open(count);
  std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
  for (int i = 0; i < 200; ++i) {
    const std::size_t run = random() % count;
    runs.turn(run, [&](PermitSlots& slots) {
      if (!open[run].empty() && random() % 2 == 0) {
        slots.settle(open[run].back(), {static_cast<std::uint32_t>(random() % 100), 10});
        open[run].pop_back();
      } else if (const auto slot = slots.take(call, now, now + 100ms, now)) {
        open[run].push_back(slot->charge);
      }
    });
    now += BootTime(static_cast<BootTime::rep>(random() % 20'000));
    const auto first = runs.earliest(0, call, now);
    for (std::size_t other = 1; other < count; ++other) RC_ASSERT(runs.earliest(other, call, now) == first);
  }
}

TEST(SharedKey, ARunThatFollowsKnowsWhatTheOneBeforeTook) {
  const BootTime now = 1h;
  std::vector<ForeignUse> before;
  for (std::uint64_t i = 1; i <= 10; ++i) before.push_back({1, SlotTaken{i, now, call}});
  PermitSlots slots(limits(60, 10), now + 1s);
  EXPECT_EQ(slots.earliest(call, now + 1s), now + 1s) << "as long as it knows of nobody";
  slots.restart(now, BucketLevel::full);
  slots.count(before);
  EXPECT_GT(slots.earliest(call, now + 1s), now + 1s);
  EXPECT_LT(slots.earliest(call, now + 1s), now + 4s);
  slots.restart(now + 1s, BucketLevel::empty);
  EXPECT_GT(slots.earliest(call, now + 1s), now + 1s);
}

/// What the run may have beside the others.
std::uint32_t share_of(std::size_t run, std::uint32_t total, const std::vector<KeyPlaces>& runs,
                       BootTime now = 1h) {
  OtherPlaces others{runs, run, {}};
  others.places.erase(others.places.begin() + static_cast<std::ptrdiff_t>(run));
  return places_of_run(total, runs[run], others, now);
}

std::uint32_t taken_by(const std::vector<KeyPlaces>& runs) {
  std::uint32_t taken = 0;
  for (const KeyPlaces& one : runs) taken += one.taken;
  return taken;
}

RC_GTEST_PROP(SharedKey, PlacesNeverExceedTheLimitAndAreAllUsed, ()) {
  const auto total = *rc::gen::inRange<std::uint32_t>(1, 100);
  const auto count = *rc::gen::inRange<std::size_t>(1, 6);
  std::vector<KeyPlaces> runs(count);
  for (int i = 0; i < 100; ++i) {
    const auto run = *rc::gen::inRange<std::size_t>(0, count);
    runs[run].wanted = *rc::gen::element<std::uint32_t>(0, 1, 5, 1000);
    runs[run].taken = share_of(run, total, runs);
    RC_ASSERT(taken_by(runs) <= total);
  }
  // Nobody changes its mind: a round for those that give places, and one for those that get them.
  for (KeyPlaces& one : runs) one.wanted = 1000;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t run = 0; run < count; ++run) runs[run].taken = share_of(run, total, runs);
  }
  RC_ASSERT(taken_by(runs) == total);
  for (const KeyPlaces& one : runs) {
    RC_ASSERT(one.taken >= total / count);
    RC_ASSERT(one.taken <= total / count + 1);
  }
}

TEST(SharedKey, TooFewPlacesGoRound) {
  std::vector<KeyPlaces> runs{{0, 9}, {0, 9}};
  std::vector<std::uint32_t> turns(2, 0);
  for (int second = 0; second < 10; ++second) {
    const BootTime now = 1h + std::chrono::seconds(second);
    for (int round = 0; round < 2; ++round) {
      for (std::size_t run = 0; run < 2; ++run) runs[run].taken = share_of(run, 1, runs, now);
    }
    ASSERT_EQ(taken_by(runs), 1u);
    for (std::size_t run = 0; run < 2; ++run) turns[run] += runs[run].taken;
  }
  EXPECT_EQ(turns, (std::vector<std::uint32_t>{5, 5}));
}

TEST(SharedKey, ARunWithALowerLimitIsNotSilentForWhatAnotherTook) {
  const BootTime now = 1h;
  PermitSlots slots(limits(60, 1.0), now);
  std::vector<ForeignUse> many;
  for (std::uint64_t i = 0; i < 10'000; ++i) many.push_back({1, SlotTaken{i, now, {}}});
  slots.count(many);
  EXPECT_LT(slots.earliest(call, now), now + 5s);
}

TEST(SharedKey, ARateThatIsSearchedForIsThatOfAllRuns) {
  const BootTime now = 1h;
  PermitSlots slots({}, now);
  slots.set_found_rate(10.0, std::nullopt, now);
  const auto before = slots.earliest(call, now);
  slots.count(std::vector<ForeignUse>{{1, SlotTaken{1, before, {}}}});
  EXPECT_EQ(slots.earliest(call, now), before + 100ms);
}

// Each began its bucket at another moment, and the one ahead had every slot.
TEST(SharedKey, AFollowerHasTheLevelOfItsLeader) {
  const BootTime now = 1h;
  PermitSlots leader({}, now);
  leader.set_found_rate(10.0, std::nullopt, now);
  ASSERT_TRUE(leader.take(call, now, now + 1s, now));
  const RateFound found{10.0, 10.0, std::nullopt, leader.found_level(now + 20ms), now + 20ms};
  PermitSlots follower({}, now + 30ms);
  follower.set_found_rate(10.0, std::nullopt, now + 30ms);
  const std::vector<ForeignUse> uses{{1, found}, {2, RateFound{10.0, 10.0, std::nullopt, -9, now + 25ms}}};
  follower.count(uses, 1);
  EXPECT_EQ(follower.earliest(call, now + 30ms), leader.earliest(call, now + 30ms));
}

}  // namespace sluice::shared_key_test

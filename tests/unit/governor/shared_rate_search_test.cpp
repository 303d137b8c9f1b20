// Which of the runs that share a key searches for its rate, and what the others do.
#include "coordinator/governor/shared_rate_search.hpp"

#include "coordinator/governor/defaults.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace sluice::shared_rate_search_test {

using namespace std::chrono_literals;

constexpr BootTime start = 1h;

RateFound found(double rate, BootTime at) {
  return {rate, 3.0, at};
}

/// One of three runs.
class SecondRun : public ::testing::Test {
 protected:
  SecondRun() { search_.share(2); }
  bool reads(std::uint64_t run, const KeyUse& use, BootTime now) {
    return search_.count(std::vector<ForeignUse>{{run, use}}, 2, BootTime::zero(), now);
  }
  std::vector<KeyUse> tells(BootTime now) {
    std::vector<KeyUse> use;
    search_.tell(use, now);
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
  EXPECT_FALSE(reads(1, found(19.9, start), start + 1s)) << "it is nearly the same";
  EXPECT_TRUE(reads(1, found(10, start), start + 1s));
  EXPECT_EQ(search_.rate(), 10);
  EXPECT_TRUE(tells(start + 1s).empty()) << "there is one that leads";
}

TEST_F(SecondRun, GoesOnFromTheRateOfALeaderThatIsSilent) {
  reads(1, found(20, start), start);
  search_.grow(true, true, std::nullopt, start + defaults::shared_search::patience);
  EXPECT_TRUE(tells(start + 2s).empty());
  search_.grow(true, true, std::nullopt, start + 2001ms);
  EXPECT_EQ(search_.rate(), 20);
  EXPECT_EQ(tells(start + 2001ms), (std::vector<KeyUse>{found(20, start + 2001ms)}));
  EXPECT_FALSE(reads(1, found(40, start), start + 3s)) << "what it said long ago counts no more";
  EXPECT_EQ(search_.rate(), 20);
  reads(1, found(40, start + 3s), start + 3s);
  EXPECT_EQ(search_.rate(), 40) << "it was stopped, and goes on";
}

TEST_F(SecondRun, RepeatsThatItLeads) {
  search_.begin_with(20, 3, start);
  EXPECT_EQ(tells(start).size(), 1u);
  EXPECT_TRUE(tells(start + 400ms).empty());
  EXPECT_EQ(tells(start + 500ms).size(), 1u) << "one that comes now is to know it before its first call";
}

TEST_F(SecondRun, LearnsFromTheCallsOfOthers) {
  const CallsSeen first{30, 0, 0, false, false, true, start, start + 100ms};
  EXPECT_FALSE(reads(3, first, start + 100ms));
  const CallsSeen refused{10, 8, 0, false, false, true, start + 100ms, start + 200ms};
  EXPECT_TRUE(reads(3, refused, start + 200ms));
  const auto rate = search_.rate();
  ASSERT_TRUE(rate);
  search_.grow(true, false, std::nullopt, start + 210ms);
  for (BootTime now = start + 300ms; now < start + 2s; now += 100ms) {
    const auto calls = static_cast<std::uint32_t>(*search_.rate() / 10) + 1;
    reads(3, CallsSeen{calls, 0, 0, false, false, true, now - 100ms, now}, now);
    search_.grow(true, false, std::nullopt, now);
  }
  EXPECT_GT(*search_.rate(), *rate) << "the other run's calls wait, if none of this one";
}

TEST_F(SecondRun, TellsItsCallsWhileOthersAreThere) {
  const CallsSeen seen{3, 0, 0, false, false, true, start, start};
  search_.on_calls(seen, BootTime::zero(), start);
  EXPECT_TRUE(tells(start).empty()) << "nobody is there";
  search_.set_others(1);
  search_.on_calls(seen, BootTime::zero(), start);
  search_.on_calls(CallsSeen(), BootTime::zero(), start);
  EXPECT_EQ(tells(start), (std::vector<KeyUse>{seen}));
  search_.stop_sharing(start);
  search_.on_calls(seen, BootTime::zero(), start);
  EXPECT_TRUE(tells(start).empty());
}

TEST_F(SecondRun, KeepsTheRateWhenNothingIsSharedAnyMore) {
  reads(1, found(20, start), start);
  search_.stop_sharing(start + 1s);
  EXPECT_EQ(search_.rate(), 20);
}

}  // namespace sluice::shared_rate_search_test

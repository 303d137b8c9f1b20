// Runs on one key whose calls in flight are limited, and no rate: each searches, within what the others
// leave.
#include "tests/unit/governor/governor_fixture.hpp"

#include <algorithm>

namespace sluice::governor_test {

ProviderLimits four_in_flight() {
  ProviderLimits limits;
  limits.max_in_flight = 4;
  return limits;
}

class SharedPlaces : public GovernorTest {
 protected:
  SharedPlaces() : GovernorTest(four_in_flight()) {
    governor.join(1, {64, false}, start);
    governor.share("openai", 1, {}, false);
  }

  /// What the worker has when it wants much, beside others.
  std::uint32_t places(const OtherPlaces& others) {
    send(1, ready(50, held), now);
    governor.count("openai", {}, others, now);
    if (const auto grant = grant_to(1, now)) held = grant->places;
    now += 2s;
    return held;
  }

  BootTime now = start;
  std::uint32_t held = 0;
};

// Each run had the whole number.
TEST_F(SharedPlaces, ASearchGoesNoFurtherThanTheOthersLeave) {
  EXPECT_EQ(places({{{3, 9}}, 0, {2}}), 1u);
  EXPECT_EQ(places({{{2, 9}}, 0, {2}}), 2u);
  EXPECT_EQ(places({}), 4u);
  EXPECT_EQ(places({{{4, 0}}, 0, {}}), 0u) << "a run died, and its calls may be under way";
}

// The report named this run's part of the limit as what was learnt, and nothing was kept.
TEST(SharedLimits, BesideOthersNothingIsLearnt) {
  LearnedLimits known;
  known.requests_per_minute = 600;
  Governor governor({{{"openai", {}}}, {60s, 1s, 600s}, {known}}, start);
  governor.join(1, {5, false}, start);
  EXPECT_EQ(governor.facts(start)[0].learned.requests_per_minute, 600);
  governor.share("openai", 1, {}, false);
  governor.count("openai", {}, {{}, 0, {2}}, start);
  EXPECT_TRUE(governor.facts(start)[0].learned.empty());
  governor.count("openai", {}, {}, start);
  EXPECT_TRUE(governor.facts(start)[0].learned.empty()) << "the other run has ended, but it was there";
}

}  // namespace sluice::governor_test

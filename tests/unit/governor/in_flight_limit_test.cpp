#include "coordinator/governor/in_flight_limit.hpp"

#include <cstdint>
#include <optional>

#include <gtest/gtest.h>

namespace sluice::in_flight_limit_test {

using namespace std::chrono_literals;

class InFlightLimitTest : public ::testing::Test {
 protected:
  /// `answered` come evenly over `time`, at a time when calls flow.
  void answer(std::uint32_t answered, BootTime time) {
    for (std::uint32_t i = 0; i < answered; ++i) {
      now_ += time / answered;
      InFlightLimit::Calls calls;
      calls.ended = {1, 0, i % 2 == 0 ? longer_us_ : 200'000};
      limit_.on_calls(calls, now_);
    }
  }
  /// A call is refused with so many in flight, and names a delay, which passes.
  void refuse(std::uint64_t in_flight, std::optional<double> pace) {
    InFlightLimit::Calls calls;
    calls.refused = 1;
    calls.in_flight = in_flight;
    calls.places = 100;
    calls.pace = pace;
    calls.pause = 1s;
    limit_.on_calls(calls, now_);
    now_ += 1s;
  }
  void find_twenty() {
    answer(30, 1s);
    refuse(20, std::nullopt);
    answer(100, 2s);
    refuse(20, 70.0);
    ASSERT_EQ(limit_.found(), 20u);
  }

  InFlightLimit limit_;
  std::uint64_t longer_us_ = 400'000;
  BootTime now_{1h};
};

TEST_F(InFlightLimitTest, IsTheNumberAtWhichCallsAreRefusedAtAnyPace) {
  find_twenty();
}

TEST_F(InFlightLimitTest, IsNotKnownAfterOneRefusalNorOfFewCallsAfterTwo) {
  answer(10, 1s);
  refuse(2, std::nullopt);
  EXPECT_FALSE(limit_.found());
  answer(60, 1s);
  refuse(2, 70.0);
  EXPECT_FALSE(limit_.found());
  answer(20, 1s);
  refuse(2, 50.0);
  EXPECT_EQ(limit_.found(), 2u);
}

TEST_F(InFlightLimitTest, IsNotLookedForWhereAllAnswersTakeAsLong) {
  longer_us_ = 200'000;
  answer(100, 1s);
  refuse(20, std::nullopt);
  answer(60, 1s);
  refuse(20, 70.0);
  EXPECT_FALSE(limit_.found());
}

TEST_F(InFlightLimitTest, IsNoneWhereItGoesByThePace) {
  refuse(20, std::nullopt);
  answer(60, 1s);
  refuse(14, 70.0);
  answer(60, 1s);
  refuse(12, 60.0);
  EXPECT_FALSE(limit_.found());
}

TEST_F(InFlightLimitTest, IsNoBucketThatTakesAsManyCallsEachTime) {
  answer(30, 1s);
  refuse(20, std::nullopt);
  answer(50, 1s);
  refuse(20, 70.0);
  EXPECT_FALSE(limit_.found());
}

TEST_F(InFlightLimitTest, IsNotKnownByRefusalsThatNoPaceTellsApart) {
  answer(30, 1s);
  refuse(20, std::nullopt);
  answer(100, 2s);
  refuse(20, std::nullopt);
  EXPECT_FALSE(limit_.found());
}

TEST_F(InFlightLimitTest, OfAnEarlierRunIsTheNumberAtTheFirstRefusal) {
  limit_.begin_with(20);
  answer(60, 1s);
  refuse(20, std::nullopt);
  EXPECT_EQ(limit_.found(), 20u);
}

TEST_F(InFlightLimitTest, IsTheNumberOfFourRefusalsWhateverTheirPace) {
  for (int i = 0; i < 3; ++i) {
    answer(60, 1s);
    refuse(20, 70.0);
    EXPECT_FALSE(limit_.found());
  }
  answer(60, 1s);
  refuse(20, 70.0);
  EXPECT_EQ(limit_.found(), 20u);
}

TEST_F(InFlightLimitTest, MayHaveOneMoreOnItsWay) {
  answer(30, 1s);
  refuse(20, std::nullopt);
  answer(20, 1s);
  refuse(21, 80.0);
  EXPECT_FALSE(limit_.found());
  answer(100, 2s);
  refuse(20, 70.0);
  EXPECT_EQ(limit_.found(), 20u);
}

TEST_F(InFlightLimitTest, IsNotTheNumberOfPlaces) {
  answer(10, 1s);
  refuse(95, std::nullopt);
  answer(300, 1s);
  refuse(95, 70.0);
  EXPECT_FALSE(limit_.found());
}

TEST_F(InFlightLimitTest, IsGivenUpWhereFewerCallsAreRefusedAsWell) {
  find_twenty();
  refuse(12, std::nullopt);
  EXPECT_FALSE(limit_.found());
  answer(60, 1s);
  refuse(20, std::nullopt);
  answer(60, 1s);
  refuse(20, 70.0);
  EXPECT_FALSE(limit_.found()) << "not again";
}

TEST_F(InFlightLimitTest, IsGivenUpAtTheSecondRefusal) {
  find_twenty();
  refuse(20, std::nullopt);
  EXPECT_EQ(limit_.found(), 19u) << "a server may end a call a little later than its answer";
  refuse(19, std::nullopt);
  EXPECT_FALSE(limit_.found());
}

TEST_F(InFlightLimitTest, IsGivenUpWhereItBringsLessThanBefore) {
  find_twenty();
  answer(60, 2s);
  EXPECT_FALSE(limit_.found());
}

TEST_F(InFlightLimitTest, GrowsAndGoesBack) {
  find_twenty();
  for (int second = 0; second < 25; ++second) answer(60, 1s);
  limit_.grow(now_);
  EXPECT_EQ(limit_.found(), 21u);
  answer(60, 1s);
  refuse(20, std::nullopt);
  EXPECT_EQ(limit_.found(), 20u);
  for (int second = 0; second < 25; ++second) answer(60, 1s);
  limit_.grow(now_);
  EXPECT_EQ(limit_.found(), 20u) << "after twice as long";
  for (int second = 0; second < 25; ++second) answer(60, 1s);
  limit_.grow(now_);
  EXPECT_EQ(limit_.found(), 21u);
}

}  // namespace sluice::in_flight_limit_test

#include "worker/credit.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace sluice {
namespace credit_test {

using namespace std::chrono_literals;

TEST(CreditWindow, IsTwiceTheConcurrencyForASlowWorker) {
  EXPECT_EQ(credit_window(5, 0.0), 10u);
  EXPECT_EQ(credit_window(1, 0.0), 2u);
  EXPECT_EQ(credit_window(5, 50.0), 10u);
}

TEST(CreditWindow, HoldsATenthOfASecondsWorkAndNoMoreThan1024Ahead) {
  EXPECT_EQ(credit_window(5, 1000.0), 105u);
  EXPECT_EQ(credit_window(5, 10'000.0), 1005u);
  EXPECT_EQ(credit_window(5, 1e9), 5u + 1024u);
  EXPECT_EQ(credit_window(5, std::numeric_limits<double>::infinity()), 5u + 1024u);
}

TEST(CreditWindow, AWorkerOfMoreConcurrencyThanThatIsStillFilled) {
  EXPECT_EQ(credit_window(10'000, 0.0), 20'000u);
  EXPECT_EQ(credit_window(10'000, 1e9), 20'000u);
}

TEST(Credit, FollowsWhatWasFinishedInTheLastInterval) {
  Credit credit;
  EXPECT_EQ(credit.window(5, 0s), 10u);
  for (int i = 0; i < 2000; ++i) credit.on_finished();
  credit.on_beat(2s);
  EXPECT_EQ(credit.window(5, 0s), 105u) << "1000 a second";
  credit.on_beat(2s);
  EXPECT_EQ(credit.window(5, 0s), 10u) << "none";
}

TEST(Credit, AFastRunShowsItselfBeforeTheNextBeat) {
  Credit credit;
  for (int i = 0; i < 500; ++i) credit.on_finished();
  EXPECT_EQ(credit.window(5, 500ms), 105u);
  EXPECT_EQ(credit.window(5, 1ms), 505u) << "as if it had taken 100 ms";
}

TEST(Credit, IsDeepFromTheStartWhereNothingIsPaidFor) {
  Credit credit(false);
  EXPECT_EQ(credit.window(5, 0s), 1005u);
  credit.on_beat(1s);
  EXPECT_EQ(credit.window(5, 0s), 1005u);
}

}  // namespace credit_test
}  // namespace sluice

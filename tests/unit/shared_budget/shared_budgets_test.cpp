#include "coordinator/shared_budget/shared_budgets.hpp"

#include "tests/support/temporary_folder.hpp"

#include <filesystem>

#include <gtest/gtest.h>

namespace sluice::shared_budgets_test {

using namespace std::chrono_literals;

constexpr BootTime start = 5h;
constexpr WorkerId inside = 1;
constexpr WorkerId outside = 2;

/// A run that shares four calls in flight with others, and what those find when it has died.
class SharedBudgetsTest : public ::testing::Test {
 protected:
  static Governor governor() {
    ProviderLimits limits;
    limits.max_in_flight = 4;
    return {{{{"openai", limits}}, {10s, 1s, 600s}}, start};
  }
  SharedBudgets open(const std::string& folder, bool calls_end_with_process = true) const {
    auto budgets =
        SharedBudgets::open(folder_.path() / folder, {{"openai", "a key", calls_end_with_process}}, 2min);
    EXPECT_TRUE(budgets) << budgets.error().message;
    return std::move(*budgets);
  }
  /// The worker has so many calls that it could make; all that it may make then is granted.
  void turn(SharedBudgets& shared, Governor& governor, WorkerId worker, std::uint32_t calls) {
    wire::Demand demand;
    demand.provider = "openai";
    demand.ready_calls = calls;
    governor.on_heartbeat(worker, {"run", ++sent_, 10, {std::move(demand)}, 0}, now_);
    ASSERT_TRUE(shared.begin_turn(governor, now_));
    governor.turn(now_);
    shared.end_turn(governor, now_);
    EXPECT_TRUE(shared.take_problems().empty());
  }
  /// Places of the run at "keys" that count as taken once it is dead: a copy has none of its locks.
  std::uint32_t left_behind() {
    std::filesystem::remove_all(folder_.path() / "copy");
    std::filesystem::copy(folder_.path() / "keys", folder_.path() / "copy");
    auto shared = open("copy");
    auto next = governor();
    EXPECT_TRUE(shared.begin_turn(next, now_));
    shared.end_turn(next, now_);
    return next.facts(now_).at(0).left_behind;
  }

  support::TemporaryFolder folder_;
  BootTime now_ = start;
  std::uint64_t sent_ = 0;
};

TEST_F(SharedBudgetsTest, CallsOfAWorkerInsideEndWithTheProcess) {
  auto shared = open("keys");
  auto run = governor();
  run.join(inside, {5, true}, now_);
  turn(shared, run, inside, 3);
  EXPECT_GT(run.places("openai", now_).taken, 0u);
  EXPECT_EQ(left_behind(), 0u);
}

TEST_F(SharedBudgetsTest, FromTheFirstGrantToAWorkerOutsideCallsMayOutliveTheProcess) {
  auto shared = open("keys");
  auto run = governor();
  run.join(inside, {5, true}, now_);
  turn(shared, run, inside, 1);
  EXPECT_EQ(left_behind(), 0u) << "nobody has come yet";
  shared.add_outside_worker();
  run.join(outside, {5, true}, now_);
  turn(shared, run, outside, 2);
  EXPECT_EQ(left_behind(), run.places("openai", now_).taken);
  run.leave(outside, true, now_);
  turn(shared, run, inside, 1);
  EXPECT_EQ(left_behind(), run.places("openai", now_).taken) << "lost: its calls may be under way";
  EXPECT_GT(left_behind(), 0u);
}

// It made its first calls without a limit, and was refused with the other run's.
TEST_F(SharedBudgetsTest, ARunThatComesLaterKeepsFromItsFirstTurnToTheRateThatWasFound) {
  auto shared = open("keys");
  LearnedLimits learned;
  learned.requests_per_minute = 600;
  learned.burst = 2;
  Governor first({{{"openai", {}}}, {10s, 1s, 600s}, {learned}}, start);
  first.join(inside, {5, true}, now_);
  turn(shared, first, inside, 3);
  now_ += 100ms;
  auto shared_later = open("keys");
  Governor later({{{"openai", {}}}, {10s, 1s, 600s}}, now_);
  later.join(inside, {5, true}, now_);
  ASSERT_TRUE(shared_later.begin_turn(later, now_));
  for (const auto& answer : later.turn(now_)) {
    for (const auto& grant : answer.grants.grants) EXPECT_FALSE(grant.unlimited);
  }
  EXPECT_EQ(later.facts(now_).at(0).effective_per_minute, 600);
  shared_later.end_turn(later, now_);
}

TEST_F(SharedBudgetsTest, CallsThatMayOutliveTheProcessCountForAWhile) {
  auto shared = open("keys", false);
  auto run = governor();
  run.join(inside, {5, true}, now_);
  turn(shared, run, inside, 3);
  EXPECT_EQ(left_behind(), run.places("openai", now_).taken);
  EXPECT_GT(left_behind(), 0u);
}

}  // namespace sluice::shared_budgets_test

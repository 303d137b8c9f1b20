#include "coordinator/report/wording/wording.hpp"
#include "tests/unit/report/sample_run.hpp"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

namespace sluice::waits_test {

using namespace std::chrono_literals;

class Waits : public testing::Test {
 protected:
  std::string words() const { return wording::waits(input_); }

  Suite suite_;
  sample::MemorySource source_;
  Gate gate_;
  RunResults results_ = sample::results_of(suite_, source_, gate_);
  Aggregates aggregates_;
  ReportInput input_ = sample::input_of(results_, aggregates_);
};

TEST_F(Waits, OfALimitAreSaidAsTheyAreFelt) {
  input_.facts.duration_seconds = 199;
  input_.facts.waited_permit = 90min;  // Of all calls.
  input_.facts.budgets[0].held_up_time = 185s;
  EXPECT_EQ(words(), "limited by gemini for 3:05 of 3:19; 0.6 s before retries, over all calls");
  input_.facts.budgets[0].held_up_time = 300s;
  EXPECT_EQ(words(), "limited by gemini for 3:19 of 3:19; 0.6 s before retries, over all calls")
      << "no longer than the run";
}

TEST_F(Waits, OfALimitAloneAreNoSum) {
  input_.facts.duration_seconds = 199;
  input_.facts.waited_retry = {};
  input_.facts.budgets[0].held_up_time = 185s;
  EXPECT_EQ(words(), "limited by gemini for 3:05 of 3:19");
}

// A run of 6 s that said it waited 108 s: of all its calls, which wait side by side.
TEST_F(Waits, OfCallsAreSummedWhereNoLimitHeldTheRunUp) {
  input_.facts.budgets[0].held_up_time = 900ms;
  EXPECT_EQ(words(), "2.5 s for permits, 0.6 s before retries, over all calls");
}

}  // namespace sluice::waits_test

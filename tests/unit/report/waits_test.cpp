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
  input_.facts.part_time = 199s;
  input_.facts.waited_permit = 90min;  // Of all calls.
  input_.facts.budgets[0].held_up_time = 185s;
  EXPECT_EQ(words(), "limited by gemini for 3:05 of 3:19; 0.6 s before retries, over all calls");
  input_.facts.budgets[0].held_up_time = 300s;
  EXPECT_EQ(words(), "limited by gemini for 3:19 of 3:19; 0.6 s before retries, over all calls")
      << "no longer than the run";
}

TEST_F(Waits, OfALimitAloneAreNoSum) {
  input_.facts.part_time = 199s;
  input_.facts.waited_retry = {};
  input_.facts.budgets[0].held_up_time = 185s;
  EXPECT_EQ(words(), "limited by gemini for 3:05 of 3:19");
}

// A run of 6 s that said it waited 108 s: of all its calls, which wait side by side.
TEST_F(Waits, OfCallsAreSummedWhereNoLimitHeldTheRunUp) {
  input_.facts.budgets[0].held_up_time = 900ms;
  EXPECT_EQ(words(), "2.5 s for permits, 0.6 s before retries, over all calls");
}

// Time-outs were among the retries and the errors, and counted nowhere.
TEST_F(Waits, CallsThatTimedOutAreCounted) {
  EXPECT_EQ(wording::run_facts(input_).find("timed out"), std::string::npos);
  input_.facts.budgets[0].timed_out = 3;
  EXPECT_TRUE(wording::run_facts(input_).ends_with(", 3 calls timed out")) << wording::run_facts(input_);
  input_.facts.is_resumed = true;
  EXPECT_TRUE(wording::run_facts(input_).ends_with(", 3 calls timed out in its last part"));
}

// A run that was interrupted while calls hung said how many requests it had made, without these.
TEST_F(Waits, RequestsThatWereCutOffAreNamed) {
  input_.facts.cut_off_calls = true;
  EXPECT_NE(wording::run_facts(input_).find(", 7 requests and those cut off at its end, 1 retry, "),
            std::string::npos)
      << wording::run_facts(input_);
}

// Calls are held up in the part that this process ran; how long the run took is of all its parts.
TEST_F(Waits, OfAResumedRunAreThoseOfItsLastPart) {
  input_.facts.is_resumed = true;
  input_.facts.duration_seconds = 600;
  input_.facts.part_time = 199s;
  input_.facts.waited_retry = {};
  input_.facts.budgets[0].held_up_time = 185s;
  EXPECT_EQ(words(), "limited by gemini for 3:05 of 3:19");
  EXPECT_EQ(wording::run_facts(input_).substr(0, 37), "10 min 00 s in all its parts, 7 reque");
}

}  // namespace sluice::waits_test

#include "coordinator/run/long_pause.hpp"
#include "coordinator/run/run_end.hpp"
#include "coordinator/run/run_errors.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint start{1h};

Error why(Reason reason) {
  return {reason, "it ended"};
}

TEST(RunEnd, IsNotOverBeforeItIsCompleteOrStopped) {
  RunEnd end(25s, std::nullopt, start);
  EXPECT_FALSE(end.over());
  EXPECT_TRUE(end.complete());
  EXPECT_TRUE(end.over());
  EXPECT_FALSE(end.stopped());
  EXPECT_EQ(end.time_to_finish(start), 0s) << "nothing is under way";
  EXPECT_FALSE(end.stop(why(Reason::interrupted), start));
  EXPECT_FALSE(end.cut_short(true));
}

TEST(RunEnd, TheFirstReasonStays) {
  RunEnd end(25s, std::nullopt, start);
  EXPECT_TRUE(end.stop(why(Reason::interrupted), start));
  EXPECT_FALSE(end.stop(why(Reason::deadline_reached), start));
  EXPECT_FALSE(end.complete());
  EXPECT_EQ(end.stopped()->reason, Reason::interrupted);
  EXPECT_EQ(end.time_to_finish(start), 25s);
  EXPECT_EQ(end.cut_short(true)->reason, Reason::interrupted);
}

TEST(RunEnd, WhatMustEndNowIsNotWaitedFor) {
  for (const auto reason : {Reason::deadline_reached, Reason::internal_error}) {
    RunEnd end(25s, std::nullopt, start);
    end.stop(why(reason), start);
    EXPECT_EQ(end.time_to_finish(start), 0s);
  }
}

TEST(RunEnd, CallsUnderWayHaveTheDrainTimeoutAndNoMoreThanTheDeadlineLeaves) {
  RunEnd end(25s, 60s, start);
  end.stop(why(Reason::interrupted), start + 10s);
  EXPECT_EQ(end.time_to_finish(start + 10s), 25s);
  EXPECT_EQ(end.time_to_finish(start + 34s), 1s);
  EXPECT_EQ(end.time_to_finish(start + 35s), 0s);
  EXPECT_EQ(end.time_to_finish(start + 99s), 0s);
  RunEnd late(25s, 60s, start);
  late.stop(why(Reason::interrupted), start + 50s);
  EXPECT_EQ(late.time_to_finish(start + 50s), 10s) << "the deadline comes first";
}

TEST(RunEnd, ABudgetThatEndedACompletePlanCutNothingShort) {
  RunEnd end(25s, std::nullopt, start);
  end.stop(why(Reason::token_budget_spent), start);
  EXPECT_EQ(end.cut_short(false)->reason, Reason::token_budget_spent);
  EXPECT_FALSE(end.cut_short(true));
}

TEST(RunEnd, ItsDeadlineIsReachedToTheInstant) {
  RunEnd end(25s, 60s, start);
  EXPECT_FALSE(end.deadline_problem(start + 60s - 1ms));
  ASSERT_TRUE(end.deadline_problem(start + 60s));
  EXPECT_EQ(end.deadline_problem(start + 60s)->reason, Reason::deadline_reached);
  EXPECT_TRUE(end.has_deadline_beyond(start + 59s));
  EXPECT_FALSE(end.has_deadline_beyond(start + 60s));
  RunEnd endless(25s, std::nullopt, start);
  EXPECT_FALSE(endless.deadline_problem(start + 1000h));
  EXPECT_FALSE(endless.has_deadline_beyond(start));
}

TEST(RunEnd, DropsChecksWhoseVerdictsHaveNoPlace) {
  RunEnd outage(25s, std::nullopt, start);
  EXPECT_FALSE(outage.drops_checks(start, true));
  outage.stop(why(Reason::key_refused), start);
  EXPECT_FALSE(outage.drops_checks(start + 99s, true)) << "what was paid for is checked";
  outage.stop(why(Reason::interrupted), start + 1s);
  EXPECT_TRUE(outage.drops_checks(start + 1s, true));
  EXPECT_FALSE(outage.drops_checks(start + 1s, false)) << "their answers would be paid for again";
  EXPECT_TRUE(outage.drops_checks(start + 25s, false));
  for (const auto reason : {Reason::deadline_reached, Reason::ledger_failed}) {
    RunEnd end(25s, std::nullopt, start);
    end.stop(why(reason), start);
    EXPECT_TRUE(end.drops_checks(start, false));
  }
}

TEST(RunEnd, SaysWhatItWaitsFor) {
  const Error signal{Reason::interrupted, "interrupted by SIGINT"};
  EXPECT_EQ(
      stop_in_words(signal, {20, 12, 24'001ms}),
      "interrupted by SIGINT: waiting up to 25 s for 12 calls under way; press Ctrl-C again, or send one "
      "more signal, to end at once");
  EXPECT_EQ(stop_in_words(signal, {9, 1, 0s}),
            "interrupted by SIGINT: 1 call under way is given up; the report follows");
  EXPECT_EQ(stop_in_words(signal, {0, 0, 25s}), "interrupted by SIGINT; the report follows");
  EXPECT_NE(stop_in_words(signal, {5, 0, 25s}).find("waiting up to 25 s for calls under way; press"),
            std::string::npos)
      << "their workers have not reported yet that they have begun";
  const std::string then = "; press Ctrl-C again, or send one more signal, to end at once";
  EXPECT_EQ(
      stop_in_words(signal, {3, 2, 25s, 1}),
      "interrupted by SIGINT: waiting up to 25 s for 2 calls under way and commands that check 1 answer" +
          then);
  EXPECT_EQ(stop_in_words(signal, {0, 0, 25s, 4}),
            "interrupted by SIGINT: waiting up to 25 s for commands that check 4 answers" + then);
  EXPECT_EQ(stop_in_words(why(Reason::key_refused), {2, 2, 25s}),
            "the run ends early (key_refused): waiting up to 25 s for 2 calls under way");
  EXPECT_EQ(stop_in_words(why(Reason::key_refused), {5, 0, 25s}), "");
  EXPECT_EQ(stop_in_words(why(Reason::deadline_reached), {2, 2, 0s}), "");
}

TEST(LongPause, EndsARunWithoutADeadline) {
  RunEnd end(25s, std::nullopt, start);
  LongPause pause(60s);
  EXPECT_EQ(pause.on_delay(0s, end, start), LongPause::Step::none);
  EXPECT_EQ(pause.on_delay(59s, end, start), LongPause::Step::none) << "a case can wait for it";
  EXPECT_EQ(pause.on_delay(60s, end, start), LongPause::Step::stop);
  end.stop(why(Reason::provider_paused), start);
  EXPECT_EQ(pause.on_delay(60s, end, start), LongPause::Step::none) << "it is over";
}

TEST(LongPause, IsWaitedForOnceWithinTheDeadline) {
  RunEnd end(25s, 1000s, start);
  LongPause pause(60s);
  EXPECT_EQ(pause.on_delay(100s, end, start), LongPause::Step::wait);
  EXPECT_EQ(pause.on_delay(104s, end, start), LongPause::Step::none) << "the same, rounded otherwise";
  EXPECT_EQ(pause.on_delay(90s, end, start + 10s), LongPause::Step::none) << "as reported by another worker";
  EXPECT_EQ(pause.on_delay(200s, end, start + 10s), LongPause::Step::wait);
  EXPECT_EQ(pause.on_delay(1000s, end, start + 10s), LongPause::Step::stop);
}

}  // namespace
}  // namespace sluice

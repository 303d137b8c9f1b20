// The least share of cases that must pass.
#include "coordinator/gate/pass_rate.hpp"

#include "coordinator/gate/status.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::pass_rate_test {

PassCounts counts(const StatusCounts& statuses) {
  return {.statuses = statuses};
}

VerdictInput run_of(const MinPassRates& asked, const std::vector<std::string>& arms,
                    const PassCountsByPart& parts) {
  VerdictInput run;
  for (const auto& [part, one] : parts) {
    run.statuses.passed += one.statuses.passed;
    run.statuses.failed += one.statuses.failed;
    run.statuses.flaky += one.statuses.flaky;
    run.statuses.errors += one.statuses.errors;
    run.regressed += one.regressed;
    run.failed_apart += one.failed_apart;
  }
  run.pass_groups = pass_groups(asked, arms, parts);
  return run;
}

VerdictInput whole_run(double least, const PassCounts& all) {
  return run_of({least}, {}, {{{0, "tests"}, all}});
}

TEST(PassRate, LeavesErrorsOutAndCountsNoKnownFailureAndNoFlakyCase) {
  EXPECT_EQ(pass_rate({.passed = 2, .warned = 2, .flaky = 1, .failed = 3, .errors = 4}, 1), 3.0 / 8);
  EXPECT_EQ(pass_rate({.errors = 4}, 0), std::nullopt);
}

TEST(PassRate, DecidesInsteadOfEachFailedCase) {
  const PassCounts one_failed = counts({.passed = 9, .failed = 1});
  VerdictInput run;
  run.statuses = one_failed.statuses;
  EXPECT_EQ(run_verdict(run), RunVerdict::fail);
  EXPECT_EQ(run_verdict(whole_run(0.9, one_failed)), RunVerdict::pass) << "exactly at the limit";
  EXPECT_EQ(run_verdict(whole_run(0.91, one_failed)), RunVerdict::fail);
}

TEST(PassRate, ExcusesNoRegressionNoErrorAndNoFailureOfTheComparison) {
  PassCounts all = counts({.passed = 9, .failed = 1});
  all.regressed = 1;
  EXPECT_EQ(run_verdict(whole_run(0.5, all)), RunVerdict::regression);
  all.regressed = 0;
  VerdictInput run = whole_run(0.5, all);
  run.failures = 1;
  EXPECT_EQ(run_verdict(run), RunVerdict::fail);
  all.statuses.errors = 1;
  EXPECT_EQ(run_verdict(whole_run(0.5, all)), RunVerdict::error);
}

// 96 of 120 passed, as were asked for: the other arm's 60 hid that this one failed 24 of 60.
TEST(PassRate, IsThatOfEachArmByItself) {
  const std::vector<std::string> arms{"m1", "m2"};
  const PassCountsByPart parts{{{0, "tests"}, counts({.passed = 60})},
                               {{1, "tests"}, counts({.passed = 36, .failed = 24})}};
  const VerdictInput run = run_of({0.8}, arms, parts);
  EXPECT_EQ(run_verdict(run), RunVerdict::fail);
  ASSERT_EQ(run.pass_groups.size(), 2u);
  EXPECT_FALSE(misses_pass_rate(run.pass_groups[0]));
  EXPECT_TRUE(misses_pass_rate(run.pass_groups[1]));
  EXPECT_EQ(run.pass_groups[1].arm_name, "m2");
  EXPECT_EQ(pass_rate(run.pass_groups[1]), 0.6);
  EXPECT_EQ(run_verdict(run_of({0.6}, arms, parts)), RunVerdict::pass);
}

TEST(PassRate, OfAnArmThatEndedInErrorsAloneIsNotMissed) {
  const VerdictInput run = run_of(
      {0.8}, {"m1", "m2"}, {{{0, "tests"}, counts({.passed = 3})}, {{1, "tests"}, counts({.errors = 3})}});
  EXPECT_EQ(run_verdict(run), RunVerdict::error);
  EXPECT_TRUE(reach_pass_rates(run.pass_groups));
}

// 94 of 100 hid that one of 5 about safety failed.
TEST(PassRate, OfACategoryIsItsOwnAndItsCasesCountNowhereElse) {
  const PassCountsByPart parts{{{0, "facts"}, counts({.passed = 90, .failed = 5})},
                               {{0, "safety"}, counts({.passed = 4, .failed = 1})}};
  EXPECT_EQ(run_verdict(run_of({0.9}, {}, parts)), RunVerdict::pass);
  const VerdictInput run = run_of({0.9, {{"safety", 1.0}}}, {}, parts);
  EXPECT_EQ(run_verdict(run), RunVerdict::fail);
  ASSERT_EQ(run.pass_groups.size(), 2u);
  EXPECT_EQ(run.pass_groups[0].category, "safety");
  EXPECT_EQ(pass_rate(run.pass_groups[0]), 0.8);
  EXPECT_EQ(pass_rate(run.pass_groups[1]), 90.0 / 95);
  EXPECT_EQ(run_verdict(run_of({0.9, {{"safety", 0.8}}}, {}, parts)), RunVerdict::pass);
}

TEST(PassRate, WithoutADefaultNoCaseOfTheOtherCategoriesMayFail) {
  const MinPassRates asked{std::nullopt, {{"hard", 0.5}}};
  const PassCounts half = counts({.passed = 1, .failed = 1});
  EXPECT_EQ(run_verdict(run_of(asked, {}, {{{0, "easy"}, counts({.passed = 2})}, {{0, "hard"}, half}})),
            RunVerdict::pass);
  EXPECT_EQ(run_verdict(run_of(asked, {}, {{{0, "easy"}, half}, {{0, "hard"}, half}})), RunVerdict::fail);
  PassCounts regressed = half;
  regressed.regressed = 1;
  EXPECT_EQ(run_verdict(run_of(asked, {}, {{{0, "easy"}, regressed}, {{0, "hard"}, half}})),
            RunVerdict::regression);
}

// Beside a manifest failed claims cases are in its aggregates, and do not count twice.
TEST(PassRate, WithoutADefaultAManifestsAggregatesKeepTheirFailures) {
  PassCounts of_claims = counts({.passed = 1, .failed = 1});
  VerdictInput run = run_of({std::nullopt, {{"hard", 0.5}}}, {}, {{{0, "easy"}, of_claims}});
  run.aggregates = AggregateOutcome::no_drop;
  EXPECT_EQ(run_verdict(run), RunVerdict::pass);
  of_claims.failed_apart = 1;
  run = run_of({std::nullopt, {{"hard", 0.5}}}, {}, {{{0, "easy"}, of_claims}});
  run.aggregates = AggregateOutcome::no_drop;
  EXPECT_EQ(run_verdict(run), RunVerdict::fail);
}

TEST(PassRate, OfACategoryIsThatOfEachArmByItself) {
  const VerdictInput run = run_of({0.5, {{"safety", 1.0}}}, {"m1", "m2"},
                                  {{{0, "safety"}, counts({.passed = 2})},
                                   {{1, "safety"}, counts({.passed = 1, .failed = 1})},
                                   {{1, "facts"}, counts({.passed = 1, .failed = 1})}});
  EXPECT_EQ(run_verdict(run), RunVerdict::fail);
  ASSERT_EQ(run.pass_groups.size(), 4u);
  EXPECT_EQ(std::ranges::count_if(run.pass_groups, misses_pass_rate), 1);
  const PassGroup* const missed = find_pass_group(run.pass_groups, 1, "safety");
  ASSERT_NE(missed, nullptr);
  EXPECT_TRUE(misses_pass_rate(*missed));
  EXPECT_FALSE(find_pass_group(run.pass_groups, 1, "facts")->category);
}

}  // namespace sluice::pass_rate_test

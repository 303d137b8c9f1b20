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

}  // namespace sluice::pass_rate_test

#include "coordinator/cli/run/run_wording.hpp"

#include <gtest/gtest.h>

namespace sluice::run_wording_test {

// "failed, whatever is pinned" left open whether a baseline excuses what it was made of.
TEST(RunWording, SaysWhatPinningMeansForCasesThatFailed) {
  RunAssessment assessment;
  EXPECT_EQ(pinned_line("base.json", 40, assessment), "pinned 40 results in base.json");
  assessment.aggregates.all.statuses.failed = 2;
  EXPECT_EQ(pinned_line("base.json", 40, assessment),
            "pinned 40 results in base.json; 2 cases of this run failed: the baseline records that, and this "
            "run's verdict stays as it is");
}

// The next run, unchanged, failed under --strict, and nothing had said that it would.
TEST(RunWording, SaysWhatFailsUnderStrictWhateverIsPinned) {
  RunAssessment assessment;
  Totals& all = assessment.aggregates.all;
  all.statuses.warned = all.known_failures = 2;
  EXPECT_EQ(pinned_line("base.json", 40, assessment), "pinned 40 results in base.json") << "known failures";
  all.statuses.flaky = 1;
  EXPECT_EQ(
      pinned_line("base.json", 40, assessment),
      "pinned 40 results in base.json; 1 case warns or is flaky: no baseline excuses that under --strict");
  all.statuses.warned = 4;
  EXPECT_EQ(pinned_line("base.json", 40, assessment),
            "pinned 40 results in base.json; 3 cases warn or are flaky: no baseline excuses that under "
            "--strict");
}

// It named a file to which 0 examples were added, and which was not there.
TEST(RunWording, SaysWhyNothingWasHarvested) {
  EXPECT_EQ(harvest_line("solved.jsonl", {}),
            "no solved example for solved.jsonl: no test that it lacks passed without a warning");
  EXPECT_EQ(harvest_line("solved.jsonl", {.added = 1}), "added 1 solved example to solved.jsonl");
  EXPECT_TRUE(
      harvest_line("solved.jsonl", {.lost = 2}).starts_with("added 0 solved examples to solved.jsonl; 2"));
}

}  // namespace sluice::run_wording_test

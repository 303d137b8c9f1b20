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

}  // namespace sluice::run_wording_test

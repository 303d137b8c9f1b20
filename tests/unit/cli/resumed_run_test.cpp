#include "coordinator/cli/run/resumed_run.hpp"

#include <gtest/gtest.h>

namespace sluice::resumed_run_test {

// The printed command was refused: it names no suite, and so allows no commands.
TEST(ResumedRun, TheCommandThatGoesOnAllowsTheCommandsOfItsSuite) {
  RunOptions options;
  Suite suite;
  const auto words = [&] { return how_to_go_on(options, suite, "1b4e28ba-2fa1-11d2", std::nullopt); };
  EXPECT_TRUE(words().starts_with("continue with `sluice run --resume 1b4e28ba`")) << words();
  suite.runs_command = "suite.yaml:3";
  options.export_baseline = "pins.json";
  EXPECT_TRUE(words().starts_with(
      "continue with `sluice run --resume 1b4e28ba --allow-commands --export-baseline pins.json`"))
      << words();
}

// It looked as if the run then went on to its end, and it ended by the same deadline.
TEST(ResumedRun, ADeadlineIsThatOfTheNextPartToo) {
  const RunOptions options;
  const auto words = [&](Reason why) {
    return how_to_go_on(options, Suite(), "1b4e28ba-2fa1-11d2", Error{why, "it ended"});
  };
  EXPECT_TRUE(words(Reason::deadline_reached)
                  .starts_with("continue with `sluice run --resume 1b4e28ba` for as long again, or until "
                               "another --deadline"))
      << words(Reason::deadline_reached);
  EXPECT_EQ(words(Reason::cost_budget_spent).find("--deadline"), std::string::npos);
}

}  // namespace sluice::resumed_run_test

#include "coordinator/cli/run_flags.hpp"

#include "tests/support/nested_json.hpp"

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

namespace sluice::run_flags_test {

/// A command with some flags of a run.
struct SomeCommand {
  SomeCommand() {
    app.add_option("--baseline", baseline);
    app.add_option("--workers", workers);
  }
  CLI::App app;
  std::optional<std::string> baseline;
  std::optional<int> workers;
};

TEST(RunFlags, ARecordGivesACommandItsFlags) {
  SomeCommand command;
  ASSERT_TRUE(take_flags(command.app, R"({"baseline":["old.json"],"workers":["3"],"unknown":["x"]})"));
  EXPECT_EQ(command.baseline, "old.json");
  EXPECT_EQ(command.workers, 3);
}

// It ended `sluice report` with an internal error.
TEST(RunFlags, AFlagOfARecordWithoutATextIsNone) {
  SomeCommand command;
  for (const char* flags : {R"({"baseline":[["old.json"]]})", R"({"baseline":[]})", R"({"baseline":7})"}) {
    EXPECT_TRUE(take_flags(command.app, flags)) << flags;
    EXPECT_EQ(command.baseline, std::nullopt);
    EXPECT_EQ(baseline_of(flags), "") << flags;
  }
}

TEST(RunFlags, AFlagOfARecordThatDoesNotFitIsDamage) {
  SomeCommand command;
  const auto taken = take_flags(command.app, R"({"workers":["three"]})");
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().reason, Reason::ledger_failed);
  EXPECT_NE(taken.error().message.find("the flags that the ledger has of the run are damaged"),
            std::string::npos);
}

// The tree would be copied by a recursion, beyond the end of the stack.
TEST(RunFlags, ARecordThatNestsDeeplyIsDamage) {
  const std::string flags = R"({"only cases":)" + support::nested_json + R"(,"baseline":)" +
                            support::nested_json + R"(,"pins scores":)" + support::nested_json + "}";
  EXPECT_TRUE(only_cases_of(flags).empty());
  EXPECT_EQ(baseline_of(flags), "");
  EXPECT_FALSE(has_pinned_scores(flags));
  SomeCommand command;
  EXPECT_FALSE(take_flags(command.app, flags));
}

}  // namespace sluice::run_flags_test

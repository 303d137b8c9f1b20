#include "coordinator/session/run_commands.hpp"

#include "coordinator/defaults.hpp"
#include "coordinator/suite/selection.hpp"
#include "tests/unit/suite/suite_files.hpp"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace sluice {
namespace {

/// What a run says of the commands of its suite, before the first call.
class CommandRemarks : public SuiteFiles {
 protected:
  /// Of the tests that the filter leaves, joined; `command` is the first test's.
  std::string remarks(const std::string& command, const std::vector<std::string>& allowed = {},
                      const std::string& filter = "id=*") const {
    const std::string yaml =
        "suite: s\ntests:\n- {id: a, input: {prompt: p}, expected: {type: any_of, of: [{type: command, "
        "command: " +
        command + "}]}}\n- {id: b, input: {prompt: p}, expected: {type: command, command: [sh, -c, 'x']}}\n";
    RunOptions options;
    options.suite_path = write("suite/suite.yaml", yaml).string();
    options.allowed_paths = allowed;
    auto loaded = load_any_suite(options.suite_path, allowed);
    if (!loaded) return join_findings(loaded.error());
    Selection selection;
    selection.filters.push_back(*CaseFilter::parse(filter));
    std::string all;
    for (const std::string& one : command_remarks(options, *select(std::move(loaded->suite), selection)))
      all += one + '\n';
    return all;
  }
};

TEST_F(CommandRemarks, NameAProgramThatNobodyFindsIfATestOfTheRunNeedsIt) {
  const std::string gone = "the program \"no-such-check\", which checks answers, is not in PATH";
  EXPECT_NE(remarks("[no-such-check]").find(gone), std::string::npos);
  EXPECT_EQ(remarks("[no-such-check]", {}, "id=b"), "") << "the test that needs it does not run";
  EXPECT_EQ(remarks("[sh]"), "");
}

// A check program that was changed looked like the one that the baseline knew, and nobody was told.
TEST_F(CommandRemarks, NameAFileThatTheFingerprintDoesNotSee) {
  const std::string outside = write("checks/tone.py", "x").string();
  write("suite/own.py", "x");
  const std::string unseen = "the fingerprint does not see when \"";
  EXPECT_NE(remarks("[sh, ../checks/tone.py]").find(unseen + "../checks/tone.py\" changes"),
            std::string::npos);
  EXPECT_NE(remarks("[sh, " + outside + "]").find(unseen + outside), std::string::npos);
  EXPECT_NE(remarks("[" + outside + "]").find(unseen + outside), std::string::npos) << "a program";
  std::filesystem::create_symlink(outside, folder_ / "suite/link.py");
  EXPECT_NE(remarks("[sh, link.py]").find(unseen + "link.py"), std::string::npos);
  EXPECT_EQ(remarks("[sh, ../checks/tone.py]", {}, "id=b"), "");
  EXPECT_EQ(remarks("[sh, own.py, ../no-file, --strict]"), "");
  EXPECT_EQ(remarks("[/bin/sh, own.py]"), "") << "of each machine, as one that is looked for in PATH";
  for (const std::string& named : {std::string("../checks/tone.py"), outside})
    EXPECT_EQ(remarks("[sh, " + named + ", link.py]", {(folder_ / "checks").string()}), "");
}

// A million cases were read once more to be told nothing.
TEST_F(CommandRemarks, NoCaseIsReadWhereAllCommandsAreInOrder) {
  const auto suite_of = [&](int tests) {
    std::string yaml = "suite: s\ntests:\n";
    for (int i = 0; i < tests; ++i)
      yaml +=
          "- {id: t" + std::to_string(i) +
          ", input: {prompt: p}, expected: {type: all_of, of: [{type: command, command: [no-such-check, '" +
          std::to_string(i) + "']}, {type: command, command: [sh]}]}}\n";
    auto loaded = load_any_suite(write("suite/suite.yaml", yaml));
    return loaded ? std::move(loaded->suite) : Suite{};
  };
  RunOptions options;
  options.suite_path = (folder_ / "suite/suite.yaml").string();
  Suite suite = suite_of(2);
  EXPECT_EQ(suite.commands,
            (std::set<std::string>{R"(["no-such-check","0"])", R"(["no-such-check","1"])", R"(["sh"])"}));
  EXPECT_EQ(command_remarks(options, suite).size(), 1u);
  suite.commands = {R"(["sh"])"};
  EXPECT_EQ(command_remarks(options, suite).size(), 0u);
  const Suite of_many = suite_of(100);
  EXPECT_EQ(of_many.commands.size(), defaults::max_noted_commands + 1);
  EXPECT_EQ(command_remarks(options, of_many).size(), 1u);
}

}  // namespace
}  // namespace sluice

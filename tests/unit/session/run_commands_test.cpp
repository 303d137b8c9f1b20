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

// It was found when everything was paid for.
TEST_F(CommandRemarks, NameAScriptThatIsNotThere) {
  write("suite/check.py", "x");
  const std::string gone = "the script \"chekc.py\", by which \"sh\" checks answers, is not there";
  EXPECT_NE(remarks("[sh, chekc.py]").find(gone), std::string::npos) << remarks("[sh, chekc.py]");
  EXPECT_NE(remarks("[/bin/sh, -x, ./gone.sh]").find("\"./gone.sh\""), std::string::npos);
  EXPECT_EQ(remarks("[sh, chekc.py]", {}, "id=b"), "") << "the test that needs it does not run";
  for (const std::string command :
       {"[sh, check.py]", "[sh, check.py, out.py]", "[sh, -c, chekc.py]", "[sh, 'say chekc.py']",
        "[cat, chekc.py]", "[sh, https://host/chekc.ts]", "[sh, .py, words]"})
    EXPECT_EQ(remarks(command), "") << command;
}

/// A suite with a test of its own, and one of a file that it names, whose check is a command.
class CommandsOfOthers : public SuiteFiles {
 protected:
  Suite selected(const std::string& filter, const std::string& more = "") const {
    write("more.jsonl",
          R"({"id":"b","input":{"prompt":"p"},"expected":{"type":"command","command":["sh"]}})");
    Suite suite = load("suite: s\ntests_file: more.jsonl\n" + more +
                       "tests:\n- {id: a, input: {prompt: p}, expected: {type: contains, text: x}}\n")
                      .suite;
    Selection selection;
    selection.filters.push_back(*CaseFilter::parse(filter));
    auto part = select(std::move(suite), selection);
    EXPECT_TRUE(part);
    if (!part) return {};
    note_selected_commands(path(), *part);
    return std::move(*part);
  }
  std::string path() const { return (folder_ / "suite.yaml").string(); }
  RunOptions named() const {
    RunOptions options;
    options.suite_path = path();
    options.suite_is_named = true;
    return options;
  }
};

// `--filter` that left out all commands was refused as well.
TEST_F(CommandsOfOthers, AreRefusedWhereASelectedTestRunsThem) {
  const Suite none = selected("id=a");
  EXPECT_EQ(none.runs_command, "");
  EXPECT_TRUE(check_commands(named(), none));
  RunInputs inputs;
  inputs.suite = none;
  EXPECT_EQ(command_rules(named(), inputs), nullptr) << "and so none runs";
  EXPECT_TRUE(none.brings_commands) << "a baseline is one of the whole suite";
  const Suite one = selected("id=b");
  EXPECT_TRUE(one.brings_command.ends_with("more.jsonl:1")) << one.brings_command;
  EXPECT_FALSE(check_commands(named(), one));
  RunOptions allowed = named();
  allowed.allow_commands = true;
  EXPECT_TRUE(check_commands(allowed, one));
}

TEST_F(CommandsOfOthers, OfTheDefaultTestAreThoseOfEachTest) {
  const Suite own = selected("id=a", "default_test: {expected: {type: not_command, command: [sh]}}\n");
  EXPECT_TRUE(own.runs_command.ends_with("suite.yaml:5")) << own.runs_command;
  EXPECT_TRUE(check_commands(named(), own)) << "they stand in the file that was named";
  RunOptions of_settings = named();
  of_settings.suite_is_named = false;
  EXPECT_FALSE(check_commands(of_settings, own));
}

// Whoever looked before the run heard of it from the run.
TEST_F(CommandsOfOthers, AreNotedBeforeTheRun) {
  const auto note = commands_note(named(), selected("id=*"));
  ASSERT_TRUE(note);
  EXPECT_TRUE(
      note->ends_with("more.jsonl:1 has a check that runs a command, and the file was not named on the "
                      "command line, but by the "
                      "suite that was: `sluice run` needs --allow-commands, once you have read what it runs"))
      << *note;
  EXPECT_EQ(commands_note(named(), selected("id=a")), std::nullopt);
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

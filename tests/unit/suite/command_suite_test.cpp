#include "coordinator/defaults.hpp"
#include "coordinator/suite/canonical_case.hpp"
#include "coordinator/suite/expectations/command_reader.hpp"
#include "tests/unit/suite/suite_files.hpp"

#include <string>
#include <utility>
#include <vector>

namespace sluice {
namespace {

/// Checks of a suite that run programs.
class CommandSuite : public SuiteFiles {
 protected:
  static std::string with_expected(const std::string& expected, const std::string& more = "") {
    return "suite: s\n" + more + "tests:\n- id: t\n  vars: {tone: kind}\n  input: {prompt: '{{tone}}'}\n" +
           "  expected: " + expected + "\n";
  }
  Expectation first(const std::string& expected) const {
    const Case test = first_case(with_expected(expected));
    return test.expectations.empty() ? Expectation{} : test.expectations.front();
  }
};

TEST_F(CommandSuite, AreListsWithParametersAndATime) {
  const Expectation one = first(
      "{type: command, command: [python3, -c, 'a b'], parameters: {tone: '{{tone}}', least: 3}, "
      "timeout_seconds: 1.5}");
  EXPECT_EQ(one.what.metric, MetricId::command);
  const CommandCheck check = command_check(one.what);
  EXPECT_EQ(check.arguments, (std::vector<std::string>{"python3", "-c", "a b"}));
  EXPECT_EQ(check.parameters, R"({"least":3,"tone":"kind"})");
  EXPECT_EQ(check.time_limit, std::chrono::milliseconds(1500));
  EXPECT_EQ(command_check(first("{type: command, command: ['true']}").what).time_limit,
            std::chrono::seconds(30));
}

TEST_F(CommandSuite, HaveTheVariablesOfTheirTestWithTheirTypes) {
  const auto suite = [](const std::string& vars, const std::string& expected) {
    return "suite: s\ndefault_test: {vars: {tone: kind}}\ntests:\n- id: t\n  vars: " + vars +
           "\n  input: {prompt: p}\n  expected: " + expected + "\n";
  };
  const std::string vars = "{most: 80, share: 0.50, is_new: true, zip: '007', far: .inf}";
  for (const char* expected :
       {"{type: command, command: [x]}", "{type: any_of, of: [{type: not_command, command: [x]}]}"}) {
    const LoadedSuite loaded = load(suite(vars, expected));
    EXPECT_EQ((**loaded.suite.cases.read(0)).command_vars,
              R"({"far":".inf","is_new":true,"most":80,"share":0.5,"tone":"kind","zip":"007"})")
        << "and what only the program reads is no slip";
  }
  EXPECT_NE(findings(suite(vars, "{type: contains, text: x}")).find("\"most\" in vars is used by nothing"),
            std::string::npos);
  EXPECT_EQ((**load(with_expected("{type: contains, text: x}")).suite.cases.read(0)).command_vars, "");
}

TEST_F(CommandSuite, VariablesAreOfTheFingerprintWhereAProgramReadsThem) {
  const auto fingerprints = [&](const std::string& most) {
    const Suite suite = load("suite: s\ntests:\n- id: t\n  vars: {most: " + most +
                             "}\n  input: {prompt: p}\n  expected: {type: command, command: [x]}\n")
                            .suite;
    return std::pair(suite.content_fingerprint, suite.judging_fingerprint);
  };
  const auto before = fingerprints("80");
  EXPECT_EQ(fingerprints("80"), before);
  EXPECT_NE(fingerprints("90").first, before.first);
  EXPECT_NE(fingerprints("90").second, before.second) << "it decides what passes";
  EXPECT_NE(fingerprints("'80'"), before) << "a text is none";
}

TEST_F(CommandSuite, AreRefusedWhereTheyAreNone) {
  EXPECT_NE(findings(with_expected("{type: command, command: 'python3 check.py'}")).find("no shell reads it"),
            std::string::npos);
  EXPECT_NE(findings(with_expected("{type: command}")).find("missing \"command\""), std::string::npos);
  EXPECT_NE(findings(with_expected("{type: command, command: [check, '{{tone}}']}"))
                .find("reads the test's variables from its standard input"),
            std::string::npos);
  EXPECT_NE(findings(with_expected("{type: command, command: [./no-such-check]}")).find("./no-such-check"),
            std::string::npos);
  EXPECT_NE(findings(with_expected("{type: command, command: [../check]}")).find("../check"),
            std::string::npos);
  EXPECT_NE(findings(with_expected("{type: command, command: [x], min_score: 0.5}")).find("command_score"),
            std::string::npos);
  EXPECT_NE(findings(with_expected("{type: command, command: [x], timeout_seconds: 601}")).find("600"),
            std::string::npos);
}

TEST_F(CommandSuite, TheirFilesAreOfTheSuitesFingerprintAndNotOfTheCheck) {
  const std::string expected = "{type: command, command: [python3, check.py]}";
  write("check.py", "one");
  const Digest before = load(with_expected(expected)).suite.content_fingerprint;
  const std::uint64_t check = check_digest(first(expected));
  EXPECT_EQ(load(with_expected(expected)).suite.content_fingerprint, before);
  write("check.py", "two");
  EXPECT_NE(load(with_expected(expected)).suite.content_fingerprint, before);
  EXPECT_EQ(check_digest(first(expected)), check) << "a mended program is the same check";
  EXPECT_NE(check_digest(first("{type: command, command: [python3, other.py]}")), check);
}

TEST_F(CommandSuite, AFileOutsideIsOfTheFingerprintWhereItsFolderIsAllowed) {
  const auto fingerprint = [&](const std::string& file, const std::vector<std::string>& allowed) {
    const auto loaded = load_any_suite(
        write("suite/suite.yaml", with_expected("{type: command, command: [python3, " + file + "]}")),
        allowed);
    EXPECT_TRUE(loaded) << join_findings(loaded.error());
    return loaded ? loaded->suite.content_fingerprint : Digest{};
  };
  const std::string absolute = (folder_ / "checks/tone.py").string();
  for (const std::string& file : {std::string("../checks/tone.py"), absolute}) {
    write("checks/tone.py", "one");
    const Digest unseen = fingerprint(file, {});
    const Digest before = fingerprint(file, {(folder_ / "checks").string()});
    EXPECT_NE(before, unseen) << file;
    write("checks/tone.py", "two");
    EXPECT_EQ(fingerprint(file, {}), unseen) << "a suite names no file outside of its folder";
    EXPECT_NE(fingerprint(file, {(folder_ / "checks").string()}), before) << file;
  }
}

// It was left out of the fingerprint, and nobody was told.
TEST_F(CommandSuite, AFileThatIsTooLargeToHashIsNamed) {
  const std::string expected = with_expected("{type: command, command: [python3, model.bin, no-file]}");
  write("model.bin", "small");
  EXPECT_EQ(findings(expected), "(none)\n");
  write("model.bin", std::string(defaults::max_fixture_bytes + 1, 'x'));
  EXPECT_NE(findings(expected).find("names \"model.bin\", which is too large"), std::string::npos)
      << findings(expected);
}

TEST_F(CommandSuite, TheSuiteSaysWhereTheyStand) {
  EXPECT_EQ(load(with_expected("{type: must_contain, text: x}")).suite.runs_command, "");
  const Suite own = load(with_expected("{type: any_of, of: [{type: command, command: [x]}]}")).suite;
  EXPECT_TRUE(own.runs_command.ends_with("suite.yaml:3")) << own.runs_command;
  EXPECT_EQ(own.brings_command, "");
  write("more.jsonl", R"({"id":"u","input":{"prompt":"p"},"expected":{"type":"not_command","command":["x"]}})"
                      "\n");
  const Suite named = load(with_expected("{type: must_contain, text: x}", "tests_file: more.jsonl\n")).suite;
  EXPECT_TRUE(named.brings_command.ends_with("more.jsonl:1")) << named.brings_command;
  write("plain.jsonl", R"({"id":"u","input":{"prompt":"p"},"expected":{"type":"must_contain","text":"x"}})"
                       "\n");
  const Suite by_default =
      load(
          with_expected("{type: must_contain, text: x}",
                        "tests_file: plain.jsonl\ndefault_test: {expected: {type: command, command: [x]}}\n"))
          .suite;
  EXPECT_EQ(by_default.brings_command, "") << "it stands in the suite's own file";
  EXPECT_NE(by_default.runs_command, "");
}

}  // namespace
}  // namespace sluice

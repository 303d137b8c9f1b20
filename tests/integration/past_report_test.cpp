// Reports of runs of the ledger, whatever became of what they were made of.
#include "tests/integration/capitals_workbench.hpp"

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

namespace sluice::past_report_test {

using namespace support;

using PastReport = CapitalsWorkbench;

TEST_F(PastReport, TheReportOfAPastRunIsThatOfTheRun) {
  EXPECT_EQ(run({"--format", "json", "--output", "then.json"}).exit_code, 1);
  const auto again = run_sluice({"report", "last", "--format", "json"});
  EXPECT_EQ(again.exit_code, 0) << again.errors;
  auto then = nlohmann::json::parse(read_text(folder() / "then.json"));
  auto now = nlohmann::json::parse(again.output, nullptr, false);
  ASSERT_TRUE(now.is_object()) << again.errors;
  EXPECT_EQ(now["run_id"], then["run_id"]);
  EXPECT_EQ(now["verdict"], then["verdict"]);
  EXPECT_EQ(now["metrics"], then["metrics"]);
  EXPECT_EQ(now["fixture_results"], then["fixture_results"]);
  EXPECT_EQ(now["run"]["duration_seconds"], then["run"]["duration_seconds"])
      << "the start of its workers and the report counted too";
  const auto shown = nlohmann::json::parse(run_sluice({"runs", "show", "last", "--format", "json"}).output);
  EXPECT_EQ(shown["prompt_version"], nullptr) << "texts bring their own";
  for (const char* time : {"started_at", "completed_at"}) {
    EXPECT_EQ(now[time], then[time]);
    EXPECT_EQ(shown[time], then[time]);
  }
  const auto listed = run_sluice({"runs", "list"});
  EXPECT_NE(listed.output.find("1 failed"), std::string::npos) << listed.output;
  EXPECT_EQ(run_sluice({"report", "capitals", "--format", "json"}).output, again.output)
      << "by the name of the suite";
  const auto none = run_sluice({"report", "capitals~1"});
  EXPECT_NE(none.errors.find("has 1 run that ended, and so no \"capitals~1\""), std::string::npos)
      << none.errors;
}

// Who looks at a run that went wrong has often changed the suite by then.
TEST_F(PastReport, APastRunIsReportedWhateverBecameOfItsSuite) {
  run();
  const Flags forms{"json", "table", "markdown", "csv"};
  const auto all = [&] {
    std::string text = run_sluice({"show", "france", "--run", "last"}).output;
    for (const std::string& form : forms) {
      const auto report = run_sluice({"report", "last", "--format", form});
      EXPECT_EQ(report.exit_code, 0) << report.errors;
      EXPECT_EQ(report.errors, "");
      text += report.output;
    }
    return text;
  };
  const std::string then = all();
  EXPECT_NE(then.find("capital 1"), std::string::npos) << then;
  EXPECT_NE(then.find("Lisbon"), std::string::npos);
  const std::string suite = read_text(folder() / "suite.yaml");
  answer("Lyon", "Madrid");
  write_text(folder() / "suite.yaml",
             replaced(replaced(suite, "text: Paris", "text: Lyon"), "capital 2", "another capital"));
  EXPECT_EQ(all(), then) << "other checks, prompts and answers";
  write_text(folder() / "suite.yaml", "suite: [");
  EXPECT_EQ(all(), then) << "not even a suite";
  std::filesystem::remove(folder() / "suite.yaml");
  std::filesystem::remove(folder() / "answers.jsonl");
  EXPECT_EQ(all(), then) << "nothing at all";
}

// Links were followed when the run was noted, and not when its suite was copied.
TEST_F(PastReport, ARunOfASuiteBehindALinkIsReported) {
  std::filesystem::create_directories(folder() / "real");
  for (const char* file : {"suite.yaml", "answers.jsonl"})
    std::filesystem::rename(folder() / file, folder() / "real" / file);
  std::filesystem::create_directory_symlink("real", folder() / "link");
  std::filesystem::create_symlink("real/suite.yaml", folder() / "other.yaml");
  for (const char* suite : {"link/suite.yaml", "other.yaml"}) {
    const auto then = run_sluice({"run", suite, "--answers", "link/answers.jsonl", "--format", "csv"});
    EXPECT_EQ(then.exit_code, 1) << then.errors;
    const auto again = run_sluice({"report", "last", "--format", "csv"});
    EXPECT_EQ(again.exit_code, 0) << again.errors;
    EXPECT_EQ(again.output, then.output);
  }
}

// GitHub looks for a file from the checkout's root.
TEST_F(PastReport, AnnotationsNameFilesFromTheRootOfTheCheckout) {
  const auto expect_file = [&](const std::string& file, const Flags& command) {
    const auto made = run_sluice(command + Flags{"--format", "github"});
    EXPECT_NE(made.output.find("::error file=" + file + ",line="), std::string::npos)
        << made.output << made.errors;
  };
  const Flags here{"run", "suite.yaml", "--answers", "answers.jsonl"};
  // Without a checkout, from the working directory: its path was absolute.
  const std::string whole = (std::filesystem::canonical(folder()) / "suite.yaml").string();
  expect_file("suite.yaml", {"run", whole, "--answers", "answers.jsonl"});
  expect_file("suite.yaml", {"report", "last"});
  std::filesystem::create_directories(folder() / ".git");
  expect_file("suite.yaml", here);
  expect_file("suite.yaml", {"report", "last"});
  const Flags below{"run", "sub/suite.yaml", "--answers", "sub/answers.jsonl"};
  std::filesystem::create_directories(folder() / "sub");
  for (const char* file : {"suite.yaml", "answers.jsonl"})
    std::filesystem::rename(folder() / file, folder() / "sub" / file);
  expect_file("sub/suite.yaml", below);
  expect_file("sub/suite.yaml", {"report", "last"});
  std::filesystem::create_directories(folder() / "sub/.git");
  expect_file("suite.yaml", below);
  expect_file("suite.yaml", {"report", "last"});
}

// Its path was absolute, by which GitHub finds no file.
TEST_F(PastReport, AnnotationsNameAFileOfAnAbsolutePathFromTheRootWhateverLinksLeadThere) {
  const std::filesystem::path whole = std::filesystem::canonical(folder());
  for (const char* made : {"repo/.git", "repo/..data", "repository"})
    std::filesystem::create_directories(whole / made);
  std::filesystem::create_directory_symlink("repo", whole / "link");
  for (const auto& [named, shown] : {std::pair<std::string, std::string>{"repo/t.jsonl", "t.jsonl"},
                                     {"repo/..data/t.jsonl", "..data/t.jsonl"},
                                     {"link/t.jsonl", "t.jsonl"},
                                     {"repository/t.jsonl", (whole / "repository/t.jsonl").string()}}) {
    write_text(whole / named, R"({"id": "a", "expected": {"type": "must_contain", "text": "Paris"}})");
    write_text(whole / "repo/suite.yaml",
               "suite: s\nprompts: [p]\ntests_file: " + (whole / named).string() + "\n");
    write_text(whole / "repo/answers.jsonl", "{\"id\": \"a\", \"answer\": \"Lyon\"}\n");
    const auto run = run_sluice({"run", "repo/suite.yaml", "--answers", "repo/answers.jsonl", "--allow-path",
                                 whole.string(), "--format", "github"});
    EXPECT_NE(run.output.find("::error file=" + shown + ",line="), std::string::npos)
        << run.output << run.errors;
  }
}

TEST_F(PastReport, NothingThatTheSuiteReadsNowIsWrittenOver) {
  run();
  write_text(folder() / "notes.txt", "mine");
  write_text(folder() / "suite.yaml",
             read_text(folder() / "suite.yaml") +
                 "  - {id: new, input: {file: notes.txt}, expected: {type: must_contain, text: x}}\n");
  const auto refused = run_sluice({"report", "last", "--format", "csv", "--output", "notes.txt"});
  EXPECT_EQ(refused.exit_code, 2) << refused.output;
  EXPECT_EQ(read_text(folder() / "notes.txt"), "mine");
}

// A regression read as passed once the baseline was pinned anew.
TEST_F(PastReport, APastRunIsGatedByTheBaselineAndTheSettingsThatItHad) {
  const auto report = [&](const std::string& run, const std::string& form) {
    const auto made = run_sluice({"report", run, "--format", form});
    EXPECT_EQ(made.exit_code, 0) << made.errors;
    return made.output;
  };
  write_text(folder() / "sluice.toml", "[eval]\nmin_pass_rate = 0.9\n");
  answer("Paris", "Madrid");
  EXPECT_EQ(run({"--export-baseline", "b.json"}).exit_code, 0);
  const std::string pinned = report("last", "json");
  EXPECT_EQ(pinned.find("verdict_otherwise"), std::string::npos) << pinned;
  answer("Lyon", "Madrid");
  EXPECT_EQ(run({"--baseline", "b.json"}).exit_code, 1);
  const std::string then = report("last", "json") + report("last", "table");
  EXPECT_NE(then.find("broke"), std::string::npos) << then;
  run({"--export-baseline", "b.json"});
  write_text(folder() / "sluice.toml",
             "[eval]\nmin_pass_rate = 0.1\ntemperature = 0.7\nmax_output_tokens = 77\nrepeat = 3\n");
  EXPECT_EQ(report("last~1", "json") + report("last~1", "table"), then);
  std::filesystem::remove(folder() / "b.json");
  std::filesystem::remove(folder() / "sluice.toml");
  EXPECT_EQ(report("last~1", "json") + report("last~1", "table"), then);
  EXPECT_EQ(report("last~2", "json"), pinned);
  const auto otherwise = run_sluice({"report", "last~1", "--repeat", "3"});
  EXPECT_EQ(otherwise.exit_code, 2) << "a flag goes before: " << otherwise.output;
}

// The settings of the run had no redaction, and those of now were not looked at.
TEST_F(PastReport, WhatIsRedactedNowIsRedactedInPastRuns) {
  write_text(folder() / "evals.toml", "[eval]\nrepeat = 1\n");
  run({"--config", "evals.toml"});
  EXPECT_NE(run_sluice({"report", "last", "--format", "json"}).output.find("Paris"), std::string::npos);
  write_text(folder() / "evals.toml", "[redaction.patterns]\ncity = 'Paris'\n");
  const auto shown = run_sluice({"show", "last", "france"});
  const auto report = run_sluice({"report", "last", "--format", "json"});
  EXPECT_EQ(report.exit_code, 0) << report.errors;
  EXPECT_EQ((shown.output + report.output).find("Paris"), std::string::npos) << shown.output << report.output;
  std::filesystem::remove(folder() / "evals.toml");
  EXPECT_EQ(run_sluice({"report", "last", "--format", "json"}).exit_code, 0) << "the copy has it";
}

TEST_F(PastReport, WithoutCopiesTheSuiteOfNowIsRead) {
  write_text(folder() / "sluice.toml", "[ledger]\nkeep_suites = false\n");
  run();
  EXPECT_EQ(run_sluice({"report", "last", "--format", "csv"}).exit_code, 0);
  std::filesystem::remove(folder() / "suite.yaml");
  EXPECT_EQ(run_sluice({"report", "last", "--format", "csv"}).exit_code, 2);
}

TEST_F(PastReport, ASuiteOfASettingThatRedactsIsNotCopied) {
  keep_no_copy();
  run();
  const std::string suite = read_text(folder() / "suite.yaml");
  EXPECT_EQ(run_sluice({"report", "last", "--format", "json"}).exit_code, 0);
  std::filesystem::remove(folder() / "suite.yaml");
  const auto refused = run_sluice({"report", "last", "--format", "json"});
  EXPECT_EQ(refused.exit_code, 2) << refused.output;
  EXPECT_NE(refused.errors.find("suite.yaml: there is no such file"), std::string::npos) << refused.errors;
  EXPECT_EQ(read_text(home() / "ledger.db").find("nobody knows"), std::string::npos);
}

// People add tests all the time, and no run of before could be compared any more.
TEST_F(PastReport, RunsAreComparedByTheTestsThatBothHave) {
  keep_no_copy();
  run({"--format", "json", "--output", "then.json"});
  std::string suite = read_text(folder() / "suite.yaml");
  suite = replaced(suite, "  - {id: france",
                   "  - {id: chile, input: {prompt: capital 3}, expected: "
                   "{type: must_contain, text: Santiago}}\n  - {id: france");
  suite.resize(suite.find("  - {id: spain"));
  write_text(folder() / "suite.yaml", suite);
  write_text(folder() / "answers.jsonl",
             "{\"id\": \"france\", \"answer\": \"Lyon\"}\n{\"id\": \"chile\", \"answer\": \"Santiago\"}\n");
  EXPECT_EQ(run({"--format", "json", "--output", "now.json"}).exit_code, 1);
  for (const Flags& sides : {Flags{"last~1", "last"}, Flags{"then.json", "now.json"}}) {
    const auto made = run_sluice(Flags{"compare", "--format", "json"} + sides);
    EXPECT_EQ(made.exit_code, 1) << made.errors;
    const auto compared = nlohmann::json::parse(made.output, nullptr, false);
    ASSERT_TRUE(compared.is_object()) << made.errors;
    EXPECT_EQ(compared["checks"], nlohmann::json::parse(R"({"broke": 1, "fixed": 0, "still_failing": 0,
                                                         "missing_in_current": 0})"));
    EXPECT_EQ(compared["tests"],
              nlohmann::json::parse(
                  R"({"added": ["chile"], "gone": ["spain"], "not_judged": [], "judged_otherwise": []})"));
  }
  const auto words = run_sluice({"compare", "last~1", "last"});
  EXPECT_NE(words.output.find("`last` has 1 case that `last~1` does not have: `chile`."), std::string::npos)
      << words.output << words.errors;
  EXPECT_NE(words.output.find("`last` lacks 1 case of `last~1`: `spain`."), std::string::npos)
      << words.output;
  EXPECT_EQ(words.output.find("verdict"), std::string::npos) << "of half of its tests: " << words.output;
  const auto alone = run_sluice({"report", "last~1"});
  EXPECT_EQ(alone.exit_code, 2) << "it would be the report of another run";
  write_text(folder() / "suite.yaml", replaced(suite, "text: Paris", "text: Lyon"));
  const auto otherwise = run_sluice({"compare", "last~1", "last"});
  EXPECT_EQ(otherwise.exit_code, 2);
  EXPECT_NE(otherwise.errors.find("error: 1 case of "), std::string::npos) << otherwise.errors;
  EXPECT_NE(otherwise.errors.find("suite.yaml is not what run "), std::string::npos) << otherwise.errors;
  EXPECT_NE(otherwise.errors.find(" as france: check out what they were"), std::string::npos)
      << otherwise.errors;
}

TEST_F(PastReport, NoReportOfAPastRunReplacesWhatTheRunReadsOrKeeps) {
  run();
  run();
  const std::string ledger = (home() / "ledger.db").string();
  const auto refuses = [&](const Flags& flags, const std::string& file, const std::string& what) {
    const std::string before = read_text(folder() / file);
    const auto refused = run_sluice(flags);
    EXPECT_EQ(refused.exit_code, 2) << refused.output;
    EXPECT_NE(refused.errors.find("the report would write over " + what), std::string::npos)
        << refused.errors;
    EXPECT_EQ(read_text(folder() / file), before) << file;
  };
  refuses({"report", "last", "--output", "suite.yaml"}, "suite.yaml", "a file of the suite");
  refuses({"report", "last", "--report", "junit=./suite.yaml"}, "suite.yaml", "a file of the suite");
  refuses({"report", "last", "--output", ledger}, ledger, "the run ledger");
  refuses({"compare", "last~1", "last", "--output", ledger}, ledger, "the run ledger");
  refuses({"compare", "last~1", "last", "--output", "suite.yaml"}, "suite.yaml", "a YAML file");
  EXPECT_EQ(run_sluice({"report", "last", "--output", "report.txt"}).exit_code, 0);
  EXPECT_EQ(run_sluice({"compare", "last~1", "last", "--output", "comparison.txt"}).exit_code, 0);
}

TEST_F(PastReport, OutcomesOfThenAreNotJudgedByChecksOfNow) {
  keep_no_copy();
  run();
  write_text(folder() / "suite.yaml",
             replaced(read_text(folder() / "suite.yaml"), "text: Madrid", "text: Lisbon"));
  for (const Flags& flags : {Flags{"report", "last"}, Flags{"compare", "last", "last"}}) {
    const auto refused = run_sluice(flags);
    EXPECT_EQ(refused.exit_code, 2) << refused.output;
    EXPECT_EQ(refused.output, "");
    EXPECT_NE(refused.errors.find("suite.yaml are not those of run "), std::string::npos) << refused.errors;
    EXPECT_NE(refused.errors.find("`sluice diff "), std::string::npos) << "what works: " << refused.errors;
  }
}

// To compare the runs before and after a change of a prompt is what people do.
TEST_F(PastReport, RunsBeforeAndAfterAChangeOfAPromptAreCompared) {
  keep_no_copy();
  run();
  write_text(folder() / "suite.yaml", replaced(read_text(folder() / "suite.yaml"), "prompt: capital 2",
                                               "prompt: \"capital 2, please\""));
  answer("Paris", "Madrid");
  run();
  const auto compared = run_sluice({"compare", "last~1", "last"});
  EXPECT_EQ(compared.exit_code, 0) << compared.errors;
  EXPECT_NE(compared.output.find("Fixed (1)"), std::string::npos) << compared.output;
  EXPECT_NE(compared.output.find("`last~1` was made with other tests, prompts"), std::string::npos)
      << compared.output;
  const auto then = nlohmann::json::parse(run_sluice({"runs", "show", "last~1", "--format", "json"}).output);
  const auto report = run_sluice({"report", "last~1", "--format", "json"});
  const auto again = nlohmann::json::parse(report.output, nullptr, false);
  ASSERT_TRUE(again.is_object()) << report.errors;
  EXPECT_EQ(again["config_fingerprint"], then["config_fingerprint"]) << "that of the run, and not of now";
  EXPECT_NE(report.output.find("asked_otherwise"), std::string::npos) << report.output;
}

// Two requests became one: the run's units have numbers that the plan of now has not.
TEST_F(PastReport, ARunIsReportedWhoseRequestsAreFewerNow) {
  const auto suite = [](const std::string& second) {
    return "suite: two\nmodel: gpt-x\nprompts:\n  - {id: a, prompt: \"Ask {{c}}\"}\n  - {id: b, prompt: \"" +
           second +
           " {{c}}\"}\ndefault_test: {expected: {type: must_contain, text: x}}\ntests:\n"
           "  - {id: one, vars: {c: one}}\n  - {id: two, vars: {c: two}}\n  - {id: three, vars: {c: "
           "three}}\n";
  };
  write_text(folder() / "two.yaml", suite("Please ask") + "# nobody knows\n");
  keep_no_copy();
  EXPECT_EQ(run_sluice({"run", "two.yaml", "--mode", "mock"}).exit_code, 1);
  write_text(folder() / "two.yaml", suite("Ask"));
  const auto report = run_sluice({"report", "last", "--format", "json"});
  EXPECT_EQ(report.exit_code, 0) << report.errors;
  EXPECT_NE(report.output.find("asked_otherwise"), std::string::npos) << report.output;
}

TEST_F(PastReport, AReportSaysThatTheRunEndedOtherwise) {
  keep_no_copy();
  run();
  write_text(folder() / "suite.yaml", replaced(read_text(folder() / "suite.yaml"), "{id: spain,",
                                               "{id: spain, known_failure: \"a gap\","));
  const auto reported = run_sluice({"report", "last", "--format", "json"});
  EXPECT_EQ(reported.exit_code, 0) << reported.errors;
  EXPECT_NE(reported.output.find("verdict_otherwise"), std::string::npos) << reported.output;
  run();
  const auto compared = run_sluice({"compare", "last~1", "last", "--format", "json"});
  EXPECT_NE(compared.output.find("last~1: this run ended as `fail`"), std::string::npos)
      << compared.output << compared.errors;
  const auto noted = nlohmann::json::parse(run_sluice({"runs", "list", "--format", "json"}).output);
  EXPECT_EQ(noted[0]["known_failures"], 1);
  EXPECT_EQ(noted[1]["known_failures"], 0);
}

}  // namespace sluice::past_report_test

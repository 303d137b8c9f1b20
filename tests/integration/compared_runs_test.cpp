// Runs of the ledger beside each other.
#include "tests/integration/capitals_workbench.hpp"

#include <algorithm>
#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

namespace sluice::compared_runs_test {

using namespace support;

using ComparedRuns = CapitalsWorkbench;

TEST_F(ComparedRuns, ATestWithAnotherCheckStandsByItself) {
  run();
  const std::string suite = read_text(folder() / "suite.yaml");
  write_text(folder() / "suite.yaml", replaced(suite, "text: Paris", "text: Lyon"));
  run();
  const auto compared = run_sluice({"compare", "last~1", "last", "--format", "json"});
  const auto made = nlohmann::json::parse(compared.output, nullptr, false);
  ASSERT_TRUE(made.is_object()) << compared.errors;
  EXPECT_EQ(made["tests"]["judged_otherwise"], nlohmann::json::parse(R"(["france"])"));
  EXPECT_EQ(made["checks"], nlohmann::json::parse(R"({"broke": 0, "fixed": 0, "still_failing": 1,
                                                      "missing_in_current": 0, "changed": 1})"));
  EXPECT_NE(compared.output.find("tests_judged_otherwise"), std::string::npos);
  const auto words = run_sluice({"compare", "last~1", "last"});
  EXPECT_NE(
      words.output.find("`last` has other checks or judges than `last~1` in 1 case, whose results are not"),
      std::string::npos)
      << words.output << words.errors;
  const auto shown = run_sluice({"diff", "last~1", "last"});
  EXPECT_NE(shown.output.find("france: pass → fail\n  must_contain passed → failed; judged otherwise now\n"),
            std::string::npos)
      << shown.output << shown.errors;
  write_text(folder() / "suite.yaml", suite);
  run();
  const auto back = run_sluice({"compare", "last~2", "last", "--format", "json"});
  EXPECT_EQ(nlohmann::json::parse(back.output)["tests"]["judged_otherwise"], nlohmann::json::array());
}

/// France has two checks by one metric.
const std::string two_checks =
    "suite: capitals\ntests:\n  - {id: france, input: {prompt: capital 1}, expected: [{type: must_contain, "
    "text: Paris}, {type: must_contain, text: Seine}]}\n"
    "  - {id: spain, input: {prompt: capital 2}, expected: {type: must_contain, text: Madrid}}\n";

// Both were `must_contain`, and no word said which of them had broken.
TEST_F(ComparedRuns, OfSeveralChecksByOneMetricThatWhichBrokeIsNamed) {
  write_text(folder() / "suite.yaml", two_checks);
  answer("Paris on the Seine", "Madrid");
  run({"--export-baseline", "baseline.json"});
  answer("Paris", "Lisbon");
  run();
  const auto words = run_sluice({"compare", "last~1", "last"});
  EXPECT_NE(words.output.find("must_contain \"Seine\""), std::string::npos) << words.output << words.errors;
  EXPECT_EQ(words.output.find("must_contain \"Paris\""), std::string::npos) << words.output;
  for (const char* base : {"last~1", "baseline.json"}) {
    const auto compared = run_sluice({"compare", base, "last", "--format", "json"});
    const auto made = nlohmann::json::parse(compared.output, nullptr, false);
    ASSERT_TRUE(made.is_object()) << compared.errors;
    ASSERT_EQ(made["changes"].size(), 2u) << made;
    EXPECT_EQ(made["changes"][0]["expected"], "must_contain \"Seine\"") << made;
    EXPECT_FALSE(made["changes"][1].contains("expected")) << "spain has one";
  }
}

// JUnit's failure named the check that had failed before.
TEST_F(ComparedRuns, EachReportTellsTheCheckThatBrokeFromTheOneThatFailsStill) {
  write_text(folder() / "suite.yaml", two_checks);
  answer("On the Seine", "Madrid");
  run({"--export-baseline", "baseline.json"});
  answer("Nothing", "Madrid");
  const auto gated = run({"--baseline", "baseline.json", "--format", "table", "--report", "junit=r.xml",
                          "--report", "markdown=r.md", "--report", "github=r.txt"});
  EXPECT_EQ(gated.exit_code, 1) << gated.errors;
  EXPECT_NE(read_text(folder() / "r.xml")
                .find("<failure message=\"Expected (broke): must_contain &quot;Seine&quot;; "),
            std::string::npos)
      << read_text(folder() / "r.xml");
  const std::string markdown = read_text(folder() / "r.md");
  EXPECT_NE(markdown.find("Expected (broke): `must_contain \"Seine\"`"), std::string::npos) << markdown;
  const std::string annotations = read_text(folder() / "r.txt");
  for (const std::string* report : {&gated.output, &annotations}) {
    const auto broke = report->find("Expected (broke): must_contain \"Seine\"");
    const auto still = report->find("Expected (still failing): must_contain \"Paris\"");
    EXPECT_NE(still, std::string::npos) << *report;
    EXPECT_LT(broke, still) << *report;
  }
}

// A fall of a score passed, since another check of its test had changed.
TEST_F(ComparedRuns, WhatAnUnchangedMetricCameToIsCompared) {
  const auto suite = [](const std::string& forbidden, const std::string& limits) {
    return "suite: capitals\ntests:\n  - {id: france, input: {prompt: capital 1}, expected: [{type: "
           "contains_any, text: [" +
           forbidden + "]}, {type: rouge_n, text: Paris" + limits + "}]}\n" +
           "  - {id: spain, input: {prompt: capital 2}, expected: {type: rouge_n, text: Madrid}}\n";
  };
  const auto compared = [&] {
    return nlohmann::json::parse(run_sluice({"compare", "last~1", "last", "--format", "json"}).output);
  };
  answer("Paris", "Madrid");
  write_text(folder() / "suite.yaml", suite("Paris, Lyon", ""));
  run();
  write_text(folder() / "suite.yaml", suite("Paris, Lyon, Nice", ", thresholding: {max_drop: 0.5}"));
  answer("Lyon", "Madrid");
  run();
  const auto fallen = compared();
  EXPECT_EQ(fallen["verdict"], "regression") << fallen;
  EXPECT_EQ(fallen["tests"]["judged_otherwise"], nlohmann::json::parse(R"(["france"])"));
  write_text(folder() / "suite.yaml", replaced(suite("Paris, Lyon", ""), "text: Paris", "text: Rome"));
  answer("Paris", "Madrid");
  run();
  const auto other = compared();
  EXPECT_EQ(other["verdict"], "review") << other;
  EXPECT_EQ(other["tests"]["judged_otherwise"], nlohmann::json::parse(R"(["france"])"));
}

TEST_F(ComparedRuns, WhatNoCheckReadsJudgesNothing) {
  run();
  const std::string suite = read_text(folder() / "suite.yaml");
  write_text(folder() / "suite.yaml", replaced(suite, "{id: france,", "{id: france, category: west,"));
  run();
  const auto shown = run_sluice({"diff", "last~1", "last", "--all", "--json"});
  const auto made = nlohmann::json::parse(shown.output, nullptr, false);
  ASSERT_TRUE(made.is_object()) << shown.errors;
  EXPECT_EQ(made["cases"][0]["judged_otherwise"], nlohmann::json::array()) << shown.output;
}

TEST_F(ComparedRuns, RunsAreComparedByTheNameOfTheirSuite) {
  run();
  const auto alone = run_sluice({"compare", "capitals"});
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_NE(alone.errors.find("the suite \"capitals\" has 1 complete run, and so no \"capitals~1\""),
            std::string::npos)
      << alone.errors;
  answer("Lyon", "Madrid");
  run();
  EXPECT_EQ(run_sluice({"compare", "capitals"}).output,
            run_sluice({"compare", "capitals~1", "capitals"}).output);
  const auto named = run_sluice({"compare", "capitals~1", "last", "--format", "json"});
  EXPECT_EQ(named.exit_code, 1) << named.errors;
  EXPECT_EQ(nlohmann::json::parse(named.output)["checks"]["broke"], 1);
  const auto slip = run_sluice({"compare", "capitls", "last"});
  EXPECT_EQ(slip.exit_code, 2);
  EXPECT_NE(slip.errors.find("has no run \"capitls\", and no run of a suite of that name that ended; "
                             "`sluice runs list` shows the runs; did you mean \"capitals\"?"),
            std::string::npos)
      << slip.errors;
  const auto file = run_sluice({"compare", "answers.jsonl"});
  EXPECT_EQ(file.exit_code, 2);
  EXPECT_NE(file.errors.find("name what it is compared with as well"), std::string::npos) << file.errors;
}

// It was the newest one, and the suite was not compared.
TEST_F(ComparedRuns, ARunThatWasCutShortIsPassedOverByTheNameOfItsSuite) {
  const auto cut = [&] {
    EXPECT_EQ(run_sluice({"run", "suite.yaml", "--mode", "cached", "--model", "gpt-5-mini"}).exit_code, 2);
  };
  cut();
  const auto none = run_sluice({"compare", "capitals", "capitals"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.errors.find("has 0 complete runs, and so no \"capitals\""), std::string::npos)
      << none.errors;
  run();
  cut();
  answer("Lyon", "Madrid");
  run();
  const auto before = run_sluice({"compare", "capitals"});
  EXPECT_EQ(before.exit_code, 1) << before.errors;
  EXPECT_NE(before.errors.find("sluice: warning: passed over: run "), std::string::npos) << before.errors;
  EXPECT_NE(before.errors.find(", which was cut short (cache_miss); to compare"), std::string::npos)
      << before.errors;
  cut();
  const auto after = run_sluice({"compare", "capitals"});
  EXPECT_EQ(after.exit_code, 1) << after.errors;
  EXPECT_EQ(after.output, before.output);
  EXPECT_NE(after.errors.find(", which was cut short (cache_miss), and 1 more; to compare"),
            std::string::npos)
      << after.errors;
  EXPECT_EQ(std::ranges::count(after.errors, '\n'), 1) << after.errors;
  const auto shown = run_sluice({"report", "capitals", "--format", "json"});
  EXPECT_EQ(nlohmann::json::parse(shown.output)["reason_code"], "cache_miss") << "the newest that ended";
}

// The advice was to write a file called `last~1`.
// It was the base of a whole run, whose other cases were missing in it, and failed.
TEST_F(ComparedRuns, APartOfASuiteIsPassedOverByItsName) {
  run();
  for (int i = 0; i < 2; ++i) run({"--filter", "france"});
  run();
  const auto whole = run_sluice({"compare", "capitals", "--format", "json"});
  EXPECT_EQ(whole.exit_code, 0) << whole.output << whole.errors;
  const auto made = nlohmann::json::parse(whole.output);
  EXPECT_EQ(made["base"]["file"], "capitals~3");
  EXPECT_EQ(made["base"]["selection"], false);
  EXPECT_EQ(made["checks"]["still_failing"], 1) << "spain is on both sides";
  EXPECT_NE(whole.errors.find("sluice: warning: passed over: run "), std::string::npos) << whole.errors;
  EXPECT_NE(whole.errors.find(", of 1 trial, and 1 more; to compare with it, name it"), std::string::npos)
      << whole.errors;
  EXPECT_EQ(std::ranges::count(whole.errors, '\n'), 1) << whole.errors;
  EXPECT_EQ(whole.output, run_sluice({"compare", "capitals~3", "capitals", "--format", "json"}).output);
  run({"--filter", "spain"});
  const auto part = nlohmann::json::parse(run_sluice({"compare", "capitals", "--format", "json"}).output);
  EXPECT_EQ(part["base"]["file"], "capitals~1") << "the parts before are of another case";
  EXPECT_EQ(part["current"]["selection"], true);
  EXPECT_EQ(part["checks"]["still_failing"], 1) << part;
}

TEST_F(ComparedRuns, NobodyIsToldToWriteARunAnew) {
  write_text(folder() / "warm.yaml",
             "suite: warm\ntests: [{id: a, input: {prompt: x}, expected: {type: must_contain, text: x}}]\n");
  run_sluice({"run", "warm.yaml", "--mode", "mock"});
  run_sluice({"run", "warm.yaml", "--mode", "mock", "--temperature", "0.5"});
  const auto compared = run_sluice({"compare", "last~1", "last"});
  EXPECT_NE(compared.output.find("`last~1` was made with another configuration than `last`"),
            std::string::npos)
      << compared.output << compared.errors;
  EXPECT_EQ(compared.output.find("anew"), std::string::npos) << compared.output;
}

TEST_F(ComparedRuns, ASuiteWhoseNameLooksLikeAPathIsComparedByIt) {
  write_text(
      folder() / "dotted.yaml",
      "suite: team/capitals.v2\ntests:\n  - {id: a, input: {prompt: x}, expected: {type: must_contain, "
      "text: x}}\n");
  for (int i = 0; i < 2; ++i) run_sluice({"run", "dotted.yaml", "--mode", "mock"});
  std::filesystem::create_directories(folder() / "team" / "capitals.v2");  // Is no file to be compared.
  const auto named = run_sluice({"compare", "team/capitals.v2"});
  EXPECT_EQ(named.exit_code, 0) << named.errors;
  EXPECT_EQ(named.output, run_sluice({"compare", "team/capitals.v2~1", "team/capitals.v2"}).output);
  const auto none = run_sluice({"compare", "team/capitals.v3", "last"});
  EXPECT_NE(none.errors.find("team/capitals.v3: cannot be read: there is no such file"), std::string::npos)
      << none.errors;
}

TEST_F(ComparedRuns, ThreeRunsStandSideBySide) {
  run();
  answer("Paris", "Madrid");
  run();
  answer("Lyon", "Madrid");
  run();
  const auto three = run_sluice({"compare", "last~2", "last~1", "last"});
  EXPECT_EQ(three.exit_code, 1) << three.errors;
  for (const char* words :
       {"Suite: capitals", "What differs (2)", "1 of 2 runs passes the gate beside last~2"})
    EXPECT_NE(three.output.find(words), std::string::npos) << words << three.output;
  EXPECT_NE(three.output.find("none of `last~2`, `last~1` and `last` has a score"), std::string::npos)
      << three.output;
  EXPECT_EQ(three.output.find("neither"), std::string::npos) << three.output;
  EXPECT_EQ(run_sluice({"compare", "last~2", "last~1", "last~1"}).exit_code, 0) << "only better ones";
  const auto json = run_sluice({"compare", "last~2", "last~1", "last", "--format", "json"});
  const auto all = nlohmann::json::parse(json.output, nullptr, false);
  ASSERT_TRUE(all.is_object()) << json.output << json.errors;
  EXPECT_EQ(all["exit_code"], 1);
  ASSERT_EQ(all["runs"].size(), 3u);
  EXPECT_EQ(all["runs"][0]["passed"], 1);
  EXPECT_EQ(all["runs"][0]["failed"], 1) << "what fails on both sides fails";
  EXPECT_EQ(all["runs"][1]["passed"], 2);
  EXPECT_EQ(all["runs"][2]["failed"], 1);
  EXPECT_TRUE(all["runs"][0]["verdict"].is_null());
  EXPECT_EQ(all["runs"][1]["fixed"], 1);
  EXPECT_EQ(all["runs"][2]["verdict"], "regression");
  ASSERT_EQ(all["differences"].size(), 2u) << json.output;
  EXPECT_EQ(all["differences"][0]["test_id"], "france");
  EXPECT_EQ(all["differences"][0]["values"], nlohmann::json::parse("[true, true, false]"));
  EXPECT_EQ(all["differences"][1]["values"], nlohmann::json::parse("[false, true, true]"));
  const auto comment = run_sluice({"compare", "last~2", "last~1", "last", "--format", "markdown"});
  EXPECT_NE(comment.output.find("| france |"), std::string::npos) << comment.output;
}

TEST_F(ComparedRuns, ATestThatWasAddedMayNeedAJudgeThatTheRunBeforeHadNot) {
  run();
  write_text(folder() / "suite.yaml",
             read_text(folder() / "suite.yaml") +
                 "  - {id: tone, input: {prompt: Hi}, expected: {type: rubric, criteria: It is polite.}}\n");
  write_text(folder() / "answers.jsonl",
             read_text(folder() / "answers.jsonl") + R"({"id": "tone", "answer": "Hello, it is polite."})");
  run({"--judge", "fake"});
  const auto compared = run_sluice({"compare", "last~1", "last", "--format", "json"});
  const auto made = nlohmann::json::parse(compared.output, nullptr, false);
  ASSERT_TRUE(made.is_object()) << compared.errors;
  EXPECT_EQ(made["tests"]["added"], nlohmann::json::parse(R"(["tone"])"));
  EXPECT_EQ(made["checks"]["still_failing"], 1) << "spain";
}

// A failure in a test that was removed since was an `unchanged` comparison.
TEST_F(ComparedRuns, TestsThatTheSuiteHasNoMoreAreNamedWithHowManyFailed) {
  keep_no_copy();
  run();
  run();
  std::string suite = read_text(folder() / "suite.yaml");
  suite.resize(suite.find("  - {id: spain"));
  write_text(folder() / "suite.yaml", suite);
  write_text(folder() / "answers.jsonl", "{\"id\": \"france\", \"answer\": \"Paris\"}\n");
  const auto compared = run_sluice({"compare", "last~1", "last", "--format", "json"});
  EXPECT_NE(compared.output.find("so that it is not compared: `spain`. It failed in `last`"),
            std::string::npos)
      << compared.output << compared.errors;
  EXPECT_EQ(run_sluice({"compare", "last~1", "last", "--strict"}).exit_code, 1);
}

// Four repeats were taken for two of a case as it is and two of its perturbation.
TEST_F(ComparedRuns, RepeatsAreNoPerturbations) {
  const std::string tests = read_text(folder() / "suite.yaml");
  for (const std::string settings : {"{repeat: 4}", "{repeat: 2, perturb: [final-newline]}"}) {
    write_text(folder() / "suite.yaml", "settings: " + settings + "\n" + tests);
    std::filesystem::remove(folder() / "sluice.toml");
    keep_no_copy();
    const auto made = run_sluice({"run", "suite.yaml", "--mode", "mock", "--quiet"});
    ASSERT_NE(made.exit_code, 2) << made.errors;
  }
  const auto compared = run_sluice({"compare", "last~1", "last"});
  EXPECT_EQ(compared.exit_code, 2) << compared.output;
  EXPECT_NE(compared.errors.find(" are not what run "), std::string::npos) << compared.errors;
}

TEST_F(ComparedRuns, ARunIsNotComparedWithItself) {
  run();
  run();
  const std::string id =
      nlohmann::json::parse(run_sluice({"runs", "show", "last", "--format", "json"}).output)["run_id"];
  for (const Flags& sides : {Flags{"last", "capitals"}, Flags{id, "last~1", "last"}}) {
    const auto refused = run_sluice(Flags{"compare"} + sides);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_EQ(refused.output, "");
    EXPECT_EQ(refused.error_lines(),
              (std::vector<std::string>{"sluice: error: run " + id.substr(0, 8) +
                                        " cannot be compared with itself: name another run beside it; "
                                        "`sluice runs list` shows them"}));
  }
}

TEST_F(ComparedRuns, AMockRunBesideAnotherIsSaidPlainly) {
  run();
  EXPECT_NE(run_sluice({"run", "suite.yaml", "--mode", "mock"}).exit_code, 2);
  const auto said = run_sluice({"compare", "last~1", "last"});
  EXPECT_NE(said.output.find("`last` is of a mock run, whose answers no model gave"), std::string::npos)
      << said.output << said.errors;
  const auto refused = run_sluice({"compare", "last", "last~1"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.errors.find("has the scores of a mock run"), std::string::npos) << refused.errors;
}

TEST_F(ComparedRuns, TwoRunsOfTheLedgerAreCompared) {
  run();
  answer("Lyon", "Madrid");
  run();
  const auto compared = run_sluice({"compare", "last~1", "last", "--format", "json"});
  EXPECT_EQ(compared.exit_code, 1) << compared.errors;
  const auto outcome = nlohmann::json::parse(compared.output, nullptr, false);
  ASSERT_TRUE(outcome.is_object()) << compared.errors;
  EXPECT_EQ(outcome["verdict"], "regression");
  EXPECT_EQ(outcome["checks"], nlohmann::json::parse(R"({"broke": 1, "fixed": 1, "still_failing": 0,
                                                         "missing_in_current": 0})"));
  const auto missing = run_sluice({"compare", "nothing.json", "last"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_NE(missing.errors.find("nothing.json: cannot be read: there is no such file"), std::string::npos)
      << missing.errors;
}

// A mock run, or one of a few cases, says nothing of what changed.
TEST_F(ComparedRuns, ARunIsDiffedWithOneOfItsOwnKind) {
  run();
  run_sluice({"run", "suite.yaml", "--mode", "mock"});
  run({"--filter", "france"});
  answer("Lyon", "Madrid");
  run();
  const auto first =
      nlohmann::json::parse(run_sluice({"runs", "show", "last~3", "--format", "json"}).output)["run_id"]
          .get<std::string>()
          .substr(0, 8);
  const auto diffed = run_sluice({"diff"});
  EXPECT_EQ(diffed.exit_code, 0) << diffed.errors;
  EXPECT_NE(diffed.output.find("Before: run " + first), std::string::npos) << diffed.output;
  EXPECT_NE(diffed.output.find("2 of 2 cases changed"), std::string::npos) << diffed.output;
  EXPECT_NE(diffed.output.find("Note: passed over: run "), std::string::npos) << diffed.output;
  EXPECT_NE(diffed.output.find("of 1 trial, and 1 more; to compare"), std::string::npos) << diffed.output;
  const auto named = run_sluice({"diff", "last~1", "last"});
  EXPECT_EQ(named.output.find("passed over"), std::string::npos) << named.output;
  EXPECT_EQ(run_sluice({"runs"}).output, run_sluice({"runs", "list"}).output);
}

// A copy of the baseline was another one.
TEST_F(ComparedRuns, ABaselineThatLiesElsewhereIsNoOther) {
  run({"--export-baseline", "baseline.json"});
  write_text(folder() / "copy.json", read_text(folder() / "baseline.json"));
  run({"--baseline", "baseline.json"});
  run({"--baseline", "copy.json"});
  const auto diffed = run_sluice({"diff", "last~1", "last"});
  EXPECT_EQ(diffed.exit_code, 0) << diffed.errors;
  EXPECT_EQ(diffed.output.find("different baselines"), std::string::npos) << diffed.output;
}

// The same answer stood there as `fail → warn`: only the second run knew the failure.
TEST_F(ComparedRuns, WhatABaselineAloneChangedIsNotListed) {
  run({"--export-baseline", "baseline.json"});
  run({"--baseline", "baseline.json"});
  const auto diffed = run_sluice({"diff", "last~1", "last", "--json"});
  const auto made = nlohmann::json::parse(diffed.output, nullptr, false);
  ASSERT_TRUE(made.is_object()) << diffed.errors;
  EXPECT_EQ(made["changed"], 0) << made;
  EXPECT_EQ(made["by_baseline_alone"], 1);
  EXPECT_EQ(made["cases"], nlohmann::json::array());
  EXPECT_NE(made["notes"].dump().find("; 1 case differs in nothing else and is not listed"),
            std::string::npos)
      << made["notes"];
}

TEST_F(ComparedRuns, ARunThatWasCutShortIsNotDiffedWith) {
  run();
  EXPECT_EQ(run_sluice({"run", "suite.yaml", "--mode", "cached", "--model", "gpt-5-mini"}).exit_code, 2);
  answer("Lyon", "Madrid");
  run();
  const auto diffed = run_sluice({"diff"});
  EXPECT_NE(diffed.output.find("2 of 2 cases changed"), std::string::npos) << diffed.output << diffed.errors;
  EXPECT_NE(diffed.output.find(", which was cut short (cache_miss); to compare"), std::string::npos)
      << diffed.output;
}

}  // namespace sluice::compared_runs_test

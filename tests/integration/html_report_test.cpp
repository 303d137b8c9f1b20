// The page that a run leaves behind, in a real browser where there is one; and reports of runs of the ledger.
#include "tests/support/workbench.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

namespace sluice::html_report_test {

using namespace support;

class Pages : public Workbench {
 protected:
  Pages() {
    write_text(folder() / "suite.yaml",
               "suite: capitals\ntests:\n"
               "  - {id: france, input: {prompt: capital 1}, expected: {type: must_contain, text: Paris}}\n"
               "  - {id: spain, input: {prompt: capital 2}, expected: {type: must_contain, text: Madrid}}\n");
    answer("Paris", "Lisbon </script><script>document.title = 'broken'</script>");
  }
  void answer(const std::string& france, const std::string& spain) {
    const nlohmann::json first{{"id", "france"}, {"answer", france}};
    const nlohmann::json second{{"id", "spain"}, {"answer", spain}};
    write_text(folder() / "answers.jsonl", first.dump() + "\n" + second.dump() + "\n");
  }
  static std::string replaced(std::string text, const std::string& old, const std::string& by) {
    return text.replace(text.find(old), old.size(), by);
  }
  Finished run(const Flags& more = {}) {
    return run_sluice(Flags{"run", "suite.yaml", "--answers", "answers.jsonl"} + more);
  }
  /// The page once its scripts have run; empty where there is no browser.
  std::string in_browser(const std::string& page) {
    const std::string dom = (folder() / "dom.html").string();
    const std::string command = "chromium --headless=new --no-sandbox --disable-gpu --user-data-dir='" +
                                (folder() / "browser").string() + "' --dump-dom 'file://" +
                                (folder() / page).string() + "' >'" + dom + "' 2>/dev/null";
    return std::system(command.c_str()) == 0 ? read_text(dom) : "";
  }
};

TEST_F(Pages, ABrowserListsTheCasesAndRunsNothingOfAnAnswer) {
  if (std::system("command -v chromium >/dev/null 2>&1") != 0) GTEST_SKIP() << "there is no chromium here";
  EXPECT_EQ(run({"--report", "html=report.html", "--report", "csv=cases.csv"}).exit_code, 1);
  const std::string dom = in_browser("report.html");
  EXPECT_NE(dom.find("data-ready=\"2\""), std::string::npos) << dom.substr(0, 2000);
  EXPECT_NE(dom.find("2 of 2 shown"), std::string::npos);
  EXPECT_EQ(dom.find("<title>broken"), std::string::npos);
  EXPECT_TRUE(read_text(folder() / "cases.csv").starts_with("id,name,")) << "and a file for spreadsheets";
}

TEST_F(Pages, ABrowserShowsArmsAsAGrid) {
  if (std::system("command -v chromium >/dev/null 2>&1") != 0) GTEST_SKIP() << "there is no chromium here";
  write_text(folder() / "arms.yaml",
             "suite: arms\narms:\n  - {name: one, model: gpt-x, provider: openai}\n"
             "  - {name: two, model: gpt-y, provider: openai}\ntests:\n"
             "  - {id: france, input: {prompt: capital}, expected: {type: must_contain, text: Paris}}\n");
  run_sluice({"run", "arms.yaml", "--mode", "mock", "--report", "html=report.html"});
  const std::string dom = in_browser("report.html");
  EXPECT_NE(dom.find("1 of 1 shown"), std::string::npos) << dom.substr(0, 2000);
  EXPECT_NE(dom.find("<th data-arm=\"two\"><button type=\"button\">two</button></th>"), std::string::npos);
  for (const char* cell : {"<td data-arm=\"one\"><details><summary><span class=\"status fail\">fail</span>",
                           "<td data-arm=\"two\"><details><summary><span class=\"status fail\">fail</span>"})
    EXPECT_NE(dom.find(cell), std::string::npos) << cell;
}

TEST_F(Pages, TheReportOfAPastRunIsThatOfTheRun) {
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
  const auto shown = nlohmann::json::parse(run_sluice({"runs", "show", "last", "--format", "json"}).output);
  EXPECT_EQ(shown["prompt_version"], nullptr) << "texts bring their own";
  const auto listed = run_sluice({"runs", "list"});
  EXPECT_NE(listed.output.find("1 passed"), std::string::npos) << listed.output;
  EXPECT_EQ(run_sluice({"report", "capitals", "--format", "json"}).output, again.output)
      << "by the name of the suite";
  const auto none = run_sluice({"report", "capitals~1"});
  EXPECT_NE(none.errors.find("has 1 run that ended, and so no \"capitals~1\""), std::string::npos)
      << none.errors;
}

// Who looks at a run that went wrong has often changed the suite by then.
TEST_F(Pages, APastRunIsReportedWhateverBecameOfItsSuite) {
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
TEST_F(Pages, ARunOfASuiteBehindALinkIsReported) {
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

TEST_F(Pages, ATestWithAnotherCheckStandsByItself) {
  run();
  const std::string suite = read_text(folder() / "suite.yaml");
  write_text(folder() / "suite.yaml", replaced(suite, "text: Paris", "text: Lyon"));
  run();
  const auto compared = run_sluice({"compare", "last~1", "last", "--format", "json"});
  const auto made = nlohmann::json::parse(compared.output, nullptr, false);
  ASSERT_TRUE(made.is_object()) << compared.errors;
  EXPECT_EQ(made["tests"]["judged_otherwise"], nlohmann::json::parse(R"(["france"])"));
  EXPECT_EQ(made["checks"], nlohmann::json::parse(R"({"broke": 0, "fixed": 0, "still_failing": 1})"));
  EXPECT_NE(compared.output.find("tests_judged_otherwise"), std::string::npos);
  const auto words = run_sluice({"compare", "last~1", "last"});
  EXPECT_NE(
      words.output.find("`last` has other checks or judges than `last~1` in 1 case, whose results are not"),
      std::string::npos)
      << words.output << words.errors;
  write_text(folder() / "suite.yaml", suite);
  run();
  const auto back = run_sluice({"compare", "last~2", "last", "--format", "json"});
  EXPECT_EQ(nlohmann::json::parse(back.output)["tests"]["judged_otherwise"], nlohmann::json::array());
}

// A fall of a score passed, since another check of its test had changed.
TEST_F(Pages, WhatAnUnchangedMetricCameToIsCompared) {
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

TEST_F(Pages, NothingThatTheSuiteReadsNowIsWrittenOver) {
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
TEST_F(Pages, APastRunIsGatedByTheBaselineAndTheSettingsThatItHad) {
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
TEST_F(Pages, WhatIsRedactedNowIsRedactedInPastRuns) {
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

TEST_F(Pages, WithoutCopiesTheSuiteOfNowIsRead) {
  write_text(folder() / "sluice.toml", "[ledger]\nkeep_suites = false\n");
  run();
  EXPECT_EQ(run_sluice({"report", "last", "--format", "csv"}).exit_code, 0);
  std::filesystem::remove(folder() / "suite.yaml");
  EXPECT_EQ(run_sluice({"report", "last", "--format", "csv"}).exit_code, 2);
}

TEST_F(Pages, ASuiteOfASettingThatRedactsIsNotCopied) {
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

TEST_F(Pages, RunsAreComparedByTheNameOfTheirSuite) {
  run();
  const auto alone = run_sluice({"compare", "capitals"});
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_NE(alone.errors.find("the suite \"capitals\" has 1 run that ended, and so no \"capitals~1\""),
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
  EXPECT_NE(slip.errors.find("has no run \"capitls\", and no run of a suite of that name that ended; did you "
                             "mean \"capitals\"?"),
            std::string::npos)
      << slip.errors;
  const auto file = run_sluice({"compare", "answers.jsonl"});
  EXPECT_EQ(file.exit_code, 2);
  EXPECT_NE(file.errors.find("name what it is compared with as well"), std::string::npos) << file.errors;
}

// The advice was to write a file called `last~1`.
TEST_F(Pages, NobodyIsToldToWriteARunAnew) {
  write_text(folder() / "warm.yaml",
             "suite: warm\ntests: [{id: a, input: {prompt: x}, expected: {type: must_contain, text: x}}]\n");
  run_sluice({"run", "warm.yaml", "--mode", "mock"});
  run_sluice({"run", "warm.yaml", "--mode", "mock", "--temperature", "0.5"});
  const auto compared = run_sluice({"compare", "last~1", "last"});
  EXPECT_NE(compared.output.find("`last~1` was made with other tests"), std::string::npos)
      << compared.output << compared.errors;
  EXPECT_EQ(compared.output.find("anew"), std::string::npos) << compared.output;
}

TEST_F(Pages, ASuiteWhoseNameLooksLikeAPathIsComparedByIt) {
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

TEST_F(Pages, ThreeRunsStandSideBySide) {
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

// People add tests all the time, and no run of before could be compared any more.
TEST_F(Pages, RunsAreComparedByTheTestsThatBothHave) {
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
    EXPECT_EQ(compared["checks"], nlohmann::json::parse(R"({"broke": 1, "fixed": 0, "still_failing": 0})"));
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

TEST_F(Pages, ATestThatWasAddedMayNeedAJudgeThatTheRunBeforeHadNot) {
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
TEST_F(Pages, TestsThatTheSuiteHasNoMoreAreNamedWithHowManyFailed) {
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
TEST_F(Pages, RepeatsAreNoPerturbations) {
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

TEST_F(Pages, ARunIsNotComparedWithItself) {
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

TEST_F(Pages, AMockRunBesideAnotherIsSaidPlainly) {
  run();
  EXPECT_NE(run_sluice({"run", "suite.yaml", "--mode", "mock"}).exit_code, 2);
  const auto said = run_sluice({"compare", "last~1", "last"});
  EXPECT_NE(said.output.find("`last` is of a mock run, whose answers no model gave"), std::string::npos)
      << said.output << said.errors;
  const auto refused = run_sluice({"compare", "last", "last~1"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.errors.find("has the scores of a mock run"), std::string::npos) << refused.errors;
}

TEST_F(Pages, TwoRunsOfTheLedgerAreCompared) {
  run();
  answer("Lyon", "Madrid");
  run();
  const auto compared = run_sluice({"compare", "last~1", "last", "--format", "json"});
  EXPECT_EQ(compared.exit_code, 1) << compared.errors;
  const auto outcome = nlohmann::json::parse(compared.output, nullptr, false);
  ASSERT_TRUE(outcome.is_object()) << compared.errors;
  EXPECT_EQ(outcome["verdict"], "regression");
  EXPECT_EQ(outcome["checks"], nlohmann::json::parse(R"({"broke": 1, "fixed": 1, "still_failing": 0})"));
  const auto missing = run_sluice({"compare", "nothing.json", "last"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_NE(missing.errors.find("nothing.json: cannot be read: there is no such file"), std::string::npos)
      << missing.errors;
}

// A mock run, or one of a few cases, says nothing of what changed.
TEST_F(Pages, ARunIsDiffedWithOneOfItsOwnKind) {
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

TEST_F(Pages, NoReportOfAPastRunReplacesWhatTheRunReadsOrKeeps) {
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

TEST_F(Pages, OutcomesOfThenAreNotJudgedByChecksOfNow) {
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
TEST_F(Pages, RunsBeforeAndAfterAChangeOfAPromptAreCompared) {
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
TEST_F(Pages, ARunIsReportedWhoseRequestsAreFewerNow) {
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

TEST_F(Pages, AReportSaysThatTheRunEndedOtherwise) {
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
}

}  // namespace sluice::html_report_test

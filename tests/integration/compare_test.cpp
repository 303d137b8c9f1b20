// `sluice compare`: files in, exit code and message out.

#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using namespace support;
using nlohmann::json;

class Compare : public Workbench {
 protected:
  static json entry(const std::string& test_id, double score, const std::string& metric = "claims_f1") {
    return {{"test_id", test_id}, {"metric", metric}, {"score", score}};
  }
  std::string baseline(const std::string& name, const std::vector<json>& entries,
                       const std::string& suite = "demo", const std::string& fingerprint = "sha256:1",
                       int version = 1) {
    const json file{{"schema_version", version},         {"suite", suite},
                    {"assay_version", "0.1.0"},          {"created_at", "2025-12-21T12:00:00Z"},
                    {"config_fingerprint", fingerprint}, {"entries", entries}};
    return written(name, file.dump(1));
  }
  static json result(const std::string& id, double score, const json& thresholding = nullptr) {
    return {{"id", id},
            {"status", "pass"},
            {"metrics", json::array({{{"name", "semantic_similarity_to"},
                                      {"score", score},
                                      {"passed", nullptr},
                                      {"asked_by_name", true},
                                      {"thresholding", thresholding}}})}};
  }
  std::string report(const std::string& name, const std::vector<json>& results,
                     const json& reason = nullptr) {
    const json file{{"schema_version", 1},
                    {"run_id", "r"},
                    {"suite", "demo"},
                    {"timestamp", "2025-12-22T12:00:00Z"},
                    {"reason_code", reason},
                    {"config_fingerprint", "sha256:1"},
                    {"fixture_results", results},
                    {"run", {{"sluice_version", "0.1.0"}}}};
    return written(name, file.dump(1));
  }
  std::string written(const std::string& name, const std::string& text) {
    write_text(folder() / name, text);
    return name;  // Programs run in the folder.
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
  void expect_refusal(const Finished& finished, const std::string& message) {
    EXPECT_EQ(finished.exit_code, 2) << finished.output;
    EXPECT_EQ(finished.output, "");
    ASSERT_EQ(finished.error_lines().size(), 1u) << finished.errors;
    EXPECT_TRUE(has(finished.error_lines().front(), message)) << finished.errors;
  }
};

TEST_F(Compare, ARegressionFails) {
  const auto base = baseline("base.json", {entry("q_1", 0.92), entry("q_2", 0.80), entry("q_3", 0.5)});
  const auto current = baseline("now.json", {entry("q_1", 0.85), entry("q_2", 0.82), entry("q_3", 0.48)});
  const auto finished = run_sluice({"compare", base, current});
  EXPECT_EQ(finished.exit_code, 1) << finished.errors;
  EXPECT_EQ(finished.output,
            "Base:    base.json (baseline of 2025-12-21T12:00:00Z, sluice 0.1.0)\n"
            "Current: now.json (baseline of 2025-12-21T12:00:00Z, sluice 0.1.0)\n"
            "Suite:   demo\n"
            "\n"
            "Regressions (1)\n"
            "╭──────┬───────────┬──────────┬───────┬───────┬───────┬─────────╮\n"
            "│ Case │ Metric    │ Baseline │ Score │ Delta │ Limit │ Cause   │\n"
            "├──────┼───────────┼──────────┼───────┼───────┼───────┼─────────┤\n"
            "│ q_1  │ claims_f1 │     0.92 │  0.85 │ -0.07 │  0.87 │ dropped │\n"
            "╰──────┴───────────┴──────────┴───────┴───────┴───────┴─────────╯\n"
            "\n"
            "Improvements (1)\n"
            "╭──────┬───────────┬──────────┬───────┬───────┬───────╮\n"
            "│ Case │ Metric    │ Baseline │ Score │ Delta │ Limit │\n"
            "├──────┼───────────┼──────────┼───────┼───────┼───────┤\n"
            "│ q_2  │ claims_f1 │     0.80 │  0.82 │ +0.02 │  0.75 │\n"
            "╰──────┴───────────┴──────────┴───────┴───────┴───────╯\n"
            "\n"
            "✗ REGRESSION: 1 of 3 cases regressed (1 score), 1 score improved, 1 score fell without "
            "regressing\n");
}

TEST_F(Compare, TheLimitItselfPasses) {
  const auto base = baseline("base.json", {entry("q_1", 0.92)});
  const auto current = baseline("now.json", {entry("q_1", 0.85)});
  EXPECT_EQ(run_sluice({"compare", base, current, "--max-drop", "0.07"}).exit_code, 0);
  EXPECT_EQ(run_sluice({"compare", base, current, "--max-drop", "0.069999999"}).exit_code, 1);
  EXPECT_EQ(run_sluice({"compare", base, current, "--max-drop", "1", "--min-floor", "0.85"}).exit_code, 0);
  EXPECT_EQ(run_sluice({"compare", base, current, "--max-drop", "1", "--min-floor", "0.86"}).exit_code, 1);
  EXPECT_EQ(run_sluice({"compare", base, current, "--max-drop", "1", "--min-score", "0.86"}).exit_code, 1);
}

TEST_F(Compare, WhatIsMissingWarnsAndFailsUnderStrict) {
  const auto base = baseline("base.json", {entry("gone", 0.9), entry("q_1", 0.9)});
  const auto current = baseline("now.json", {entry("new", 0.9), entry("q_1", 0.9)});
  const auto finished = run_sluice({"compare", base, current});
  EXPECT_EQ(finished.exit_code, 0) << finished.errors;
  EXPECT_TRUE(has(finished.output, "Missing in the base (1)\n")) << finished.output;
  EXPECT_TRUE(has(finished.output, "Missing in the current side (1)\n")) << finished.output;
  EXPECT_TRUE(has(finished.output, "⚠ REVIEW: ")) << finished.output;
  EXPECT_FALSE(has(finished.output, "--strict")) << finished.output;
  EXPECT_EQ(run_sluice({"compare", base, current, "--strict"}).exit_code, 1);
}

TEST_F(Compare, ATestOfChecksThatABaselineLacksWarnsAndFailsUnderStrict) {
  const auto check = [](const std::string& id) {
    return json{{"test_id", id}, {"metric", "must_contain"}, {"passed", true}};
  };
  const auto base = baseline("base.json", {check("gone"), check("kept")}, "demo", "sha256:1", 2);
  const auto current = baseline("now.json", {check("kept")}, "demo", "sha256:1", 2);
  const auto finished = run_sluice({"compare", base, current});
  EXPECT_EQ(finished.exit_code, 0) << finished.errors;
  EXPECT_TRUE(has(finished.output, "`now.json` lacks 1 case of `base.json`: `gone`.")) << finished.output;
  EXPECT_TRUE(has(finished.output, "⚠ REVIEW: ")) << finished.output;
  EXPECT_EQ(run_sluice({"compare", base, current, "--strict"}).exit_code, 1);
}

TEST_F(Compare, AFileAgainstItselfPasses) {
  const auto base = baseline("base.json", {entry("q_1", 0.1), entry("q_1", 1.0, "of_another_tool")});
  const auto finished = run_sluice({"compare", base, base, "--strict"});
  EXPECT_EQ(finished.exit_code, 0) << finished.errors;
  EXPECT_TRUE(has(finished.output, "✓ PASS: 2 unchanged\n")) << finished.output;
}

TEST_F(Compare, AReportsOwnThresholdsAssessUnlessAFlagGoesBefore) {
  const auto base = baseline("base.json", {entry("q_1", 0.92, "semantic_similarity_to")});
  const json wide{{"mode", "relative"}, {"max_drop", 0.10}, {"min_floor", nullptr}, {"min_score", nullptr}};
  const json absolute{
      {"mode", "absolute"}, {"max_drop", nullptr}, {"min_floor", nullptr}, {"min_score", 0.8}};
  const auto by_its_thresholds = report("report.json", {result("q_1", 0.85, wide)});
  EXPECT_EQ(run_sluice({"compare", base, by_its_thresholds}).exit_code, 0);
  EXPECT_EQ(run_sluice({"compare", base, by_its_thresholds, "--max-drop", "0.02"}).exit_code, 1);
  const auto fixed = report("fixed.json", {result("q_1", 0.5, absolute)});
  EXPECT_EQ(run_sluice({"compare", base, fixed}).exit_code, 1);
  EXPECT_EQ(run_sluice({"compare", base, fixed, "--min-score", "0.5"}).exit_code, 0);
  EXPECT_EQ(run_sluice({"compare", base, fixed, "--min-score", "0.5", "--max-drop", "0.1"}).exit_code, 1);
  const auto bare = report("bare.json", {result("q_1", 0.85)});
  EXPECT_EQ(run_sluice({"compare", base, bare}).exit_code, 1) << "the default is 0.05";
  EXPECT_EQ(run_sluice({"compare", bare, base}).exit_code, 0) << "either side may be either";
}

TEST_F(Compare, CaseErrorsOfTheCurrentSideCount) {
  const auto base = baseline("base.json", {entry("q_1", 0.92, "semantic_similarity_to")});
  const json lost{{"id", "q_1"}, {"status", "error"}, {"metrics", json::array()}};
  const auto finished = run_sluice({"compare", base, report("report.json", {lost})});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_TRUE(has(finished.output, "✗ ERROR: 1 case error\n")) << finished.output;
}

// A dash stood for the score, as if the check had none.
TEST_F(Compare, ACheckThatTheBaseLacksFailed) {
  json now = result("q_1", 0.9);
  now["status"] = "fail";
  now["metrics"].push_back(
      {{"name", "must_contain"}, {"score", nullptr}, {"passed", false}, {"asked_by_name", true}});
  const auto finished =
      run_sluice({"compare", report("base.json", {result("q_1", 0.9)}), report("now.json", {now})});
  EXPECT_EQ(finished.exit_code, 1) << finished.errors;
  EXPECT_TRUE(has(finished.output, "Other failures (1)")) << finished.output;
  EXPECT_TRUE(has(finished.output, "│ must_contain │        – │ failed │")) << finished.output;
}

TEST_F(Compare, AnotherSuiteIsRefusedAnotherFingerprintWarns) {
  const auto current = baseline("now.json", {entry("q_1", 0.9)});
  expect_refusal(run_sluice({"compare", baseline("other.json", {entry("q_1", 0.9)}, "else"), current}),
                 "is a baseline of the suite ");
  const auto drifted = baseline("drifted.json", {entry("q_1", 0.9)}, "demo", "sha256:2");
  const auto finished = run_sluice({"compare", drifted, current});
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_TRUE(has(finished.output, "warning: `drifted.json` was made with other tests")) << finished.output;
  EXPECT_EQ(run_sluice({"compare", drifted, current, "--strict"}).exit_code, 1);
}

TEST_F(Compare, AnotherToolVersionWarnsAndDecidesNothing) {
  json old = json::parse(read_text(folder() / baseline("now.json", {entry("q_1", 0.9)})));
  old["assay_version"] = "0.0.9";
  const auto base = written("base.json", old.dump(1));
  for (const Flags& strict : {Flags{}, Flags{"--strict"}}) {
    const auto finished = run_sluice(Flags{"compare", base, "now.json", "--format", "json"} + strict);
    EXPECT_EQ(finished.exit_code, 0) << finished.errors;
    const json comparison = json::parse(finished.output);
    EXPECT_EQ(comparison["verdict"], "pass");
    ASSERT_EQ(comparison["notices"].size(), 1u);
    EXPECT_EQ(comparison["notices"][0]["code"], "tool_version_mismatch");
    EXPECT_EQ(comparison["notices"][0]["severity"], "warning");
  }
}

TEST_F(Compare, ARunThatWasCutShortIsNoMeasure) {
  const auto whole = report("whole.json", {result("q_1", 0.9)});
  const auto cut = report("cut.json", {result("q_1", 0.9)}, "interrupted");
  expect_refusal(run_sluice({"compare", cut, whole}), "cut.json is the report of a run that was cut short");
  const auto finished = run_sluice({"compare", whole, cut});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_TRUE(has(finished.output, "✗ ERROR: ")) << finished.output;
  EXPECT_TRUE(has(finished.errors, "cut.json is the report of a run that was cut short (interrupted)"));
}

TEST_F(Compare, JsonAndMarkdownAgree) {
  const auto base = baseline("base.json", {entry("gone", 1), entry("q|1", 0.92), entry("q_2", 0.80)});
  const auto current = baseline("now.json", {entry("q|1", 0.85), entry("q_2", 0.82)});
  const auto finished = run_sluice({"compare", base, current, "--format", "json", "--output", "out.json"});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_EQ(finished.output, "");
  const auto comparison = json::parse(read_text(folder() / "out.json"));
  EXPECT_EQ(comparison["verdict"], "regression");
  EXPECT_EQ(comparison["exit_code"], 1);
  EXPECT_EQ(comparison["scores"]["regressions"], 1);
  ASSERT_EQ(comparison["changes"].size(), 3u);
  EXPECT_EQ(comparison["changes"][0]["change"], "missing_in_current");
  EXPECT_EQ(comparison["changes"][1]["test_id"], "q_2");
  EXPECT_EQ(comparison["changes"][2],
            json::parse(R"({"test_id": "q|1", "metric": "claims_f1", "change": "regression", "status": "fail",
                            "cause": "dropped", "baseline": 0.92, "score": 0.85, "delta": -0.07,
                            "limit": 0.87})"));
  const auto markdown = run_sluice({"compare", base, current, "--format", "markdown"});
  EXPECT_TRUE(markdown.output.starts_with("## ✗ REGRESSION: demo\n")) << markdown.output;
  EXPECT_TRUE(has(markdown.output, "| q\\|1 | claims\\_f1 | 0.92 | 0.85 | -0.07 | 0.87 | dropped |"))
      << markdown.output;
}

TEST_F(Compare, ARunsReportComparesWithItselfAndIsNamedWhenDamaged) {
  const auto simulator = start_simulator();
  run_sluice(live(simulator) + Flags{"--output", "report.json"});
  const auto text = read_text(folder() / "report.json");
  ASSERT_FALSE(text.empty());
  const auto comparison =
      json::parse(run_sluice({"compare", "report.json", "report.json", "--format", "json"}).output);
  EXPECT_EQ(comparison["scores"]["regressions"], 0);
  EXPECT_EQ(comparison["scores"]["missing_in_baseline"], 0);
  EXPECT_EQ(comparison["base"]["kind"], "report");
  written("cut.json", text.substr(0, text.size() / 2));
  expect_refusal(run_sluice({"compare", "report.json", "cut.json"}), "cut.json:");
  expect_refusal(run_sluice({"compare", "report.json", "cut.json"}), "ends too early");
}

TEST_F(Compare, TwoFilesWithoutAScoreHaveNothingToCompare) {
  const auto base = baseline("base.json", {});
  const auto finished = run_sluice({"compare", base, base, "--format", "json"});
  EXPECT_NE(finished.output.find("\"no_scores\""), std::string::npos) << finished.output;
  const auto scored = baseline("scored.json", {entry("q_1", 0.92)});
  const auto silent = run_sluice({"compare", base, scored, "--format", "json"});
  EXPECT_EQ(silent.output.find("no_scores"), std::string::npos) << silent.output;
}

TEST_F(Compare, WrongFilesAndFlagsAreRefusedInOneSentence) {
  const auto good = baseline("good.json", {entry("q_1", 0.9)});
  const auto refusal = [&](const std::string& name, const std::string& text, const std::string& message) {
    written(name, text);
    expect_refusal(run_sluice({"compare", good, name}), message);
    expect_refusal(run_sluice({"compare", name, good}), message);
  };
  expect_refusal(run_sluice({"compare", good, "nowhere.json"}), "nowhere.json: cannot be read");
  expect_refusal(run_sluice({"compare", ".", good}), "it is a folder");
  refusal("empty.json", "", "empty.json");
  refusal("toml.json", "[baseline]\nf1 = 0.5\n", "toml.json:1: ");
  refusal("list.json", "[1, 2]", "list.json:1: ");
  refusal("deep.json", std::string(1000, '['), "deep.json");
  refusal("nan.json", "{\"entries\": [{\"score\": NaN}]}", "nan.json:1: ");
  refusal("report.json", "{\"run_id\": \"r\", \"fixture_results\": [{\"id\": 3}]}",
          "report.json:1: `fixture_results[0].id` is 3");
  expect_refusal(run_sluice({"compare", baseline("v9.json", {}, "demo", "x", 9), good}),
                 "has schema_version 9");
  expect_refusal(run_sluice({"compare", good, good, "--max-drop", "5%"}),
                 "--max-drop must be a number from 0 to 1");
  expect_refusal(run_sluice({"compare", good, good, "--min-score", "nan"}), "--min-score must be a number");
  expect_refusal(run_sluice({"compare", good, good, "--output", "no/such/file"}),
                 "the folder does not exist");
  expect_refusal(run_sluice({"compare", good}), "good.json is one: name what it is compared with as well");
  expect_refusal(run_sluice({"compare", good, good, "--format", "yaml"}), "--format must be one of");
  expect_refusal(run_sluice({"compare", good, good, "--stict"}), "did you mean \"--strict\"?");
}

// A ledger that could not be read was said to be the matter.
TEST_F(Compare, AMissingFileIsMissedWhateverTheLedgerIs) {
  const auto base = baseline("base.json", {entry("a", 1)});
  write_text(home() / "ledger.db", std::string(5000, 'x'));
  expect_refusal(run_sluice({"compare", base, "missing.json"}), "missing.json");
  const auto alone = run_sluice({"compare", "missing.json"});
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_FALSE(has(alone.errors, "ledger")) << alone.errors;
  EXPECT_TRUE(has(run_sluice({"compare", base, "last"}).errors, "ledger"));
}

TEST_F(Compare, ScoresOfAMockRunAreNotComparedWithThoseOfAModel) {
  const auto of_mode = [&](const std::string& name, const std::string& mode) {
    auto document = json::parse(read_text(folder() / report(name, {result("q_1", 0.9)})));
    if (!mode.empty()) document["run"]["mode"] = mode;
    return written(name, document.dump());
  };
  auto pinned =
      json::parse(read_text(folder() / baseline("mock.json", {entry("q_1", 0.9, "semantic_similarity_to")})));
  pinned["mode"] = "mock";
  written("mock.json", pinned.dump());
  const auto live = of_mode("live_report.json", "live");
  const auto mock = of_mode("mock_report.json", "mock");
  const auto silent = of_mode("old_report.json", "");
  for (const std::string& base : {std::string("mock.json"), mock}) {
    expect_refusal(run_sluice({"compare", base, live}),
                   "`" + base + "` has the scores of a mock run, whose answers no model gave, and `" + live +
                       "` has not: what differs would say nothing about a model");
    EXPECT_EQ(run_sluice({"compare", base, mock}).exit_code, 0);
    EXPECT_EQ(run_sluice({"compare", base, silent}).exit_code, 0) << "it does not say what its run was";
  }
}

TEST_F(Compare, WhatIsComparedIsNotOverwritten) {
  const auto base = baseline("base.json", {entry("q_1", 0.9)});
  const auto current = baseline("current.json", {entry("q_1", 0.91)});
  for (const auto& side : {base, current}) {
    const auto before = read_text(folder() / side);
    expect_refusal(run_sluice({"compare", base, current, "--output", "./" + side}),
                   "--output would write over");
    EXPECT_EQ(read_text(folder() / side), before);
  }
}

TEST_F(Compare, AFileMayBearACommandsName) {
  const auto base = baseline("run", {entry("q_1", 0.9)});
  EXPECT_EQ(run_sluice({"compare", base, base}).exit_code, 0);
}

}  // namespace
}  // namespace sluice

// The rules of the gate through the command line: a suite, a baseline and flags in, exit code and report out
// (gate ADR; docs/gate.md, docs/baselines.md).

#include "tests/integration/gate_workbench.hpp"

#include <functional>

namespace sluice {
namespace {

using namespace support;

class Gate : public GateWorkbench {
 protected:
  using Edit = std::function<void(Json&)>;  ///< Of the suite's own baseline.

  /// What the gate makes of the test q_1 and of the run.
  struct Outcome {
    int exit_code;
    std::string verdict;
    std::string status;
    std::string cause;  ///< Of its first metric; empty: none.
  };
  const Outcome passes{0, "pass", "pass", ""};
  const Outcome dropped{1, "regression", "fail", "dropped"};
  const Outcome below_floor{1, "fail", "fail", "below_min_floor"};
  const Outcome below_min_score{1, "fail", "fail", "below_min_score"};
  const Outcome broke{1, "regression", "fail", "broke"};
  const Outcome still_failing{0, "pass", "warn", "still_failing"};
  const Outcome became_undefined{1, "regression", "fail", "became_undefined"};
  const Outcome missing{0, "review", "warn", "missing_in_baseline"};
  const Outcome missing_strict{1, "review", "warn", "missing_in_baseline"};
  const Outcome missing_mismatch{1, "fail", "warn", "missing_in_baseline"};
  const Outcome noticed{0, "review", "pass", ""};  ///< A warning of the comparison as a whole.
  const Outcome noticed_strict{1, "fail", "pass", ""};
  const Outcome case_error{1, "error", "error", ""};
  const Outcome case_error_and_failure{1, "fail", "error", ""};

  struct Row {
    const char* name;
    std::string suite;
    Edit edit;
    Flags flags;
    Outcome outcome;
    std::string phrase{};  ///< In the report or on stderr.
  };

  // --- Edits ---

  static void unchanged(Json& /*baseline*/) {}
  static Edit with_score(const std::string& id, double score, const std::string& metric = "claims_recall") {
    return [=](Json& baseline) {
      for (auto& entry : baseline["entries"]) {
        if (entry["test_id"] != id || entry["metric"] != metric) continue;
        entry["score"] = score;
        return;
      }
      baseline["entries"].push_back({{"test_id", id}, {"metric", metric}, {"score", score}});
    };
  }
  static Edit with_passed(const std::string& id, bool passed) {
    return [=](Json& baseline) {
      for (auto& entry : baseline["entries"]) {
        if (entry["test_id"] == id) entry["passed"] = passed;
      }
    };
  }
  static Edit with_field(const std::string& field, const Json& value) {
    return [=](Json& baseline) { baseline[field] = value; };
  }
  static void without_entries(Json& baseline) { baseline["entries"] = Json::array(); }

  static std::string one_test(const std::string& thresholding, const std::string& more = "") {
    return suite(thresholding, recall_test("q_1", 17, 20, more));
  }

  void expect(const Row& row) {
    SCOPED_TRACE(row.name);
    const auto suite_file = write_suite(row.suite);
    auto baseline = pinned(suite_file);
    ASSERT_TRUE(baseline.is_object());
    row.edit(baseline);
    write_text(folder() / "baseline.json", baseline.dump());
    const auto finished = gate(suite_file, folder() / "baseline.json", row.flags);
    EXPECT_EQ(finished.exit_code, row.outcome.exit_code) << finished.errors;
    const auto report = parse_report(finished.output);
    ASSERT_TRUE(report.is_object()) << finished.errors;
    EXPECT_EQ(schema_findings(report), "");
    EXPECT_EQ(report["verdict"], row.outcome.verdict);
    const auto result = result_of(report, "q_1");
    ASSERT_TRUE(result.is_object());
    EXPECT_EQ(result["status"], row.outcome.status);
    if (row.outcome.status != "error") {
      const auto cause = result["metrics"][0]["cause"];
      EXPECT_EQ(cause.is_null() ? "" : cause, row.outcome.cause) << result["metrics"][0];
    }
    EXPECT_NE((finished.output + finished.errors).find(row.phrase), std::string::npos)
        << row.phrase << " in: " << finished.output << finished.errors;
  }
  void expect_all(const std::vector<Row>& rows) {
    for (const auto& row : rows) expect(row);
  }
};

// --- The ADR's two scenarios ---

TEST_F(Gate, ScenarioOneARegression) {
  const auto suite_file = write_suite(one_test("mode: relative, max_drop: 0.05"));
  auto baseline = pinned(suite_file);
  with_score("q_1", 0.92)(baseline);
  write_text(folder() / "baseline.json", baseline.dump());
  const auto finished = gate(suite_file, folder() / "baseline.json");
  EXPECT_EQ(finished.exit_code, 1) << finished.errors;
  const auto report = parse_report(finished.output);
  ASSERT_TRUE(report.is_object());
  EXPECT_EQ(report["verdict"], "regression");
  const auto metric = result_of(report, "q_1")["metrics"][0];
  EXPECT_EQ(metric["score"], 0.85);
  EXPECT_EQ(metric["baseline"], 0.92);
  EXPECT_EQ(metric["delta"], -0.07);
  EXPECT_EQ(metric["limit"], 0.87);
  EXPECT_EQ(metric["cause"], "dropped");

  const auto table = run_sluice(with(run_of(suite_file), "--format", "table") +
                                Flags{"--baseline", (folder() / "baseline.json").string()});
  EXPECT_EQ(table.exit_code, 1);
  for (const auto* part : {"q_1", "claims_recall", "0.92", "0.85", "-0.07", "0.87", "REGRESSION"}) {
    EXPECT_NE(table.output.find(part), std::string::npos) << part << " in: " << table.output;
  }
}

TEST_F(Gate, ScenarioTwoAnImprovement) {
  const auto suite_file = write_suite(suite("max_drop: 0.05", recall_test("q_1", 41, 50)));
  auto baseline = pinned(suite_file);
  with_score("q_1", 0.80)(baseline);
  write_text(folder() / "baseline.json", baseline.dump());
  const auto finished = gate(suite_file, folder() / "baseline.json", {"--strict"});
  EXPECT_EQ(finished.exit_code, 0) << finished.errors;
  const auto report = parse_report(finished.output);
  ASSERT_TRUE(report.is_object());
  EXPECT_EQ(report["verdict"], "pass");
  const auto result = result_of(report, "q_1");
  EXPECT_EQ(result["improved"], true);
  EXPECT_EQ(result["metrics"][0]["delta"], 0.02);
}

// --- Thresholds ---

TEST_F(Gate, Drops) {
  expect_all({
      {"within the limit", one_test("max_drop: 0.05"), with_score("q_1", 0.89), {}, passes},
      {"exactly at the limit", one_test("max_drop: 0.07"), with_score("q_1", 0.92), {}, passes},
      {"exactly at the limit, strict",
       one_test("max_drop: 0.07"),
       with_score("q_1", 0.92),
       {"--strict"},
       passes},
      {"a billionth beyond it",
       one_test("max_drop: 0.069999999"),
       with_score("q_1", 0.92),
       {},
       dropped,
       "q_1"},
      {"no drop allowed, none there", one_test("max_drop: 0"), unchanged, {"--strict"}, passes},
      {"no drop allowed, one there", one_test("max_drop: 0"), with_score("q_1", 0.851), {}, dropped},
      {"any drop allowed", one_test("mode: relative, max_drop: 1.0"), with_score("q_1", 1.0), {}, passes},
      {"the default is 5 points", one_test(""), with_score("q_1", 0.90), {}, passes},
      {"beyond the default", one_test(""), with_score("q_1", 0.91), {}, dropped},
      {"--threshold is the default", one_test(""), with_score("q_1", 0.91), {"--threshold", "0.06"}, passes},
      {"max_drop goes before --threshold",
       one_test("max_drop: 0.05"),
       with_score("q_1", 0.91),
       {"--threshold", "0.06"},
       dropped},
  });
}

TEST_F(Gate, FloorsAndFixedScores) {
  const std::string absolute = "mode: absolute, min_score: ";
  expect_all({
      {"exactly at the floor", one_test("min_floor: 0.85"), unchanged, {}, passes},
      {"below the floor", one_test("min_floor: 0.86"), unchanged, {}, below_floor, "0.86"},
      {"the floor asks for more than the drop",
       one_test("max_drop: 0.5, min_floor: 0.9"),
       with_score("q_1", 0.95),
       {},
       below_floor,
       "0.9"},
      {"the drop asks for more than the floor",
       one_test("max_drop: 0.01, min_floor: 0.5"),
       with_score("q_1", 0.95),
       {},
       dropped,
       "0.94"},
      {"absolute, exactly", one_test(absolute + "0.85"), with_score("q_1", 1.0), {}, passes},
      {"absolute, below", one_test(absolute + "0.86"), unchanged, {}, below_min_score, "0.86"},
      {"absolute needs no entry", one_test(absolute + "0.85"), without_entries, {"--strict"}, passes},
      {"min_score beside a drop",
       one_test("max_drop: 0.05", "min_score: 0.9"),
       unchanged,
       {},
       below_min_score,
       "0.9"},
  });
}

TEST_F(Gate, ATestsThresholdingGoesOverTheSuitesKeyByKey) {
  const std::string defaults = "mode: relative, max_drop: 0.03, min_floor: 0.80";
  const auto lower = suite(defaults, recall_test("q_1", 3, 4, "thresholding: {max_drop: 0.10}"));
  expect_all({
      {"the suite's drop", one_test(defaults), with_score("q_1", 0.90), {}, dropped, "0.87"},
      {"the test's drop",
       one_test(defaults, "thresholding: {max_drop: 0.10}"),
       with_score("q_1", 0.90),
       {},
       passes},
      {"the suite's floor stays", lower, with_score("q_1", 0.76), {}, below_floor, "0.8"},
      {"the test's floor",
       one_test(defaults, "thresholding: {min_floor: 0.86}"),
       unchanged,
       {},
       below_floor,
       "0.86"},
      {"the test's mode",
       one_test(defaults, "thresholding: {mode: absolute, min_score: 0.85}"),
       with_score("q_1", 1.0),
       {},
       passes},
      {"the neighbour keeps the suite's",
       suite(defaults,
             recall_test("other", 17, 20, "thresholding: {max_drop: 0.5}") + recall_test("q_1", 17, 20)),
       with_score("q_1", 0.90),
       {},
       dropped},
  });
}

/// The report of a run without a baseline keeps what it would have been gated by.
TEST_F(Gate, CompareChecksAReportAsTheGateWouldHave) {
  struct Limit {
    std::string suite;
    Flags flags;
  };
  for (const auto& [thresholds, flags] : {Limit{"max_drop: 0.03", {}}, Limit{"", {"--threshold", "0.03"}}}) {
    const auto suite_file = write_suite(one_test(thresholds));
    auto baseline = pinned(suite_file);
    write_text(folder() / "report.json", run_sluice(run_of(suite_file) + flags).output);
    for (const auto& [score, verdict] : {std::pair{0.88, "pass"}, std::pair{0.89, "regression"}}) {
      with_score("q_1", score)(baseline);
      write_text(folder() / "baseline.json", baseline.dump());
      const auto online = gate(suite_file, folder() / "baseline.json", flags);
      const auto offline = run_sluice({"compare", "baseline.json", "report.json", "--format", "json"});
      EXPECT_EQ(parse_report(online.output)["verdict"], verdict) << online.errors;
      EXPECT_EQ(parse_report(offline.output)["verdict"], verdict) << offline.errors;
      EXPECT_EQ(offline.exit_code, online.exit_code);
    }
  }
}

TEST_F(Gate, PassFailMetricsAreHeldToWhatPassedBefore) {
  const auto good = suite("max_drop: 0.05", greeting_test("q_1", "type: must_contain, text: morning"));
  const auto bad = suite("max_drop: 0.05", greeting_test("q_1", "type: must_contain, text: evening"));
  expect_all({
      {"passed, nothing missing", good, unchanged, {"--strict"}, passes},
      {"failed before too", bad, unchanged, {"--strict"}, still_failing, "evening"},
      {"passed before", bad, with_passed("q_1", true), {}, broke, "evening"},
  });
  const auto thresholded =
      suite("", greeting_test("q_1", "type: must_contain, text: morning, thresholding: {max_drop: 0.05}"));
  const auto refused = run_sluice(run_of(write_suite(thresholded)));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(refused.output, "");
  ASSERT_EQ(refused.error_lines().size(), 1u) << refused.errors;
  EXPECT_NE(refused.errors.find("only passes or fails"), std::string::npos) << refused.errors;
}

TEST_F(Gate, UndefinedScores) {
  const auto silent = suite("max_drop: 0.5", claims_test("q_1", "claims_precision", 0, 1));
  expect_all({
      {"undefined now, pinned before",
       silent,
       with_score("q_1", 0.2, "claims_precision"),
       {},
       became_undefined,
       "q_1"},
      {"undefined now and then",
       silent,
       with_score("q_1", 0.0, "claims_recall"),
       {},
       noticed,
       "unused_entries"},
  });
}

// --- Entries ---

TEST_F(Gate, MissingEntries) {
  const auto two = suite("max_drop: 0.05", recall_test("q_1", 17, 20) + recall_test("q_2", 17, 20));
  const auto without_q_1 = [](Json& baseline) { baseline["entries"].erase(0); };
  const std::string mends = "suite.yaml --mode live --export-baseline ";
  expect_all({
      {"warns", two, without_q_1, {}, missing, mends},
      {"fails under --strict", two, without_q_1, {"--strict"}, missing_strict, mends},
      {"fails as a mismatch", two, without_q_1, {"--fail-on-mismatch"}, missing_mismatch, mends},
      {"an empty baseline", two, without_entries, {}, missing, mends},
      {"the floor holds all the same", one_test("min_floor: 0.9"), without_entries, {}, below_floor, "0.9"},
  });
}

TEST_F(Gate, UnusedEntries) {
  const auto two = suite("max_drop: 0.05", recall_test("q_1", 17, 20) + recall_test("q_2", 17, 20));
  const auto gone = with_score("gone", 0.5);
  expect_all({
      {"warn", two, gone, {}, noticed, "unused_entries"},
      {"are named", two, gone, {}, noticed, "`gone` claims_recall"},
      {"fail under --strict", two, gone, {"--strict"}, noticed_strict, "unused_entries"},
      {"fail as a mismatch", two, gone, {"--fail-on-mismatch"}, noticed_strict, "unused_entries"},
      {"of an unknown metric",
       two,
       with_score("q_1", 0.5, "judge_politeness"),
       {},
       noticed,
       "judge_politeness"},
      {"not under --categories", two, gone, {"--strict", "--categories", "tests"}, passes},
      {"not under --max-fixtures", two, gone, {"--strict", "--max-fixtures", "1"}, passes},
  });
}

// --- Compatibility ---

TEST_F(Gate, WhatABaselineSaysOfItself) {
  const auto one = one_test("max_drop: 0.05");
  const auto fingerprint = with_field("config_fingerprint", "sha256:" + std::string(64, '0'));
  const auto version = with_field("assay_version", "0.0.1-other");
  auto twice = one;
  twice.insert(twice.find("  thresholding"), "  repeat: 2\n");
  const auto fails = [&](Json& baseline) {
    fingerprint(baseline);
    with_score("q_1", 1.0)(baseline);
  };
  const auto with_extras = [](Json& baseline) {
    baseline["generator"] = {{"name", "another tool"}};
    baseline["entries"][0]["meta"] = {{"model", "text-embedding-3-small"}, {"rubric_version", "v1"}};
    baseline["entries"][0]["note"] = {1, 2, 3};
  };
  expect_all({
      {"another fingerprint", one, fingerprint, {}, noticed, "fingerprint_mismatch"},
      {"another fingerprint, strict", one, fingerprint, {"--strict"}, noticed_strict, "fingerprint_mismatch"},
      {"a mismatch", one, fingerprint, {"--fail-on-mismatch"}, noticed_strict, "fingerprint_mismatch"},
      {"no mismatch", one, unchanged, {"--fail-on-mismatch"}, passes},
      {"a version is no mismatch", one, version, {"--fail-on-mismatch"}, passes, "tool_version_mismatch"},
      {"another fingerprint, and a drop", one, fails, {}, dropped, "fingerprint_mismatch"},
      {"the same, strict", one, fails, {"--strict"}, dropped, "fingerprint_mismatch"},
      {"another tool version", one, version, {}, passes, "tool_version_mismatch"},
      {"repeats by a flag", one, unchanged, {"--strict", "--repeat", "2"}, passes},
      {"other repeats than the suite's", twice, unchanged, {"--strict", "--repeat", "1"}, passes},
      {"another tool version, strict", one, version, {"--strict"}, passes, "tool_version_mismatch"},
      {"unknown keys and meta", one, with_extras, {"--strict"}, passes},
  });
}

TEST_F(Gate, RefusedBaselines) {
  struct Refused {
    std::string field;
    Json value;
    std::vector<std::string> words;
  };
  const std::vector<Refused> rows{
      {"schema_version", 3, {"schema_version 3", "regenerate", "newer sluice"}},
      {"schema_version", 0, {"schema_version 0", "regenerate"}},
      {"suite", "another_suite", {"another_suite", "demo_suite"}},
  };
  const auto suite_file = write_suite(one_test("max_drop: 0.05"));
  const auto own = pinned(suite_file);
  for (const auto& row : rows) {
    for (const auto& flags : {Flags{}, Flags{"--strict"}}) {
      auto baseline = own;
      baseline[row.field] = row.value;
      write_text(folder() / "baseline.json", baseline.dump());
      const auto finished = gate(suite_file, folder() / "baseline.json", flags);
      EXPECT_EQ(finished.exit_code, 2);
      EXPECT_EQ(finished.output, "");
      ASSERT_EQ(finished.error_lines().size(), 1u) << finished.errors;
      for (const auto& word : row.words) {
        EXPECT_NE(finished.errors.find(word), std::string::npos) << word << " in: " << finished.errors;
      }
      EXPECT_NE(finished.errors.find("baseline.json"), std::string::npos) << finished.errors;
    }
  }
}

// --- Case errors ---

TEST_F(Gate, ACaseErrorIsNoScore) {
  const auto with_error = suite("max_drop: 0.05", refused_test("q_1") + recall_test("q_2", 17, 20));
  expect_all({
      {"exit code 1", with_error, unchanged, {}, case_error, "refusal"},
      {"its entries are not unused", with_error, with_score("q_1", 0.9), {}, case_error, "refusal"},
      {"a failure weighs more",
       with_error,
       with_score("gone", 0.9),
       {"--strict"},
       case_error_and_failure,
       "gone"},
  });
}

}  // namespace
}  // namespace sluice

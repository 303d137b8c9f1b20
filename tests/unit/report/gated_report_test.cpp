#include "coordinator/report/wording/wording.hpp"
#include "coordinator/suite/canonical_case.hpp"
#include "tests/unit/report/gated_run.hpp"
#include "tests/unit/report/golden.hpp"
#include "tests/unit/report/report_texts.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using nlohmann::json;
using sample::GatedSample;
using sample::SampleRun;

TEST(GatedReport, GoldenTables) {
  const GatedSample run;
  const Aggregates aggregates = run.aggregates();
  for (const std::size_t columns : {60u, 80u, 200u}) {
    const std::string table = table_of(run.input(aggregates), {.columns = columns});
    expect_lines_within(table, std::min<std::size_t>(columns, 120));
    expect_golden("gated_table_" + std::to_string(columns) + ".txt", table);
  }
}

TEST(GatedReport, GoldenForPrograms) {
  const GatedSample run;
  const Aggregates aggregates = run.aggregates();
  expect_golden("gated_report.json", without_version(json_of(run.input(aggregates))));
  expect_golden("gated_report.md", markdown_of(run.input(aggregates)));
  expect_golden("gated_report.github.txt", github_of(run.input(aggregates)));
  expect_golden("gated_report.junit.xml", junit_of(run.input(aggregates)));
}

TEST(GatedReport, GoldenBesideAManifest) {
  const SampleRun run;
  const Aggregates aggregates = run.aggregates();
  ReportInput input = run.input(aggregates);
  input.gate = sample::beside_manifest(aggregates, 0.4, 0.36, 0.5);
  input.verdict = sample::verdict_on(input);
  for (const std::size_t columns : {60u, 80u}) {
    const std::string table = table_of(input, {.columns = columns});
    expect_lines_within(table, columns);
    expect_golden("manifest_table_" + std::to_string(columns) + ".txt", table);
  }
  expect_golden("manifest_report.md", markdown_of(input));
}

// The summary, the page's filter and the CSV knew checks alone: of 34 that regressed they had 24.
TEST(GatedReport, AScoreThatDroppedIsAChange) {
  const GatedSample run;
  const Aggregates aggregates = run.aggregates();
  const ReportInput input = run.input(aggregates);
  EXPECT_EQ(wording::changes(input), "2 dropped");
  EXPECT_EQ(occurrences(csv_of(input), ",fail,dropped,,1,0,"), 2u) << csv_of(input);
  EXPECT_EQ(occurrences(html_of(input), "</span>, dropped</td>"), 2u);
}

// The exit code was 1, and nothing said why.
TEST(GatedReport, AReviewThatFailsUnderStrictSaysSo) {
  GatedSample gated;
  gated.suite.cases.truncate(5);
  gated.source.trials.resize(5);
  gated.source.trials[0].unit.scores[0].metrics[0].passed = true;
  gated.source.trials[1].unit.scores[0].metrics[0].score = 0.92;
  gated.results.trials = 5;
  const Aggregates aggregates = gated.aggregates();
  ReportInput input = gated.input(aggregates);
  input.gate.notices.clear();
  input.verdict = RunVerdict::review;
  const std::string strict = "exit code 1 because of --strict";
  const auto reports = [&] {
    return std::vector{table_of(input, {.columns = 120}), markdown_of(input), github_of(input),
                       junit_of(input)};
  };
  for (const std::string& text : reports()) EXPECT_EQ(occurrences(text, strict), 0u) << text;
  input.gate.strict = true;
  for (const std::string& text : reports()) EXPECT_GT(occurrences(text, strict), 0u) << text;
  EXPECT_NE(table_of(input, {.columns = 120}).find("\n⚠ REVIEW: 1 of 5 cases warned, 1 improved; " + strict),
            std::string::npos);
  EXPECT_EQ(occurrences(github_of(input), "::error "), 1u) << github_of(input);
  input.verdict = RunVerdict::fail;
  for (const std::string& text : reports()) EXPECT_EQ(occurrences(text, strict), 0u) << "it fails anyway";
}

// A category had 12 that warned, and the summary 11 beside a known failure; and the verdict named first what
// decides nothing.
TEST(GatedReport, KnownFailuresAreCountedApartAndNamedLast) {
  GatedSample gated;
  gated.suite.cases.truncate(5);
  gated.source.trials.resize(5);
  gated.suite.cases.held(0).known_failure = "a gap";
  gated.source.trials[1].unit.scores[0].metrics[0].score = 0.92;
  gated.results.trials = 5;
  const Aggregates aggregates = gated.aggregates();
  EXPECT_EQ(aggregates.all.warned(), 1u);
  EXPECT_EQ(aggregates.all.known_failures, 1u);
  ReportInput input = gated.input(aggregates);
  input.gate.notices = {{GateNotice::Severity::failure, "fingerprint_mismatch", "Another suite."}};
  input.gate.strict = true;
  input.verdict = RunVerdict::fail;
  EXPECT_EQ(wording::reason_for(input),
            "1 failure of the comparison under --strict, 1 of 5 cases warned, 1 known to fail, 1 improved");
  const std::string table = table_of(input, {.columns = 200});
  EXPECT_NE(
      table.find("│ Category │ Cases │ Passed │ Failed │ Warned │ Known failures │ Errors │ Pass rate │"),
      std::string::npos)
      << table;
  EXPECT_NE(
      table.find("│ greet    │     5 │      3 │      0 │      1 │              1 │      0 │      0.80 │"),
      std::string::npos)
      << table;
  EXPECT_NE(markdown_of(input).find("| Warned | Failed | Known failures | Errors |"), std::string::npos);
  EXPECT_NE(html_of(input).find("Cases: pass 3, warn 1, known failure 1<"), std::string::npos);
}

// Of aggregates nothing said that --strict alone had failed them.
TEST(GatedReport, ARegressionOfAggregatesThatFailsUnderStrictSaysSo) {
  const SampleRun run;
  const Aggregates aggregates = run.aggregates();
  ReportInput input = run.input(aggregates);
  input.gate = sample::beside_manifest(aggregates, 0.4, 0.36, 0.5);
  input.verdict = RunVerdict::regression;
  input.gate.strict = true;
  const auto last_words = [&] {
    const std::string text = table_of(input, {.columns = 200});
    return text.substr(text.rfind("✗ REGRESSION: "));
  };
  EXPECT_TRUE(last_words().starts_with("✗ REGRESSION: exit code 1 because of --strict; ")) << last_words();
  input.gate.fail_on_regression = true;
  EXPECT_EQ(last_words().find("strict"), std::string::npos) << last_words();
}

// A pull request that passes began with a page of failures that decide nothing.
TEST(GatedReport, MarkdownFoldsTheFailuresThatTheAggregatesAllow) {
  SampleRun run;
  EXPECT_EQ(run.aggregates().all.failed_apart, 1u) << "a forbidden claim";
  TrialScore& score = run.source.trials.at(5).unit.scores.front();
  score.claims.forbidden.clear();
  for (MetricOutcome& one : score.metrics) {
    if (one.id == MetricId::claims_forbidden) one.passed = true;
  }
  const Aggregates aggregates = run.aggregates();
  ASSERT_EQ(aggregates.all.failed_apart, 0u);
  ReportInput input = run.input(aggregates);
  const auto markdown = [&](double recall) {
    input.gate = sample::beside_manifest(aggregates, 0.4, recall, 0.3);
    input.verdict = sample::verdict_on(input);
    return markdown_of(input);
  };
  const std::string folded = "<details><summary>Failures that the aggregates allow (3)</summary>";
  EXPECT_NE(markdown(0.3).find(folded), std::string::npos) << markdown(0.3);
  EXPECT_NE(markdown(1.0 / 3 + 0.02).find(folded), std::string::npos) << "within the limit";
  EXPECT_EQ(markdown(0.3).find("### Failures"), std::string::npos);
  EXPECT_NE(markdown(0.9).find("### Failures (3)"), std::string::npos) << markdown(0.9);
  const std::string table = table_of(input, {.columns = 80});
  EXPECT_NE(table.find("Failures (3)"), std::string::npos) << table;
}

TEST(GatedReport, TheVerdictNamesTheDropInPoints) {
  const SampleRun run;
  const Aggregates aggregates = run.aggregates();
  ReportInput input = run.input(aggregates);
  input.gate = sample::beside_manifest(aggregates, 0.4, 1.0 / 3 + 0.02, 0.3);
  input.verdict = RunVerdict::review;
  const std::string table = table_of(input, {.columns = 120});
  EXPECT_NE(
      table.find(
          "Verdict: ⚠ REVIEW - Recall dropped by 2 points (0.35 to 0.33), within the limit of 5 points"),
      std::string::npos)
      << table;
  EXPECT_NE(table.find("│ Recall    │    0.33 │     0.35 │ -0.02 │ ⚠ within limit │"), std::string::npos)
      << table;
  EXPECT_NE(table.find("│ Precision │    0.40 │     0.40 │ +0.00 │ ✓ no drop      │"), std::string::npos)
      << table;
}

TEST(GatedReport, JsonHasTheComparisonOfScores) {
  const GatedSample run;
  const Aggregates aggregates = run.aggregates();
  const json report = json::parse(json_of(run.input(aggregates)));
  const json& comparison = report["baseline_comparison"];
  EXPECT_EQ(comparison["kind"], "scores");
  EXPECT_EQ(comparison["baseline"], "baseline.json");
  EXPECT_TRUE(comparison["precision_delta"].is_null());
  EXPECT_EQ(comparison["has_regression"], true);
  EXPECT_EQ(comparison["regression_threshold"], 0.05);
  EXPECT_EQ(comparison["regressed"], 2);
  EXPECT_EQ(comparison["improved"], 2);
  EXPECT_EQ(comparison["missing"], 1);
  EXPECT_EQ(comparison["notices"][0]["code"], "fingerprint_mismatch");
  EXPECT_EQ(report["metrics"]["regressed"], 2);
  EXPECT_EQ(report["metrics"]["by_category"]["jwt"]["regressed"], 1);

  const json& dropped = report["fixture_results"][1];
  EXPECT_EQ(dropped["kind"], "text");
  EXPECT_EQ(dropped["regressed"], true);
  EXPECT_EQ(dropped["answer_text"], "Refunds are not possible.");
  EXPECT_TRUE(dropped["true_positives"].is_null());
  const json& metric = dropped["metrics"][0];
  EXPECT_EQ(metric["status"], "fail");
  EXPECT_EQ(metric["passed"], false);
  EXPECT_EQ(metric["cause"], "dropped");
  EXPECT_EQ(metric["score"], 0.85);
  EXPECT_EQ(metric["baseline"], 0.92);
  EXPECT_EQ(metric["delta"], -0.07);
  EXPECT_EQ(metric["limit"], 0.87);
  EXPECT_EQ(metric["thresholding"], json::parse(R"({"mode": "relative", "max_drop": 0.05, "min_floor": null,
                                                    "min_score": null})"));
  EXPECT_EQ(report["fixture_results"][0]["metrics"][0]["detail"], "does not contain \"Hello, Ada\"");
  EXPECT_TRUE(report["fixture_results"][0]["metrics"][0]["thresholding"].is_null());
  EXPECT_TRUE(report["fixture_results"][3]["metrics"][0]["passed"].is_null());
  EXPECT_EQ(report["fixture_results"][3]["metrics"][0]["cause"], "missing_in_baseline");
  EXPECT_EQ(report["fixture_results"][7]["improved"], true);
}

TEST(GatedReport, JsonHasTheComparisonOfAggregates) {
  const SampleRun run;
  const Aggregates aggregates = run.aggregates();
  ReportInput input = run.input(aggregates);
  input.gate = sample::beside_manifest(aggregates, 0.45, 0.3, 0.5);
  input.gate.aggregates->threshold = 0.1;
  const json comparison = json::parse(json_of(input))["baseline_comparison"];
  EXPECT_EQ(comparison["kind"], "aggregates");
  EXPECT_EQ(comparison["precision_delta"], -0.05);
  EXPECT_NEAR(comparison["recall_delta"].get<double>(), 0.0333333333, 1e-9);
  EXPECT_EQ(comparison["has_regression"], true);
  EXPECT_EQ(comparison["regression_threshold"], 0.1);
  EXPECT_TRUE(json::parse(json_of(run.input(aggregates)))["baseline_comparison"].is_null());
}

TEST(GatedReport, ThresholdsAreShownAsTheyApplied) {
  GatedSample run;
  Case& named = run.suite.cases.held(1);
  named.expectations[0].thresholding = {
      .mode = ThresholdMode::absolute, .max_drop = {}, .min_floor = {}, .min_score = 0.8};
  named.expectations[0].min_score = 0.9;
  const Aggregates aggregates = run.aggregates();
  const json report = json::parse(json_of(run.input(aggregates)));
  EXPECT_EQ(report["fixture_results"][1]["metrics"][0]["thresholding"],
            json::parse(R"({"mode": "absolute", "max_drop": null, "min_floor": null, "min_score": 0.9})"));
  EXPECT_EQ(report["fixture_results"][1]["metrics"][0]["cause"], "below_min_score");
}

// A suite of prompts has no precision and recall to show.
TEST(GatedReport, ASuiteOfTextsShowsNoClaimsScores) {
  GatedSample run;
  run.suite.cases.truncate(5);
  run.source.trials.resize(5);
  run.results.trials = 5;
  const Aggregates aggregates = run.aggregates();
  const ReportInput input = run.input(aggregates);
  for (const std::string& text : {table_of(input, {.columns = 120}), markdown_of(input)}) {
    EXPECT_EQ(text.find("Precision"), std::string::npos) << text;
    EXPECT_EQ(text.find("Recall"), std::string::npos) << text;
    EXPECT_EQ(text.find("fixture"), std::string::npos) << text;
    EXPECT_NE(text.find("5 cases: 2 passed, 1 warned, 2 failed (1 regressed), 0 errors; 1 improved"),
              std::string::npos)
        << text;
  }
}

TEST(GatedReport, LongListsAreCutAndSayByHowMuch) {
  GatedSample run;
  const Case regressed = *(*run.suite.cases.read(1));
  run.suite.cases = {};
  const CommittedTrial result = run.source.trials[1];
  run.source.trials.clear();
  Baseline baseline;
  constexpr std::size_t many = 3000;
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < many; ++i) ids.push_back("greet-" + std::to_string(10000 + i));
  for (std::size_t i = 0; i < many; ++i) {
    Case one = regressed;
    one.id = ids[i];
    run.suite.cases.push_back(one);
    run.source.trials.push_back(result);
    run.source.trials.back().trial = static_cast<TrialId>(i);
    baseline.add({ids[i], "semantic_similarity_to", 0.92, {}});
  }
  baseline.seal();
  run.gate = Gate({.suite = {}, .baseline = &baseline, .default_max_drop = 0.05});
  run.results.trials = many;
  const Aggregates aggregates = run.aggregates();
  ASSERT_EQ(aggregates.all.regressed, many);
  const ReportInput input = run.input(aggregates);
  const std::string table = table_of(input, {.columns = 80});
  EXPECT_EQ(occurrences(table, "\n- greet-"), 50u);
  EXPECT_NE(table.find("Regressions (3,000)"), std::string::npos);
  EXPECT_NE(table.find("2,950 more; `sluice report 0191f7d2 --output report.html` has them all"),
            std::string::npos);
  const std::string markdown = markdown_of(input);
  EXPECT_LT(markdown.size(), 65536u);
  EXPECT_NE(markdown.find(" more regressed; `--format json` has them all"), std::string::npos);
  const std::size_t shown = occurrences(markdown, "\n| **greet-");
  EXPECT_NE(markdown.find("_" + std::to_string(many - shown).insert(1, ",") + " more regressed"),
            std::string::npos)
      << shown;
}

/// The comment on a run beside a baseline from which one case regressed.
std::string markdown_beside(Baseline& baseline, const Suite& suite, const sample::MemorySource& source,
                            const TrialTable* table = nullptr) {
  baseline.seal();
  const Gate gate({.suite = {}, .baseline = &baseline, .default_max_drop = 0.05});
  RunResults results = sample::results_of(suite, source, gate);
  results.trials = source.trials.size();
  results.table = table;
  const Aggregates aggregates = *aggregate(results, nullptr);
  EXPECT_EQ(aggregates.all.regressed, 1u);
  ReportInput input = sample::input_of(results, aggregates);
  input.gate.kind = BaselineKind::scores;
  return markdown_of(input);
}

// Each check passed in most repeats, and the case in none but one: the table had no row of it.
TEST(GatedReport, ACaseThatFellByAnotherCheckInEachRepeatHasItsRows) {
  Suite suite;
  Case one = sample::text_case("greet", "", MetricId::must_contain, {"Hello"});
  one.expectations.push_back({.what = {MetricId::icontains, {"ada"}}, .thresholding = {}, .min_score = {}});
  suite.cases.push_back(one);
  sample::MemorySource source;
  TrialTable table(3);
  (void)table.add_case(0);
  for (TrialId trial = 0; trial < 3; ++trial) {
    source.trials.push_back(
        sample::answered(trial, "Hello", {MetricId::must_contain, std::nullopt, trial != 0, ""}));
    source.trials.back().unit.scores[0].metrics.push_back(
        {MetricId::icontains, std::nullopt, trial != 1, ""});
  }
  Baseline baseline;
  for (const char* metric : {"icontains", "must_contain"})
    baseline.add({"greet", metric, 1.0, {}, {}, PinKind::checks});
  const std::string markdown = markdown_beside(baseline, suite, source, &table);
  EXPECT_EQ(occurrences(markdown, " | passed | flaky | "), 2u) << markdown;
}

// The rows of both were of `must_contain`.
TEST(GatedReport, ChecksByOneMetricAreToldApartInTheTableOfRegressions) {
  Suite suite;
  Case one = sample::text_case("greet", "", MetricId::must_contain, {"Hello"});
  one.expectations.push_back(
      {.what = {MetricId::must_contain, {"Ada"}}, .thresholding = {}, .min_score = {}});
  one.expectations.push_back({.what = {MetricId::icontains, {"day"}}, .thresholding = {}, .min_score = {}});
  suite.cases.push_back(one);
  sample::MemorySource source;
  source.trials = {sample::answered(0, "Hello", {MetricId::must_contain, std::nullopt, true, ""})};
  for (const MetricId metric : {MetricId::must_contain, MetricId::icontains})
    source.trials[0].unit.scores[0].metrics.push_back({metric, std::nullopt, false, ""});
  Baseline baseline;
  const std::vector<double> passed{1.0, 1.0};
  const std::vector<CheckDigest> checks{check_digest(one.expectations[0]), check_digest(one.expectations[1])};
  baseline.add({"greet", "icontains", 1.0, {}, {}, PinKind::checks});
  baseline.add({"greet", "must_contain", 1.0, {}, passed, PinKind::checks, checks});
  const std::string markdown = markdown_beside(baseline, suite, source);
  EXPECT_EQ(occurrences(markdown, "| must\\_contain \"Ada\" | passed | failed | "), 1u) << markdown;
  EXPECT_EQ(occurrences(markdown, "| icontains | passed | failed | "), 1u) << "it is alone\n" << markdown;
}

TEST(GatedReport, AMarkdownCommentFitsWhateverComes) {
  GatedSample run;
  const std::string long_text = std::string(20000, '@') + std::string(20000, '`') + "\xff|<b>#1";
  run.suite.cases = {};
  run.source.trials.clear();
  for (std::size_t i = 0; i < 400; ++i) {
    Case one = sample::text_case(std::to_string(1000 + i) + long_text, long_text, MetricId::must_contain,
                                 std::vector<std::string>(50, long_text));
    run.suite.cases.push_back(one);
    run.source.trials.push_back(sample::answered(static_cast<TrialId>(i), long_text,
                                                 {MetricId::must_contain, std::nullopt, false, long_text}));
    if (i % 3 == 0)
      run.source.trials.back() =
          sample::errored(static_cast<TrialId>(i), static_cast<UnitId>(i), {Reason::rate_limited, long_text});
  }
  run.suite.name = long_text;
  run.results.trials = 400;
  const Aggregates aggregates = run.aggregates();
  ReportInput input = run.input(aggregates);
  input.identity.model = long_text;
  input.gate.baseline_file = long_text;
  input.gate.notices.assign(100, {GateNotice::Severity::failure, "code", long_text});
  input.facts.cut_short = Error{Reason::interrupted, long_text};
  EXPECT_LT(markdown_of(input).size(), 65536u);
}

TEST(GatedReport, FailuresOfTheComparisonAreShownFirst) {
  GatedSample run;
  const Aggregates aggregates = run.aggregates();
  ReportInput input = run.input(aggregates);
  input.gate.notices[0].severity = GateNotice::Severity::failure;
  input.verdict = sample::verdict_on(input);
  EXPECT_EQ(input.verdict, RunVerdict::fail);
  const std::string markdown = markdown_of(input);
  ASSERT_NE(markdown.find("**failure**"), std::string::npos);
  EXPECT_LT(markdown.find("**failure** `fingerprint_mismatch`"), markdown.find("### Regressions"));
  EXPECT_NE(table_of(input, {.columns = 80}).find("✗ failure: fingerprint_mismatch"), std::string::npos);
  EXPECT_NE(junit_of(input).find("name=\"baseline comparison\""), std::string::npos);
  for (const bool strict : {false, true}) {
    input.gate.strict = strict;
    EXPECT_NE(junit_of(input).find(std::string("1 failure of the comparison under --") +
                                   (strict ? "strict" : "fail-on-mismatch")),
              std::string::npos);
  }
}

}  // namespace
}  // namespace sluice

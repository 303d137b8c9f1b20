// A judge beside labels or another metric: what is counted, and how it is shown.
#include "coordinator/report/commands/calibration_report.hpp"
#include "tests/unit/report/judged_run.hpp"
#include "tests/unit/report/report_texts.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice::calibration_test {

using nlohmann::json;
using sample::judged_by;
using enum MetricId;

/// Cases of which the judge passes the first so many; `must_contain` stands beside.
struct CalibratedRun {
  Suite suite;
  sample::MemorySource source;
  Gate gate;
  RunResults results = sample::results_of(suite, source, gate);

  explicit CalibratedRun(int cases, int passed) {
    suite.name = "calibrated";
    suite.rubrics = {{"faithfulness", "v1", "You judge.", "{{answer}}"}};
    for (int i = 0; i < cases; ++i) {
      Case one = sample::judged_case("t" + std::to_string(100 + i), "", faithfulness);
      one.test = static_cast<std::uint32_t>(i / 5);
      one.expectations.push_back({.what = {must_contain, {"x"}}, .thresholding = {}, .min_score = {}});
      suite.cases.push_back(one);
      const double score = i < passed ? 0.9 : 0.1;
      auto trial = sample::voted(static_cast<TrialId>(i), "An answer.",
                                 judged_by(faithfulness, {{score, "So."}, {score, "So."}, {0.9, "So."}}));
      auto& metrics = trial.unit.scores[0].metrics;
      // The other metric passes every second one.
      metrics.insert(metrics.begin(), {must_contain, std::nullopt, i % 2 == 0, i % 2 == 0 ? "" : "no"});
      source.trials.push_back(std::move(trial));
    }
    results.trials = suite.cases.size();
  }
  CalibratedRun(const CalibratedRun&) = delete;
  CalibratedRun& operator=(const CalibratedRun&) = delete;

  std::vector<CalibratedMetric> beside(const CalibrationStandard& standard, bool has_arms = false) const {
    JudgeAgreementFold fold(standard, has_arms, 0.95);
    EXPECT_TRUE(visit_cases(results, [&](const CaseResult& result) { fold.add(result); }));
    return fold.finish(suite.name, suite.rubrics, {"openai", "gpt-4o"});
  }
};

/// The first so many pass.
Labels labels_of(int cases, int passed) {
  std::string text;
  for (int i = 0; i < cases; ++i) {
    text += "{\"id\": \"t" + std::to_string(100 + i) + "\", \"passed\": " + (i < passed ? "true" : "false") +
            "}\n";
  }
  return parse_labels(text, "labels.jsonl").value();
}

// Five identical arms made a kappa five times as sure, which opened the gate that asks for one.
TEST(JudgeCalibration, TheArmsOfATestAreOneCase) {
  const CalibratedRun run(100, 50);
  const Labels labels = labels_of(100, 55);
  const auto alone = run.beside({&labels, {}})[0].calibration;
  const auto of_arms = run.beside({&labels, {}}, true)[0].calibration;
  EXPECT_EQ(alone.cases, 100u);
  EXPECT_EQ(of_arms.cases, 20u);
  EXPECT_EQ(of_arms.answers, 100u);
  EXPECT_EQ(of_arms.kappa, alone.kappa);
  EXPECT_LT(of_arms.kappa_low, alone.kappa_low) << "surer than the tests are";
}

TEST(JudgeCalibration, CountsTheMajorityOfVotesBesideLabels) {
  const CalibratedRun run(40, 20);
  const Labels labels = labels_of(40, 24);
  const auto metrics = run.beside({&labels, {}});
  ASSERT_EQ(metrics.size(), 1u);
  const auto& [calibration, counts, disagreements] = metrics[0];
  EXPECT_EQ(counts.both_pass, 20u);
  EXPECT_EQ(counts.both_fail, 16u);
  EXPECT_EQ(counts.judge_alone, 0u);
  EXPECT_EQ(counts.label_alone, 4u);
  EXPECT_EQ(calibration.key.suite, "calibrated");
  EXPECT_EQ(calibration.key.metric, "faithfulness");
  EXPECT_EQ(calibration.key.rubric, "faithfulness");
  EXPECT_EQ(calibration.key.rubric_version, "v1");
  EXPECT_EQ(calibration.key.rubric_hash, to_prefixed_hex(rubric_hash(run.suite.rubrics[0])));
  EXPECT_EQ(calibration.key.judge_provider, "openai");
  EXPECT_EQ(calibration.key.judge_model, "gpt-4o");
  EXPECT_EQ(calibration.key.samples, 3u);
  EXPECT_EQ(calibration.against, "labels");
  EXPECT_EQ(calibration.answers, 40u);
  EXPECT_EQ(calibration.cases, 40u);
  EXPECT_NEAR(calibration.agreement, 0.9, 1e-12);
  // By hand: expected agreement is 0.5 * 0.6 + 0.5 * 0.4 = 0.5.
  ASSERT_TRUE(calibration.kappa);
  EXPECT_NEAR(*calibration.kappa, 0.8, 1e-12);
  EXPECT_LT(calibration.kappa_low, 0.8);
  EXPECT_GT(calibration.kappa_high, 0.8);
  ASSERT_EQ(disagreements.size(), 4u);
  EXPECT_EQ(disagreements[0].test, "t120");
  EXPECT_FALSE(disagreements[0].judge_passes);
}

TEST(JudgeCalibration, LabelsOfSomeTestsAreEnough) {
  const CalibratedRun run(40, 20);
  const Labels labels = labels_of(10, 10);
  const auto metrics = run.beside({&labels, {}});
  ASSERT_EQ(metrics.size(), 1u);
  EXPECT_EQ(metrics[0].calibration.answers, 10u);
  EXPECT_FALSE(metrics[0].calibration.kappa) << "both always say the same";
}

TEST(JudgeCalibration, TakesAnotherMetricForTheTruth) {
  const CalibratedRun run(60, 60);
  const auto metrics = run.beside({nullptr, ScoreId{must_contain}});
  ASSERT_EQ(metrics.size(), 1u);
  EXPECT_EQ(metrics[0].calibration.against, "must_contain");
  EXPECT_EQ(metrics[0].counts.both_pass, 30u);
  EXPECT_EQ(metrics[0].counts.judge_alone, 30u);
  EXPECT_EQ(metrics[0].disagreements.size(), 20u) << "no more are kept";
  EXPECT_TRUE(run.beside({nullptr, ScoreId{regex_match}}).empty());
}

// "rubric, rubric rubric v1"
TEST(JudgeCalibration, NamesMetricAndRubricAsReportsDo) {
  const CalibratedRun run(60, 60);
  CalibrationReport report{"calibrated",
                           {"openai", "gpt-4o"},
                           "must_contain",
                           0.95,
                           run.beside({nullptr, ScoreId{must_contain}}),
                           0};
  CalibrationKey& key = report.metrics.at(0).calibration.key;
  key.metric = key.rubric = "rubric";
  EXPECT_NE(calibration_text(report, 120).find("\nrubric v1, 3 votes"), std::string::npos);
  key.metric = "rubric:kind";
  key.rubric = "tone";
  EXPECT_NE(calibration_text(report, 120).find("\nrubric:kind (tone v1), 3 votes"), std::string::npos);
}

TEST(JudgeCalibration, IsShownInWordsAndAsJson) {
  const CalibratedRun run(60, 60);
  CalibrationReport report{"calibrated",
                           {"openai", "gpt-4o"},
                           "must_contain",
                           0.95,
                           run.beside({nullptr, ScoreId{must_contain}}),
                           2};
  const std::string text = calibration_text(report, 120);
  for (const char* words :
       {"Judge gpt-4o (openai) beside the metric must_contain, suite calibrated\n",
        "\nfaithfulness v1, 3 votes on an answer\n",
        "60 answers of 60 cases: both pass 30, both fail 0, the judge alone passes 30, the judge alone fails "
        "0\n",
        "  Agreement  0.50 (95 %: ", "  Kappa      0.00 (95 %: ", "    t101: the judge passes it\n",
        "    and 10 more\n", "\n2 cases with an error left out\n"}) {
    EXPECT_NE(text.find(words), std::string::npos) << words << "\nis not in\n" << text;
  }
  expect_lines_within(calibration_text(report, 80), 80);
  const json parsed = json::parse(calibration_json(report));
  EXPECT_EQ(parsed["judge"],
            json::parse(R"({"provider": "openai", "provider_name": "openai", "model": "gpt-4o"})"));
  EXPECT_EQ(parsed["against"], "must_contain");
  EXPECT_EQ(parsed["errors"], 2);
  const json& metric = parsed["metrics"][0];
  EXPECT_EQ(metric["metric"], "faithfulness");
  EXPECT_EQ(metric["samples"], 3);
  EXPECT_EQ(metric["judge_alone_passes"], 30);
  EXPECT_EQ(metric["agreement"], 0.5);
  EXPECT_EQ(metric["agreement_interval"].size(), 2u);
  EXPECT_EQ(metric["kappa"], 0.0);
  EXPECT_EQ(metric["disagreements"], 30);
  EXPECT_EQ(metric["first_disagreements"][0], json::parse(R"({"id": "t101", "judge_passes": true})"));
  report.metrics[0].calibration.kappa.reset();
  EXPECT_NE(calibration_text(report, 120).find("undefined: all verdicts of both are the same"),
            std::string::npos);
  EXPECT_TRUE(json::parse(calibration_json(report))["metrics"][0]["kappa"].is_null());
}

}  // namespace sluice::calibration_test

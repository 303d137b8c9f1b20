// A report with repeats, perturbations or tests of all cases, read again by `sluice compare`: what comes of
// it must be what its run's own gate says.
#include "coordinator/gate/statistical_gate.hpp"
#include "coordinator/score_files/score_file.hpp"
#include "tests/unit/report/perturbed_run.hpp"
#include "tests/unit/report/report_texts.hpp"

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using enum sample::Reply;
using nlohmann::json;
using sample::PerturbedRun;

Baseline pinned(double score) {
  Baseline baseline;
  for (const char* id : {"a-1", "b-1"}) {
    for (const char* metric : {"claims_precision", "claims_recall", "claims_f1"}) {
      baseline.add({id, metric, score, {}});
    }
  }
  (void)baseline.seal();
  return baseline;
}

Thresholding with_mode(ThresholdMode mode) {
  Thresholding thresholding;
  thresholding.mode = mode;
  if (mode == ThresholdMode::statistical) {
    thresholding.confidence = 0.9;
    thresholding.cluster_by_category = true;
  }
  return thresholding;
}

std::string report_text(const PerturbedRun& run) {
  const RunResults results = run.results();
  const Aggregates aggregates = *aggregate(results, nullptr);
  const RunStability stability = run.stability();
  ReportInput input = sample::input_of(results, aggregates);
  input.stability = &stability;
  input.gate.stability = StabilityAssessment{};
  input.gate.stability->min_stability = 0.75;
  input.gate.stability->max_drop = 0.125;
  return json_of(input);
}

ReportScores parsed(const std::string& text) {
  std::istringstream stream(text);
  auto scores = parse_report(stream, "report.json");
  EXPECT_TRUE(scores) << to_text(scores.error());
  return scores ? std::move(*scores) : ReportScores{};
}

CompareSummary compared(const Baseline& base, const ReportScores& current) {
  CompareRules rules;
  rules.seed = 7;
  const auto summary = compare(cases_of(base), cases_of(current), rules, [](const ScoreComparison&) {});
  EXPECT_TRUE(summary) << summary.error().message;
  return summary ? *summary : CompareSummary{};
}

const std::vector<std::vector<sample::Reply>>& answers() {
  static const std::vector<std::vector<sample::Reply>> all{
      {it, it, it, it, it, it, it, it, it, it},
      {it, nothing, it, it, nothing, nothing, it, it, it, it},
      {other, it, it, it, it, nothing, it, it, it, it},
      {it, error, it, it, error, error, it, it, it, it},
      {nothing, other, it, it, other, nothing, it, it, it, it},
      {it, refused, it, it, refused, refused, it, it, it, it},
      {cut_off, nothing, it, it, refused, it, it, it, it, it},
  };
  return all;
}

TEST(ComparedRepeats, AReportComparesAsItsRunWasGated) {
  const Baseline baseline = pinned(1.0);
  for (const auto& replies : answers()) {
    for (const auto mode : {ThresholdMode::relative, ThresholdMode::absolute, ThresholdMode::statistical}) {
      PerturbedRun run(replies);
      const Thresholding suite = with_mode(mode);
      run.gate = Gate({.suite = suite, .baseline = nullptr, .default_max_drop = 0.05});
      const CompareSummary offline = compared(baseline, parsed(report_text(run)));
      run.gate = Gate({.suite = suite, .baseline = &baseline, .default_max_drop = 0.05});
      const Aggregates gated = *aggregate(run.results(), nullptr);
      EXPECT_EQ(offline.verdict_input.statuses, gated.all.statuses);
      EXPECT_EQ(offline.verdict_input.regressed, gated.all.regressed);
      EXPECT_EQ(compared(baseline, parsed(report_text(run))).verdict_input.statuses, gated.all.statuses)
          << "of the gated run's report too";
    }
  }
}

TEST(ComparedRepeats, TestsOfAllCasesAreThoseOfTheRun) {
  const Baseline baseline = pinned(1.0);
  for (const auto& replies : answers()) {
    PerturbedRun run(replies);
    run.gate = Gate(
        {.suite = with_mode(ThresholdMode::statistical), .baseline = &baseline, .default_max_drop = 0.05});
    StatisticalGate tests({&baseline, run.gate.config().suite, 0.05, 7});
    ASSERT_TRUE(visit_cases(run.results(), [&](const CaseResult& result) {
      if (result.status != CaseStatus::error) tests.add(result.fixture, result.assessment);
    }));
    const StatisticalAssessment online = tests.finish();
    const auto offline = compared(baseline, parsed(report_text(run))).statistics;
    ASSERT_EQ(offline.has_value(), !online.metrics.empty());
    if (!offline) continue;
    EXPECT_EQ(offline->decision, online.decision);
    EXPECT_EQ(offline->rules.confidence, 0.9);
    EXPECT_TRUE(offline->by_category);
    ASSERT_EQ(offline->metrics.size(), online.metrics.size());
    for (std::size_t i = 0; i < online.metrics.size(); ++i) {
      EXPECT_EQ(offline->metrics[i].comparison.current, online.metrics[i].comparison.current);
      EXPECT_EQ(offline->metrics[i].comparison.units, online.metrics[i].comparison.units);
      EXPECT_EQ(offline->metrics[i].comparison.test.p.drop, online.metrics[i].comparison.test.p.drop);
      EXPECT_EQ(offline->metrics[i].left_out.names(), online.metrics[i].left_out.names());
      EXPECT_EQ(offline->metrics[i].became_undefined.names(), online.metrics[i].became_undefined.names());
    }
  }
}

TEST(ComparedRepeats, JsonHasWhatEachRepeatCameTo) {
  PerturbedRun run({it, nothing, it, it, it, it, it, it, it, it});
  run.gate =
      Gate({.suite = with_mode(ThresholdMode::statistical), .baseline = nullptr, .default_max_drop = 0.03});
  const json report = json::parse(report_text(run));
  std::map<std::string, json> metrics;
  for (const json& metric : report["fixture_results"][0]["metrics"]) metrics[metric["name"]] = metric;
  EXPECT_EQ(metrics["claims_precision"]["repeat_scores"], json::array({1.0, nullptr}));
  EXPECT_EQ(metrics["claims_recall"]["repeat_scores"], json::array({1.0, 0.0}));
  EXPECT_EQ(metrics["claims_required"]["repeat_passed"], json::array({true, false}));
  EXPECT_FALSE(metrics["claims_required"].contains("repeat_scores"));
  const json& thresholding = metrics["claims_recall"]["thresholding"];
  EXPECT_EQ(thresholding["confidence"], 0.9);
  EXPECT_EQ(thresholding["min_effect"], 0.03) << "that in effect";
  EXPECT_EQ(thresholding["unit"], "category");
  const json one = json::parse(report_text(PerturbedRun({it, error, it, it, it, it, it, it, it, it})));
  EXPECT_FALSE(one["fixture_results"][0]["metrics"][0].contains("repeat_scores")) << "one repeat was judged";
}

TEST(ComparedRepeats, AMinEffectThatNoTestCanAnswerIsRefused) {
  PerturbedRun run({it, it, it, it, it, it, it, it, it, it});
  run.gate =
      Gate({.suite = with_mode(ThresholdMode::statistical), .baseline = nullptr, .default_max_drop = 0.03});
  const std::string text = report_text(run);
  const std::string own = "\"min_effect\": 0.03";
  ASSERT_NE(text.find(own), std::string::npos);
  for (const std::string number : {"0", "1", "-0.5", "1.5", "null"}) {
    std::string changed = text;
    changed.replace(changed.find(own), own.size(), "\"min_effect\": " + number);
    std::istringstream stream(changed);
    const auto scores = parse_report(stream, "report.json");
    ASSERT_FALSE(scores) << number;
    EXPECT_NE(to_text(scores.error())
                  .find("`fixture_results[0].metrics[0].thresholding.min_effect` is " + number +
                        ", expected a number above 0 and below 1"),
              std::string::npos)
        << to_text(scores.error());
  }
}

TEST(ComparedRepeats, AReportKeepsWhatItsStabilityIsAssessedBy) {
  const ReportScores scores =
      parsed(report_text(PerturbedRun({it, it, it, error, it, it, it, nothing, it, it})));
  ASSERT_TRUE(scores.stability);
  EXPECT_EQ(scores.stability->score, 0.8);
  EXPECT_EQ(scores.stability->answers, 5u);
  EXPECT_EQ(scores.stability->repeats, 2u);
  EXPECT_EQ(scores.stability->perturbations, (std::vector<std::string>{"crlf 1", "blank-lines 1"}));
  const StabilityQuestion& question = scores.stability_question;
  EXPECT_EQ(question.score, 0.8);
  EXPECT_EQ(question.perturbations, scores.stability->perturbations);
  EXPECT_TRUE(question.idle.empty());
  EXPECT_EQ(question.planned, 6u);
  EXPECT_EQ(question.answers, 5u);
  EXPECT_EQ(question.min_stability, 0.75);
  EXPECT_EQ(question.suite.max_drop, 0.125);
  EXPECT_EQ(question.suite.mode, ThresholdMode::relative);
}

TEST(ComparedRepeats, AReportSaysWhichPerturbationsChangedNoCase) {
  PerturbedRun run({it, it, it, it, it, it, it, it, it, it});
  run.facts[1].changed = 0;
  EXPECT_EQ(parsed(report_text(run)).stability_question.idle, std::vector<std::string>{})
      << "it failed, and may change cases another time";
  run.facts[1].failed = 0;
  EXPECT_EQ(parsed(report_text(run)).stability_question.idle, std::vector<std::string>{"blank-lines 1"});
}

TEST(ComparedRepeats, AReportSaysThatItIsAPartAndWhatLeastWasAskedFor) {
  const PerturbedRun run({it, it, it, it, it, it, it, it, it, it});
  const RunResults results = run.results();
  const Aggregates aggregates = *aggregate(results, nullptr);
  ReportInput input = sample::input_of(results, aggregates);
  EXPECT_EQ(json::parse(json_of(input))["run"]["selection"], false);
  EXPECT_EQ(json::parse(json_of(input))["run"]["min_stability"], nullptr);
  EXPECT_FALSE(parsed(json_of(input)).is_selection);
  EXPECT_EQ(parsed(json_of(input)).stability_question.min_stability, std::nullopt);
  // Without a perturbed trial, so that nothing else of the report speaks of stability.
  input.is_selection = true;
  input.min_stability = 0.9;
  const std::string text = json_of(input);
  EXPECT_EQ(json::parse(text)["run"]["selection"], true);
  EXPECT_EQ(json::parse(text)["run"]["min_stability"], 0.9);
  EXPECT_TRUE(parsed(text).is_selection);
  EXPECT_EQ(parsed(text).stability_question.min_stability, 0.9);
  json older = json::parse(text);
  older["run"].erase("selection");
  older["run"].erase("min_stability");
  EXPECT_FALSE(parsed(older.dump()).is_selection);
  EXPECT_EQ(parsed(older.dump()).stability_question.min_stability, std::nullopt);
}

TEST(ComparedRepeats, WithoutALargestDropNoBaselineChecksStability) {
  std::string text = report_text(PerturbedRun({it, it, it, it, it, it, it, it, it, it}));
  const auto place = text.find("\"max_drop\": 0.125");
  ASSERT_NE(place, std::string::npos);
  text.replace(place, 17, "\"max_drop\": null ");
  EXPECT_EQ(parsed(text).stability_question.suite.mode, ThresholdMode::absolute);
}

TEST(ComparedRepeats, WhatDoesNotFitIsNamed) {
  const std::string text = report_text(PerturbedRun({it, nothing, it, it, it, it, it, it, it, it}));
  const auto finding = [&](const std::string& old_text, const std::string& new_text) {
    std::string changed = text;
    const auto place = changed.find(old_text);
    EXPECT_NE(place, std::string::npos) << old_text;
    if (place != std::string::npos) changed.replace(place, old_text.size(), new_text);
    std::istringstream stream(changed);
    const auto scores = parse_report(stream, "report.json");
    return scores ? std::string("nothing") : to_text(scores.error());
  };
  const auto has = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  has(finding("\"repeat_scores\": [1, null]", "\"repeat_scores\": [1]"),
      "`fixture_results[0].metrics[1]` tells of 2 repeats, and the first metric of the case of 1");
  has(finding("\"repeat_scores\": [1, null]", "\"repeat_scores\": [1, 2]"),
      "`fixture_results[0].metrics[0].repeat_scores[1]` is 2, expected a number from 0 to 1, or null");
  has(finding("\"repeat_scores\": [1, null]", "\"repeat_passed\": [true, true]"),
      "`fixture_results[0].metrics[0]` is a score and has `repeat_passed`");
  has(finding("\"repeat_passed\": [true, false]", "\"repeat_passed\": [true, 0]"),
      ".repeat_passed[1]` is 0, expected true or false");
  has(finding("\"perturbed_trials\": 6", "\"perturbed_trials\": -6"),
      "`stability_details.perturbed_trials` is -6, expected a whole number from 0");
  has(finding("\"min_stability\": 0.75", "\"min_stability\": 75"),
      "`stability_details.gate.min_stability` is 75");
  has(finding("\"selection\": false", "\"selection\": 0"), "`run.selection` is 0, expected true or false");
  has(finding("\"min_stability\": null", "\"min_stability\": 2"),
      "`run.min_stability` is 2, expected a number");
  has(finding("\"version\": \"1\", \"changed\": 1", "\"version\": 1, \"changed\": 1"),
      "`stability_details.perturbations[1].version` is 1");
}

}  // namespace
}  // namespace sluice

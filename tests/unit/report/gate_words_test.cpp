// What the reports for people say of tests and stability, and of what they leave out.
#include "coordinator/report/wording/statistics_wording.hpp"
#include "coordinator/report/wording/wording.hpp"
#include "tests/unit/report/perturbed_run.hpp"
#include "tests/unit/report/report_texts.hpp"

#include <string>

#include <gtest/gtest.h>

namespace sluice {
namespace {

using enum sample::Reply;
using sample::PerturbedRun;

class GateWords : public ::testing::Test {
 protected:
  GateWords()
      : run({it, it, nothing, other, it, it, nothing, other, nothing, other}),
        results(run.results()),
        aggregates(*aggregate(results, nullptr)),
        stability(run.stability()),
        input(sample::input_of(results, aggregates)) {
    input.stability = &stability;
    input.gate.kind = BaselineKind::scores;
    input.gate.baseline_file = "base.json";
  }

  StatisticalMetric& test_of(ChangeDecision decision) {
    input.gate.statistics.emplace();
    input.gate.statistics->decision = decision;
    StatisticalMetric& metric = input.gate.statistics->metrics.emplace_back();
    metric.mean = ScoreId{MetricId::claims_precision};
    metric.comparison.pairs = metric.comparison.units = 40;
    metric.comparison.base = 0.7;
    metric.comparison.current = 0.9;
    metric.comparison.drop = -0.2;
    metric.decision.decision = decision;
    metric.decision.adjusted_p.drop = 1.0;
    metric.decision.adjusted_p.improvement = 0.002;
    return metric;
  }

  PerturbedRun run;
  RunResults results;
  Aggregates aggregates;
  RunStability stability;
  ReportInput input;
};

bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

TEST_F(GateWords, AnImprovementStandsBesideItsOwnP) {
  test_of(ChangeDecision::improvement);
  const std::string table = table_of(input, {120, false});
  EXPECT_TRUE(has(table, "│ 0.002 │ improvement │")) << table;
  test_of(ChangeDecision::underpowered);
  EXPECT_TRUE(has(table_of(input, {120, false}), "│ 1.000 │ underpowered │"));
}

TEST_F(GateWords, MeansOverCasesAreDistinguishedFromTheScoresOfAllClaims) {
  test_of(ChangeDecision::improvement);
  const std::string table = table_of(input, {120, false});
  EXPECT_TRUE(
      has(table, "mean claims_precision 0.70 → 0.90 (gain 0.20) over 40 cases: improvement (p 0.002)"))
      << table;
  EXPECT_TRUE(has(table, "│ Mean of ")) << table;
  EXPECT_TRUE(has(table_of(input, {400, false}), std::string(wording::means_over_cases)) ||
              has(table, "Means over cases, each of which counts alike"))
      << table;
  EXPECT_TRUE(has(markdown_of(input), std::string(wording::means_over_cases))) << markdown_of(input);
  EXPECT_TRUE(has(json_of(input), "\"aggregation\": \"mean_over_cases\""));
}

TEST_F(GateWords, TheTableSaysWhenItsPIsThatOfSeveralTests) {
  test_of(ChangeDecision::improvement);
  EXPECT_TRUE(has(table_of(input, {120, false}), "│     p │ Verdict"));
  input.gate.statistics->metrics.push_back(input.gate.statistics->metrics.front());
  input.gate.statistics->metrics.back().mean = ScoreId{MetricId::claims_recall};
  const std::string table = table_of(input, {120, false});
  EXPECT_TRUE(has(table, "│ Holm p │ Verdict")) << table;
}

TEST_F(GateWords, WhatBecameUndefinedIsReported) {
  StatisticalMetric& metric = test_of(ChangeDecision::underpowered);
  metric.left_out.add("q", "claims_precision");
  metric.became_undefined.add("q", "claims_precision");
  metric.became_undefined.add("r", "claims_precision");
  EXPECT_TRUE(
      wording::statistics_lines(input.gate)
          .at(0)
          .words.ends_with("; left out as undefined now: `q` claims_precision; 2 cases became undefined in "
                           "some repeat or in all, so "
                           "that no drop can be excluded"))
      << wording::statistics_lines(input.gate).at(0).words;
}

TEST_F(GateWords, NoticesStandInTheJsonWithoutABaselineToo) {
  input.gate.kind = BaselineKind::none;
  EXPECT_FALSE(has(json_of(input), "\"notices\""));
  input.gate.notices.push_back({GateNotice::Severity::warning, "stability_incomplete", "Why."});
  EXPECT_TRUE(has(json_of(input),
                  "\"baseline_comparison\": null,\n  \"notices\": [\n    {\"severity\": \"warning\", "
                  "\"code\": \"stability_incomplete\", \"message\": \"Why.\"}\n  ]"))
      << json_of(input);
}

TEST_F(GateWords, MarkdownSaysHowManyAnswersItLeavesOut) {
  // Four flips of the second case, each another one, of which a comment shows two.
  const std::string markdown = markdown_of(input);
  EXPECT_TRUE(has(markdown, "_and 2 more answers; `--format json` has all._")) << markdown;
}

TEST_F(GateWords, MarkdownSaysHowManyPerturbationsItLeavesOut) {
  for (int i = 0; i < 60; ++i) {
    PerturbationSummary more = stability.perturbations.front();
    more.facts.name = "word-" + std::to_string(i) + std::string(40, 'x');
    stability.perturbations.push_back(more);
  }
  const std::string markdown = markdown_of(input);
  EXPECT_TRUE(has(markdown, " more perturbations; `--format json` has all._")) << markdown;
  EXPECT_LT(markdown.size(), 65536u);
}

TEST_F(GateWords, TheCommandThatPinsCanBePasted) {
  const auto command = [&](const char* file) {
    input.gate.baseline_file = file;
    return wording::how_to_pin(input);
  };
  input.mode = "mock";
  EXPECT_EQ(command(""), "sluice run ... --export-baseline FILE");
  EXPECT_EQ(command("a/b-1_x.json"), "sluice run ... --export-baseline a/b-1_x.json");
  EXPECT_EQ(command("my base.json"), "sluice run ... --export-baseline 'my base.json'");
  EXPECT_EQ(command("it's $(rm).json"), "sluice run ... --export-baseline 'it'\\''s $(rm).json'");
  EXPECT_EQ(command("~/b.json"), "sluice run ... --export-baseline '~/b.json'") << "as it was given";
  // Out of the cache alone it ended with exit code 2 where an answer was missing.
  for (const char* mode : {"live", "cached"}) {
    input.mode = mode;
    EXPECT_EQ(command("b.json"), "sluice run ... --export-baseline b.json --mode live");
  }
}

}  // namespace
}  // namespace sluice

// Several scores of one metric in a test: each is judged, pinned and compared by its name. Every expectation
// is worked out by hand.
#include "compare_fixture.hpp"
#include "coordinator/gate/baseline_check.hpp"
#include "coordinator/gate/baseline_export.hpp"
#include "coordinator/gate/required_calibrations.hpp"
#include "coordinator/gate/statistical_gate.hpp"
#include "coordinator/gate/unjudged_scores.hpp"
#include "gate_fixture.hpp"

#include <array>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::named_scores_test {

/// Judged by two rubrics, the second of which is called `tone`.
Case test_of_two(Thresholding of_second = {}) {
  Case test = judged_test("t", MetricId::rubric);
  test.expectations.push_back(test.expectations.front());
  test.expectations.back().name = "tone";
  test.expectations.back().thresholding = of_second;
  return test;
}

/// What the two scores come to, by their names.
std::map<std::string, AssessedMetric> assess_two(const Gate& gate, const Case& test, double first,
                                                 double second) {
  const std::array judged{votes({first}, MetricId::rubric), votes({second}, MetricId::rubric)};
  const std::array outcomes{outcome_of(judged[0]), outcome_of(judged[1])};
  std::map<std::string, AssessedMetric> by_name;
  for (AssessedMetric& metric : gate.assess(test, outcomes, judged).metrics) {
    metric.detail = {};
    metric.votes->rationale = {};
    by_name.emplace(metric.shown_name(), metric);
  }
  return by_name;
}

TEST(NamedScores, EachHasTheBaselineOfItsName) {
  const Baseline baseline = baseline_of({{"t", "rubric", 0.6}, {"t", "rubric:tone", 0.9}});
  const Case test = test_of_two();
  auto assessed = assess_two(gate_of(&baseline), test, 0.7, 0.7);
  ASSERT_EQ(assessed.size(), 2u);
  EXPECT_EQ(assessed["rubric"].baseline, 0.6);
  EXPECT_EQ(assessed["rubric"].status, MetricStatus::pass);
  EXPECT_EQ(assessed["rubric:tone"].baseline, 0.9);
  EXPECT_EQ(assessed["rubric:tone"].cause, MetricCause::dropped);
}

TEST(NamedScores, OneThatTheBaselineLacksIsNotComparedWithAnother) {
  const Baseline baseline = baseline_of({{"t", "rubric", 0.1}});
  const Case test = test_of_two();
  auto assessed = assess_two(gate_of(&baseline), test, 0.7, 0.7);
  EXPECT_EQ(assessed["rubric"].status, MetricStatus::pass);
  EXPECT_EQ(assessed["rubric:tone"].cause, MetricCause::missing_in_baseline);
}

TEST(NamedScores, EachHasItsOwnLimits) {
  const Case test = test_of_two(absolute(0.8));
  auto assessed = assess_two(gate_of(nullptr), test, 0.7, 0.7);
  EXPECT_EQ(assessed["rubric"].status, MetricStatus::pass);
  EXPECT_EQ(assessed["rubric:tone"].cause, MetricCause::below_min_score);
}

TEST(NamedScores, ArePinnedByTheirNamesAndAnswerTheirEntries) {
  const Case test = test_of_two();
  const auto assessed = assess_two(gate_of(nullptr), test, 0.7, 0.9);
  CaseAssessment assessment;
  for (const auto& [name, metric] : assessed) assessment.metrics.push_back(metric);
  BaselineExport made({"demo", "0.1.0", "2025-12-21T12:00:00Z", "sha256:00"}, "");
  made.add("t", assessment);
  const auto baseline = made.finish();
  ASSERT_TRUE(baseline);
  EXPECT_EQ(baseline->score("t", "rubric"), 0.7);
  EXPECT_EQ(baseline->score("t", "rubric:tone"), 0.9);
  UnusedEntries unused(*baseline);
  unused.visit("t", assessment.metrics);
  EXPECT_FALSE(unused.finish({}));
  UnusedEntries lacking(*baseline);
  lacking.visit("t", std::span(assessment.metrics).first(1));
  const auto notice = lacking.finish({});
  ASSERT_TRUE(notice);
  EXPECT_NE(notice->message.find("rubric:tone"), std::string::npos) << notice->message;
}

TEST(NamedScores, AreTestedOneByOne) {
  StatisticalGate tests({nullptr, {}, 0.05, 1});
  const std::vector<double> high{0.9};
  const std::vector<double> low{0.2};
  std::vector<std::string> ids;
  for (int i = 0; i < 12; ++i) ids.push_back("t" + std::to_string(100 + i));
  for (const std::string& id : ids) {
    tests.add({id, "", ScoreId{MetricId::rubric}, high, high});
    tests.add({id, "", ScoreId{MetricId::rubric, "tone"}, high, low});
  }
  const StatisticalAssessment assessed = tests.finish();
  ASSERT_EQ(assessed.metrics.size(), 2u);
  EXPECT_EQ(name_of(assessed.metrics[0].mean), "rubric");
  EXPECT_EQ(assessed.metrics[0].drops.count(), 0u);
  EXPECT_EQ(name_of(assessed.metrics[1].mean), "rubric:tone");
  EXPECT_EQ(assessed.metrics[1].drops.count(), 12u);
  EXPECT_EQ(assessed.metrics[1].decision.decision, ChangeDecision::regression);
}

TEST(NamedScores, ACalibrationIsOfOneOfThem) {
  const std::vector<Rubric> rubrics{{"rubric", "v1", "s", "u"}};
  JudgeCalibration of_tone;
  of_tone.key = {"demo",   "rubric:tone", "rubric", "v1", to_prefixed_hex(rubric_hash(rubrics[0])),
                 "openai", "gpt-4o",      1};
  of_tone.kappa = of_tone.kappa_low = 0.9;
  const RequiredCalibrations known(0.6, RunJudge({"openai", "gpt-4o"}, rubrics), {of_tone});
  const VoteTally tally{.samples = 1, .votes = 1, .rationale = {}};
  EXPECT_EQ(known.check({MetricId::rubric, "tone"}, tally).standing, CalibrationStanding::calibrated);
  EXPECT_EQ(known.check({MetricId::rubric}, tally).standing, CalibrationStanding::missing);
  EXPECT_EQ(known.check({MetricId::rubric, "form"}, tally).standing, CalibrationStanding::missing);
}

TEST(NamedScores, ThatNothingJudgesAreNamed) {
  AssessedMetric unjudged;
  unjudged.id = MetricId::semantic_similarity_to;
  unjudged.name = "tone";
  unjudged.score = 0.5;
  unjudged.asked_by_name = true;
  UnjudgedScores found;
  found.visit("t", {&unjudged, 1});
  const auto notice = found.finish(false);
  ASSERT_TRUE(notice);
  EXPECT_TRUE(notice->message.starts_with("nothing judges semantic_similarity_to:tone of 1 case (`t`)"))
      << notice->message;
}

/// As a report has it.
ComparedCase compared(double first, double second) {
  ComparedCase one{"t", false, {}};
  for (const auto& [name, score] : {std::pair("rubric", first), std::pair("rubric:tone", second)}) {
    ComparedMetric& metric = one.metrics.emplace_back();
    metric.name = name;
    metric.score = score;
    metric.asked_by_name = true;
  }
  return one;
}

TEST(NamedScores, AreComparedOneByOneInTwoReports) {
  const auto outcome = compare_test::compare_all(compare_test::cases_of({compared(0.6, 0.9)}),
                                                 compare_test::cases_of({compared(0.7, 0.7)}));
  EXPECT_EQ(outcome.rows.at("t rubric").change, RowChange::improvement);
  EXPECT_EQ(outcome.rows.at("t rubric:tone").change, RowChange::regression);
}

// Of a judge: a fall fails by the majority of its votes as well.
TEST(NamedScores, TheVotesOfAReportCountForScoresWithNames) {
  ComparedCase current = compared(0.9, 0.9);
  current.metrics[1].votes = {{.samples = 3, .votes = 3, .passed = 1, .disagree = true, .rationale = {}}};
  const auto outcome = compare_test::compare_all(compare_test::cases_of({compared(0.9, 0.9)}),
                                                 compare_test::cases_of({current}));
  EXPECT_EQ(outcome.rows.at("t rubric:tone").cause, MetricCause::no_majority);
}

}  // namespace sluice::named_scores_test

// The tables of docs/gate.md on metrics, cases, repeats, votes and thresholds, row by row.
#include "coordinator/gate/repeated_assessment.hpp"
#include "coordinator/gate/required_calibrations.hpp"
#include "gate_document.hpp"
#include "gate_fixture.hpp"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::gate_document_cases_test {

using gate_document::Row;
using gate_document::table;

struct Situation {
  Case test;
  std::vector<MetricOutcome> outcomes;
  std::vector<TestPin> pins;
  bool has_baseline = true;
  MetricId metric = MetricId::semantic_similarity_to;
  std::vector<JudgeScore> judged{};
  std::shared_ptr<const RequiredCalibrations> calibrations{};
};

/// Of a judge metric alone.
Situation judged_by(const std::vector<double>& scores) {
  const JudgeScore judged = votes(scores);
  return {judged_test("q"), {outcome_of(judged)}, {}, false, judged.metric, {judged}};
}

/// The same beside a baseline.
Situation judged_beside(double pinned, const std::vector<double>& scores) {
  Situation situation = judged_by(scores);
  situation.has_baseline = true;
  situation.pins = {{"q", "faithfulness", pinned}};
  return situation;
}

/// The same where the gate asks for a kappa of 0.6 and knows this one.
Situation uncalibrated(std::vector<JudgeCalibration> known) {
  Situation situation = judged_by({0.1, 0.1, 0.1});
  const std::vector<Rubric> rubrics{{"faithfulness", "v1", "s", "u"}};
  for (JudgeCalibration& one : known) one.key.rubric_hash = to_prefixed_hex(rubric_hash(rubrics[0]));
  situation.calibrations = std::make_shared<const RequiredCalibrations>(
      0.6, RunJudge({"openai", "gpt-4o"}, rubrics), std::move(known));
  return situation;
}

JudgeCalibration low_kappa() {
  JudgeCalibration one;
  one.key = {"demo", "faithfulness", "faithfulness", "v1", "", "openai", "gpt-4o", 3};
  one.kappa = 0.7;
  one.kappa_low = 0.5;
  return one;
}

std::map<std::string, Situation> situations() {
  constexpr auto scored = MetricId::semantic_similarity_to;
  const auto with = [](Thresholding thresholding) { return test_of("q", scored, thresholding); };
  const std::vector<TestPin> pins{{"q", similarity, 0.92}};
  Case precision = test_of("q", MetricId::claims_precision);
  precision.kind = CaseKind::claims;
  const Case nothing_expected = precision;
  precision.must_contain = fixture_of("q").must_contain;
  const auto contains = test_of("q", MetricId::must_contain);
  Case known = contains;
  known.known_failure = "";
  const std::vector undefined{score_of(MetricId::claims_precision, std::nullopt)};
  const std::vector<TestPin> claims{
      {"q", "claims_precision", 0.9}, {"q", "claims_recall", 0.9}, {"q", "claims_f1", 0.9}};
  return {
      {"pass/fail, passed",
       {contains, {verdict_of(MetricId::must_contain, true)}, {}, true, MetricId::must_contain}},
      {"pass/fail, not passed",
       {contains, {verdict_of(MetricId::must_contain, false)}, {}, true, MetricId::must_contain}},
      {"pass/fail, not passed, and pinned as passed",
       {contains,
        {verdict_of(MetricId::must_contain, false)},
        {{"q", "must_contain", 1.0, {}, PinKind::checks}},
        true,
        MetricId::must_contain}},
      {"pass/fail, not passed, and pinned as failed",
       {contains,
        {verdict_of(MetricId::must_contain, false)},
        {{"q", "must_contain", 0.0, {}, PinKind::checks}},
        true,
        MetricId::must_contain}},
      {"anything that fails, of a known failure",
       {known, {verdict_of(MetricId::must_contain, false)}, {}, false, MetricId::must_contain}},
      {"anything that passes, of a known failure",
       {known, {verdict_of(MetricId::must_contain, true)}, {}, false, MetricId::must_contain}},
      {"a score that nothing judges", {with({}), {score_of(scored, 0.1)}, {}, false}},
      {"a score at its limit or above", {with(max_drop(0.07)), {score_of(scored, 0.85)}, pins}},
      {"a score below `min_score", {with(absolute(0.86)), {score_of(scored, 0.85)}, pins}},
      {"a score below `min_floor", {with(floor_of(0.86)), {score_of(scored, 0.85)}, {}, false}},
      {"a score more than `max_drop` below the baseline",
       {with(max_drop(0.05)), {score_of(scored, 0.85)}, pins}},
      {"the same, and it misses a limit of its own as well",
       {with(floor_of(0.9)), {score_of(scored, 0.85)}, pins}},
      {"the same, and the baseline's score missed that limit",
       {with(floor_of(0.95)), {score_of(scored, 0.85)}, pins}},
      {"a score without an entry in the baseline", {with({}), {score_of(scored, 0.85)}, {}}},
      {"a score whose entry is of what the test asked before",
       {with({}), {score_of(scored, 0.85)}, {{"q", similarity, 0.92, {}, PinKind::score, 1}}}},
      {"undefined, and the baseline has a score",
       {precision, undefined, {{"q", "claims_precision", 0.5}}, true, MetricId::claims_precision}},
      {"undefined where no claim is expected, and the baseline has a score",
       {nothing_expected, undefined, {{"q", "claims_precision", 0.5}}, true, MetricId::claims_precision}},
      {"undefined, and the baseline has none", {precision, undefined, {}, true, MetricId::claims_precision}},
      {"a judge metric without a majority of passing votes", judged_by({0.9, 0.1})},
      {"the same, more than `max_drop` below the baseline", judged_beside(0.9, {0.1})},
      {"the same, and the baseline had no majority either", judged_beside(0.4, {0.1})},
      {"a judge metric that would pass, whose votes do not all agree", judged_by({0.9, 0.1, 0.9})},
      {"a judge metric that would fail, by a judge without the calibration that the gate asks for",
       uncalibrated({})},
      {"a judge metric that would fail, by a judge whose calibration has too low a kappa",
       uncalibrated({low_kappa()})},
      {"a judge metric on whose passing all votes agree", judged_by({0.9, 0.5})},
      {"a pass/fail metric of claims beside a judged claims score",
       {fixture_of("q"), claims_outcomes(0.9, 0.9, 0.9, false), claims, true, MetricId::claims_required}},
  };
}

TEST(GateDocument, MetricsAndCasesAreThoseOfTheTable) {
  const std::vector<Row> rows = table("the case's metric", 5);
  const auto all = situations();
  ASSERT_EQ(rows.size(), all.size());
  for (const Row& row : rows) {
    ASSERT_TRUE(all.contains(row[0])) << row[0];
    const Situation& situation = all.at(row[0]);
    const Baseline baseline = baseline_of(situation.pins);
    Gate::Config config = gate_of(situation.has_baseline ? &baseline : nullptr).config();
    config.calibrations = situation.calibrations;
    const Gate gate(config);
    CaseAssessment assessment = gate.assess(situation.test, situation.outcomes, situation.judged);
    if (situation.test.known_failure) take_as_known_failure(assessment);
    const auto assessed = std::find_if(assessment.metrics.begin(), assessment.metrics.end(),
                                       [&](const AssessedMetric& one) { return one.id == situation.metric; });
    ASSERT_NE(assessed, assessment.metrics.end());
    EXPECT_EQ(to_string(assessed->cause), row[1]) << row[0];
    EXPECT_EQ(to_string(assessment.status), row[2]) << row[0];
    EXPECT_EQ(case_status(assessment.metrics), assessment.status);
    VerdictInput run;
    run.statuses.add(assessment.status);
    run.regressed = assessment.regressed ? 1 : 0;
    run.known_failures = assessment.only_known_failures() ? 1 : 0;
    for (const bool strict : {false, true}) {
      const int code = exit_code(run_verdict(run), run, {.strict = strict});
      EXPECT_EQ(std::to_string(code), row[strict ? 4 : 3]) << row[0];
    }
  }
}

TEST(GateDocument, RepeatsAreThoseOfTheTable) {
  const std::vector<Row> rows = table("pinned mean", 7);
  ASSERT_EQ(rows.size(), 5u);
  for (const Row& row : rows) {
    const Baseline baseline = baseline_of({{"q", similarity, std::stod(row[0])}});
    std::vector<MetricOutcome> outcomes;
    std::istringstream scores(row[1]);
    for (std::string score; std::getline(scores, score, ',');)
      outcomes.push_back(score_of(MetricId::semantic_similarity_to, std::stod(score)));
    std::vector<ScoredAnswer> answers;
    for (const MetricOutcome& one : outcomes) answers.push_back({{&one, 1}});
    const Gate gate = gate_of(&baseline, row[3] == "none" ? Thresholding{} : floor_of(std::stod(row[3])));
    const auto repeats =
        gate.assess_answers(test_of("q", MetricId::semantic_similarity_to), answers, answers.size());
    std::vector<const CaseAssessment*> views;
    for (const CaseAssessment& one : repeats) views.push_back(&one);
    const CaseAssessment assessment = assessment_of_repeats(views);
    EXPECT_EQ(assessment.metrics[0].score, std::stod(row[2])) << row[1];
    EXPECT_EQ(to_string(assessment.status), row[4]) << row[1];
    EXPECT_EQ(assessment.regressed, row[5] == "yes") << row[1];
  }
}

TEST(GateDocument, VotesAreThoseOfTheTable) {
  const std::vector<Row> rows = table("votes that passed", 3);
  ASSERT_EQ(rows.size(), 10u);
  for (const Row& row : rows) {
    std::istringstream cell(row[0]);
    std::size_t passing = 0;
    std::string of;
    std::size_t all = 0;
    ASSERT_TRUE(cell >> passing >> of >> all) << row[0];
    std::vector<double> scores(all, 0.2);
    for (std::size_t i = 0; i < passing; ++i) scores[i] = 0.8;
    const CaseAssessment assessment = assess_votes(gate_of(nullptr), judged_test("q"), votes(scores));
    const std::map<CaseStatus, std::string> verbs{
        {CaseStatus::pass, "passes"}, {CaseStatus::warn, "warns"}, {CaseStatus::fail, "fails"}};
    EXPECT_TRUE(row[1].starts_with(verbs.at(assessment.status))) << row[0] << ": " << row[1];
    EXPECT_NEAR(assessment.metrics[0].votes->agreement(), std::stod(row[2]), 0.005) << row[0];
  }
}

std::optional<double> setting(const std::string& cell, const std::string& name) {
  const auto place = cell.find(name + ": ");
  if (place == std::string::npos) return std::nullopt;
  return std::stod(cell.substr(place + name.size() + 2));
}

/// The number behind `name: ` in a cell.
TEST(GateDocument, ExamplesOfThresholdingAreTrue) {
  const std::vector<Row> rows = table("baseline", 5);
  ASSERT_EQ(rows.size(), 5u);
  for (const Row& row : rows) {
    std::vector<TestPin> pins;
    if (row[0] != "none") pins.push_back({"q", similarity, std::stod(row[0])});
    const Baseline baseline = baseline_of(pins);
    Thresholding thresholding;
    thresholding.max_drop = setting(row[2], "max_drop");
    thresholding.min_floor = setting(row[2], "min_floor");
    const auto outcome = score_of(MetricId::semantic_similarity_to, std::stod(row[1]));
    const auto assessment = gate_of(&baseline).assess(
        test_of("q", MetricId::semantic_similarity_to, thresholding), {&outcome, 1});
    const AssessedMetric& assessed = assessment.metrics.at(0);
    EXPECT_EQ(assessed.limit.has_value(), row[3] != "none");
    if (assessed.limit) {
      EXPECT_EQ(*assessed.limit, std::stod(row[3]));
    }
    const std::map<MetricStatus, std::string> verbs{
        {MetricStatus::pass, "passes"}, {MetricStatus::warn, "warns"}, {MetricStatus::fail, "fails"}};
    EXPECT_EQ(row[4].find(verbs.at(assessed.status)), 0u) << row[4];
    EXPECT_EQ(assessment.improved, row[4].find("improvement") != std::string::npos);
  }
}

}  // namespace sluice::gate_document_cases_test

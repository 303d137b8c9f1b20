// The tables of docs/gate.md, row by row: what the document says is what the code does.
#include "coordinator/gate/aggregate_gate.hpp"
#include "coordinator/gate/baseline_check.hpp"
#include "coordinator/gate/compare.hpp"
#include "coordinator/gate/fixture_changes.hpp"
#include "coordinator/gate/gate.hpp"
#include "coordinator/gate/judge_family.hpp"
#include "coordinator/gate/recorded_differences.hpp"
#include "coordinator/gate/repeated_assessment.hpp"
#include "coordinator/gate/required_calibrations.hpp"
#include "coordinator/gate/stability_gate.hpp"
#include "coordinator/gate/statistical_gate.hpp"
#include "coordinator/gate/status.hpp"
#include "coordinator/gate/unjudged_scores.hpp"
#include "coordinator/suite/answers/recorded_answers.hpp"
#include "gate_fixture.hpp"
#include "tests/support/paths.hpp"

#include <array>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

namespace sluice {
namespace {

using Row = std::vector<std::string>;

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" `");
  const auto end = text.find_last_not_of(" `");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

/// The rows of the table whose first column has this heading and that has so many columns.
std::vector<Row> table(const std::string& heading, std::size_t columns) {
  std::ifstream file(support::source_path("docs/gate.md"));
  std::vector<Row> rows;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] != '|') {
      inside = false;
      continue;
    }
    Row row;
    std::istringstream cells(line.substr(1));
    for (std::string cell; std::getline(cells, cell, '|');) row.push_back(trimmed(cell));
    if (row.size() == columns && row[0] == heading) {
      inside = true;
    } else if (inside && row[0].find("---") == std::string::npos) {
      rows.push_back(row);
    }
  }
  return rows;
}

// --- Verdict and exit code
// -----------------------------------------------------------------------------------

using Condition = std::function<bool(const VerdictInput&)>;

const std::map<std::string, Condition>& conditions() {
  static const std::map<std::string, Condition> all{
      {"was cut short", [](const VerdictInput& run) { return run.cut_short; }},
      {"was ended by a budget of its own", [](const VerdictInput& run) { return run.ended_by_budget; }},
      {"has a failed case that did not regress",
       [](const VerdictInput& run) { return run.statuses.failed > run.regressed; }},
      {"has a failed case without claims, or one below a limit of its own",
       [](const VerdictInput& run) { return run.failed_apart > 0; }},
      {"has a case that regressed", [](const VerdictInput& run) { return run.regressed > 0; }},
      {"has a failure of the comparison", [](const VerdictInput& run) { return run.failures > 0; }},
      {"has a warning of the comparison", [](const VerdictInput& run) { return run.warnings > 0; }},
      {"has a case error", [](const VerdictInput& run) { return run.statuses.errors > 0; }},
      {"has no cases", [](const VerdictInput& run) { return run.statuses.total() == 0; }},
      {"has a case with status `warn`, and not for a known failure alone",
       [](const VerdictInput& run) { return run.statuses.warned > run.known_failures; }},
      {"has a case with status `flaky", [](const VerdictInput& run) { return run.statuses.flaky > 0; }},
      {"has an aggregate beyond the limit",
       [](const VerdictInput& run) { return run.aggregates == AggregateOutcome::beyond_limit; }},
      {"has an aggregate that dropped within the limit",
       [](const VerdictInput& run) { return run.aggregates == AggregateOutcome::within_limit; }},
      {"has none of these", [](const VerdictInput&) { return true; }},
  };
  return all;
}

bool is_for(const Row& row, const VerdictInput& run) {
  if (row[0] == "any") return true;
  return (row[0] == "manifest") == (run.aggregates != AggregateOutcome::not_compared);
}

/// Every combination of what a run can have, none, one or two of each.
void every_run(const std::function<void(const VerdictInput&)>& visit) {
  for (unsigned bits = 0; bits < 1u << 9; ++bits) {
    for (std::uint64_t failed = 0; failed <= 2; ++failed) {
      for (std::uint64_t regressed = 0; regressed <= failed; ++regressed) {
        for (const auto aggregates : {AggregateOutcome::not_compared, AggregateOutcome::no_drop,
                                      AggregateOutcome::within_limit, AggregateOutcome::beyond_limit}) {
          VerdictInput run;
          const auto bit = [bits](unsigned place) -> std::uint64_t { return bits >> place & 1; };
          run.statuses = {bit(0), bit(1), bit(2), failed, bit(3)};
          run.regressed = regressed;
          run.cut_short = bit(4) != 0;
          run.warnings = bit(5);
          run.failures = bit(6);
          run.failed_apart = bit(7) * failed;
          run.ended_by_budget = bit(8) != 0;
          run.aggregates = aggregates;
          visit(run);
        }
      }
    }
  }
}

TEST(GateDocument, VerdictsAndExitCodesAreThoseOfTheTable) {
  const std::vector<Row> rows = table("baseline", 7);
  ASSERT_GE(rows.size(), 20u);
  for (const Row& row : rows) ASSERT_TRUE(conditions().contains(row[1])) << row[1];

  std::set<std::size_t> met;
  std::size_t runs = 0;
  every_run([&](const VerdictInput& run) {
    std::size_t fits = 0;
    while (fits < rows.size() && !(is_for(rows[fits], run) && conditions().at(rows[fits][1])(run))) ++fits;
    ASSERT_LT(fits, rows.size());
    met.insert(fits);
    const Row& row = rows[fits];
    const RunVerdict verdict = run_verdict(run);
    EXPECT_EQ(to_string(verdict), row[2]) << row[0] << ": " << row[1];
    for (unsigned flags = 0; flags < 4; ++flags) {
      const ExitRules rules{.strict = (flags & 1) != 0, .fail_on_regression = (flags & 2) != 0};
      EXPECT_EQ(std::to_string(exit_code(verdict, run, rules)), row[3 + flags])
          << row[0] << ": " << row[1] << " strict " << rules.strict << " on " << rules.fail_on_regression;
    }
    ++runs;
  });
  EXPECT_EQ(runs, 512u * 6 * 4);
  EXPECT_EQ(met.size(), rows.size()) << "a row of the table can never be the first that fits";
}

// It read FAIL where one of the cases that had come to their turn failed, else ERROR, beside a baseline file
// and without one; beside a manifest always ERROR.
TEST(GateDocument, ARunThatItsOwnBudgetEndedIsAnErrorWhateverElseFailed) {
  for (const auto aggregates : {AggregateOutcome::not_compared, AggregateOutcome::beyond_limit}) {
    VerdictInput run;
    run.statuses = {.passed = 1, .failed = 1, .errors = 1};
    run.failures = 1;
    run.aggregates = aggregates;
    EXPECT_NE(run_verdict(run), RunVerdict::pass);
    run.ended_by_budget = true;
    EXPECT_EQ(run_verdict(run), RunVerdict::error);
    EXPECT_EQ(exit_code(RunVerdict::error, run, {}), 1);
  }
}

TEST(GateDocument, NamesEveryStatusCauseAndVerdict) {
  std::ifstream file(support::source_path("docs/gate.md"));
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto names = [&](std::string_view word) {
    return text.find('`' + std::string(word) + '`') != std::string::npos;
  };
  for (int i = 0; i <= static_cast<int>(MetricCause::known_failure_passed); ++i) {
    EXPECT_TRUE(names(to_string(static_cast<MetricCause>(i)))) << i;
  }
  for (int i = 0; i <= static_cast<int>(CaseStatus::error); ++i) {
    EXPECT_TRUE(names(to_string(static_cast<CaseStatus>(i)))) << i;
  }
  for (int i = 0; i <= static_cast<int>(RunVerdict::error); ++i) {
    EXPECT_TRUE(names(to_string(static_cast<RunVerdict>(i)))) << i;
  }
  for (const MetricInfo& metric : metric_catalogue()) {
    const std::string_view name = metric.name;
    EXPECT_TRUE(names(name) || (name.starts_with("not_") && names(name.substr(4)))) << name;
  }
}

// --- Metrics and cases
// ---------------------------------------------------------------------------------------

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
  const std::vector<Row> rows = table("the case's metric", 6);
  const auto all = situations();
  ASSERT_EQ(rows.size(), all.size());
  for (const Row& row : rows) {
    ASSERT_TRUE(all.contains(row[0])) << row[0];
    const Situation& situation = all.at(row[0]);
    const Baseline baseline = baseline_of(situation.pins);
    for (const bool strict : {false, true}) {
      Gate::Config config = gate_of(situation.has_baseline ? &baseline : nullptr, strict).config();
      config.calibrations = situation.calibrations;
      const Gate gate(config);
      CaseAssessment assessment = gate.assess(situation.test, situation.outcomes, situation.judged);
      if (situation.test.known_failure) take_as_known_failure(assessment);
      const auto assessed =
          std::find_if(assessment.metrics.begin(), assessment.metrics.end(),
                       [&](const AssessedMetric& one) { return one.id == situation.metric; });
      ASSERT_NE(assessed, assessment.metrics.end());
      EXPECT_EQ(to_string(assessed->cause), row[1]) << row[0];
      EXPECT_EQ(to_string(assessment.status), row[strict ? 4 : 2]) << row[0];
      EXPECT_EQ(case_status(assessment.metrics), assessment.status);
      VerdictInput run;
      run.statuses.add(assessment.status);
      run.regressed = assessment.regressed ? 1 : 0;
      run.known_failures = assessment.only_known_failures() ? 1 : 0;
      const int code = exit_code(run_verdict(run), run, {.strict = strict});
      EXPECT_EQ(std::to_string(code), row[strict ? 5 : 3]) << row[0];
    }
  }
}

// --- Repeats

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
    const Gate gate =
        gate_of(&baseline, false, row[3] == "none" ? Thresholding{} : floor_of(std::stod(row[3])));
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

// --- Votes

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

// --- What is documented of the comparison as a whole

std::string_view word(GateNotice::Severity severity) {
  switch (severity) {
    case GateNotice::Severity::info:
      return "info";
    case GateNotice::Severity::warning:
      return "warning";
    case GateNotice::Severity::failure:
      return "failure";
  }
  return "";
}

/// One of each kind.
std::vector<GateNotice> every_notice(bool strict) {
  GatedRun run{"demo", "sha256:00", "0.1.0", "demo.yaml", "base.json", strict};
  std::vector<GateNotice> notices =
      *check_baseline({"demo", "0.2.0", "2025-12-21T12:00:00Z", "sha256:01"}, run);
  const auto take = [&](std::optional<GateNotice> notice) {
    if (notice) notices.push_back(std::move(*notice));
  };
  const Baseline baseline = baseline_of({{"gone", similarity, 1.0}});
  take(UnusedEntries(baseline).finish(run));
  MissingEntries missing;
  AssessedMetric metric;
  metric.score = 1.0;
  metric.cause = MetricCause::missing_in_baseline;
  missing.visit("new", {&metric, 1});
  take(missing.finish(run));
  UnjudgedScores unjudged;
  const MetricOutcome outcome = score_of(MetricId::semantic_similarity_to, 0.1);
  const Case unjudged_test = test_of("q", MetricId::semantic_similarity_to);
  unjudged.visit("q", gate_of(nullptr).assess(unjudged_test, {&outcome, 1}).metrics);
  take(unjudged.finish(strict));
  AnsweredTest answered;
  answered.context = "retrieved";
  Case recorded_test = judged_test("q");
  recorded_test.recorded = std::make_shared<const AnsweredTest>(answered);
  recorded_test.expectations.front().judge->context = "gold";
  RecordedDifferences recorded(5);
  recorded.visit(recorded_test, assess_votes(gate_of(nullptr), recorded_test, votes({0.9})).metrics);
  for (auto& notice : recorded.finish()) take(std::move(notice));
  const RunJudge judge({"fake", ""}, {});
  const Baseline judged = baseline_of(
      {{"q", "faithfulness", 0.5,
        R"({"judge_model":"m","judge_provider":"openai","judge_samples":5,"rubric_version":"v1"})"}});
  JudgeChanges changes(judged, judge);
  changes.visit("q", assess_votes(gate_of(nullptr), judged_test("q"), votes({0.9})).metrics);
  for (auto& notice : changes.finish(run)) take(std::move(notice));
  take(fake_judge_notice(judge.identity()));
  CompareSummary compared;
  compared.uncalibrated = 1;
  take(uncalibrated_notice(compared, "now.json", strict));
  take(judge_family_notice({"openai", "gpt-4o"},
                           std::vector<AnsweringModel>{{"", ProviderKind::openai, "gpt-5"}}));
  Thresholding statistical;
  statistical.mode = ThresholdMode::statistical;
  take(untested_notice(statistical, "manifest.toml"));
  take(missing_aggregates_notice(assess_aggregates({}, 0.5, {}, {}, 0.05), "manifest.toml", strict));
  AggregateBaseline of_another;
  of_another.model = "m";
  of_another.prompt_version = "1.0.0";
  for (auto& notice : mismatch_notices(of_another, "n", "1.1.0", "manifest.toml", strict)) {
    take(std::move(notice));
  }
  take(fixtures_changed_notice({{"a", 0.5, 0.4}}, "1b4e28ba", "manifest.toml"));
  take(nothing_to_compare_notice(statistical, {}, {}, strict));
  StatisticalGate one_test({nullptr, {}, 0.05, 1});
  one_test.add(
      {.test_id = "t", .category = "", .mean = {}, .base = std::array{1.0}, .current = std::array{0.5}});
  take(one_test.too_few_tests_notice());
  take(no_scores_notice(std::array<std::string, 2>{"base.json", "now.json"}));
  take(mock_run_notice("base.json", "now.json"));
  for (auto& notice :
       test_notices({{"new"}, {"old"}, {"lost"}, {"other"}}, "base.json", "now.json", 1, strict))
    take(std::move(notice));
  const std::optional<BaselineStability> other = BaselineStability{1.0, 1, 1, 1, {"crlf 2"}};
  const auto assess = [&](const StabilityQuestion& question) {
    (void)assess_stability(question, run, notices);
  };
  assess({.score = 1.0, .perturbations = {"crlf 1"}, .planned = 2, .answers = 1, .baseline = &other});
  assess({.min_stability = 0.9, .baseline = &other});
  return notices;
}

TEST(GateDocument, NoticesAreThoseOfTheTable) {
  std::map<std::string, Row> rows;
  for (const Row& row : table("code", 4)) rows[row[0]] = row;
  std::set<std::string> met;
  for (const bool strict : {false, true}) {
    for (const GateNotice& notice : every_notice(strict)) {
      ASSERT_TRUE(rows.contains(notice.code)) << notice.code;
      const std::string documented = rows.at(notice.code)[strict ? 3 : 2];
      EXPECT_EQ(documented, std::string(word(notice.severity)) + (notice.decides ? "" : ", decides nothing"))
          << notice.code;
      EXPECT_TRUE(notice.message.ends_with('.')) << notice.message;
      met.insert(notice.code);
    }
  }
  for (const auto& [code, row] : rows) EXPECT_TRUE(met.contains(code)) << code << " is given nowhere";
}

// --- The examples of thresholding
// ----------------------------------------------------------------------------

/// The number behind `name: ` in a cell.
std::optional<double> setting(const std::string& cell, const std::string& name) {
  const auto place = cell.find(name + ": ");
  if (place == std::string::npos) return std::nullopt;
  return std::stod(cell.substr(place + name.size() + 2));
}

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

}  // namespace
}  // namespace sluice

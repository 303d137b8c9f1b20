// The table of notices in docs/gate.md, row by row.
#include "coordinator/gate/aggregate_gate.hpp"
#include "coordinator/gate/baseline_check.hpp"
#include "coordinator/gate/compare.hpp"
#include "coordinator/gate/fixture_changes.hpp"
#include "coordinator/gate/gate.hpp"
#include "coordinator/gate/judge_changes.hpp"
#include "coordinator/gate/judge_family.hpp"
#include "coordinator/gate/recorded_differences.hpp"
#include "coordinator/gate/repeated_assessment.hpp"
#include "coordinator/gate/required_calibrations.hpp"
#include "coordinator/gate/stability_gate.hpp"
#include "coordinator/gate/statistical_gate.hpp"
#include "coordinator/gate/unjudged_scores.hpp"
#include "coordinator/gate/verdict_input.hpp"
#include "coordinator/suite/answers/recorded_answers.hpp"
#include "gate_document.hpp"
#include "gate_fixture.hpp"

#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::gate_document_notices_test {

using gate_document::Row;
using gate_document::table;

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
  metric.asked_otherwise = true;
  missing.visit("edited", {&metric, 1});
  for (GateNotice& notice : missing.finish(run)) notices.push_back(std::move(notice));
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
  const std::array rubrics{Rubric{"faithfulness", "v2", "", ""}};
  const RunJudge judge({"fake", ""}, rubrics);
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
  take(corpus_mismatch_notice({.corpus_version = "", .total_fixtures = 61, .baseline = of_another}, 3,
                              "manifest.toml", strict));
  take(fixtures_changed_notice({{"a", 0.5, 0.4}}, "1b4e28ba", "manifest.toml"));
  take(nothing_to_compare_notice(statistical, {}, {}, strict));
  StatisticalGate one_test({nullptr, {}, 0.05, 1});
  one_test.add(
      {.test_id = "t", .category = "", .mean = {}, .base = std::array{1.0}, .current = std::array{0.5}});
  take(one_test.too_few_tests_notice(0));
  StatisticalGate two_arms({nullptr, {}, 0.05, 1, {"a", "b"}});
  for (const std::size_t arm : {0u, 1u}) {
    for (int i = 0; i < 10; ++i) {
      two_arms.add({.test_id = "t",
                    .category = "",
                    .mean = {},
                    .base = std::array{1.0},
                    .current = std::array{0.5},
                    .arm = arm});
    }
  }
  take(two_arms.undecided_arms_notice(0));
  take(repeats_incomplete_notice(1, strict));
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
  for (const Row& row : table("code", 5)) rows[row[0]] = row;
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
  auto notices = every_notice(false);
  fail_on_mismatch(notices);
  for (const GateNotice& notice : notices) {
    const std::string decides = notice.decides ? "" : ", decides nothing";
    EXPECT_EQ(rows.at(notice.code)[4], std::string(word(notice.severity)) + decides) << notice.code;
  }
}

}  // namespace sluice::gate_document_notices_test

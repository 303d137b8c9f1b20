#include "coordinator/gate/compare.hpp"

#include "gate_fixture.hpp"

#include <map>
#include <memory>

#include <gtest/gtest.h>

namespace sluice {
namespace {

NextCase cases_of(std::vector<ComparedCase> cases) {
  const auto all = std::make_shared<std::vector<ComparedCase>>(std::move(cases));
  return [all, next = std::size_t{0}]() mutable -> Result<const ComparedCase*> {
    return next == all->size() ? nullptr : &(*all)[next++];
  };
}

ComparedCase scored(std::string id, std::optional<double> score, Thresholding thresholding = {}) {
  ComparedMetric metric;
  metric.name = similarity;
  metric.score = score;
  metric.thresholding = thresholding;
  return {std::move(id), false, {metric}};
}

struct Outcome {
  CompareSummary summary;
  std::map<std::string, ScoreComparison> rows;  ///< By test and metric; the texts of a row are gone.
};

Outcome compare_all(const NextCase& base, const NextCase& current, const CompareRules& rules = {}) {
  Outcome outcome;
  const auto compared = compare(base, current, rules, [&](const ScoreComparison& row) {
    const auto name = std::string(row.test_id) + " " + std::string(row.metric);
    EXPECT_TRUE(outcome.rows.try_emplace(name, row).second) << name;
  });
  EXPECT_TRUE(compared);
  if (compared) outcome.summary = *compared;
  return outcome;
}

RowChange change(const Outcome& outcome, const std::string& id) {
  return outcome.rows.at(id + " " + similarity).change;
}

TEST(Compare, SaysWhatBecameOfEveryScore) {
  const Baseline baseline = baseline_of({{"drop", similarity, 0.92},
                                         {"gone", similarity, 0.5},
                                         {"limit", similarity, 0.92},
                                         {"same", similarity, 0.3},
                                         {"undefined", similarity, 0.5},
                                         {"up", similarity, 0.80}});
  const auto outcome = compare_all(
      cases_of(baseline),
      cases_of({scored("drop", 0.85), scored("limit", 0.85, max_drop(0.07)), scored("new", 0.5),
                scored("same", 0.1 + 0.2), scored("undefined", std::nullopt), scored("up", 0.82)}));
  EXPECT_EQ(change(outcome, "drop"), RowChange::regression);
  EXPECT_EQ(outcome.rows.at("drop " + similarity).delta(), -0.07);
  EXPECT_EQ(outcome.rows.at("drop " + similarity).limit, 0.87);
  EXPECT_EQ(change(outcome, "gone"), RowChange::missing_in_current);
  EXPECT_EQ(change(outcome, "limit"), RowChange::drop);
  EXPECT_EQ(change(outcome, "new"), RowChange::missing_in_baseline);
  EXPECT_EQ(change(outcome, "same"), RowChange::unchanged);
  EXPECT_EQ(change(outcome, "undefined"), RowChange::regression);
  EXPECT_EQ(change(outcome, "up"), RowChange::improvement);
  const CompareSummary& summary = outcome.summary;
  EXPECT_EQ(summary.regressions, 2u);
  EXPECT_EQ(summary.improvements, 1u);
  EXPECT_EQ(summary.drops, 1u);
  EXPECT_EQ(summary.unchanged, 1u);
  EXPECT_EQ(summary.missing_in_baseline, 1u);
  EXPECT_EQ(summary.missing_in_current, 1u);
  EXPECT_EQ(summary.verdict_input.statuses, (StatusCounts{3, 1, 0, 2, 0}));
  EXPECT_EQ(summary.verdict, RunVerdict::regression);
}

TEST(Compare, MissingScoresWarnAndFailUnderStrict) {
  for (const bool strict : {false, true}) {
    CompareRules rules;
    rules.strict = strict;
    const auto expected = strict ? RunVerdict::fail : RunVerdict::review;
    const Baseline two = baseline_of({{"a", similarity, 0.5}, {"b", similarity, 0.5}});
    EXPECT_EQ(compare_all(cases_of(two), cases_of({scored("a", 0.5)}), rules).summary.verdict, expected);
    const Baseline one = baseline_of({{"a", similarity, 0.5}});
    EXPECT_EQ(
        compare_all(cases_of(one), cases_of({scored("a", 0.5), scored("b", 0.5)}), rules).summary.verdict,
        expected);
  }
}

TEST(Compare, ABaselineAgainstItselfPasses) {
  const Baseline baseline =
      baseline_of({{"a", "foreign", 0.5}, {"a", similarity, 0.1}, {"b", similarity, 1.0}});
  CompareRules rules;
  rules.default_max_drop = 0.0;
  rules.strict = true;
  const auto outcome = compare_all(cases_of(baseline), cases_of(baseline), rules);
  EXPECT_EQ(outcome.summary.verdict, RunVerdict::pass);
  EXPECT_EQ(outcome.summary.unchanged, 3u);
}

TEST(Compare, NothingAgainstNothingIsAnError) {
  EXPECT_EQ(compare_all(cases_of({}), cases_of({})).summary.verdict, RunVerdict::error);
}

TEST(Compare, JudgesForeignMetricsToo) {
  const Baseline base = baseline_of({{"a", "faithfulness", 0.9}});
  const Baseline current = baseline_of({{"a", "faithfulness", 0.8}});
  EXPECT_EQ(compare_all(cases_of(base), cases_of(current)).summary.regressions, 1u);
}

TEST(Compare, AnErrorCountsAsOneAndHidesNothingElse) {
  const Baseline baseline = baseline_of({{"a", similarity, 0.5}, {"b", similarity, 0.5}});
  const auto outcome =
      compare_all(cases_of(baseline), cases_of({ComparedCase{"a", true, {}}, scored("b", 0.5)}));
  EXPECT_EQ(outcome.summary.verdict, RunVerdict::error);
  EXPECT_EQ(outcome.summary.missing_in_current, 0u);
}

/// A fixture as a report shows it.
ComparedCase fixture_row(std::string id, double score, bool required, bool asked_by_name = false) {
  ComparedMetric f1;
  f1.name = "claims_f1";
  f1.score = score;
  ComparedMetric must;
  must.name = "claims_required";
  must.passed = required;
  must.asked_by_name = asked_by_name;
  return {std::move(id), false, {f1, must}};
}

TEST(Compare, JudgesFixturesByTheirScoresLikeTheGate) {
  const auto base = [] { return cases_of({fixture_row("f", 0.5, false)}); };
  EXPECT_EQ(compare_all(base(), cases_of({fixture_row("f", 0.5, false)})).summary.verdict, RunVerdict::pass);
  EXPECT_EQ(compare_all(base(), cases_of({fixture_row("f", 0.5, false, true)})).summary.verdict,
            RunVerdict::fail);
  EXPECT_EQ(compare_all(cases_of({}), cases_of({fixture_row("f", 0.5, false)})).summary.verdict,
            RunVerdict::fail);
}

TEST(Compare, AScoreThatWasUndefinedIsNotMissing) {
  CompareRules strict;
  strict.strict = true;
  const auto outcome =
      compare_all(cases_of({scored("a", std::nullopt)}), cases_of({scored("a", 0.5)}), strict);
  EXPECT_EQ(outcome.summary.verdict, RunVerdict::pass);
  EXPECT_EQ(change(outcome, "a"), RowChange::not_compared);
}

TEST(Compare, SayingNothingIsBestWhereNothingIsExpected) {
  const Baseline baseline = baseline_of({{"f", "claims_f1", 0.0}});
  ComparedMetric f1;
  f1.name = "claims_f1";
  const auto summary = [&](bool expects_nothing) {
    return compare_all(cases_of(baseline), cases_of({ComparedCase{"f", false, {f1}, expects_nothing}}))
        .summary;
  };
  EXPECT_EQ(summary(true).verdict, RunVerdict::pass);
  EXPECT_EQ(summary(true).improvements, 1u);
  EXPECT_EQ(summary(false).verdict, RunVerdict::regression);
}

TEST(Compare, RefusesCasesOutOfOrderOrTwice) {
  for (const char* second : {"a", "b"}) {
    const auto sides = [&] { return cases_of({scored("b", 0.5), scored(second, 0.5)}); };
    const auto ignore = [](const ScoreComparison&) {};
    const auto base_wrong = compare(sides(), cases_of({}), {}, ignore);
    ASSERT_FALSE(base_wrong);
    EXPECT_EQ(base_wrong.error().reason, Reason::fixture_invalid);
    EXPECT_FALSE(compare(cases_of({}), sides(), {}, ignore));
  }
}

TEST(Compare, PassesOnWhatASideReports) {
  const NextCase broken = []() -> Result<const ComparedCase*> {
    return fail(Reason::file_unreadable, "gone");
  };
  const auto compared = compare(cases_of({}), broken, {}, [](const ScoreComparison&) {});
  ASSERT_FALSE(compared);
  EXPECT_EQ(compared.error().message, "gone");
}

}  // namespace
}  // namespace sluice

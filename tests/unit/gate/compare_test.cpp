#include "coordinator/gate/compare.hpp"

#include "coordinator/defaults.hpp"
#include "gate_fixture.hpp"

#include <array>
#include <map>
#include <memory>

#include <gtest/gtest.h>

namespace sluice::compare_test {

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

ComparedCase judged(std::string id, double score, bool passed, std::optional<double> min_score = 0.5) {
  ComparedMetric metric;
  metric.name = info(MetricId::faithfulness).name;
  metric.score = score;
  metric.votes = {
      {.samples = 1, .votes = 1, .passed = passed ? 1u : 0u, .min_score = min_score, .rationale = {}}};
  return {std::move(id), false, {metric}};
}

// A report said PASS where the same answers, pinned, said REGRESSION.
TEST(Compare, ADropWithoutAMajorityIsARegression) {
  const Baseline baseline = baseline_of(
      {{"fell", "faithfulness", 0.9}, {"good", "faithfulness", 0.9}, {"was low", "faithfulness", 0.4}});
  CompareRules rules;
  rules.min_pass_rates.general = 0.3;
  const auto outcome = compare_all(
      cases_of(baseline),
      cases_of({judged("fell", 0.1, false), judged("good", 0.9, true), judged("was low", 0.1, false)}),
      rules);
  const ScoreComparison& fell = outcome.rows.at("fell faithfulness");
  EXPECT_EQ(fell.change, RowChange::regression);
  EXPECT_EQ(fell.cause, MetricCause::dropped);
  EXPECT_EQ(fell.further_cause, MetricCause::no_majority);
  const ScoreComparison& was_low = outcome.rows.at("was low faithfulness");
  EXPECT_EQ(was_low.change, RowChange::drop) << "no majority, as before";
  EXPECT_EQ(was_low.cause, MetricCause::no_majority);
  EXPECT_EQ(outcome.summary.verdict_input.regressed, 1u);
  EXPECT_EQ(outcome.summary.regressions, 1u);
  EXPECT_EQ(outcome.summary.verdict, RunVerdict::regression) << "a third passes, as is asked for";
}

TEST(Compare, AReportWithoutTheLimitOfItsVotesExcusesNoDrop) {
  const Baseline baseline = baseline_of({{"low", "faithfulness", 0.4}});
  const auto outcome = compare_all(cases_of(baseline), cases_of({judged("low", 0.1, false, std::nullopt)}));
  EXPECT_EQ(outcome.rows.at("low faithfulness").change, RowChange::regression);
}

TEST(Compare, ReportsThatTwoSidesShareNoCase) {
  const auto shares_no_case = [](std::vector<ComparedCase> base, std::vector<ComparedCase> current) {
    return compare_all(cases_of(std::move(base)), cases_of(std::move(current))).summary.shares_no_case;
  };
  EXPECT_TRUE(shares_no_case({scored("a", 0.5), scored("c", 0.5)}, {scored("b", 0.5)}));
  EXPECT_FALSE(shares_no_case({scored("a", 0.5), scored("c", 0.5)}, {scored("c", 0.5)}));
  EXPECT_FALSE(shares_no_case({}, {scored("c", 0.5)}));
  EXPECT_FALSE(shares_no_case({scored("c", 0.5)}, {}));
}

TEST(Compare, TestsWhetherChecksPassAsOften) {
  const auto side = [](const std::vector<double>& passes) {
    std::vector<ComparedCase> cases;
    for (int i = 0; i < 40; ++i) {
      ComparedMetric check;
      check.name = info(MetricId::must_contain).name;
      check.asked_by_name = true;
      check.check = 7;
      for (const double one : passes) check.repeat_passed.push_back(one > 0.0);
      ComparedCase& test = cases.emplace_back(ComparedCase{std::to_string(100 + i), false, {check}});
      test.passes = passes;
    }
    return cases_of(std::move(cases));
  };
  CompareRules rules;
  EXPECT_FALSE(compare_all(side({1, 1, 1}), side({1, 1, 1}), rules).summary.statistics)
      << "what nobody asked for is said only where it fails";
  const auto unasked = compare_all(side({1, 1, 1}), side({1, 0, 1}), rules).summary;
  ASSERT_TRUE(unasked.statistics);
  EXPECT_EQ(unasked.statistics->decision, ChangeDecision::regression);
  EXPECT_EQ(unasked.statistics->rules.confidence, defaults::statistics::unasked_confidence);
  rules.tests.mode = ThresholdMode::statistical;
  const auto fell = compare_all(side({1, 1, 1}), side({1, 0, 1}), rules).summary.statistics;
  ASSERT_TRUE(fell);
  EXPECT_EQ(fell->decision, ChangeDecision::regression);
  EXPECT_EQ(name_of(fell->metrics.at(0).mean), "passed");
  EXPECT_FALSE(compare_all(side({1}), side({1}), rules).summary.statistics) << "one answer a side";
  EXPECT_FALSE(compare_all(side({}), side({1, 0, 1}), rules).summary.statistics)
      << "a baseline without repeats";
}

// Two files of tests that pass or fail were compared without a word of it.
TEST(Compare, SeesWhetherThereIsAScore) {
  const auto passes = [](std::string id) {
    ComparedMetric metric;
    metric.name = info(MetricId::must_contain).name;
    return ComparedCase{std::move(id), false, {metric}};
  };
  const auto has_scores = [](std::vector<ComparedCase> base, std::vector<ComparedCase> current) {
    return compare_all(cases_of(std::move(base)), cases_of(std::move(current))).summary.has_scores;
  };
  EXPECT_FALSE(has_scores({passes("a")}, {passes("a"), passes("b")}));
  EXPECT_FALSE(has_scores({}, {passes("a")}));
  EXPECT_TRUE(has_scores({passes("a")}, {passes("a"), scored("b", 0.5)}));
  EXPECT_TRUE(has_scores({scored("a", std::nullopt)}, {passes("b")}));
  const GateNotice notice = no_scores_notice(std::array<std::string, 2>{"base.json", "now.json"});
  EXPECT_EQ(notice.severity, GateNotice::Severity::info);
  EXPECT_EQ(notice.code, "no_scores");
  EXPECT_EQ(notice.message,
            "neither `base.json` nor `now.json` has a score: what is compared is which checks passed.");
  EXPECT_EQ(no_scores_notice(std::array<std::string, 3>{"a", "b", "c"}).message,
            "none of `a`, `b` and `c` has a score: what is compared is which checks passed.");
}

TEST(Compare, ReportsWhatBecameOfEveryScore) {
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

// m1 with 2 of 2 hid that m2 had 1 of 2.
TEST(Compare, HoldsEachArmToTheLeastPassRate) {
  const auto sides = [] {
    return cases_of(
        {scored("a@m1", 0.9), scored("a@m2", 0.9), scored("b@m1", 0.9), scored("b@m2", 0.2, floor_of(0.5))});
  };
  const std::vector<std::string> arms{"m1", "m2"};
  CompareRules rules;
  rules.min_pass_rates.general = 0.75;
  EXPECT_EQ(compare_all(sides(), sides(), rules).summary.verdict, RunVerdict::pass);
  rules.arms = arms;
  const auto outcome = compare_all(sides(), sides(), rules);
  EXPECT_EQ(outcome.summary.verdict, RunVerdict::fail);
  ASSERT_EQ(outcome.summary.verdict_input.pass_groups.size(), 2u);
  EXPECT_TRUE(misses_pass_rate(outcome.summary.verdict_input.pass_groups[1]));
}

// What one arm gained made up for what the other one lost.
TEST(Compare, TestsEachArmByItself) {
  const auto side = [](const std::vector<double>& of_m1, const std::vector<double>& of_m2) {
    std::vector<ComparedCase> cases;
    for (int i = 0; i < 40; ++i) {
      for (const bool is_first : {true, false}) {
        ComparedCase& one = cases.emplace_back();
        one.test_id = std::to_string(100 + i) + (is_first ? "@m1" : "@m2");
        one.passes = is_first ? of_m1 : of_m2;
        ComparedMetric& check = one.metrics.emplace_back();
        check.name = info(MetricId::must_contain).name;
        check.asked_by_name = true;
        check.check = 7;
        for (const double passed : one.passes) check.repeat_passed.push_back(passed > 0.0);
      }
    }
    return cases_of(std::move(cases));
  };
  const std::vector<std::string> arms{"m1", "m2"};
  CompareRules rules;
  const auto compared = [&] {
    return compare_all(side({1, 1, 1}, {1, 1, 0}), side({1, 1, 0}, {1, 1, 1}), rules).summary.statistics;
  };
  EXPECT_FALSE(compared());
  rules.arms = arms;
  const auto fell = compared();
  ASSERT_TRUE(fell);
  EXPECT_EQ(fell->regressions(), 1u);
  ASSERT_EQ(fell->metrics.size(), 1u) << "of what nobody asked for, only what fell";
  EXPECT_EQ(fell->metrics[0].arm, "m1");
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

// Two baselines whose tests have only checks passed whatever had vanished.
TEST(Compare, NamesTheVanishedCasesThatNoMissingScoreStandsFor) {
  ComparedMetric check;
  check.name = "must_contain";
  check.asked_by_name = true;
  ComparedCase both = scored("both", 0.5);
  both.metrics.push_back(check);
  ComparedCase undefined = scored("undefined", std::nullopt);
  ComparedCase error{"error", true, {check}};
  const auto summary = compare_all(cases_of({both,
                                             {"check", false, {check}},
                                             error,
                                             {"kept", false, {check}},
                                             scored("score", 0.5),
                                             undefined}),
                                   cases_of({{"kept", false, {check}}}))
                           .summary;
  EXPECT_EQ(summary.gone_checks, std::vector<std::string>{"check"});
  EXPECT_EQ(summary.missing_in_current, 2u);
}

TEST(Compare, WhatASelectionLeftOutIsNoWarning) {
  const Baseline two = baseline_of({{"a", similarity, 0.5}, {"b", similarity, 0.5}});
  CompareRules rules;
  rules.strict = true;
  rules.current_is_selection = true;
  const auto fewer = compare_all(cases_of(two), cases_of({scored("a", 0.5)}), rules);
  EXPECT_EQ(fewer.summary.verdict, RunVerdict::pass);
  EXPECT_EQ(fewer.summary.missing_in_current, 1u) << "it is counted all the same";
  EXPECT_EQ(change(fewer, "b"), RowChange::missing_in_current);
  EXPECT_EQ(fewer.rows.at("b " + similarity).status, MetricStatus::unjudged);
  const Baseline one = baseline_of({{"a", similarity, 0.5}});
  const auto all = cases_of({scored("a", 0.5), scored("b", 0.5)});
  EXPECT_EQ(compare_all(cases_of(one), all, rules).summary.verdict, RunVerdict::fail)
      << "the base is whole and lacks it";

  rules.current_is_selection = false;
  rules.base_is_selection = true;
  const auto more = compare_all(cases_of(one), cases_of({scored("a", 0.5), scored("b", 0.5)}), rules);
  EXPECT_EQ(more.summary.verdict, RunVerdict::pass);
  EXPECT_EQ(more.summary.missing_in_baseline, 1u);
  EXPECT_EQ(change(more, "b"), RowChange::missing_in_baseline);
  EXPECT_EQ(more.rows.at("b " + similarity).status, MetricStatus::unjudged);
  Thresholding floor;
  floor.min_floor = 0.6;
  EXPECT_EQ(compare_all(cases_of(one), cases_of({scored("a", 0.5), scored("b", 0.5, floor)}), rules)
                .summary.verdict,
            RunVerdict::fail)
      << "a fixed limit holds";
  EXPECT_EQ(compare_all(cases_of(two), cases_of({scored("a", 0.5)}), rules).summary.verdict, RunVerdict::fail)
      << "the current side is whole and lacks it";
}

TEST(Compare, ASelectionExcusesNoMetricOfACaseThatItHas) {
  const Baseline two = baseline_of({{"a", "other", 0.5}, {"a", similarity, 0.5}});
  const Baseline one = baseline_of({{"a", similarity, 0.5}});
  CompareRules rules;
  rules.base_is_selection = rules.current_is_selection = true;
  EXPECT_EQ(compare_all(cases_of(two), cases_of(one), rules).summary.verdict, RunVerdict::review);
  EXPECT_EQ(compare_all(cases_of(one), cases_of(two), rules).summary.verdict, RunVerdict::review);
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

TEST(Compare, ChecksForeignMetricsToo) {
  const Baseline base = baseline_of({{"a", "groundedness", 0.9}});
  const Baseline current = baseline_of({{"a", "groundedness", 0.8}});
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

TEST(Compare, ChecksFixturesByTheirScoresLikeTheGate) {
  const auto base = [] { return cases_of({fixture_row("f", 0.5, false)}); };
  EXPECT_EQ(compare_all(base(), cases_of({fixture_row("f", 0.5, false)})).summary.verdict, RunVerdict::pass);
  const auto named = [] { return cases_of({fixture_row("f", 0.5, false, true)}); };
  EXPECT_EQ(compare_all(base(), named()).summary.verdict, RunVerdict::pass) << "it failed before, too";
  EXPECT_EQ(compare_all(cases_of({fixture_row("f", 0.5, true)}), named()).summary.verdict,
            RunVerdict::regression);
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

TEST(Compare, ExtractingNothingIsBestWhereNothingIsExpected) {
  const Baseline baseline = baseline_of({{"f", "claims_f1", 0.0}});
  ComparedMetric f1;
  f1.name = "claims_f1";
  const auto summary = [&](bool expects_nothing) {
    ComparedCase now{"f", false, {f1}};
    now.expects_nothing = expects_nothing;
    return compare_all(cases_of(baseline), cases_of({now})).summary;
  };
  EXPECT_EQ(summary(true).verdict, RunVerdict::pass);
  EXPECT_EQ(summary(true).improvements, 1u);
  EXPECT_EQ(summary(false).verdict, RunVerdict::regression);
}

/// A text with repeats, assessed by its similarity.
ComparedCase repeated(std::string id, std::vector<std::optional<double>> scores,
                      Thresholding thresholding = {}) {
  ComparedCase one = scored(std::move(id), scores.front(), thresholding);
  one.metrics[0].repeat_scores = std::move(scores);
  return one;
}

TEST(Compare, RepeatsAreAssessedLikeTheGateDoes) {
  const Baseline baseline = baseline_of({{"floor", similarity, 0.7},
                                         {"majority", similarity, 1.0},
                                         {"minority", similarity, 1.0},
                                         {"silent", similarity, 1.0},
                                         {"steady", similarity, 1.0}});
  const auto outcome = compare_all(
      cases_of(baseline),
      cases_of({repeated("floor", {0.0, 1.0, 1.0}, floor_of(0.5)), repeated("majority", {0.0, 0.0, 1.0}),
                repeated("minority", {0.0, 1.0, 1.0}), repeated("silent", {1.0, std::nullopt, 1.0}),
                repeated("steady", {0.86, 0.99, 1.0})}));
  const auto row = [&](const std::string& id) { return outcome.rows.at(id + " " + similarity); };
  EXPECT_EQ(row("floor").status, MetricStatus::flaky);
  EXPECT_EQ(row("floor").change, RowChange::drop) << "neither pass nor fail by luck";
  EXPECT_EQ(row("floor").score, 0.666666667);
  EXPECT_EQ(row("majority").change, RowChange::regression);
  EXPECT_EQ(row("minority").change, RowChange::regression) << "by the mean";
  EXPECT_EQ(row("silent").status, MetricStatus::flaky);
  EXPECT_EQ(row("silent").cause, MetricCause::became_undefined);
  EXPECT_EQ(row("steady").status, MetricStatus::pass);
  EXPECT_EQ(outcome.summary.verdict_input.statuses, (StatusCounts{1, 0, 2, 2, 0}));
  EXPECT_EQ(outcome.summary.verdict_input.regressed, 2u);
}

TEST(Compare, APassFailMetricMayBeFlaky) {
  const auto text = [](std::vector<bool> passed) {
    ComparedMetric must;
    must.name = "must_contain";
    must.passed = passed.front();
    must.repeat_passed = std::move(passed);
    return ComparedCase{"a", false, {must}};
  };
  const auto status = [&](std::vector<bool> passed) {
    return compare_all(cases_of({}), cases_of({text(std::move(passed))})).rows.at("a must_contain").status;
  };
  EXPECT_EQ(status({true, true}), MetricStatus::pass);
  EXPECT_EQ(status({false, true}), MetricStatus::flaky);
  EXPECT_EQ(status({false, false, true}), MetricStatus::fail);
}

TEST(Compare, RepeatsFailByTheMetricsTogether) {
  ComparedMetric one;
  one.name = "must_contain";
  one.repeat_passed = {false, true, true};
  ComparedMetric other = one;
  other.name = "regex_match";
  const auto statuses = [&] {
    return compare_all(cases_of({}), cases_of({ComparedCase{"a", false, {one, other}}}))
        .summary.verdict_input.statuses;
  };
  EXPECT_EQ(statuses().flaky, 1u) << "the same repeat fails by both";
  other.repeat_passed = {true, false, true};
  EXPECT_EQ(statuses().failed, 1u) << "two of three repeats fail by one of the two";
}

// Two identical runs were a regression.
TEST(Compare, ARunThatFailsByAnotherCheckInEachRepeatIsNoRegressionBesideItself) {
  const auto with = [](std::vector<bool> one, std::vector<bool> other) {
    ComparedCase test{"a", false, {}};
    for (const auto& passed : {one, other}) {
      ComparedMetric& check = test.metrics.emplace_back();
      check.name = "must_contain";
      check.asked_by_name = true;
      check.check = test.metrics.size();
      check.repeat_passed = passed;
    }
    for (std::size_t i = 0; i < one.size(); ++i) test.passes.push_back(one[i] && other[i] ? 1.0 : 0.0);
    return cases_of({test});
  };
  const auto fell = [&](const NextCase& base) {
    const auto failing = with({true, false}, {false, true});
    return compare(base, failing, {}, [](const ScoreComparison&) {})->verdict_input;
  };
  EXPECT_EQ(fell(with({true, false}, {false, true})).statuses.failed, 1u);
  EXPECT_EQ(fell(with({true, false}, {false, true})).regressed, 0u);
  EXPECT_EQ(fell(with({true, true}, {true, true})).regressed, 1u) << "the base passed in both repeats";
}

TEST(Compare, ABaselinesRepeatsAreAssessedWhereTheyAreAligned) {
  const auto with_repeats = [](std::vector<double> scores) {
    Baseline baseline;
    BaselineEntry entry{"a", similarity, 0.5, ""};
    entry.scores = scores;
    baseline.add(entry);
    (void)baseline.seal();
    return baseline;
  };
  const Baseline base = baseline_of({{"a", similarity, 0.5}});
  const Baseline current = with_repeats({0.0, 1.0});
  const auto each_above = [&](double floor) {
    CompareRules rules;
    rules.suite = floor_of(floor);
    return compare_all(cases_of(base), cases_of(current), rules).summary;
  };
  EXPECT_EQ(each_above(0.0).unchanged, 1u) << "the mean is the same";
  EXPECT_EQ(each_above(0.2).verdict_input.statuses.flaky, 1u);
  EXPECT_EQ(compare_all(cases_of(current), cases_of(base)).summary.unchanged, 1u)
      << "a base counts by its mean";
}

// What the suite says of a case decided nothing in the run, and was worse in the comparison.
TEST(Compare, AKnownFailureIsApartAsInTheRun) {
  ComparedMetric check;
  check.name = "must_contain";
  check.asked_by_name = true;
  ComparedCase before{"check", false, {check}};
  ComparedCase now = before;
  now.metrics[0].passed = false;
  now.is_known_failure = true;
  ComparedCase fell = scored("score", 0.2);
  fell.is_known_failure = true;
  for (const bool strict : {false, true}) {
    CompareRules rules;
    rules.strict = strict;
    const auto outcome = compare_all(cases_of({before, scored("score", 0.9)}), cases_of({now, fell}), rules);
    EXPECT_EQ(outcome.rows.at("check must_contain").change, RowChange::known_failure);
    EXPECT_EQ(change(outcome, "score"), RowChange::known_failure);
    EXPECT_TRUE(outcome.rows.at("check must_contain").is_of_known_failure);
    EXPECT_EQ(outcome.summary.broke, 0u);
    EXPECT_EQ(outcome.summary.regressions, 0u);
    EXPECT_EQ(outcome.summary.known_failures, 2u);
    EXPECT_EQ(outcome.summary.verdict_input.statuses, (StatusCounts{0, 2, 0, 0, 0}));
    EXPECT_EQ(outcome.summary.verdict_input.known_failures, 2u);
    EXPECT_EQ(outcome.summary.verdict, RunVerdict::pass);
  }
}

// One that failed before was counted among the checks that fail still; one that passed warned without a word.
TEST(Compare, AKnownFailureThatFailedBeforeIsKnownAndOneThatPassesIsFixed) {
  ComparedMetric check;
  check.name = "must_contain";
  check.asked_by_name = true;
  check.passed = false;
  const ComparedCase before{"q", false, {check}};
  const auto with = [&](bool passed) {
    ComparedCase now = before;
    now.metrics[0].passed = passed;
    now.is_known_failure = true;
    return compare_all(cases_of({before}), cases_of({now}));
  };
  const auto failing = with(false);
  EXPECT_EQ(failing.rows.at("q must_contain").change, RowChange::known_failure);
  EXPECT_EQ(failing.summary.still_failing, 0u);
  EXPECT_EQ(failing.summary.known_failures, 1u);
  EXPECT_EQ(failing.summary.known_failures_passed, 0u);
  EXPECT_EQ(failing.summary.verdict, RunVerdict::pass);
  const auto passing = with(true);
  EXPECT_EQ(passing.rows.at("q must_contain").change, RowChange::fixed);
  EXPECT_EQ(passing.summary.known_failures_passed, 1u);
  EXPECT_EQ(passing.summary.verdict, RunVerdict::review);
}

TEST(Compare, AKnownFailureThatNothingJudgesCountsAsNoneThatPassed) {
  Thresholding tested;
  tested.mode = ThresholdMode::statistical;
  ComparedCase known = scored("a", 0.0, tested);
  known.is_known_failure = true;
  CompareRules rules;
  rules.min_pass_rates.general = 0.5;
  const auto outcome =
      compare_all(cases_of({scored("a", 1.0), scored("b", 0.5)}), cases_of({known, scored("b", 0.5)}), rules);
  EXPECT_EQ(change(outcome, "a"), RowChange::known_failure);
  EXPECT_EQ(outcome.summary.verdict_input.known_failures, 1u);
  EXPECT_EQ(outcome.summary.verdict, RunVerdict::pass);
  rules.min_pass_rates.general = 0.6;
  EXPECT_EQ(
      compare_all(cases_of({scored("a", 1.0), scored("b", 0.5)}), cases_of({known, scored("b", 0.5)}), rules)
          .summary.verdict,
      RunVerdict::fail);
}

Thresholding statistical(double min_effect = 0.05) {
  Thresholding thresholding;
  thresholding.mode = ThresholdMode::statistical;
  thresholding.confidence = 0.95;
  thresholding.min_effect = min_effect;
  return thresholding;
}

std::string id_of(int number) {
  return "case-" + std::to_string(100 + number);
}

TEST(Compare, StatisticalScoresAreTestedTogether) {
  std::vector<TestPin> pins;
  std::vector<ComparedCase> fell;
  std::vector<ComparedCase> noise;
  for (int i = 0; i < 40; ++i) {
    pins.push_back({id_of(i), similarity, 0.9});
    fell.push_back(scored(id_of(i), 0.7, statistical()));
    noise.push_back(scored(id_of(i), i < 2 ? 0.0 : 0.9, statistical(0.3)));
  }
  const Baseline base = baseline_of(pins);
  const auto worse = compare_all(cases_of(base), cases_of(fell));
  EXPECT_EQ(worse.summary.verdict_input.statuses.passed, 40u) << "no case alone is judged by the base";
  ASSERT_TRUE(worse.summary.statistics);
  EXPECT_EQ(worse.summary.statistics->decision, ChangeDecision::regression);
  EXPECT_EQ(worse.rows.at(id_of(0) + " " + similarity).change, RowChange::drop);
  EXPECT_EQ(worse.rows.at(id_of(0) + " " + similarity).cause, MetricCause::assessed_statistically);
  const auto same = compare_all(cases_of(base), cases_of(noise));
  EXPECT_EQ(same.summary.statistics->decision, ChangeDecision::no_regression);
  EXPECT_EQ(same.summary.statistics->rules.min_effect, 0.3);
  CompareRules rows_alone;
  rows_alone.runs_tests = false;
  EXPECT_FALSE(compare_all(cases_of(base), cases_of(fell), rows_alone).summary.statistics);
}

// They made a run fail that had got no worse, and hid it where others had.
TEST(Compare, AKnownFailureIsNoneOfTheScoresThatAreTestedTogether) {
  std::vector<TestPin> pins;
  std::vector<ComparedCase> now;
  for (int i = 0; i < 80; ++i) {
    pins.push_back({id_of(i), similarity, 0.9});
    now.push_back(scored(id_of(i), i < 40 ? 0.9 : 0.1, statistical(0.1)));
    now.back().is_known_failure = i >= 40;
  }
  const auto outcome = compare_all(cases_of(baseline_of(pins)), cases_of(now));
  ASSERT_TRUE(outcome.summary.statistics);
  EXPECT_EQ(outcome.summary.statistics->metrics.at(0).comparison.pairs, 40u);
  EXPECT_EQ(outcome.summary.statistics->decision, ChangeDecision::no_regression);
}

TEST(Compare, AStatisticalScoreThatBecameUndefinedFails) {
  const auto outcome =
      compare_all(cases_of({scored("a", 0.9)}), cases_of({scored("a", std::nullopt, statistical())}));
  EXPECT_EQ(change(outcome, "a"), RowChange::regression);
  EXPECT_EQ(outcome.summary.verdict_input.regressed, 1u);
  EXPECT_EQ(outcome.summary.statistics->metrics.at(0).left_out.count(), 1u);
}

TEST(Compare, AnUndefinedRepeatCountsBehindOneThatMissesTheFloor) {
  Thresholding floor = statistical();
  floor.min_floor = 0.2;
  for (const auto& scores :
       std::vector<std::vector<std::optional<double>>>{{0.1, std::nullopt, 0.9}, {std::nullopt, 0.1, 0.9}}) {
    const auto outcome = compare_all(cases_of({scored("a", 0.9)}), cases_of({repeated("a", scores, floor)}));
    ASSERT_TRUE(outcome.summary.statistics);
    EXPECT_EQ(outcome.summary.statistics->metrics.at(0).became_undefined.count(), 1u);
  }
}

TEST(Compare, AForeignMetricIsNotLeftToTestsThatDoNotKnowIt) {
  const Baseline base = baseline_of({{"a", "groundedness", 0.9}});
  ComparedCase now = scored("a", 0.1, statistical());
  now.metrics[0].name = "groundedness";
  EXPECT_EQ(compare_all(cases_of(base), cases_of({now})).summary.regressions, 1u);
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

}  // namespace sluice::compare_test

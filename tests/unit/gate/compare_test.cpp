#include "compare_fixture.hpp"

#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::compare_test {

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

TEST(Compare, MissingScoresWarnAndFailUnderStrict) {
  for (const bool strict : {false, true}) {
    CompareRules rules;
    rules.strict = strict;
    const Baseline two = baseline_of({{"a", similarity, 0.5}, {"b", similarity, 0.5}});
    EXPECT_EQ(compare_all(cases_of(two), cases_of({scored("a", 0.5)}), rules).summary.verdict,
              strict ? RunVerdict::fail : RunVerdict::review);
    const Baseline one = baseline_of({{"a", similarity, 0.5}});
    const auto more = compare_all(cases_of(one), cases_of({scored("a", 0.5), scored("b", 0.5)}), rules);
    EXPECT_EQ(more.summary.verdict, RunVerdict::review);
    EXPECT_EQ(exit_code(more.summary.verdict, more.summary.verdict_input, {.strict = strict}),
              strict ? 1 : 0);
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

TEST(Compare, WhatAComparedCheckExpectsIsKnownToEitherSide) {
  const auto side = [](CheckDigest check, const std::string& expected) {
    ComparedMetric metric;
    metric.name = "must_contain";
    metric.asked_by_name = true;
    metric.check = check;
    metric.expected = expected;
    return cases_of({{"q", false, {metric}}});
  };
  const auto expected = [](const NextCase& base, const NextCase& current) {
    std::string words;
    EXPECT_TRUE(compare(base, current, CompareRules{}, [&](const ScoreComparison& row) {
                  words = row.expected;
                }).has_value());
    return words;
  };
  EXPECT_EQ(expected(side(7, ""), side(7, "A")), "A");
  EXPECT_EQ(expected(side(7, "A"), side(7, "")), "A") << "a baseline does not say it";
  EXPECT_EQ(expected(side(8, "B"), side(7, "")), "") << "that is another check";
  EXPECT_EQ(expected(side(0, "B"), side(0, "")), "") << "nobody knows which they are";
}

/// Of a test that makes checks by must_contain.
ComparedCase checked(const std::vector<std::pair<CheckDigest, bool>>& checks) {
  ComparedCase one{"q", false, {}};
  for (const auto& [check, passed] : checks) {
    ComparedMetric& metric = one.metrics.emplace_back();
    metric.name = info(MetricId::must_contain).name;
    metric.asked_by_name = true;
    metric.check = check;
    metric.passed = passed;
  }
  return one;
}

TEST(Compare, ACheckThatATestMakesTwiceIsComparedWithItsOwnTurn) {
  const auto changes = [](const ComparedCase& base, const ComparedCase& current) {
    std::vector<RowChange> found;
    EXPECT_TRUE(compare(cases_of({base}), cases_of({current}), CompareRules{},
                        [&](const ScoreComparison& row) { found.push_back(row.change); }));
    return found;
  };
  using enum RowChange;
  EXPECT_EQ(changes(checked({{7, true}, {9, false}, {7, false}}),
                    checked({{9, true}, {7, true}, {7, false}, {7, true}})),
            (std::vector{fixed, unchanged, still_failing, added}));
  EXPECT_EQ(changes(checked({{0, true}}), checked({{7, false}})), std::vector{broke}) << "the only ones";
  EXPECT_EQ(changes(checked({{0, true}, {7, true}}), checked({{7, false}})),
            (std::vector{broke, missing_in_current}));
  EXPECT_EQ(changes(checked({{0, true}, {0, true}}), checked({{0, false}})),
            (std::vector{not_compared, missing_in_current}))
      << "nobody knows which";
}

// A check that was deleted from a test was no word: of what the current side lacks only scores were looked
// at.
TEST(Compare, AMissingCheckWarnsAndFailsUnderStrict) {
  const ComparedCase both = checked({{7, true}, {9, false}});
  for (const bool strict : {false, true}) {
    CompareRules rules;
    rules.strict = strict;
    std::vector<ScoreComparison> missing;
    const auto summary =
        compare(cases_of({both}), cases_of({checked({{7, true}})}), rules, [&](const ScoreComparison& row) {
          if (row.change == RowChange::missing_in_current) missing.push_back(row);
        });
    ASSERT_TRUE(summary);
    EXPECT_EQ(summary->verdict, strict ? RunVerdict::fail : RunVerdict::review);
    EXPECT_EQ(summary->missing_checks, 1u);
    EXPECT_EQ(summary->missing_in_current, 0u) << "it is no score";
    ASSERT_EQ(missing.size(), 1u);
    EXPECT_TRUE(missing[0].is_check);
    EXPECT_EQ(missing[0].check, 9u);
    EXPECT_EQ(missing[0].baseline_passed, false);
    EXPECT_EQ(missing[0].status, strict ? MetricStatus::fail : MetricStatus::warn);
  }
  ComparedCase without = scored("q", 0.5);
  EXPECT_EQ(compare_all(cases_of({checked({{7, true}})}), cases_of({without})).summary.missing_checks, 1u);
  without.is_error = true;
  EXPECT_EQ(compare_all(cases_of({checked({{7, true}})}), cases_of({without})).summary.missing_checks, 0u);
}

TEST(Compare, ACheckThatAsksSomethingElseIsNotMissing) {
  const auto summary = [](const ComparedCase& base, const ComparedCase& current) {
    const auto compared = compare(cases_of({base}), cases_of({current}), {}, [](const ScoreComparison&) {});
    EXPECT_TRUE(compared);
    return compared.value_or(CompareSummary{});
  };
  const auto changed = summary(checked({{7, true}, {9, true}}), checked({{7, true}, {8, true}, {5, true}}));
  EXPECT_EQ(changed.missing_checks, 0u);
  EXPECT_EQ(changed.tests.judged_otherwise, std::vector<std::string>{"q"});
  const auto one_is_gone = summary(checked({{7, true}, {9, true}}), checked({{8, true}}));
  EXPECT_EQ(one_is_gone.missing_checks, 2u) << "nobody knows which of them became the other";
  const auto more = summary(checked({{7, true}}), checked({{7, true}, {8, true}}));
  EXPECT_EQ(more.missing_checks, 0u);
  EXPECT_TRUE(more.tests.judged_otherwise.empty());
  const auto unknown = summary(checked({{0, true}, {0, true}}), checked({{7, true}, {8, true}}));
  EXPECT_EQ(unknown.missing_checks, 0u);
  EXPECT_TRUE(unknown.tests.judged_otherwise.empty()) << "nobody knows which they are";
}

// A new check was no row, and nothing told it from one that had changed.
TEST(Compare, ANewCheckIsToldFromOneThatChanged) {
  const auto changes = [](const ComparedCase& base, const ComparedCase& current) {
    std::vector<RowChange> found;
    const auto summary = compare(cases_of({base}), cases_of({current}), CompareRules{},
                                 [&](const ScoreComparison& row) { found.push_back(row.change); });
    EXPECT_TRUE(summary);
    if (summary) {
      EXPECT_EQ(summary->added_checks, std::ranges::count(found, RowChange::added));
      EXPECT_EQ(summary->changed_checks, std::ranges::count(found, RowChange::changed));
    }
    return found;
  };
  using enum RowChange;
  EXPECT_EQ(changes(checked({{7, true}}), checked({{7, true}, {8, false}})), (std::vector{unchanged, added}));
  EXPECT_EQ(changes(checked({{7, true}}), checked({{8, true}})), std::vector{changed});
  EXPECT_EQ(changes(checked({{7, true}, {9, true}}), checked({{7, true}, {8, false}})),
            (std::vector{unchanged, changed}));
  EXPECT_EQ(changes(checked({{7, true}}), checked({{8, true}, {9, true}})),
            (std::vector{not_compared, not_compared}))
      << "one changed, one is new, and nobody knows which";
  EXPECT_EQ(changes(checked({{7, true}, {9, true}}), checked({{8, true}})),
            (std::vector{not_compared, missing_in_current, missing_in_current}));
  ComparedCase by_another = checked({{7, true}});
  by_another.metrics[0].name = info(MetricId::regex_match).name;
  EXPECT_EQ(changes(checked({{7, true}}), by_another), (std::vector{added, missing_in_current}));
  CompareRules of_scores;
  of_scores.base_has_checks = false;
  ComparedCase alone = checked({{7, true}});
  alone.test_id = "t";
  EXPECT_EQ(compare_all(cases_of({scored("t", 0.5)}), cases_of({alone}), of_scores).summary.added_checks, 0u);
  EXPECT_EQ(compare_all(cases_of({scored("t", 0.5)}), cases_of({alone})).summary.added_checks, 1u);
  ComparedCase lost = checked({{7, true}});
  lost.is_error = true;
  EXPECT_EQ(changes(lost, checked({{8, true}})), std::vector{not_compared});
  ComparedCase known = checked({{8, false}});
  known.is_known_failure = true;
  EXPECT_EQ(changes(checked({{7, true}}), known), std::vector{known_failure});
}

// Each was looked for among all the others: 60,000 scores of one case took 38 s.
TEST(Compare, FindsEachOfManyMetricsOfACaseInAStep) {
  constexpr std::size_t many = 60'000;
  const auto side = [](bool is_base) {
    std::vector<std::pair<CheckDigest, bool>> checks;
    for (std::size_t i = 0; i < many; ++i) checks.emplace_back(is_base ? i + 1 : many - i, is_base || i > 0);
    ComparedCase one = checked(checks);
    for (std::size_t i = 0; i < many; ++i) {
      ComparedMetric& score = one.metrics.emplace_back();
      score.name = "score " + std::to_string(is_base ? i : many - 1 - i);
      score.score = is_base || i > 0 ? 0.75 : 0.25;
    }
    return cases_of({std::move(one)});
  };
  const auto compared = compare(side(true), side(false), CompareRules{}, [](const ScoreComparison&) {});
  ASSERT_TRUE(compared);
  EXPECT_EQ(compared->unchanged, 2 * (many - 1));
  EXPECT_EQ(compared->broke, 1u);
  EXPECT_EQ(compared->regressions, 1u);
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
  EXPECT_EQ(compare_all(cases_of(one), all, rules).summary.verdict, RunVerdict::review)
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

// A base that was silent there had no score, so that nothing was compared.
TEST(Compare, AClaimWhereNothingIsExpectedIsWorseThanSilence) {
  ComparedMetric f1;
  f1.name = "claims_f1";
  const ComparedCase silent{"f", false, {f1}};
  f1.score = 0.0;
  const auto summary = [&](bool expects_nothing, std::optional<double> score) {
    ComparedCase now{"f", false, {f1}};
    now.metrics[0].score = score;
    now.expects_nothing = expects_nothing;
    return compare_all(cases_of({silent}), cases_of({now})).summary;
  };
  EXPECT_EQ(summary(true, 0.0).verdict, RunVerdict::regression);
  EXPECT_EQ(summary(true, std::nullopt).verdict, RunVerdict::pass);
  EXPECT_EQ(summary(true, std::nullopt).improvements, 0u);
  EXPECT_EQ(summary(false, 0.0).regressions, 0u);
  ComparedCase report = silent;
  report.expects_nothing = true;
  EXPECT_EQ(compare_all(cases_of({report}), cases_of({{"f", false, {f1}}})).summary.verdict,
            RunVerdict::regression)
      << "a baseline does not say what is expected";
  ComparedCase now = silent;
  now.expects_nothing = true;
  now.metrics[0].thresholding.mode = ThresholdMode::statistical;
  const auto statistics = compare_all(cases_of({silent}), cases_of({now})).summary.statistics;
  ASSERT_TRUE(statistics);
  ASSERT_EQ(statistics->metrics.size(), 1u);
  EXPECT_EQ(statistics->metrics[0].comparison.current, 1.0);
}

TEST(Compare, WhatHadNoMajorityIsAMatterOfTheVotesOfTheBase) {
  const auto side = [](double score, std::uint32_t samples) {
    ComparedMetric metric;
    metric.name = "faithfulness";
    metric.score = score;
    metric.votes = {{.samples = samples, .votes = samples, .passed = 0, .min_score = 0.5, .rationale = {}}};
    return ComparedCase{"a", false, {metric}};
  };
  const auto regressed = [&](const NextCase& base) {
    return compare_all(base, cases_of({side(0.1, 1)})).summary.verdict_input.regressed;
  };
  EXPECT_EQ(regressed(cases_of({side(0.34, 3)})), 1u);
  EXPECT_EQ(regressed(cases_of({side(0.34, 1)})), 0u);
  const Baseline three = baseline_of({{"a", "faithfulness", 0.34, R"({"judge_samples":3})"}});
  EXPECT_EQ(regressed(cases_of(three)), 1u);
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

// Cases of several repeats in a comparison of two sides.
#include "compare_fixture.hpp"

namespace sluice::compare_test {

TEST(CompareRepeats, RepeatsAreAssessedLikeTheGateDoes) {
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

TEST(CompareRepeats, APassFailMetricMayBeFlaky) {
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

TEST(CompareRepeats, RepeatsFailByTheMetricsTogether) {
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
TEST(CompareRepeats, ARunThatFailsByAnotherCheckInEachRepeatIsNoRegressionBesideItself) {
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

TEST(CompareRepeats, ABaselinesRepeatsAreAssessedWhereTheyAreAligned) {
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

}  // namespace sluice::compare_test

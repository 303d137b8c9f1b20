#include "coordinator/gate/repeated_assessment.hpp"
#include "statistical_fixture.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::statistical_gate_test {

TEST(StatisticalGate, TheCaseAloneIsNotAssessedByTheBaseline) {
  const Forty forty(0.9);
  const Case test = test_of(id_of(0), MetricId::semantic_similarity_to);
  const auto assessment =
      forty.gate.assess(test, std::vector{score_of(MetricId::semantic_similarity_to, 0.1)});
  EXPECT_EQ(assessment.status, CaseStatus::pass);
  ASSERT_EQ(assessment.metrics.size(), 1u);
  EXPECT_EQ(assessment.metrics[0].cause, MetricCause::assessed_statistically);
  EXPECT_TRUE(assessment.metrics[0].is_left_to_tests);
  EXPECT_EQ(assessment.metrics[0].baseline, 0.9);
}

TEST(StatisticalGate, AFloorStillChecksTheCase) {
  Thresholding suite = statistical();
  suite.min_floor = 0.5;
  const Forty forty(0.9, suite);
  const Case test = test_of(id_of(0), MetricId::semantic_similarity_to);
  const auto low = forty.gate.assess(test, std::vector{score_of(MetricId::semantic_similarity_to, 0.4)});
  EXPECT_EQ(low.status, CaseStatus::fail);
  EXPECT_EQ(low.metrics[0].cause, MetricCause::below_min_floor);
  EXPECT_TRUE(low.metrics[0].is_left_to_tests) << "and it counts in the tests too";
  EXPECT_EQ(forty.gate.assess(test, std::vector{score_of(MetricId::semantic_similarity_to, 0.5)}).status,
            CaseStatus::pass);
}

TEST(StatisticalGate, AFixtureIsNotAssessedAgainstPerfectionBesideTheTests) {
  const Baseline baseline =
      baseline_of({{"a", "claims_recall", 0.5}, {"a", "claims_f1", 0.6}, {"a", "claims_precision", 1}});
  const Gate gate = gate_of(&baseline, statistical());
  const auto assessment = gate.assess(fixture_of("a"), claims_outcomes(1.0, 0.5, 0.6, false));
  EXPECT_EQ(assessment.status, CaseStatus::pass);
}

TEST(StatisticalGate, ADropOfAllIsARegression) {
  const auto assessed = Forty(0.9).assessed([](int) { return 0.7; });
  ASSERT_EQ(assessed.metrics.size(), 1u);
  EXPECT_EQ(assessed.metrics[0].comparison.pairs, 40u);
  EXPECT_NEAR(*assessed.metrics[0].comparison.drop, 0.2, 1e-9);
  EXPECT_EQ(assessed.decision, ChangeDecision::regression);
  EXPECT_EQ(assessed.regressions(), 1u);
}

TEST(StatisticalGate, TheSameScoresAreNoRegression) {
  // Without any change the drop's bound is 1 - 0.05^(1/40) = 0.072.
  EXPECT_EQ(Forty(0.9, statistical(0.1)).assessed([](int) { return 0.9; }).decision,
            ChangeDecision::no_regression);
  const auto unknown = Forty(0.9, statistical(0.05)).assessed([](int) { return 0.9; });
  EXPECT_EQ(unknown.decision, ChangeDecision::underpowered);
  EXPECT_NEAR(*unknown.metrics[0].decision.minimum_detectable_effect, 0.1909511, 1e-6);
}

TEST(StatisticalGate, NoiseIsNoRegressionButMayBeUnderpowered) {
  const auto assessed = Forty(0.5).assessed([](int i) { return i % 2 == 0 ? 0.1 : 0.9; });
  EXPECT_EQ(assessed.decision, ChangeDecision::underpowered);
  EXPECT_GT(*assessed.metrics[0].decision.units_needed, 40u);
}

TEST(StatisticalGate, AScoreThatBecameUndefinedFailsItsCase) {
  const Baseline baseline = baseline_of({{"a", "claims_precision", 0.9}});
  const Gate gate = gate_of(&baseline, statistical());
  Case test = test_of("a", MetricId::claims_precision);
  test.kind = CaseKind::claims;
  test.must_contain = fixture_of("a").must_contain;
  const std::vector undefined{score_of(MetricId::claims_precision, std::nullopt)};
  const auto assessment = gate.assess(test, undefined);
  EXPECT_EQ(assessment.status, CaseStatus::fail) << "a model that suddenly says nothing must not pass";
  EXPECT_TRUE(assessment.regressed);
  EXPECT_EQ(assessment.metrics[0].cause, MetricCause::became_undefined);
  EXPECT_TRUE(assessment.metrics[0].is_left_to_tests);
  test.must_contain.clear();
  EXPECT_EQ(gate.assess(test, undefined).status, CaseStatus::pass)
      << "the best answer where nothing is expected";
}

TEST(StatisticalGate, OneUndefinedRepeatMakesACaseFlaky) {
  const Baseline baseline = baseline_of({{"a", similarity, 0.9}});
  const Gate gate = gate_of(&baseline, statistical());
  const Case test = test_of("a", MetricId::semantic_similarity_to);
  const auto defined = gate.assess(test, std::vector{score_of(MetricId::semantic_similarity_to, 0.9)});
  const auto undefined =
      gate.assess(test, std::vector{score_of(MetricId::semantic_similarity_to, std::nullopt)});
  const auto assessment = assessment_of_repeats(std::array{&defined, &undefined, &defined});
  EXPECT_EQ(assessment.status, CaseStatus::flaky);
  StatisticalGate tests({&baseline, statistical(), 0.05, 1});
  tests.add(test, assessment);
  const auto assessed = tests.finish();
  EXPECT_EQ(assessed.metrics.at(0).comparison.pairs, 1u);
  EXPECT_EQ(assessed.metrics[0].became_undefined.count(), 1u);
  EXPECT_EQ(assessed.metrics[0].left_out.count(), 0u);
}

TEST(StatisticalGate, AnUndefinedRepeatCountsInWhateverOrderTheRepeatsCome) {
  Thresholding suite = statistical(0.1);
  suite.min_floor = 0.2;
  const Forty forty(0.9, suite);
  const Case test = test_of(id_of(0), MetricId::semantic_similarity_to);
  const auto scored = [&](std::optional<double> score) {
    return forty.gate.assess(test, std::vector{score_of(MetricId::semantic_similarity_to, score)});
  };
  const auto low = scored(0.1);
  const auto undefined = scored(std::nullopt);
  const auto defined = scored(0.9);
  for (const auto& repeats :
       {std::array{&low, &undefined, &defined}, std::array{&undefined, &low, &defined}}) {
    StatisticalGate tests({&forty.baseline, suite, 0.05, 1});
    tests.add(test, assessment_of_repeats(repeats));
    EXPECT_EQ(tests.finish().metrics.at(0).became_undefined.count(), 1u);
  }
}

TEST(StatisticalGate, WhatBecameUndefinedIsNeverCalledNoRegression) {
  const auto assessed = Forty(0.9, statistical(0.1)).assessed([](int i) {
    return i == 7 ? std::optional<double>() : std::optional(0.9);
  });
  EXPECT_EQ(assessed.decision, ChangeDecision::underpowered)
      << "39 unchanged cases alone would exclude a drop";
  EXPECT_EQ(assessed.metrics[0].became_undefined.names(), "`case-007` semantic_similarity_to");
}

TEST(StatisticalGate, PairsOfTwoFilesAreTestedAsThoseOfARun) {
  const Forty forty(0.9);
  StatisticalGate tests({nullptr, statistical(), 0.05, 1});
  const double before = 0.9;
  const double now = 0.7;
  for (int i = 0; i < 40; ++i) {
    const std::string id = id_of(i);
    tests.add({id, i % 2 == 0 ? "even" : "odd", ScoreId{MetricId::semantic_similarity_to},
               std::span(&before, 1), std::span(&now, 1)});
  }
  const auto pairs = tests.finish();
  const auto run = forty.assessed([](int) { return 0.7; });
  EXPECT_EQ(pairs.decision, run.decision);
  EXPECT_EQ(pairs.metrics.at(0).comparison.test.p.drop, run.metrics.at(0).comparison.test.p.drop);
}

TEST(StatisticalGate, UndefinedScoresAreLeftOutByName) {
  const auto assessed =
      Forty(0.9).assessed([](int i) { return i == 7 ? std::optional<double>() : std::optional(0.7); });
  EXPECT_EQ(assessed.metrics[0].comparison.pairs, 39u);
  EXPECT_EQ(assessed.metrics[0].left_out.count(), 1u);
  EXPECT_NE(assessed.metrics[0].left_out.names().find("case-007"), std::string::npos);
}

TEST(StatisticalGate, TheCasesThatFellMostAreKeptByName) {
  const auto assessed = Forty(0.9).assessed([](int i) { return i < 25 ? 0.88 - 0.01 * i : 0.9 + 0.001 * i; });
  const LargestDrops& drops = assessed.metrics.at(0).drops;
  EXPECT_EQ(drops.count(), 25u);
  ASSERT_EQ(drops.kept().size(), defaults::kept_drops);
  for (std::size_t i = 0; i < drops.kept().size(); ++i) {
    const CaseDrop& one = drops.kept()[i];
    EXPECT_EQ(one.test_id, id_of(24 - static_cast<int>(i)));
    EXPECT_EQ(one.base, 0.9);
    EXPECT_EQ(billionths(one.drop()), 260'000'000 - static_cast<std::int64_t>(i) * 10'000'000);
  }
}

TEST(StatisticalGate, EqualDropsAreKeptByIdInWhateverOrderTheyCome) {
  std::vector<int> order(60);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    LargestDrops drops;
    // Those of the three sizes lie mixed among the ids, and 0.9 - 0.6 is not 0.8 - 0.5 in binary.
    for (const int i : order) {
      drops.add(id_of(i), i % 2 == 0 ? 0.9 : 0.8, i % 20 == 0 ? 0.1 : i % 2 == 0 ? 0.6 : 0.5);
    }
    EXPECT_EQ(drops.count(), 60u);
    std::vector<std::string> ids;
    for (const CaseDrop& one : drops.kept()) ids.push_back(one.test_id);
    EXPECT_EQ(ids, (std::vector{id_of(0), id_of(20), id_of(40), id_of(1), id_of(2), id_of(3), id_of(4),
                                id_of(5), id_of(6), id_of(7)}));
  }
}

TEST(StatisticalGate, ADropIsThatOfTheMeansOverTheRepeats) {
  StatisticalGate tests({nullptr, statistical(), 0.05, 1});
  const std::vector<double> before{1.0, 0.5};
  const std::vector<double> now{0.25, 0.5, 0.0, 0.25};
  const std::vector<double> none;
  tests.add({"fell", "", ScoreId{MetricId::semantic_similarity_to}, before, now});
  tests.add({"rose", "", ScoreId{MetricId::semantic_similarity_to}, now, before});
  tests.add({"same", "", ScoreId{MetricId::semantic_similarity_to}, before, before});
  tests.add({"undefined", "", ScoreId{MetricId::semantic_similarity_to}, before, none});
  tests.add({"new", "", ScoreId{MetricId::semantic_similarity_to}, none, now});
  const auto assessed = tests.finish();
  const LargestDrops& drops = assessed.metrics.at(0).drops;
  EXPECT_EQ(drops.count(), 1u);
  ASSERT_EQ(drops.kept().size(), 1u);
  EXPECT_EQ(drops.kept()[0].test_id, "fell");
  EXPECT_EQ(drops.kept()[0].base, 0.75);
  EXPECT_EQ(drops.kept()[0].current, 0.25);
}

TEST(StatisticalGate, ASuiteWithoutScoresHasNothingToCompare) {
  Thresholding suite;
  suite.mode = ThresholdMode::statistical;
  const std::vector passing{MetricId::must_contain, MetricId::claims_required};
  for (const bool strict : {false, true}) {
    const auto notice = nothing_to_compare_notice(suite, passing, {}, strict);
    ASSERT_TRUE(notice);
    EXPECT_EQ(notice->code, "nothing_to_compare");
    EXPECT_EQ(notice->severity, strict ? GateNotice::Severity::failure : GateNotice::Severity::warning);
  }
  const std::vector scored{MetricId::must_contain, MetricId::claims_f1};
  EXPECT_FALSE(nothing_to_compare_notice(suite, scored, {}, true));
  suite.mode = ThresholdMode::relative;
  EXPECT_FALSE(nothing_to_compare_notice(suite, passing, {}, true));
}

// It passed, with the words that the suite has no score.
TEST(StatisticalGate, ASuiteWhoseScoresAreKnownFailuresHasNothingToCompare) {
  const Forty forty(0.9);
  StatisticalGate tests({&forty.baseline, statistical(), 0.05, 1});
  Case known = test_of(id_of(0), MetricId::semantic_similarity_to);
  known.known_failure = "it is known";
  const std::vector outcomes{score_of(MetricId::semantic_similarity_to, 0.0)};
  tests.add(known, forty.gate.assess(known, outcomes));
  for (const bool strict : {false, true}) {
    const auto notice = nothing_paired_notice(*tests.outcome(), 0, strict);
    ASSERT_TRUE(notice);
    EXPECT_EQ(notice->code, "nothing_to_compare");
    EXPECT_EQ(notice->severity, strict ? GateNotice::Severity::failure : GateNotice::Severity::warning);
  }
  EXPECT_FALSE(nothing_paired_notice(forty.assessed([](int) { return 0.9; }), 0, true));
}

// Of an outage of the provider it said to take the mode out.
TEST(StatisticalGate, WhereCasesEndedInErrorsTheyAreWhyNothingWasCompared) {
  const Forty forty(0.9);
  const StatisticalGate tests({&forty.baseline, statistical(), 0.05, 1});
  for (const bool strict : {false, true}) EXPECT_FALSE(nothing_paired_notice(*tests.outcome(), 40, strict));
}

// Their scores failed a run that had got no worse, and hid it where others had.
TEST(StatisticalGate, ScoresOfKnownFailuresAreNotCompared) {
  const Forty forty(0.9);
  StatisticalGate tests({&forty.baseline, statistical(0.1), 0.05, 1});
  for (int i = 0; i < 40; ++i) {
    Case test = test_of(id_of(i), MetricId::semantic_similarity_to);
    if (i >= 30) test.known_failure = "it is known";
    const std::vector outcomes{score_of(MetricId::semantic_similarity_to, i < 30 ? 0.9 : 0.0)};
    tests.add(test, forty.gate.assess(test, outcomes));
  }
  const auto assessed = tests.finish();
  EXPECT_EQ(assessed.metrics.at(0).comparison.pairs, 30u);
  EXPECT_EQ(assessed.decision, ChangeDecision::no_regression);
}

TEST(StatisticalGate, CategoriesMayBeTheUnits) {
  Thresholding suite = statistical();
  suite.cluster_by_category = true;
  const auto assessed = Forty(0.9, suite).assessed([](int) { return 0.7; });
  EXPECT_EQ(assessed.metrics[0].comparison.units, 2u);
  EXPECT_EQ(assessed.decision, ChangeDecision::underpowered) << "two categories cannot be significant";
  EXPECT_TRUE(assessed.metrics[0].decision.too_few_changed);
}

TEST(StatisticalGate, RepeatsOfBothSidesCount) {
  Baseline baseline;
  baseline.header = {"demo", "0.1.0", "2025-12-21T12:00:00Z", "sha256:00"};
  const std::vector<double> pinned{1.0, 0.0};
  BaselineEntry entry{"a", similarity, 0.5, ""};
  entry.scores = pinned;
  baseline.add(entry);
  (void)baseline.seal();
  StatisticalGate tests({&baseline, statistical(), 0.05, 1});
  AssessedMetric metric;
  metric.id = MetricId::semantic_similarity_to;
  metric.score = 0.75;
  metric.baseline = 0.5;
  metric.is_left_to_tests = true;
  metric.repeat_scores = {1.0, 0.5};
  tests.add(test_of("a", metric.id), {.metrics = {metric}});
  const auto assessed = tests.finish();
  EXPECT_NEAR(*assessed.metrics.at(0).comparison.drop, -0.25, 1e-9);
  EXPECT_TRUE(assessed.metrics[0].comparison.equal_repeats);
}

/// Forty tests of a score, answered by two arms.
StatisticalAssessment of_two_arms(const std::vector<std::string>& arms, double now_of_second) {
  StatisticalGate tests({nullptr, statistical(0.1), 0.05, 1, arms});
  const double base = 0.5;
  const std::vector<double> now{0.9, now_of_second};
  for (int i = 0; i < 40; ++i) {
    for (std::size_t arm = 0; arm < now.size(); ++arm) {
      const std::string id = id_of(i) + (arm == 0 ? "@m1" : "@m2");
      ScorePair pair{id, "", ScoreId{MetricId::semantic_similarity_to}, std::span(&base, 1),
                     std::span(&now[arm], 1)};
      pair.arm = arm;
      tests.add(pair);
    }
  }
  return tests.finish();
}

// What one arm gained made up for what the other one lost.
TEST(StatisticalGate, AGoodArmHidesNoBadOne) {
  const auto assessed = of_two_arms({"m1", "m2"}, 0.1);
  ASSERT_EQ(assessed.metrics.size(), 2u);
  EXPECT_EQ(assessed.metrics[0].arm, "m1");
  EXPECT_EQ(assessed.metrics[0].decision.decision, ChangeDecision::improvement);
  EXPECT_EQ(assessed.metrics[1].arm, "m2");
  EXPECT_EQ(assessed.metrics[1].comparison.pairs, 40u);
  EXPECT_EQ(assessed.metrics[1].decision.decision, ChangeDecision::regression);
  EXPECT_EQ(assessed.decision, ChangeDecision::regression);
  EXPECT_EQ(assessed.regressions(), 1u);
  const auto without_arms = of_two_arms({}, 0.1);
  ASSERT_EQ(without_arms.metrics.size(), 1u);
  EXPECT_EQ(without_arms.metrics[0].arm, "");
}

// Each arm had draws of its own, and other limits of one and the same drop.
TEST(StatisticalGate, ArmsWithEqualScoresHaveEqualNumbers) {
  const std::vector<std::string> arms{"m1", "m2"};
  StatisticalGate tests({nullptr, statistical(0.1), 0.05, 1, arms});
  const double base = 0.9;
  for (int i = 0; i < 40; ++i) {
    const double now = 0.5 + i * 37 % 41 / 100.0;
    for (std::size_t arm = 0; arm < arms.size(); ++arm) {
      const std::string id = id_of(i) + "@" + arms[arm];
      ScorePair pair{id, "", ScoreId{MetricId::semantic_similarity_to}, std::span(&base, 1),
                     std::span(&now, 1)};
      pair.arm = arm;
      tests.add(pair);
    }
  }
  const auto assessed = tests.finish();
  ASSERT_EQ(assessed.metrics.size(), 2u);
  const auto& first = assessed.metrics[0].intervals.drop;
  const auto& second = assessed.metrics[1].intervals.drop;
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->low, second->low);
  EXPECT_EQ(first->high, second->high);
}

TEST(StatisticalGate, ARunWideFallIsARegressionOfTheRun) {
  VerdictInput input;
  input.statuses.passed = 10;
  EXPECT_EQ(run_verdict(input), RunVerdict::pass);
  input.run_regressions = 1;
  EXPECT_EQ(run_verdict(input), RunVerdict::regression);
  EXPECT_EQ(exit_code(RunVerdict::regression, input, {}), 1);
}

}  // namespace sluice::statistical_gate_test

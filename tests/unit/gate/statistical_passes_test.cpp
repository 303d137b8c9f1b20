// How often tests pass, compared over all cases.
#include "coordinator/gate/baseline_export.hpp"
#include "coordinator/gate/repeated_assessment.hpp"
#include "coordinator/statistics/random_stream.hpp"
#include "statistical_fixture.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::statistical_gate_test {

/// Forty tests of one check, and how each of its repeats came out.
struct FortyChecks {
  std::vector<Case> tests;

  explicit FortyChecks(const std::string& expected = "reference") {
    for (int i = 0; i < 40; ++i) {
      tests.push_back(test_of(id_of(i), MetricId::must_contain));
      tests.back().expectations.front().what.texts = {expected};
    }
  }

  CaseAssessment assessed(const Gate& gate, int test, const std::vector<bool>& repeats) const {
    std::vector<CaseAssessment> all;
    for (const bool passed : repeats)
      all.push_back(gate.assess(tests[test], std::vector{verdict_of(MetricId::must_contain, passed)}));
    for (CaseAssessment& one : all) one.metrics.front().detail = {};
    std::vector<const CaseAssessment*> views;
    for (const CaseAssessment& one : all) views.push_back(&one);
    return assessment_of_repeats(views);
  }

  Baseline pinned(const std::vector<bool>& repeats) const {
    BaselineExport pins({"demo", "0.1.0", "2025-12-21T12:00:00Z", "sha256:00"}, "model");
    for (int i = 0; i < 40; ++i) pins.add(tests[i].id, assessed(gate_of(nullptr), i, repeats));
    return *pins.finish();
  }

  StatisticalAssessment gated(const Baseline& baseline, const std::vector<bool>& repeats) const {
    StatisticalGate gate({&baseline, statistical(0.1), 0.05, 1});
    for (int i = 0; i < 40; ++i) gate.add(tests[i], assessed(gate_of(&baseline), i, repeats));
    return gate.finish();
  }
};

// Every test came to pass in two repeats of three instead of all, and the run to a review of flaky cases.
TEST(StatisticalPasses, ChecksThatPassLessOftenAreARegression) {
  const FortyChecks forty;
  const Baseline baseline = forty.pinned({true, true, true});
  const auto fell = forty.gated(baseline, {true, false, true});
  ASSERT_EQ(fell.metrics.size(), 1u);
  EXPECT_EQ(name_of(fell.metrics[0].mean), "passed");
  EXPECT_EQ(fell.metrics[0].comparison.pairs, 40u);
  EXPECT_NEAR(*fell.metrics[0].comparison.drop, 1.0 / 3.0, 1e-9);
  EXPECT_EQ(fell.decision, ChangeDecision::regression);
  EXPECT_EQ(fell.regressions(), 1u);
  EXPECT_EQ(forty.gated(baseline, {true, true, true}).decision, ChangeDecision::no_regression);
  EXPECT_EQ(forty.gated(baseline, {true}).decision, ChangeDecision::no_regression) << "asked once";
  EXPECT_EQ(forty.gated(forty.pinned({true, false, true}), {true, true, true}).decision,
            ChangeDecision::improvement);
}

// One bad answer to a prompt of twelve tests was a regression with a p below 0.001.
TEST(StatisticalPasses, TestsOfOnePromptAreOnePieceOfEvidence) {
  const FortyChecks forty;
  const Baseline baseline = forty.pinned({true, true, true});
  const auto gate_of_prompts = [&](int prompts, const Thresholding& suite) {
    StatisticalGate gate({&baseline, suite, 0.05, 1});
    for (int i = 0; i < 40; ++i) {
      const auto answers = static_cast<std::uint32_t>(3 * (i % prompts));
      gate.add(forty.tests[i], forty.assessed(gate_of(&baseline), i, {true, true, false}), answers);
    }
    return gate;
  };
  const auto one = gate_of_prompts(1, {});
  EXPECT_FALSE(one.outcome());
  const auto notice = one.too_few_tests_notice(0);
  ASSERT_TRUE(notice);
  EXPECT_TRUE(
      notice->message.starts_with("40 of 40 tests passed less often than in the baseline, and fewer than 10 "
                                  "separately asked tests cannot be significant"))
      << notice->message;
  const auto assessed = gate_of_prompts(1, statistical(0.1)).finish();
  EXPECT_EQ(assessed.decision, ChangeDecision::underpowered);
  EXPECT_EQ(assessed.metrics[0].comparison.pairs, 40u);
  EXPECT_EQ(assessed.metrics[0].comparison.units, 1u);
  EXPECT_EQ(assessed.metrics[0].comparison.test.p.drop, 0.5);
  EXPECT_FALSE(gate_of_prompts(9, {}).outcome());
  ASSERT_TRUE(gate_of_prompts(10, {}).outcome()) << "ten prompts are enough";
}

TEST(StatisticalPasses, ChecksOfOneAnswerAreTheirCasesOwn) {
  const FortyChecks forty;
  EXPECT_FALSE(forty.gated(forty.pinned({true}), {false}).decision) << "each case broke by itself";
  EXPECT_FALSE(forty.gated(forty.pinned({true}), {true, false, true}).decision);
}

TEST(StatisticalPasses, FewerThanTenTestsThatPassLessOftenAreSaidToBeTooFew) {
  const FortyChecks forty;
  const Baseline baseline = forty.pinned({true, true, true});
  const auto notice_of = [&](int tests, const std::vector<bool>& now, Thresholding suite = {},
                             std::uint64_t regressed = 0) {
    StatisticalGate gate({&baseline, suite, 0.05, 1});
    for (int i = 0; i < tests; ++i) gate.add(forty.tests[i], forty.assessed(gate_of(&baseline), i, now));
    EXPECT_EQ(gate.outcome().has_value(), suite.mode.has_value() || (tests > 9 && !now[1]));
    return gate.too_few_tests_notice(regressed);
  };
  const auto few = notice_of(9, {true, false, true});
  ASSERT_TRUE(few);
  EXPECT_EQ(few->severity, GateNotice::Severity::info);
  EXPECT_TRUE(
      few->message.starts_with("9 of 9 tests passed less often than in the baseline, and fewer than "
                               "10 tests cannot be significant at a confidence of 0.999"))
      << few->message;
  EXPECT_FALSE(notice_of(10, {true, false, true})) << "they are a regression";
  EXPECT_FALSE(notice_of(9, {true, true, true}));
  EXPECT_FALSE(notice_of(9, {true, false, true}, statistical(0.1))) << "its report says it of each mean";
  EXPECT_FALSE(notice_of(9, {true, false, true}, {}, 1))
      << "a case that regressed fails the run and is named";
}

/// Arms with the same tests, each of which passes in `now` of its repeats instead of in all three.
StatisticalGate gate_of_arms(int arms, int tests, double now) {
  std::vector<std::string> names;
  for (int arm = 0; arm < arms; ++arm) names.push_back("a" + std::to_string(arm));
  StatisticalGate gate({nullptr, {}, 0.05, 1, names});
  const std::array base{1.0, 1.0, 1.0};
  const std::array current{1.0, now, 1.0};
  for (int arm = 0; arm < arms; ++arm) {
    for (int i = 0; i < tests; ++i) {
      const std::string id = "t" + std::to_string(i);
      ScorePair pair{.test_id = id, .category = "", .mean = {}, .base = base, .current = current};
      pair.arm = static_cast<std::size_t>(arm);
      gate.add(pair);
    }
  }
  return gate;
}

// Ten arms were a regression and eleven passed: 9,999 draws came to a p of 1/10,000 at best.
TEST(StatisticalPasses, ManyArmsThatFellAreARegression) {
  for (const int arms : {10, 11, 60}) {
    const auto assessed = gate_of_arms(arms, 30, 0.0).outcome();
    ASSERT_TRUE(assessed) << arms;
    EXPECT_EQ(assessed->regressions(), static_cast<std::uint64_t>(arms));
    EXPECT_FALSE(gate_of_arms(arms, 30, 0.0).undecided_arms_notice(0));
  }
}

TEST(StatisticalPasses, ArmsThatOnlyTheOthersKeepFromARegressionAreSaid) {
  const StatisticalGate gate = gate_of_arms(11, 12, 0.0);  // 2^-12 by itself.
  EXPECT_FALSE(gate.outcome());
  EXPECT_FALSE(gate.too_few_tests_notice(0));
  const auto notice = gate.undecided_arms_notice(0);
  ASSERT_TRUE(notice);
  EXPECT_EQ(notice->severity, GateNotice::Severity::info);
  EXPECT_EQ(notice->code, "passed_undecided");
  EXPECT_TRUE(
      notice->message.starts_with("the tests of some arms (`a0`, `a1`, `a2` and 8 more) passed less "
                                  "often than in the baseline"))
      << notice->message;
  EXPECT_FALSE(gate.undecided_arms_notice(1)) << "a case that regressed fails the run and is named";
  EXPECT_FALSE(gate_of_arms(11, 12, 1.0).undecided_arms_notice(0)) << "nothing fell";
  EXPECT_FALSE(gate_of_arms(1, 9, 0.0).undecided_arms_notice(0)) << "too few by themselves";
}

TEST(StatisticalPasses, OtherChecksAndKnownFailuresAreNotCompared) {
  FortyChecks forty;
  const Baseline baseline = forty.pinned({true, true, true});
  EXPECT_FALSE(FortyChecks("another text").gated(baseline, {true, false, true}).decision);
  for (Case& test : forty.tests) test.known_failure = "it is known";
  EXPECT_FALSE(forty.gated(baseline, {true, false, true}).decision);
}

TEST(StatisticalPasses, RepeatsOfChecksAreSomethingToCompare) {
  const std::vector passing{MetricId::must_contain};
  const FortyChecks forty;
  EXPECT_TRUE(nothing_to_compare_notice(statistical(), passing, forty.pinned({true}), false));
  EXPECT_FALSE(nothing_to_compare_notice(statistical(), passing, forty.pinned({true, true}), false));
}

TEST(StatisticalPasses, ASuiteWithoutTestsOfItsOwnFailsWhereChecksPassLessOften) {
  const FortyChecks suite;
  const Baseline baseline = suite.pinned({true, true, true});
  const auto outcome = [&](const std::vector<bool>& repeats) {
    StatisticalGate gate({&baseline, {}, 0.05, 1});
    for (int i = 0; i < 40; ++i) gate.add(suite.tests[i], suite.assessed(gate_of(&baseline), i, repeats));
    return gate.outcome();
  };
  EXPECT_FALSE(outcome({true, true, true})) << "nothing that nobody asked for, unless it fails";
  const auto fell = outcome({true, false, true});
  ASSERT_TRUE(fell);
  EXPECT_EQ(fell->regressions(), 1u);
}

TEST(StatisticalPasses, OfArmsThatNobodyAskedForOnlyThoseThatFellAreNamed) {
  const FortyChecks suite;
  const Baseline baseline = suite.pinned({true, true, false});
  StatisticalGate gate({&baseline, {}, 0.05, 1, {"m1", "m2"}});
  for (int i = 0; i < 40; ++i) {
    Case test = suite.tests[i];
    test.arm = i < 20 ? 0 : 1;
    const std::vector<bool> now{true, i < 20, i < 20};
    gate.add(test, suite.assessed(gate_of(&baseline), i, now));
  }
  const auto outcome = gate.outcome();
  ASSERT_TRUE(outcome);
  ASSERT_EQ(outcome->metrics.size(), 1u);
  EXPECT_EQ(outcome->metrics[0].arm, "m2");
  EXPECT_EQ(outcome->regressions(), 1u);
}

/// Answers of one and the same model: the first check passes in 30 % of them, the second in 90 %.
CaseAssessment drawn(const Gate& gate, const Case& test, std::size_t repeats, RandomStream& random) {
  std::vector<std::vector<MetricOutcome>> outcomes(repeats);
  std::vector<ScoredAnswer> answers;
  for (auto& of_repeat : outcomes) {
    for (const double chance : {0.3, 0.9})
      of_repeat.push_back(verdict_of(MetricId::must_contain, random.unit() < chance));
    answers.push_back({of_repeat});
  }
  std::vector<CaseAssessment> all = gate.assess_answers(test, answers, repeats);
  std::vector<const CaseAssessment*> views;
  for (CaseAssessment& one : all) {
    for (AssessedMetric& metric : one.metrics) metric.detail = {};
    views.push_back(&one);
  }
  return assessment_of_repeats(views);
}

/// Of 200 pairs of runs of 60 tests, those of which the second is said to pass less often, at 95 %.
int alarms_of_unchanged(std::size_t base_repeats, std::size_t current_repeats) {
  Case test = test_of("", MetricId::must_contain);
  test.expectations.push_back(test.expectations.front());
  test.expectations.back().what.texts = {"another reference"};
  Thresholding suite;
  suite.confidence = 0.95;
  int alarms = 0;
  for (std::uint64_t pair = 0; pair < 200; ++pair) {
    RandomStream random(20251221, pair);
    BaselineExport pins({"demo", "0.1.0", "2025-12-21T12:00:00Z", "sha256:00"}, "model");
    for (int i = 0; i < 60; ++i) {
      test.id = id_of(i);
      pins.add(test.id, drawn(gate_of(nullptr), test, base_repeats, random));
    }
    const Baseline baseline = *pins.finish();
    const Gate gate = gate_of(&baseline);
    StatisticalGate tests({&baseline, suite, 0.05, pair});
    for (int i = 0; i < 60; ++i) {
      test.id = id_of(i);
      tests.add(test, drawn(gate, test, current_repeats, random));
    }
    alarms += tests.finish().regressions() > 0 ? 1 : 0;
  }
  return alarms;
}

// Checks that had failed in the base by luck were left out of both sides, and lowered the current one alone:
// most unchanged runs were a regression.
TEST(StatisticalPasses, AnUnchangedModelOfSeveralChecksIsARegressionInOneRunOfTwenty) {
  EXPECT_LE(alarms_of_unchanged(3, 3), 18) << "9 % of 200";
  EXPECT_LE(alarms_of_unchanged(2, 4), 18) << "unequal repeats";
}

}  // namespace sluice::statistical_gate_test

// What the fold over a run's arms makes of its cases.
#include "coordinator/merge/run_arms.hpp"

#include "tests/unit/report/arms_by_hand.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::run_arms_test {

using namespace run_arms;

TEST(RunArms, SumsUpEachArm) {
  Arms arms({"old", "new"});
  arms.spend_next(800);
  arms.add(0, 1, {pass_fail(true), scored(0.5)});
  arms.add(0, 0, {pass_fail(true), scored(1.0)});
  arms.spend_next(300);
  arms.add(1, 1, {pass_fail(false), scored(0.25)});
  arms.add_error(1, 0);
  const RunArms run = arms.finish([](const PaidByArm& paid) -> std::optional<double> {
    if (paid.by_arm().size() < 2) return std::nullopt;
    return static_cast<double>(paid.by_arm()[1].total()) / 10.0;
  });
  ASSERT_EQ(run.arms.size(), 2u);
  const ArmSummary& old_arm = run.arms[0];
  const ArmSummary& new_arm = run.arms[1];
  EXPECT_EQ(old_arm.totals.statuses, (StatusCounts{.passed = 1, .errors = 1}));
  EXPECT_EQ(new_arm.totals.statuses, (StatusCounts{.passed = 1, .failed = 1}));
  EXPECT_EQ(old_arm.means, (std::map<ComparedMean, std::optional<double>>{
                               {std::nullopt, 1.0}, {ScoreId{MetricId::semantic_similarity_to}, 1.0}}));
  EXPECT_EQ(new_arm.means, (std::map<ComparedMean, std::optional<double>>{
                               {std::nullopt, 0.5}, {ScoreId{MetricId::semantic_similarity_to}, 0.375}}));
  EXPECT_EQ(new_arm.usage.of(CallKind::answer), (Usage{20, 40}));
  EXPECT_EQ(new_arm.estimated_cost, 6.0);
  EXPECT_EQ(old_arm.estimated_cost, std::nullopt) << "its price is not known";
  EXPECT_EQ(new_arm.called, 2u);
  EXPECT_EQ(new_arm.latency_p50, 300u);
  EXPECT_EQ(new_arm.latency_p95, 800u);
  EXPECT_EQ(old_arm.latency_p50, std::nullopt) << "nothing was called";
}

// Of a server that reports no tokens the report said that nothing was called.
TEST(RunArms, AnAnswerWithoutUsageWasCalledFor) {
  Arms arms({"metered", "silent", "filtered"});
  for (std::uint32_t arm = 0; arm < 3; ++arm) {
    arms.spend_next(46);
    if (arm > 0) arms.lack_usage(arm == 1);
    arms.add(0, arm, {pass_fail(true)});
  }
  const RunArms run = arms.finish([](const PaidByArm&) { return 1.0; });
  EXPECT_EQ(run.arms[0].known_usage(), (Usage{10, 20}));
  EXPECT_EQ(run.arms[1].called, 1u);
  EXPECT_EQ(run.arms[1].latency_p50, 46u);
  EXPECT_EQ(run.arms[1].known_usage(), std::nullopt);
  EXPECT_EQ(run.arms[1].estimated_cost, std::nullopt);
  EXPECT_EQ(run.arms[2].called, 0u) << "no model was asked";
  EXPECT_EQ(run.arms[2].known_usage(), Usage{});
}

// The second arm was free: its answers counted as the first one's alone.
TEST(RunArms, AnAnswerThatArmsShareCountsForEachOfThem) {
  Arms arms({"old", "new"});
  arms.add(0, 0, {pass_fail(true)});
  arms.share_last_answer();
  arms.add(0, 1, {pass_fail(true)});
  arms.add(1, 0, {pass_fail(true)});
  arms.share_last_answer();
  arms.add(1, 1, {pass_fail(true)});
  for (const std::uint32_t arm : {0u, 1u}) {  // A test of the same request.
    arms.share_last_answer();
    arms.add(2, arm, {pass_fail(true)});
  }
  const RunArms run = arms.finish();
  for (const ArmSummary& arm : run.arms)
    EXPECT_EQ(arm.usage.of(CallKind::answer), (Usage{20, 40})) << arm.name;
}

// Twelve tests of one prompt were twelve pieces of evidence.
TEST(RunArms, TestsOfOnePromptAreOnePieceOfEvidence) {
  const auto compared = [](bool is_shared) {
    Arms arms({"old", "new"});
    // Of the new arm alone: its prompt leaves out what tells the tests apart.
    for (std::uint32_t test = 0; test < 12; ++test) arms.add(test, 0, {pass_fail(true)});
    for (std::uint32_t test = 0; test < 12; ++test) {
      if (is_shared && test > 0) arms.share_last_answer();
      arms.add(test, 1, {pass_fail(false)});
    }
    return arms.finish().pairs.at(0).metrics.at(0);
  };
  EXPECT_EQ(compared(false).verdict, ArmVerdict::worse);
  const ArmMetricComparison shared = compared(true);
  EXPECT_EQ(shared.verdict, ArmVerdict::undecided);
  EXPECT_EQ(shared.comparison.pairs, 12u);
  EXPECT_EQ(shared.comparison.units, 1u);
}

TEST(RunArms, PairsTheTestsThatBothAnswered) {
  Arms arms({"a", "b", "c"});
  for (std::uint32_t test = 0; test < 3; ++test) {
    arms.add(test, 0, {pass_fail(true), scored(0.5)});
    if (test == 2) {
      arms.add_error(test, 1);
    } else {
      arms.add(test, 1, {pass_fail(test == 0), scored(0.75)});
    }
    arms.add(test, 2, {pass_fail(true)});
  }
  const RunArms run = arms.finish();
  ASSERT_EQ(run.pairs.size(), 3u);
  const auto& passed = of(run.pairs[0], {});
  EXPECT_EQ(passed.comparison.pairs, 2u);
  EXPECT_EQ(passed.comparison.left_out, 1u);
  EXPECT_EQ(passed.gain(), -0.5);
  EXPECT_EQ(passed.verdict, ArmVerdict::undecided);
  EXPECT_EQ(of(run.pairs[0], ScoreId{MetricId::semantic_similarity_to}).gain(), 0.25);
  EXPECT_EQ(of(run.pairs[1], ScoreId{MetricId::semantic_similarity_to}).comparison.pairs, 0u)
      << "c has none of it";
  EXPECT_EQ(run.tests, 3u);
  ASSERT_EQ(run.differing, 1u);
  EXPECT_EQ(run.differences[0].test, "t1001");
  EXPECT_EQ(run.differences[0].statuses, (Statuses{CaseStatus::pass, CaseStatus::fail, CaseStatus::pass}));
  EXPECT_EQ(run.differing_by_errors, 1u);
}

// An arm whose answers no cache held made each test of the suite one that differs.
TEST(RunArms, ATestThatDiffersByErrorsAloneIsCountedApart) {
  Arms arms({"a", "b", "c"});
  for (std::uint32_t test = 0; test < 4; ++test) {
    arms.add(test, 0, {pass_fail(true)});
    arms.add_error(test, 1);
    arms.add(test, 2, {pass_fail(test > 0)});
  }
  for (std::uint32_t arm = 0; arm < 3; ++arm) arms.add_error(4, arm);
  const RunArms run = arms.finish();
  ASSERT_EQ(run.differing, 1u);
  EXPECT_EQ(run.differences[0].statuses, (Statuses{CaseStatus::pass, CaseStatus::error, CaseStatus::fail}));
  EXPECT_EQ(run.differing_by_errors, 3u) << "and what is an error under all differs in nothing";
}

// An interrupted run called cases that nobody asked errors, and each such test a difference.
TEST(RunArms, ACaseThatWasNotStartedIsNoDifference) {
  Arms arms({"a", "b", "c"});
  arms.add(0, 0, {pass_fail(true)});
  arms.add_not_started(0, 1);
  arms.add_not_started(0, 2);
  arms.add(1, 0, {pass_fail(true)});
  arms.add(1, 1, {pass_fail(false)});
  arms.add_not_started(1, 2);
  const RunArms run = arms.finish();
  ASSERT_EQ(run.differing, 1u);
  EXPECT_EQ(run.differences[0].test, "t1001");
  EXPECT_EQ(run.differences[0].statuses, (Statuses{CaseStatus::pass, CaseStatus::fail, std::nullopt}));
}

// One test gave the interval "+0.0 to +0.0".
TEST(RunArms, AFewTestsGiveNoInterval) {
  for (const std::uint32_t tests : {1u, 4u, 5u}) {
    Arms arms({"a", "b"});
    for (std::uint32_t test = 0; test < tests; ++test) {
      arms.add(test, 0, {scored(0.5)});
      arms.add(test, 1, {scored(0.6 + 0.05 * test)});
    }
    const RunArms run = arms.finish();
    const ArmMetricComparison& one = of(run.pairs[0], ScoreId{MetricId::semantic_similarity_to});
    EXPECT_GT(one.gain(), 0.0);
    EXPECT_EQ(one.gain_interval().has_value(), tests == 5) << tests;
  }
}

// Each pair had draws of its own: of one and the same differences it said -20.0 here and -17.5 there.
TEST(RunArms, EqualAnswersGiveEqualNumbersInEveryPair) {
  Arms arms({"old", "b", "c"});
  for (std::uint32_t test = 0; test < 40; ++test) {
    arms.add(test, 0, {scored(0.9)});
    for (const std::uint32_t arm : {1u, 2u}) arms.add(test, arm, {scored(0.5 + test * 37 % 41 / 100.0)});
  }
  const RunArms run = arms.finish();
  ASSERT_EQ(run.pairs.size(), 3u);
  const ScoreId score{MetricId::semantic_similarity_to};
  const ArmMetricComparison& b = of(run.pairs[0], score);
  const ArmMetricComparison& c = of(run.pairs[1], score);
  ASSERT_TRUE(b.gain_interval() && c.gain_interval());
  EXPECT_EQ(b.gain_interval()->low, c.gain_interval()->low);
  EXPECT_EQ(b.gain_interval()->high, c.gain_interval()->high);
  EXPECT_EQ(b.decision.adjusted_p.drop, c.decision.adjusted_p.drop);
}

TEST(RunArms, ABaselineArmIsComparedWithEachOther) {
  ArmRules rules;
  rules.baseline = 1;
  Arms arms({"a", "b", "c"}, rules);
  for (std::uint32_t arm = 0; arm < 3; ++arm) arms.add(0, arm, {pass_fail(true)});
  const RunArms run = arms.finish();
  ASSERT_EQ(run.pairs.size(), 2u);
  // Said is what the other arm is beside the baseline's.
  EXPECT_EQ(run.pairs[0].first, 1u);
  EXPECT_EQ(run.pairs[0].second, 0u);
  EXPECT_EQ(run.pairs[1].first, 1u);
  EXPECT_EQ(run.pairs[1].second, 2u);
}

TEST(RunArms, AFallBelowABaselineIsNotAFailureOfTheArm) {
  Arms arms({"a", "b"});
  AssessedMetric dropped = scored(0.5);
  dropped.status = MetricStatus::fail;
  dropped.cause = MetricCause::dropped;
  arms.add(0, 0, {dropped});
  arms.add(0, 1, {pass_fail(true)});
  dropped.own_cause = MetricCause::below_min_floor;
  arms.add(1, 0, {dropped});
  arms.add(1, 1, {pass_fail(true)});
  const RunArms run = arms.finish();
  EXPECT_EQ(run.arms[0].means.at({}), 0.5) << "the second one misses a limit of its own as well";
}

TEST(RunArms, EqualArmsAreEquivalentOnceTestsAreMany) {
  Arms arms({"a", "b"});
  for (std::uint32_t test = 0; test < 200; ++test) {
    for (std::uint32_t arm = 0; arm < 2; ++arm) arms.add(test, arm, {pass_fail(true)});
  }
  const RunArms run = arms.finish();
  EXPECT_EQ(of(run.pairs[0], {}).verdict, ArmVerdict::equivalent);
}

TEST(RunArms, NoticesOrientEachPairByTheBaseline) {
  Arms arms({"a", "b", "c"}, {.baseline = 1});
  for (std::uint32_t test = 0; test < 60; ++test) {
    arms.add(test, 0, {scored(0.2)});
    arms.add(test, 1, {scored(0.9)});
    arms.add(test, 2, {scored(1.0)});
  }
  const RunArms run = arms.finish();
  const auto notices = arm_notices(run, 1);
  ASSERT_EQ(notices.size(), 1u) << "c is better, and as many tests pass";
  EXPECT_EQ(notices[0].code, "arm_worse");
  EXPECT_EQ(notices[0].severity, GateNotice::Severity::failure);
  EXPECT_EQ(notices[0].message,
            "`semantic_similarity_to` of the arm `a` is worse than that of `b`, beyond chance.");
}

// An arm that passes 36 of 60 tests beside one that passes all of them left the run as it was.
TEST(RunArms, AnArmThatPassesLessOftenIsWorse) {
  Arms arms({"a", "b"}, {.baseline = 0});
  for (std::uint32_t test = 0; test < 60; ++test) {
    arms.add(test, 0, {pass_fail(true)});
    arms.add(test, 1, {pass_fail(test % 5 < 3)});
  }
  const auto notices = arm_notices(arms.finish(), 0);
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0].code, "arm_worse");
  EXPECT_EQ(notices[0].severity, GateNotice::Severity::failure);
  EXPECT_EQ(notices[0].message, "`passed` of the arm `b` is worse than that of `a`, beyond chance.");
}

// Without `mode: statistical` nobody said so: a pass rate that both reach hid it.
TEST(RunArms, AnArmThatPassesLessOftenIsWorseAlsoWhereNobodyAskedForTests) {
  for (const std::size_t baseline : {0u, 1u}) {
    Arms arms({"a", "b"}, {.baseline = baseline});
    Arms close({"a", "b"}, {.baseline = baseline});
    for (std::uint32_t test = 0; test < 60; ++test) {
      for (std::uint32_t arm = 0; arm < 2; ++arm) {
        const bool is_other = arm != baseline;
        arms.add(test, arm, {pass_fail(!is_other || test % 5 < 3)});
        close.add(test, arm, {pass_fail(!is_other || test >= 9)});
      }
    }
    const RunArms run = arms.finish();
    const auto notices = arm_pass_notices(run, baseline);
    ASSERT_EQ(notices.size(), 1u);
    EXPECT_EQ(notices[0].code, "arm_worse");
    EXPECT_EQ(notices[0].severity, GateNotice::Severity::failure);
    EXPECT_EQ(notices[0].message, baseline == 0
                                      ? "`passed` of the arm `b` is worse than that of `a`, beyond chance."
                                      : "`passed` of the arm `a` is worse than that of `b`, beyond chance.");
    EXPECT_TRUE(arm_pass_notices(close.finish(), baseline).empty()) << "nine are not enough";
    EXPECT_TRUE(arm_pass_notices(run, 1 - baseline).empty()) << "better";
  }
}

// It failed the run, where all that such a judge fails only warns.
TEST(RunArms, AJudgeThatMayFailNothingMakesNoArmWorse) {
  AssessedMetric outvoted = pass_fail(false);
  outvoted.id = MetricId::faithfulness;
  outvoted.own_cause = MetricCause::no_majority;
  outvoted.fails_nothing = true;
  outvoted.status = MetricStatus::warn;
  Arms arms({"a", "b"}, {.baseline = 0});
  for (std::uint32_t test = 0; test < 60; ++test) {
    arms.add(test, 0, {pass_fail(true)});
    arms.add(test, 1, {outvoted});
  }
  EXPECT_TRUE(arm_pass_notices(arms.finish(), 0).empty());
}

TEST(RunArms, AFailureThatIsKnownMakesNoArmWorse) {
  Arms arms({"a", "b"}, {.baseline = 0});
  arms.know_failures();
  for (std::uint32_t test = 0; test < 60; ++test) {
    arms.add(test, 0, {pass_fail(true)});
    arms.add(test, 1, {pass_fail(test % 5 < 3)});
  }
  EXPECT_TRUE(arm_notices(arms.finish(), 0).empty());
}

// Only whether they pass was left out: their scores made an arm worse.
TEST(RunArms, TheScoreOfAKnownFailureDecidesNothing) {
  Arms arms({"a", "b"}, {.baseline = 0});
  for (std::uint32_t arm = 0; arm < 2; ++arm) arms.add(0, arm, {scored(0.5)});
  arms.know_failures();
  for (std::uint32_t test = 1; test < 60; ++test) {
    arms.add(test, 0, {scored(0.9)});
    arms.add(test, 1, {scored(0.1)});
  }
  const RunArms run = arms.finish();
  EXPECT_EQ(of(run.pairs[0], ScoreId{MetricId::semantic_similarity_to}).comparison.pairs, 1u);
  EXPECT_EQ(run.arms[1].means.at(ScoreId{MetricId::semantic_similarity_to}), 0.5);
  for (const GateNotice& notice : arm_notices(run, 0)) EXPECT_NE(notice.code, "arm_worse");
}

// An arm that says nothing where nothing is to be found had no score of it, so that no false alarm of another
// arm was compared with it.
TEST(RunArms, SilenceWhereNoClaimIsExpectedIsTheBestScoreBesideOthers) {
  Arms arms({"silent", "noisy", "quiet"});
  for (std::uint32_t test = 0; test < 40; ++test) {
    const auto noise = test % 2 == 0 ? std::optional(0.0) : std::nullopt;
    arms.add(test, 0, {of_clean_case(MetricId::claims_f1, std::nullopt)});
    arms.add(test, 1, {of_clean_case(MetricId::claims_f1, noise)});
    arms.add(test, 2, {of_clean_case(MetricId::claims_f1, std::nullopt)});
  }
  const ScoreId f1{MetricId::claims_f1};
  const RunArms run = arms.finish();
  EXPECT_TRUE(run.counts_silence);
  EXPECT_EQ(run.arms[0].means.at(f1), 1.0);
  EXPECT_EQ(run.arms[1].means.at(f1), 0.5);
  EXPECT_EQ(of(run.pairs[0], f1).comparison.pairs, 40u);
  EXPECT_EQ(of(run.pairs[0], f1).gain(), -0.5);
  EXPECT_EQ(of(run.pairs[0], f1).verdict, ArmVerdict::worse);
  EXPECT_EQ(of(run.pairs[1], f1).gain(), 0.0) << "both are silent, and no one is undecided for lack of tests";
}

// Its metric was in no report at all.
TEST(RunArms, WhatNoArmHasAScoreOfIsUndefined) {
  Arms arms({"a", "b", "failed"});
  for (const std::uint32_t arm : {0u, 1u}) {
    arms.add(0, arm,
             {of_clean_case(MetricId::claims_precision, std::nullopt),
              of_clean_case(MetricId::claims_recall, std::nullopt)});
  }
  arms.add_error(0, 2);
  const RunArms run = arms.finish();
  const std::map<ComparedMean, std::optional<double>> undefined{
      {std::nullopt, 1.0},
      {ScoreId{MetricId::claims_precision}, std::nullopt},
      {ScoreId{MetricId::claims_recall}, std::nullopt}};
  EXPECT_EQ(run.arms[0].means, undefined);
  EXPECT_EQ(run.arms[1].means, undefined);
  EXPECT_TRUE(run.arms[2].means.empty()) << "it was asked in vain";
  EXPECT_FALSE(run.counts_silence);
  EXPECT_EQ(run.pairs[0].metrics.size(), 1u) << "whether they pass is compared, and nothing else";
}

TEST(RunArms, SilenceIsNoScoreWhereClaimsAreExpectedNorIsARefusal) {
  AssessedMetric silent = of_clean_case(MetricId::claims_precision, std::nullopt);
  silent.is_silence_best = false;
  Arms arms({"silent", "honest", "refusing"});
  arms.add(0, 0, {silent});
  arms.add(0, 1, {of_clean_case(MetricId::claims_precision, 0.5)});
  arms.add_refusal(0, 2, {of_clean_case(MetricId::claims_precision, std::nullopt)});
  const ScoreId precision{MetricId::claims_precision};
  const RunArms run = arms.finish();
  EXPECT_EQ(run.arms[0].means.at(precision), std::nullopt);
  EXPECT_EQ(run.arms[1].means.at(precision), 0.5);
  EXPECT_FALSE(run.arms[2].means.contains(precision));
  EXPECT_FALSE(run.counts_silence);
  EXPECT_EQ(of(run.pairs[0], precision).comparison.pairs, 0u);
  EXPECT_EQ(of(run.pairs[0], precision).comparison.left_out, 1u);
}

TEST(RunArms, ANoticeSaysThatTooFewTestsDecideNothing) {
  Arms arms({"1", "2"}, {.baseline = 0});
  arms.add(0, 0, {scored(0.5)});
  arms.add(0, 1, {scored(0.75)});
  const auto notices = arm_notices(arms.finish(), 0);
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0].code, "arm_undecided");
  EXPECT_EQ(
      notices[0].message,
      "whether `semantic_similarity_to` of the arm `2` is worse than that of `1` or as good, these answers "
      "do not say: more tests or repeats are needed.");
}

}  // namespace sluice::run_arms_test

// Judge metrics in the gate: the majority of the votes, their agreement, and the mean beside a baseline.
// Every expectation is worked out by hand.
#include "coordinator/gate/repeated_assessment.hpp"
#include "gate_fixture.hpp"

#include <array>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::judge_gate_test {

using enum MetricCause;

struct Came {
  CaseStatus status;
  MetricCause cause;
  friend bool operator==(const Came&, const Came&) = default;
  friend void PrintTo(const Came& came, std::ostream* out) {
    *out << to_string(came.status) << ' ' << to_string(came.cause);
  }
};

Came came(const CaseAssessment& assessment) {
  return {assessment.status, assessment.metrics.at(0).cause};
}

Came came(std::vector<double> scores) {
  return came(assess_votes(gate_of(nullptr), judged_test("q"), votes(std::move(scores))));
}

TEST(JudgeGate, OneVoteDecidesAlone) {
  EXPECT_EQ(came({0.5}), (Came{CaseStatus::pass, none}));
  EXPECT_EQ(came({0.49}), (Came{CaseStatus::fail, no_majority}));
}

TEST(JudgeGate, ATieIsNoMajority) {
  EXPECT_EQ(came({1.0, 0.4}), (Came{CaseStatus::fail, no_majority})) << "a mean of 0.7 does not help";
  EXPECT_EQ(came({0.4, 1.0}), (Came{CaseStatus::fail, no_majority}));
  EXPECT_EQ(came({0.6, 0.7}), (Came{CaseStatus::pass, none}));
  EXPECT_EQ(came({0.1, 0.2}), (Came{CaseStatus::fail, no_majority}));
}

// Under --strict it failed, beside a baseline that had the same votes too, and no report said why.
TEST(JudgeGate, AMajorityThatIsOpposedWarns) {
  for (const std::vector<double>& scores : {std::vector{0.9, 0.1, 0.9}, std::vector{0.5, 0.5, 0.5, 0.0, 0.0},
                                            std::vector{0.9, 0.9, 0.9, 0.9, 0.4}}) {
    EXPECT_EQ(came(scores), (Came{CaseStatus::warn, judge_disagrees}));
  }
}

TEST(JudgeGate, AMinorityFails) {
  for (const std::vector<double>& scores :
       {std::vector{0.9, 0.1, 0.1}, std::vector{0.9, 0.9, 0.4, 0.4, 0.4}, std::vector{0.1, 0.1, 0.1}}) {
    EXPECT_EQ(came(scores), (Came{CaseStatus::fail, no_majority}));
  }
}

TEST(JudgeGate, TheVotesMinScoreIsNotAskedOfTheMean) {
  Case test = judged_test("q");
  test.expectations[0].min_score = 0.5;
  const auto assessment = assess_votes(gate_of(nullptr), test, votes({0.6, 0.6, 0.0}));
  EXPECT_EQ(came(assessment), (Came{CaseStatus::warn, judge_disagrees})) << "the mean is 0.4";
  EXPECT_FALSE(assessment.metrics[0].limit);
}

TEST(JudgeGate, ALimitOnTheMeanHoldsBesideTheMajority) {
  const auto with = [](Thresholding thresholding, std::vector<double> scores) {
    return came(assess_votes(gate_of(nullptr), judged_test("q", MetricId::relevancy, thresholding),
                             votes(std::move(scores), MetricId::relevancy)));
  };
  EXPECT_EQ(with(absolute(0.8), {0.7, 0.7}), (Came{CaseStatus::fail, below_min_score}));
  EXPECT_EQ(with(floor_of(0.8), {0.7, 0.7}), (Came{CaseStatus::fail, below_min_floor}));
  EXPECT_EQ(with(floor_of(0.7), {0.7, 0.7}), (Came{CaseStatus::pass, none}));
  EXPECT_EQ(with(floor_of(0.2), {0.1, 0.3, 0.2}), (Came{CaseStatus::fail, no_majority}));
}

TEST(JudgeGate, TheMeanIsComparedWithTheBaseline) {
  const Baseline baseline = baseline_of({{"q", "faithfulness", 0.9}});
  const auto beside = [&](std::vector<double> scores, Thresholding thresholding = {}) {
    return assess_votes(gate_of(&baseline), judged_test("q", MetricId::faithfulness, thresholding),
                        votes(std::move(scores)));
  };
  const auto fell = beside({0.8, 0.8});
  EXPECT_EQ(came(fell), (Came{CaseStatus::fail, dropped}));
  EXPECT_TRUE(fell.regressed);
  EXPECT_EQ(fell.metrics[0].limit, 0.85);
  EXPECT_EQ(came(beside({0.85, 0.85})), (Came{CaseStatus::pass, none}));
  EXPECT_EQ(came(beside({0.8, 0.8}, max_drop(0.1))), (Came{CaseStatus::pass, none}));
  EXPECT_EQ(came(beside({1.0, 1.0, 0.4}, max_drop(0.1))), (Came{CaseStatus::warn, judge_disagrees}));
  EXPECT_TRUE(beside({1.0, 0.95}).improved);
  EXPECT_EQ(came(beside({1.0, 1.0, 0.1})), (Came{CaseStatus::fail, dropped})) << "a mean of 0.7";
}

// From 0.9 to 0.6 was a regression, and to 0.1 an ordinary failure, which --min-pass-rate excuses.
TEST(JudgeGate, ADropWithoutAMajorityIsARegression) {
  const Baseline baseline = baseline_of({{"q", "faithfulness", 0.9}});
  for (const std::vector<double>& scores :
       {std::vector{0.6}, std::vector{0.1}, std::vector{0.2, 0.3, 0.9}, std::vector{0.4, 1.0}}) {
    const auto fell = assess_votes(gate_of(&baseline), judged_test("q"), votes(scores));
    EXPECT_EQ(came(fell), (Came{CaseStatus::fail, dropped}));
    EXPECT_TRUE(fell.regressed);
    EXPECT_EQ(fell.metrics[0].own_cause, scores[0] == 0.6 ? none : no_majority);
    EXPECT_EQ(fell.metrics[0].limit, 0.85);
  }
}

TEST(JudgeGate, WithoutADropTheLackOfAMajorityIsNoRegression) {
  const Baseline baseline = baseline_of({{"q", "faithfulness", 0.52}});
  const auto outvoted = assess_votes(gate_of(&baseline), judged_test("q"), votes({0.49, 0.49, 0.9}));
  EXPECT_EQ(came(outvoted), (Came{CaseStatus::fail, no_majority}));
  EXPECT_FALSE(outvoted.regressed);
  const auto absolutely =
      assess_votes(gate_of(&baseline), judged_test("q", MetricId::faithfulness, absolute(0.1)), votes({0.2}));
  EXPECT_EQ(came(absolutely), (Came{CaseStatus::fail, no_majority})) << "no drop under this mode";
  const Baseline low = baseline_of({{"q", "faithfulness", 0.1}});
  const auto better = assess_votes(gate_of(&low), judged_test("q"), votes({0.4, 0.4}));
  EXPECT_EQ(came(better), (Came{CaseStatus::fail, no_majority})) << "better than it was is not good enough";
  EXPECT_FALSE(better.improved);
}

// What a majority of votes at 0.5 comes to at least: a lower mean had none.
TEST(JudgeGate, WhatHadNoMajorityBeforeDoesNotRegress) {
  const auto beside = [](double pinned, std::vector<double> scores) {
    const Baseline baseline = baseline_of({{"q", "faithfulness", pinned}});
    return came(assess_votes(gate_of(&baseline), judged_test("q"), votes(std::move(scores))));
  };
  EXPECT_EQ(beside(0.49, {0.1}), (Came{CaseStatus::fail, no_majority}));
  EXPECT_EQ(beside(0.5, {0.1}), (Came{CaseStatus::fail, dropped}));
  EXPECT_EQ(beside(0.33, {0.1, 0.1, 0.1}), (Came{CaseStatus::fail, no_majority}));
  EXPECT_EQ(beside(0.34, {0.1, 0.1, 0.1}), (Came{CaseStatus::fail, dropped})) << "0.51, 0.51 and 0";
  EXPECT_EQ(beside(0.33, {0.5, 0.5, 0.0}), (Came{CaseStatus::warn, judge_disagrees}));
}

// One vote now, and 0.33 of three votes then, which may have been a majority: the regression was excused.
TEST(JudgeGate, WhatHadNoMajorityIsAMatterOfTheVotesThatThereWere) {
  const auto beside = [](std::string meta, double pinned, std::vector<double> scores) {
    const Baseline baseline = baseline_of({{"q", "faithfulness", pinned, std::move(meta)}});
    return came(assess_votes(gate_of(&baseline), judged_test("q"), votes(std::move(scores))));
  };
  const std::string three = R"({"judge_samples":3})";
  EXPECT_EQ(beside(three, 0.34, {0.1}), (Came{CaseStatus::fail, dropped}));
  EXPECT_EQ(beside(three, 0.33, {0.1}), (Came{CaseStatus::fail, no_majority}));
  EXPECT_EQ(beside(R"({"judge_samples":1})", 0.49, {0.1, 0.1, 0.1}), (Came{CaseStatus::fail, no_majority}));
  for (const char* unknown : {"{}", R"({"judge_samples":0})", R"({"judge_samples":18446744073709551615})"})
    EXPECT_EQ(beside(unknown, 0.34, {0.1}), (Came{CaseStatus::fail, no_majority})) << unknown;
}

TEST(JudgeGate, AScoreWithoutAnEntryWarnsForThatAndKeepsItsVotes) {
  const Baseline baseline = baseline_of({});
  const auto assessment = assess_votes(gate_of(&baseline), judged_test("q"), votes({0.9, 0.9, 0.1}));
  EXPECT_EQ(came(assessment), (Came{CaseStatus::warn, missing_in_baseline}));
  EXPECT_TRUE(assessment.metrics[0].votes->disagree);
}

TEST(JudgeGate, UnderStatisticalTheMajorityDecidesOnTheCase) {
  const Baseline baseline = baseline_of({{"q", "faithfulness", 0.9}});
  Thresholding suite;
  suite.mode = ThresholdMode::statistical;
  const auto beside = [&](std::vector<double> scores) {
    return assess_votes(gate_of(&baseline, suite), judged_test("q"), votes(std::move(scores)));
  };
  for (const std::vector<double>& scores :
       {std::vector{0.6, 0.6}, std::vector{0.6, 0.6, 0.1}, std::vector{0.6, 0.1}}) {
    EXPECT_TRUE(beside(scores).metrics[0].is_left_to_tests);
  }
  EXPECT_EQ(came(beside({0.6, 0.6})), (Came{CaseStatus::pass, assessed_statistically}));
  EXPECT_EQ(came(beside({0.6, 0.6, 0.1})), (Came{CaseStatus::warn, judge_disagrees}));
  EXPECT_EQ(came(beside({0.6, 0.1})), (Came{CaseStatus::fail, no_majority}));
}

// Workers hand out judge metrics last, wherever the test names them.
TEST(JudgeGate, JudgeMetricsAreFoundWhereverTheTestNamesThem) {
  Case test = judged_test("q");
  test.expectations.push_back({{MetricId::must_contain, {"a"}}, {}, std::nullopt});
  test.expectations.push_back({{MetricId::rubric, {}}, {}, std::nullopt, JudgeQuestion{.rubric = 4}});
  test.expectations.push_back({{MetricId::must_contain, {"b"}}, {}, std::nullopt});
  const std::vector judged{votes({0.9, 0.8}), votes({0.9, 0.2, 0.7}, MetricId::rubric)};
  const std::vector outcomes{verdict_of(MetricId::must_contain, true),
                             verdict_of(MetricId::must_contain, false), outcome_of(judged[0]),
                             outcome_of(judged[1])};
  const auto assessment = gate_of(nullptr).assess(test, outcomes, judged);
  ASSERT_EQ(assessment.metrics.size(), 4u);
  EXPECT_EQ(assessment.metrics[1].cause, not_passed);
  EXPECT_EQ(assessment.metrics[2].status, MetricStatus::pass);
  EXPECT_TRUE(assessment.metrics[2].asked_by_name);
  const AssessedMetric& last = assessment.metrics[3];
  EXPECT_EQ(last.cause, judge_disagrees);
  ASSERT_TRUE(last.votes);
  EXPECT_EQ(last.votes->rubric, 4u);
  EXPECT_EQ(last.votes->samples, 3u);
  EXPECT_EQ(last.votes->passed, 2u);
  EXPECT_EQ(last.votes->rationale, judged[1].rationale);
}

// --- Repeats
// ---------------------------------------------------------------------------------------------------

CaseAssessment repeated(const std::vector<std::vector<double>>& repeats) {
  std::vector<CaseAssessment> all;
  for (const auto& scores : repeats)
    all.push_back(assess_votes(gate_of(nullptr), judged_test("q"), votes(scores)));
  std::vector<const CaseAssessment*> views;
  for (const CaseAssessment& one : all) views.push_back(&one);
  return assessment_of_repeats(views);
}

TEST(JudgeGate, RepeatsCombineEachByItsOwnVotes) {
  // 4 of 9 votes passed, but two of three repeats have their majority.
  EXPECT_EQ(came(repeated({{0.9, 0.9, 0.1}, {0.9, 0.9, 0.1}, {0.1, 0.1, 0.1}})),
            (Came{CaseStatus::flaky, no_majority}));
  EXPECT_EQ(came(repeated({{0.9, 0.1, 0.1}, {0.9, 0.1, 0.1}, {0.9, 0.9, 0.9}})),
            (Came{CaseStatus::fail, no_majority}));
  EXPECT_EQ(came(repeated({{0.9, 0.9, 0.9}, {0.9, 0.9, 0.9}})), (Came{CaseStatus::pass, none}));
}

TEST(JudgeGate, ARepeatWhoseVotesDisagreeWarnsForTheCase) {
  const std::vector<std::vector<double>> one_of_three{{0.9, 0.9, 0.9}, {0.9, 0.1, 0.9}, {0.9, 0.9, 0.9}};
  const auto assessment = repeated(one_of_three);
  EXPECT_EQ(came(assessment), (Came{CaseStatus::warn, judge_disagrees}));
  const VoteTally& tally = *assessment.metrics[0].votes;
  EXPECT_EQ(tally.samples, 3u);
  EXPECT_EQ(tally.votes, 9u);
  EXPECT_EQ(tally.passed, 8u);
  EXPECT_TRUE(tally.disagree);
  EXPECT_EQ(assessment.metrics[0].score, 0.811111111);
  EXPECT_EQ(came(repeated({{0.9, 0.1, 0.9}, {0.9, 0.1, 0.9}, {0.9, 0.9, 0.9}})),
            (Came{CaseStatus::warn, judge_disagrees}));
}

TEST(JudgeGate, AMeanOfRepeatsThatDroppedIsARegressionWithoutMajoritiesToo) {
  const auto beside = [](double pinned, const std::vector<double>& of_repeats) {
    const Baseline baseline = baseline_of({{"q", "faithfulness", pinned}});
    std::vector<JudgeScore> judged;
    for (const double score : of_repeats) judged.push_back(votes({score}));
    std::vector<MetricOutcome> outcomes;
    for (const JudgeScore& one : judged) outcomes.push_back(outcome_of(one));
    std::vector<ScoredAnswer> answers;
    for (std::size_t i = 0; i < judged.size(); ++i) answers.push_back({{&outcomes[i], 1}, {&judged[i], 1}});
    const auto repeats = gate_of(&baseline).assess_answers(judged_test("q"), answers, answers.size());
    std::vector<const CaseAssessment*> views;
    for (const CaseAssessment& one : repeats) views.push_back(&one);
    const CaseAssessment together = assessment_of_repeats(views);
    return std::pair(came(together), together.regressed);
  };
  EXPECT_EQ(beside(0.9, {0.1, 0.1, 0.1}), std::pair(Came{CaseStatus::fail, dropped}, true));
  EXPECT_EQ(beside(0.9, {0.1, 0.1, 0.9}), std::pair(Came{CaseStatus::fail, dropped}, true));
  EXPECT_EQ(beside(0.5, {0.45, 0.45, 0.6}), std::pair(Came{CaseStatus::fail, no_majority}, false))
      << "the mean is 0.5";
  EXPECT_EQ(beside(0.4, {0.1, 0.1, 0.1}), std::pair(Came{CaseStatus::fail, no_majority}, false))
      << "as before";
}

TEST(JudgeGate, RepeatsThatDisagreeEachWithOneVoiceAreFlakyAlone) {
  const auto assessment = repeated({{0.9, 0.9}, {0.1, 0.1}});
  EXPECT_EQ(came(assessment), (Came{CaseStatus::flaky, no_majority}));
  EXPECT_FALSE(assessment.metrics[0].votes->disagree);
}

TEST(JudgeGate, AgreementIsTheShareOfTheLargerSide) {
  const auto agreement = [](std::uint32_t passed, std::uint32_t all) {
    return VoteTally{.samples = all, .votes = all, .passed = passed, .rationale = {}}.agreement();
  };
  EXPECT_EQ(agreement(1, 1), 1.0);
  EXPECT_EQ(agreement(0, 1), 1.0);
  EXPECT_EQ(agreement(1, 2), 0.5);
  EXPECT_EQ(agreement(2, 3), 2.0 / 3);
  EXPECT_EQ(agreement(1, 5), 0.8);
}

}  // namespace sluice::judge_gate_test

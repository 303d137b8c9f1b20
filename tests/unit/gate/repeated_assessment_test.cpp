#include "coordinator/gate/repeated_assessment.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace sluice::repeated_assessment_test {

CaseAssessment assessed(CaseStatus status, std::optional<double> score = std::nullopt) {
  CaseAssessment one;
  one.status = status;
  AssessedMetric metric;
  metric.id = MetricId::claims_f1;
  metric.score = score;
  metric.baseline = 0.8;
  metric.status = status == CaseStatus::fail   ? MetricStatus::fail
                  : status == CaseStatus::warn ? MetricStatus::warn
                                               : MetricStatus::pass;
  metric.cause = status == CaseStatus::fail ? MetricCause::dropped : MetricCause::none;
  if (status == CaseStatus::fail) metric.detail = "it fell";
  one.metrics.push_back(metric);
  return one;
}

CaseAssessment together(const std::vector<CaseAssessment>& repeats) {
  std::vector<const CaseAssessment*> views;
  for (const CaseAssessment& one : repeats) views.push_back(&one);
  return assessment_of_repeats(views);
}

CaseStatus status_of(const std::vector<CaseStatus>& statuses) {
  std::vector<CaseAssessment> repeats;
  for (const CaseStatus status : statuses) repeats.push_back(assessed(status));
  return together(repeats).status;
}

TEST(RepeatedAssessment, OneRepeatIsItsOwn) {
  EXPECT_EQ(status_of({CaseStatus::pass}), CaseStatus::pass);
  EXPECT_EQ(status_of({CaseStatus::warn}), CaseStatus::warn);
  EXPECT_EQ(status_of({CaseStatus::fail}), CaseStatus::fail);
  EXPECT_EQ(together({assessed(CaseStatus::pass, 0.1 + 0.2)}).metrics[0].score, 0.1 + 0.2) << "not rounded";
}

TEST(RepeatedAssessment, AMajorityFailsAndAMinorityIsFlaky) {
  using enum CaseStatus;
  EXPECT_EQ(status_of({pass, pass, pass}), pass);
  EXPECT_EQ(status_of({pass, fail, pass}), flaky);
  EXPECT_EQ(status_of({fail, fail, pass}), fail);
  EXPECT_EQ(status_of({fail, pass}), flaky) << "half is no majority";
  EXPECT_EQ(status_of({fail, fail}), fail);
  EXPECT_EQ(status_of({pass, warn}), warn) << "neither failed";
  EXPECT_EQ(status_of({fail, warn, warn}), flaky);
}

TEST(RepeatedAssessment, ScoresAreMeansInBillionths) {
  const auto both = together({assessed(CaseStatus::pass, 0.1), assessed(CaseStatus::pass, 0.2)});
  EXPECT_EQ(both.metrics[0].score, 0.15);
  const auto thirds = together(
      {assessed(CaseStatus::pass, 1.0), assessed(CaseStatus::pass, 1.0), assessed(CaseStatus::pass, 0.0)});
  EXPECT_EQ(thirds.metrics[0].score, 0.666666667);
  const auto undefined = together({assessed(CaseStatus::pass), assessed(CaseStatus::pass, 0.5)});
  EXPECT_EQ(undefined.metrics[0].score, 0.5) << "an undefined score is not 0";
  EXPECT_FALSE(together({assessed(CaseStatus::pass), assessed(CaseStatus::pass)}).metrics[0].score);
}

TEST(RepeatedAssessment, AMetricSaysWhatItsRepeatsCameToAndWhy) {
  const auto flaky = together(
      {assessed(CaseStatus::pass, 0.9), assessed(CaseStatus::fail, 0.1), assessed(CaseStatus::pass, 0.9)});
  EXPECT_EQ(flaky.metrics[0].status, MetricStatus::flaky);
  EXPECT_EQ(flaky.metrics[0].cause, MetricCause::dropped);
  EXPECT_EQ(flaky.metrics[0].detail, "it fell");
  const auto failed = together({assessed(CaseStatus::fail, 0.1), assessed(CaseStatus::fail, 0.1)});
  EXPECT_EQ(failed.metrics[0].status, MetricStatus::fail);
}

TEST(RepeatedAssessment, AnUndefinedRepeatIsSeenBehindAnyOtherFailure) {
  auto undefined = assessed(CaseStatus::fail);
  undefined.metrics[0].cause = MetricCause::became_undefined;
  auto low = assessed(CaseStatus::fail, 0.1);
  low.metrics[0].cause = MetricCause::below_min_floor;
  const auto passed = assessed(CaseStatus::pass, 0.9);
  EXPECT_TRUE(together({undefined}).metrics[0].became_undefined());
  EXPECT_TRUE(together({undefined, low, passed}).metrics[0].became_undefined());
  EXPECT_TRUE(together({low, passed, undefined}).metrics[0].became_undefined());
  EXPECT_EQ(together({low, passed, undefined}).metrics[0].cause, MetricCause::below_min_floor)
      << "that of the first";
  EXPECT_FALSE(together({low, passed, passed}).metrics[0].became_undefined());
}

// The first one named why, and the case had regressed by the others.
TEST(RepeatedAssessment, AMetricNamesTheCauseOfMostRepeatsThatFailed) {
  auto low = assessed(CaseStatus::fail, 0.1);
  low.metrics[0].cause = low.metrics[0].own_cause = MetricCause::below_min_floor;
  low.metrics[0].limit = 0.5;
  auto undefined = assessed(CaseStatus::fail);
  undefined.metrics[0].cause = MetricCause::became_undefined;
  undefined.regressed = true;
  const auto fell = together({low, undefined, undefined});
  EXPECT_TRUE(fell.regressed);
  EXPECT_EQ(fell.metrics[0].cause, MetricCause::became_undefined);
  EXPECT_EQ(fell.metrics[0].own_cause, MetricCause::none) << "only one fails by itself";
  const auto mostly_low = together({undefined, low, low});
  EXPECT_FALSE(mostly_low.regressed);
  EXPECT_EQ(mostly_low.metrics[0].cause, MetricCause::below_min_floor);
  EXPECT_EQ(mostly_low.metrics[0].limit, 0.5);
}

TEST(RepeatedAssessment, WhatElseFailsAMetricIsThatOfMostRepeats) {
  auto dropped = assessed(CaseStatus::fail, 0.4);
  auto outvoted = assessed(CaseStatus::fail, 0.1);
  outvoted.metrics[0].own_cause = MetricCause::no_majority;
  EXPECT_EQ(together({dropped, outvoted, outvoted}).metrics[0].further_cause(), MetricCause::no_majority);
  EXPECT_EQ(together({outvoted, dropped, dropped}).metrics[0].further_cause(), MetricCause::none);
}

TEST(RepeatedAssessment, RegressedIfMostRepeatsDidOrAllThatFailed) {
  auto dropped = assessed(CaseStatus::fail, 0.1);
  dropped.regressed = true;
  auto low = assessed(CaseStatus::fail, 0.1);
  low.metrics[0].cause = MetricCause::below_min_floor;
  EXPECT_TRUE(together({dropped, dropped, low}).regressed) << "the third is no excuse";
  EXPECT_FALSE(together({dropped, low, low}).regressed);
  EXPECT_TRUE(together({dropped, dropped, assessed(CaseStatus::pass, 0.9)}).regressed);
  EXPECT_FALSE(together({dropped, low}).regressed) << "one failed for another reason";
  EXPECT_FALSE(together({dropped, assessed(CaseStatus::pass), assessed(CaseStatus::pass)}).regressed)
      << "flaky";
}

TEST(RepeatedAssessment, ImprovedByTheMean) {
  EXPECT_TRUE(together({assessed(CaseStatus::pass, 0.7), assessed(CaseStatus::pass, 1.0)}).improved);
  EXPECT_FALSE(together({assessed(CaseStatus::pass, 0.7), assessed(CaseStatus::pass, 0.9)}).improved)
      << "exactly the baseline";
  EXPECT_FALSE(together({assessed(CaseStatus::fail, 1.0), assessed(CaseStatus::pass, 1.0)}).improved)
      << "flaky";
}

TEST(RepeatTally, RepeatsWithoutAnAnswerCount) {
  const RepeatTally tally{.planned = 4, .assessed = 1, .non_answers = 2, .failed = 2, .errors = 1};
  EXPECT_FALSE(tally.is_error());
  EXPECT_EQ(tally.counted(), 3u);
  EXPECT_EQ(tally.passed(), 1u);
  EXPECT_TRUE((RepeatTally{.planned = 4, .non_answers = 4, .failed = 4}).is_error()) << "none has an answer";
}

TEST(RepeatedAssessment, AScoreStaysWithoutRepeatsThatHaveNoAnswer) {
  const CaseAssessment answered = assessed(CaseStatus::pass, 0.9);
  const CaseAssessment none = assessment_of_non_answer(answered);
  EXPECT_EQ(none.status, CaseStatus::fail);
  EXPECT_FALSE(none.metrics[0].score);
  const auto half = together({none, answered, answered, none});
  EXPECT_EQ(half.status, CaseStatus::flaky);
  EXPECT_EQ(half.metrics[0].score, 0.9);
  EXPECT_EQ(half.metrics[0].status, MetricStatus::pass);
  EXPECT_EQ(together({none, answered, none}).status, CaseStatus::fail);
  EXPECT_FALSE(together({none, answered, none}).regressed) << "no check of it broke, and no score fell";
}

TEST(RepeatedAssessment, AnAnswerLessIsAsMuchAsTheBaselineKnew) {
  CaseAssessment answered = assessed(CaseStatus::pass);
  answered.metrics[0].id = MetricId::must_contain;
  answered.metrics[0].asked_by_name = true;
  answered.metrics[0].baseline_passed = false;
  EXPECT_EQ(assessment_of_non_answer(answered).status, CaseStatus::warn) << "still failing";
  CaseAssessment scored = assessed(CaseStatus::pass, 0.9);
  scored.metrics.push_back(answered.metrics[0]);
  EXPECT_EQ(assessment_of_non_answer(scored).status, CaseStatus::fail) << "the check excuses no score";
  answered.metrics[0].baseline_passed = true;
  const CaseAssessment broke = assessment_of_non_answer(answered);
  EXPECT_EQ(broke.metrics[0].cause, MetricCause::broke);
  EXPECT_TRUE(together({broke, answered, broke}).regressed);
  EXPECT_EQ(together({broke, answered}).metrics[0].repeat_passes, "01");
}

TEST(RepeatTally, TooFewAnswersAreAnError) {
  EXPECT_TRUE((RepeatTally{.planned = 1}).is_error());
  EXPECT_FALSE((RepeatTally{.planned = 1, .assessed = 1}).is_error());
  EXPECT_FALSE((RepeatTally{.planned = 2, .assessed = 1}).is_error());
  EXPECT_TRUE((RepeatTally{.planned = 5, .assessed = 2}).is_error());
  EXPECT_FALSE((RepeatTally{.planned = 5, .assessed = 3}).is_error());
}

}  // namespace sluice::repeated_assessment_test

#include "coordinator/gate/repeated_judgement.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

CaseJudgement judged(CaseStatus status, std::optional<double> score = std::nullopt) {
  CaseJudgement one;
  one.status = status;
  JudgedMetric metric;
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

CaseJudgement together(const std::vector<CaseJudgement>& repeats) {
  std::vector<const CaseJudgement*> views;
  for (const CaseJudgement& one : repeats) views.push_back(&one);
  return judgement_of_repeats(views);
}

CaseStatus status_of(const std::vector<CaseStatus>& statuses) {
  std::vector<CaseJudgement> repeats;
  for (const CaseStatus status : statuses) repeats.push_back(judged(status));
  return together(repeats).status;
}

TEST(RepeatedJudgement, OneRepeatIsItsOwn) {
  EXPECT_EQ(status_of({CaseStatus::pass}), CaseStatus::pass);
  EXPECT_EQ(status_of({CaseStatus::warn}), CaseStatus::warn);
  EXPECT_EQ(status_of({CaseStatus::fail}), CaseStatus::fail);
  EXPECT_EQ(together({judged(CaseStatus::pass, 0.1 + 0.2)}).metrics[0].score, 0.1 + 0.2) << "not rounded";
}

TEST(RepeatedJudgement, AMajorityFailsAndAMinorityIsFlaky) {
  using enum CaseStatus;
  EXPECT_EQ(status_of({pass, pass, pass}), pass);
  EXPECT_EQ(status_of({pass, fail, pass}), flaky);
  EXPECT_EQ(status_of({fail, fail, pass}), fail);
  EXPECT_EQ(status_of({fail, pass}), flaky) << "half is no majority";
  EXPECT_EQ(status_of({fail, fail}), fail);
  EXPECT_EQ(status_of({pass, warn}), warn) << "neither failed";
  EXPECT_EQ(status_of({fail, warn, warn}), flaky);
}

TEST(RepeatedJudgement, ScoresAreMeansInBillionths) {
  const auto both = together({judged(CaseStatus::pass, 0.1), judged(CaseStatus::pass, 0.2)});
  EXPECT_EQ(both.metrics[0].score, 0.15);
  const auto thirds =
      together({judged(CaseStatus::pass, 1.0), judged(CaseStatus::pass, 1.0), judged(CaseStatus::pass, 0.0)});
  EXPECT_EQ(thirds.metrics[0].score, 0.666666667);
  const auto undefined = together({judged(CaseStatus::pass), judged(CaseStatus::pass, 0.5)});
  EXPECT_EQ(undefined.metrics[0].score, 0.5) << "an undefined score is not 0";
  EXPECT_FALSE(together({judged(CaseStatus::pass), judged(CaseStatus::pass)}).metrics[0].score);
}

TEST(RepeatedJudgement, AMetricSaysWhatItsRepeatsCameToAndWhy) {
  const auto flaky =
      together({judged(CaseStatus::pass, 0.9), judged(CaseStatus::fail, 0.1), judged(CaseStatus::pass, 0.9)});
  EXPECT_EQ(flaky.metrics[0].status, MetricStatus::flaky);
  EXPECT_EQ(flaky.metrics[0].cause, MetricCause::dropped);
  EXPECT_EQ(flaky.metrics[0].detail, "it fell");
  const auto failed = together({judged(CaseStatus::fail, 0.1), judged(CaseStatus::fail, 0.1)});
  EXPECT_EQ(failed.metrics[0].status, MetricStatus::fail);
}

TEST(RepeatedJudgement, AnUndefinedRepeatIsSeenBehindAnyOtherFailure) {
  auto undefined = judged(CaseStatus::fail);
  undefined.metrics[0].cause = MetricCause::became_undefined;
  auto low = judged(CaseStatus::fail, 0.1);
  low.metrics[0].cause = MetricCause::below_min_floor;
  const auto passed = judged(CaseStatus::pass, 0.9);
  EXPECT_TRUE(together({undefined}).metrics[0].became_undefined());
  EXPECT_TRUE(together({undefined, low, passed}).metrics[0].became_undefined());
  EXPECT_TRUE(together({low, passed, undefined}).metrics[0].became_undefined());
  EXPECT_EQ(together({low, passed, undefined}).metrics[0].cause, MetricCause::below_min_floor)
      << "that of the first";
  EXPECT_FALSE(together({low, passed, passed}).metrics[0].became_undefined());
}

TEST(RepeatedJudgement, RegressedOnlyIfAllThatFailedDid) {
  auto dropped = judged(CaseStatus::fail, 0.1);
  dropped.regressed = true;
  EXPECT_TRUE(together({dropped, dropped, judged(CaseStatus::pass, 0.9)}).regressed);
  EXPECT_FALSE(together({dropped, judged(CaseStatus::fail, 0.1)}).regressed)
      << "one failed for another reason";
  EXPECT_FALSE(together({dropped, judged(CaseStatus::pass), judged(CaseStatus::pass)}).regressed) << "flaky";
}

TEST(RepeatedJudgement, ImprovedByTheMean) {
  EXPECT_TRUE(together({judged(CaseStatus::pass, 0.7), judged(CaseStatus::pass, 1.0)}).improved);
  EXPECT_FALSE(together({judged(CaseStatus::pass, 0.7), judged(CaseStatus::pass, 0.9)}).improved)
      << "exactly the baseline";
  EXPECT_FALSE(together({judged(CaseStatus::fail, 1.0), judged(CaseStatus::pass, 1.0)}).improved) << "flaky";
}

TEST(RepeatTally, TooFewAnswersAreAnError) {
  EXPECT_TRUE((RepeatTally{.planned = 1}).is_error());
  EXPECT_FALSE((RepeatTally{.planned = 1, .judged = 1}).is_error());
  EXPECT_FALSE((RepeatTally{.planned = 2, .judged = 1}).is_error());
  EXPECT_TRUE((RepeatTally{.planned = 5, .judged = 2}).is_error());
  EXPECT_FALSE((RepeatTally{.planned = 5, .judged = 3}).is_error());
}

}  // namespace
}  // namespace sluice

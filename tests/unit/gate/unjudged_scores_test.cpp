#include "coordinator/gate/unjudged_scores.hpp"

#include "gate_fixture.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr auto similar = MetricId::semantic_similarity_to;

std::optional<GateNotice> notice_of(const Gate& gate, const Case& test, const MetricOutcome& outcome,
                                    bool strict = false) {
  UnjudgedScores scores;
  scores.visit(test.id, gate.assess(test, {&outcome, 1}).metrics);
  return scores.finish(strict);
}

TEST(UnjudgedScores, AScoreWithoutLimitAndBaselineIsNamedOnceForAllCases) {
  UnjudgedScores scores;
  for (const char* id : {"paris", "rome", "oslo"}) {
    const MetricOutcome outcome = score_of(similar, 0.1);
    scores.visit(id, gate_of(nullptr).assess(test_of(id, similar), {&outcome, 1}).metrics);
  }
  const auto notice = scores.finish(false);
  ASSERT_TRUE(notice.has_value());
  EXPECT_EQ(notice->code, "unjudged");
  EXPECT_EQ(notice->severity, GateNotice::Severity::warning);
  EXPECT_TRUE(notice->decides);
  EXPECT_NE(notice->message.find("semantic_similarity_to of 3 cases (first `paris`)"), std::string::npos)
      << notice->message;
  EXPECT_EQ(scores.finish(true)->severity, GateNotice::Severity::failure);
}

// A run failed against the baseline that it had exported: what is undefined cannot be pinned.
TEST(UnjudgedScores, AnUndefinedScoreIsNone) {
  const MetricOutcome outcome = score_of(MetricId::claims_precision, std::nullopt);
  EXPECT_FALSE(notice_of(gate_of(nullptr), test_of("q", MetricId::claims_precision), outcome, true));
}

TEST(UnjudgedScores, ALimitABaselineOrVotesJudge) {
  const MetricOutcome outcome = score_of(similar, 0.9);
  EXPECT_FALSE(notice_of(gate_of(nullptr), test_of("q", similar, absolute(0.8)), outcome));
  EXPECT_FALSE(notice_of(gate_of(nullptr), test_of("q", similar, floor_of(0.5)), outcome));
  const Baseline baseline = baseline_of({{"q", similarity, 0.9}});
  EXPECT_FALSE(notice_of(gate_of(&baseline), test_of("q", similar), outcome));
  const Baseline other = baseline_of({{"other", similarity, 0.9}});
  EXPECT_FALSE(notice_of(gate_of(&other), test_of("q", similar), outcome)) << "it warns by itself";
  UnjudgedScores scores;
  scores.visit("q", assess_votes(gate_of(nullptr), judged_test("q"), votes({0.9})).metrics);
  EXPECT_FALSE(scores.finish(false));
}

TEST(UnjudgedScores, AKnownFailureThatNothingJudgesIsNamedToo) {
  const MetricOutcome outcome = score_of(similar, 0.1);
  const auto is_named = [&](const Gate& gate) {
    const Case test = test_of("q", similar);
    CaseAssessment known = gate.assess(test, {&outcome, 1});
    take_as_known_failure(known);
    UnjudgedScores scores;
    scores.visit("q", known.metrics);
    return scores.finish(false).has_value();
  };
  EXPECT_TRUE(is_named(gate_of(nullptr)));
  EXPECT_FALSE(is_named(gate_of(nullptr, floor_of(0.5))));
  const Baseline baseline = baseline_of({{"q", similarity, 0.9}});
  Thresholding statistical;
  statistical.mode = ThresholdMode::statistical;
  EXPECT_FALSE(is_named(gate_of(&baseline, statistical))) << "the tests are not of known failures";
}

// Repeats without an answer failed it, and its score was said to be judged by nothing.
TEST(UnjudgedScores, AKnownFailureThatLacksAnswersIsJudgedAsItsScoreIs) {
  const MetricOutcome outcome = score_of(similar, 0.9);
  CaseAssessment known = gate_of(nullptr, floor_of(0.5)).assess(test_of("q", similar), {&outcome, 1});
  known.status = CaseStatus::fail;
  take_as_known_failure(known);
  UnjudgedScores scores;
  scores.visit("q", known.metrics);
  EXPECT_FALSE(scores.finish(false));
}

TEST(UnjudgedScores, ChecksAndTheScoresOfAFixtureAreNotMeant) {
  EXPECT_FALSE(notice_of(gate_of(nullptr), test_of("q", MetricId::must_contain),
                         verdict_of(MetricId::must_contain, true)));
  UnjudgedScores scores;
  scores.visit("f", gate_of(nullptr).assess(fixture_of("f"), claims_outcomes(1, 1, 1)).metrics);
  EXPECT_FALSE(scores.finish(false)) << "its claims are judged by what is required and forbidden";
}

}  // namespace
}  // namespace sluice

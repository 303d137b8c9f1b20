#include "tests/unit/report/varied_run.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

using enum sample::Said;
using sample::VariedRun;

// By hand. Case a: unperturbed {it, it}; crlf {it, nothing}: 1 of 2 identical. Case b: unperturbed {it,
// nothing}, so that each perturbed answer is identical to one of two or to none: crlf {it, it} 1/2 + 1/2,
// blank-lines {nothing, other} 1/2 + 0.
const std::vector<sample::Said> by_hand{it,      it,      /**/ it, nothing,      /**/ it,
                                        nothing, /**/ it, it,      /**/ nothing, other};

TEST(RunStability, IsTheShareOfAnswersThatStayTheSame) {
  const RunStability run = VariedRun(by_hand).stability();
  EXPECT_EQ(run.analysis.all.cases, 2u);
  EXPECT_EQ(run.analysis.all.answers, 6u);
  EXPECT_NEAR(*run.stability(), 2.5 / 6.0, 1e-9);
  ASSERT_EQ(run.analysis.cases.size(), 2u);
  EXPECT_NEAR(*run.analysis.cases[0].stability, 0.5, 1e-9);
  EXPECT_NEAR(*run.analysis.cases[1].stability, 1.5 / 4.0, 1e-9);
  ASSERT_EQ(run.perturbations.size(), 2u);
  EXPECT_NEAR(*run.perturbations[0].stability->figures.stability, 0.5, 1e-9);
  EXPECT_NEAR(*run.perturbations[1].stability->figures.stability, 0.25, 1e-9);
  EXPECT_EQ(run.categories, (std::vector<std::string>{"a", "b"}));
  EXPECT_NEAR(*run.analysis.categories.at(1).stability, 1.5 / 4.0, 1e-9);
}

TEST(RunStability, RepeatsTellTheFloor) {
  const RunStability run = VariedRun(by_hand).stability();
  EXPECT_NEAR(*run.analysis.all.floor, 0.5, 1e-9) << "a's pair agrees, b's does not";
  EXPECT_EQ(*run.analysis.cases[0].floor, 1.0);
  EXPECT_EQ(*run.analysis.cases[1].floor, 0.0);
  EXPECT_EQ(run.unstable_cases(), 0u) << "two repeats can hardly prove anything";
}

TEST(RunStability, FlipsAreAnswersThatNoRepeatGave) {
  const RunStability run = VariedRun(by_hand).stability();
  EXPECT_EQ(run.flips, 2u);
  EXPECT_EQ(run.perturbations[0].flips, 1u);
  EXPECT_EQ(run.perturbations[1].flips, 1u);
  ASSERT_NE(run.most_flipping(), nullptr);
  EXPECT_EQ(run.most_flipping()->facts.name, "blank-lines");
}

TEST(RunStability, PassesByTheNumberOfTries) {
  const auto curve = VariedRun(by_hand).stability().pass_curve;
  ASSERT_EQ(curve.size(), 2u);
  EXPECT_NEAR(*curve[0].pass_at_k, 0.75, 1e-9);
  EXPECT_NEAR(*curve[1].pass_at_k, 1.0, 1e-9);
  EXPECT_NEAR(*curve[1].pass_hat_k, 0.5, 1e-9);
}

TEST(RunStability, ScoresMove) {
  const auto changes = VariedRun(by_hand).stability().score_changes;
  const ScoreChange& recall = changes.at(MetricId::claims_recall);
  EXPECT_EQ(recall.answers(), 6u);
  EXPECT_NEAR(*recall.mean_absolute(), 0.5, 1e-9) << "0, 1, and 1/2 four times";
  EXPECT_NEAR(*recall.noise(), 0.5, 1e-9);
  const RunStability run = VariedRun(by_hand).stability();
  EXPECT_EQ(run.perturbations[1].score_changes.at(MetricId::claims_recall).answers(), 2u);
  EXPECT_NEAR(*run.category_score_changes[0].at(MetricId::claims_recall).mean_absolute(), 0.5, 1e-9)
      << "a: 0 and 1";
}

TEST(RunStability, ErrorsAreLeftOut) {
  const RunStability run =
      VariedRun({it, error, /**/ it, error, /**/ error, error, /**/ it, it, /**/ it, it}).stability();
  EXPECT_EQ(run.analysis.all.answers, 1u) << "b has nothing to compare with";
  EXPECT_EQ(run.stability(), 1.0);
  EXPECT_FALSE(run.analysis.all.floor) << "no case has two repeats";
  EXPECT_EQ(run.most_flipping(), nullptr);
}

TEST(AnswerIdentity, OfClaimsIsTheirCanonicalSet) {
  Case fixture = sample::make_case("a-1", "one");
  UnitResult one;
  one.claims = {sample::claim("a/b", "c", true, 0.9, 1), sample::claim("x/y", "z", 2.0, 0.5, 2)};
  UnitResult other;
  other.claims = {sample::claim("x/y", "z", 2.0, 0.7, 9), sample::claim("a/b", "c", true, 0.1),
                  sample::claim("a/b", "c", true, 0.2)};
  UnitResult third = one;
  third.claims[0].value = false;
  const auto identity = [&](const UnitResult& unit) {
    TrialResult trial;
    trial.unit = &unit;
    return answer_identity(fixture, trial);
  };
  EXPECT_EQ(identity(one), identity(other)) << "order, confidence, line and repetition do not count";
  EXPECT_NE(identity(one), identity(third));
  EXPECT_NE(identity(one), identity(UnitResult{}));
}

TEST(AnswerIdentity, OfATextIsWhatItsMetricsSay) {
  Case text = sample::make_case("a-1", "one");
  text.kind = CaseKind::text;
  const auto identity = [&](std::vector<MetricOutcome> outcomes, std::uint8_t digest) {
    UnitResult unit;
    unit.answer.fill(digest);
    TrialScore score;
    score.metrics = std::move(outcomes);
    TrialResult trial;
    trial.unit = &unit;
    trial.score = &score;
    return answer_identity(text, trial);
  };
  const MetricOutcome passed{MetricId::must_contain, std::nullopt, true, ""};
  const MetricOutcome failed{MetricId::must_contain, std::nullopt, false, "why"};
  const MetricOutcome near{MetricId::semantic_similarity_to, 0.8, std::nullopt, ""};
  const MetricOutcome far{MetricId::semantic_similarity_to, 0.1, std::nullopt, ""};
  EXPECT_EQ(identity({passed, near}, 1), identity({passed, far}, 2)) << "other words, the same verdict";
  EXPECT_NE(identity({passed}, 1), identity({failed}, 1));
  EXPECT_NE(identity({passed, failed}, 1), identity({failed, passed}, 1));
  EXPECT_EQ(identity({near}, 1), identity({far}, 1)) << "without a pass/fail metric the words themselves";
  EXPECT_NE(identity({near}, 1), identity({near}, 2));
}

TEST(Flips, StandBesideTheAnswerOfTheSameRepeat) {
  const VariedRun run({it, error, /**/ nothing, other, /**/ it, nothing, /**/ it, it, /**/ other, nothing});
  std::vector<std::vector<Flip>> flips;
  std::vector<std::pair<TrialId, TrialId>> pairs;
  ASSERT_TRUE(visit_cases(run.results(), [&](const CaseResult& result) {
    for (const Flip& flip : flips_of(result))
      pairs.emplace_back(flip.unperturbed->trial, flip.perturbed->trial);
  }));
  // a's second repeat is an error: its answers stand beside the first.
  EXPECT_EQ(pairs, (std::vector<std::pair<TrialId, TrialId>>{{0, 2}, {0, 3}, {4, 8}}));
}

}  // namespace
}  // namespace sluice

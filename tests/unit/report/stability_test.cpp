#include "coordinator/report/answer_diff.hpp"
#include "tests/unit/report/perturbed_run.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

using enum sample::Reply;
using sample::PerturbedRun;

// By hand. Case a: unperturbed {it, it}; crlf {it, nothing}: 1 of 2 identical. Case b: unperturbed {it,
// nothing}, so that each perturbed answer is identical to one of two or to none: crlf {it, it} 1/2 + 1/2,
// blank-lines {nothing, other} 1/2 + 0.
const std::vector<sample::Reply> by_hand{it,      it,      /**/ it, nothing,      /**/ it,
                                         nothing, /**/ it, it,      /**/ nothing, other};

TEST(RunStability, IsTheShareOfAnswersThatStayTheSame) {
  const RunStability run = PerturbedRun(by_hand).stability();
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

TEST(RunStability, RepeatsShowTheFloor) {
  const RunStability run = PerturbedRun(by_hand).stability();
  EXPECT_NEAR(*run.analysis.all.floor, 0.5, 1e-9) << "a's pair agrees, b's does not";
  EXPECT_EQ(*run.analysis.cases[0].floor, 1.0);
  EXPECT_EQ(*run.analysis.cases[1].floor, 0.0);
  EXPECT_EQ(run.unstable_cases(), 0u) << "two repeats can hardly prove anything";
}

TEST(RunStability, PerturbationsThatMakeTheSameTextAreOnePieceOfEvidence) {
  // b: {it, it}, and {other, other} under both perturbations, by two units for the four trials.
  PerturbedRun shared({it, it, /**/ it, it, /**/ it, it, /**/ other, other, /**/ other, other});
  PerturbedRun apart = shared;
  for (const std::size_t repeat : {8u, 9u}) {
    shared.source.trials.at(repeat).unit.unit = shared.source.trials.at(repeat - 2).unit.unit;
  }
  EXPECT_NEAR(*apart.stability().analysis.cases[1].p, 1.0 / 15.0, 1e-9) << "of C(6, 2)";
  EXPECT_NEAR(*shared.stability().analysis.cases[1].p, 2.0 / 6.0, 1e-9) << "of C(4, 2)";
  EXPECT_EQ(shared.stability().analysis.cases[1].answers, 4u);
}

TEST(RunStability, FlipsAreAnswersThatNoRepeatGave) {
  const RunStability run = PerturbedRun(by_hand).stability();
  EXPECT_EQ(run.flips, 2u);
  EXPECT_EQ(run.perturbations[0].flips, 1u);
  EXPECT_EQ(run.perturbations[1].flips, 1u);
  ASSERT_NE(run.most_flipping(), nullptr);
  EXPECT_EQ(run.most_flipping()->facts.name, "blank-lines");
}

TEST(RunStability, PassesByTheNumberOfTries) {
  const auto curve = PerturbedRun(by_hand).stability().pass_curve;
  ASSERT_EQ(curve.size(), 2u);
  EXPECT_NEAR(*curve[0].pass_at_k, 0.75, 1e-9);
  EXPECT_NEAR(*curve[1].pass_at_k, 1.0, 1e-9);
  EXPECT_NEAR(*curve[1].pass_hat_k, 0.5, 1e-9);
}

TEST(RunStability, ScoresMove) {
  const auto changes = PerturbedRun(by_hand).stability().score_changes;
  const ScoreChange& recall = changes.at({MetricId::claims_recall});
  EXPECT_EQ(recall.answers(), 6u);
  EXPECT_NEAR(*recall.mean_absolute(), 0.5, 1e-9) << "0, 1, and 1/2 four times";
  EXPECT_NEAR(*recall.noise(), 0.5, 1e-9);
  const RunStability run = PerturbedRun(by_hand).stability();
  EXPECT_EQ(run.perturbations[1].score_changes.at({MetricId::claims_recall}).answers(), 2u);
  EXPECT_NEAR(*run.category_score_changes[0].at({MetricId::claims_recall}).mean_absolute(), 0.5, 1e-9)
      << "a: 0 and 1";
}

TEST(RunStability, ErrorsAreLeftOut) {
  const RunStability run =
      PerturbedRun({it, error, /**/ it, error, /**/ error, error, /**/ it, it, /**/ it, it}).stability();
  EXPECT_EQ(run.analysis.all.answers, 1u) << "b has nothing to compare with";
  EXPECT_EQ(run.stability(), 1.0);
  EXPECT_FALSE(run.analysis.all.floor) << "no case has two repeats";
  EXPECT_EQ(run.most_flipping(), nullptr);
  EXPECT_EQ(run.left_out, 4u) << "each of them";
  EXPECT_EQ(run.uncompared, 4u);
  EXPECT_EQ(run.non_answers, 0u);
}

TEST(RunStability, AnAnswerThatIsNoneUnderAPerturbationIsAChangedOne) {
  const RunStability run =
      PerturbedRun({it, it, /**/ refused, it, /**/ it, it, /**/ it, it, /**/ cut_off, refused}).stability();
  EXPECT_EQ(run.analysis.all.answers, 6u);
  EXPECT_NEAR(*run.stability(), 0.5, 1e-9) << "1 of 2, 2 of 2, 0 of 2";
  EXPECT_EQ(run.flips, 3u);
  EXPECT_EQ(run.non_answers, 3u);
  EXPECT_EQ(run.left_out, 0u);
  ASSERT_NE(run.most_flipping(), nullptr);
  EXPECT_EQ(run.most_flipping()->facts.name, "blank-lines");
}

TEST(RunStability, EqualNonAnswersAreTheSameAnswer) {
  // a is refused in any form. b is refused in one of two repeats: it agrees with itself in 0 of 1 pairs, and
  // each perturbed answer that is the one or the other with half of the repeats; what is cut off is neither.
  const RunStability run = PerturbedRun({refused, refused, /**/ refused, refused, /**/ it, refused, /**/ it,
                                         refused, /**/ cut_off, it})
                               .stability();
  ASSERT_EQ(run.analysis.cases.size(), 2u);
  EXPECT_EQ(run.analysis.cases[0].stability, 1.0);
  EXPECT_EQ(run.analysis.cases[0].floor, 1.0);
  EXPECT_NEAR(*run.analysis.cases[1].stability, 1.5 / 4.0, 1e-9);
  EXPECT_EQ(run.analysis.cases[1].floor, 0.0);
  EXPECT_EQ(run.flips, 1u);
  EXPECT_EQ(run.non_answers, 7u);
}

TEST(RunStability, AnAnswerToWhatIsRefusedOtherwiseIsAChangeToo) {
  const RunStability run =
      PerturbedRun({refused, refused, /**/ it, it, /**/ it, it, /**/ it, it, /**/ it, it}).stability();
  EXPECT_EQ(run.analysis.cases[0].stability, 0.0);
  EXPECT_EQ(run.flips, 2u);
}

TEST(RunStability, ShowsWhereTheRepeatsAreTooFew) {
  // All that two repeats can show is a p of 1 / C(4, 2) for one perturbation of one case, and of 1 / C(6, 2)
  // for a case with two of them.
  const RunStability run =
      PerturbedRun({it, it, /**/ it, it, /**/ it, it, /**/ nothing, nothing, /**/ nothing, nothing})
          .stability();
  EXPECT_FALSE(run.perturbations[0].stability->unstable);
  EXPECT_TRUE(run.perturbations[0].too_few_repeats);
  EXPECT_TRUE(run.perturbations[1].too_few_repeats);
  EXPECT_EQ(run.too_few_repeats, (std::vector<bool>{false, true})) << "nothing of a differs";
  EXPECT_EQ(run.undecided_cases(), 1u);
  EXPECT_EQ(run.enough_repeats, 3u) << "2 / C(9, 3) is below 0.05, 2 / C(6, 2) is not";

  const RunStability same =
      PerturbedRun({it, it, /**/ it, it, /**/ it, it, /**/ it, it, /**/ it, it}).stability();
  EXPECT_FALSE(same.perturbations[0].too_few_repeats) << "nothing differs: more repeats are not needed";
  EXPECT_EQ(same.undecided_cases(), 0u);
  EXPECT_FALSE(same.enough_repeats);
}

/// The answers of a case by number, in each form by repeat, the unperturbed ones first.
using Forms = std::vector<std::vector<int>>;

RunStability stability_of(const std::vector<Forms>& cases, bool forms_share_a_text = false,
                          const StabilityRules& rules = {}, bool cases_share_a_request = false) {
  RunStabilityFold::Config config;
  config.rules = rules;
  config.repeats = static_cast<std::uint32_t>(cases.at(0).at(0).size());
  config.perturbations.resize(cases[0].size() - 1);
  RunStabilityFold fold(config);
  for (const Forms& forms : cases) {
    const Case fixture = sample::make_case("a-1", "one");
    std::vector<UnitResult> units;
    std::vector<TrialResult> trials;
    for (const std::vector<int>& answers : forms) {
      for (const int answer : answers) {
        auto& unit = units.emplace_back();
        const bool is_shared = forms_share_a_text && &answers - forms.data() > 1;
        unit.unit = units.size();
        if (is_shared) unit.unit = units[units.size() - 1 - answers.size()].unit;
        unit.claims = {sample::claim("a/b", "c", static_cast<double>(answer), 0.9, 1)};
        trials.emplace_back().perturbation = static_cast<std::uint32_t>(&answers - forms.data());
      }
    }
    for (std::size_t i = 0; i < units.size(); ++i) trials[i].unit = &units[i];
    CaseResult result{.fixture = fixture, .counts = {}};
    result.trials = trials;
    result.shares_request = cases_share_a_request;
    fold.add(result);
  }
  return fold.finish();
}

TEST(RunStability, IsWithinNoiseOnlyWhereNoiseWasSeen) {
  // One of two forms flips each time, and the repeats agree: C(10, 5) of C(15, 5) ways are as extreme, 0.08.
  const std::vector<int> same(5, 0);
  const std::vector<int> flipped(5, 1);
  const Forms silent{same, same, flipped};
  const Forms steady{same, same, same};
  const RunStability unseen = stability_of({silent, steady, steady});
  EXPECT_EQ(unseen.unstable_cases(), 0u);
  EXPECT_EQ(unseen.too_few_repeats, (std::vector{true, false, false}));
  EXPECT_FALSE(unseen.perturbations[0].too_few_repeats) << "it flips nothing";
  EXPECT_EQ(unseen.perturbations[1].stability->unstable, !unseen.perturbations[1].too_few_repeats);

  const Forms noisy{{0, 1, 0, 1, 0}, {1, 0, 1, 0, 0}, {0, 0, 1, 1, 0}};
  const RunStability seen = stability_of({noisy, steady, steady});
  EXPECT_EQ(seen.unstable_cases(), 0u);
  EXPECT_EQ(seen.undecided_cases(), 0u) << "its repeats disagree, and five could have told";
  EXPECT_FALSE(seen.perturbations[0].too_few_repeats);
  EXPECT_FALSE(seen.enough_repeats);
}

// Of six answers twelve tests were told apart, and the perturbation was unstable with a p below 0.001.
TEST(RunStability, CasesThatShareTheirAnswersAreOnePieceOfEvidence) {
  const Forms flips{std::vector<int>(3, 0), std::vector<int>(3, 1)};
  const std::vector<Forms> cases(12, flips);
  const RunStability apart = stability_of(cases);
  ASSERT_TRUE(apart.perturbations[0].stability->unstable);
  const RunStability shared = stability_of(cases, false, {}, true);
  const PerturbationStability& one = *shared.perturbations[0].stability;
  EXPECT_FALSE(one.unstable);
  // Two of the C(6, 3) labellings put each kind of answers on a side of its own.
  EXPECT_NEAR(*one.p, 2.0 / 20, 1e-9);
  EXPECT_TRUE(shared.perturbations[0].too_few_repeats);
  EXPECT_EQ(one.figures.stability, apart.perturbations[0].stability->figures.stability);
  EXPECT_EQ(shared.analysis.all.cases, 12u);
  EXPECT_EQ(shared.analysis.all.answers, 36u);
  EXPECT_EQ(shared.analysis.all.stability, 0.0);
  EXPECT_GT(shared.analysis.all.interval.high, 0.7) << "as of one answer";
  EXPECT_LT(apart.analysis.all.interval.high, 0.3);
  EXPECT_EQ(shared.analysis.cases.size(), 12u);
}

TEST(RunStability, SharedAnswersAreIdenticalWhereTheyAreToEachCase) {
  // The first case tells the perturbed answers from the others, the second some of the repeats.
  const Forms first{{0, 0, 0, 0, 0}, {1, 1, 1, 1, 1}};
  const Forms second{{0, 0, 0, 1, 1}, {0, 0, 0, 1, 1}};
  const Forms both{{0, 0, 0, 1, 1}, {2, 2, 2, 3, 3}};
  const RunStability shared = stability_of({first, second}, false, {}, true);
  EXPECT_EQ(shared.perturbations[0].stability->p, stability_of({both}).perturbations[0].stability->p);
  EXPECT_NEAR(*shared.perturbations[0].stability->figures.stability, (0.0 + 13.0 / 25) / 2, 1e-9);
}

TEST(RunStability, ShowsHowManyRepeatsItTakesOfTheUnitsThatTheTestCounts) {
  // Two repeats agree, and each of the perturbed forms flips. Two forms apart: 1 of C(3n, n) ways, else 2 of
  // C(2n, n), however many forms share the text.
  const std::vector<int> same(2, 0);
  const std::vector<int> flipped(2, 1);
  const Forms two{same, flipped, flipped};
  EXPECT_EQ(stability_of({two}).enough_repeats, 3u);
  EXPECT_EQ(stability_of({two}, true).enough_repeats, 4u) << "2 of C(8, 4) = 70 ways";
  EXPECT_EQ(stability_of({{same, flipped, flipped, flipped, flipped}}, true).enough_repeats, 4u);
}

TEST(RunStability, ShowsWherePIsKnownToABoundAlone) {
  // Ten repeats of two kinds; each of three perturbations makes answers of its own.
  const Forms flipped{{0, 0, 0, 0, 0, 0, 0, 0, 1, 1},
                      std::vector<int>(10, 2),
                      std::vector<int>(10, 3),
                      std::vector<int>(10, 4)};
  const std::vector<Forms> cases(600, flipped);
  const RunStability run = stability_of(cases);
  EXPECT_EQ(run.unstable_cases(), 600u);
  EXPECT_EQ(run.cases_too_costly_to_test(), 0u);
  StabilityRules hurried;
  hurried.tail_states = 0;
  const RunStability bounds = stability_of(cases, false, hurried);
  EXPECT_EQ(bounds.unstable_cases(), 0u) << "the bound is no proof";
  EXPECT_EQ(bounds.cases_too_costly_to_test(), 600u);
  EXPECT_EQ(bounds.undecided_cases(), 0u) << "ten repeats are enough";
}

TEST(RunStability, WithOneRepeatTheFloorIsUnknownWhichIsShownAlready) {
  const RunStability run =
      PerturbedRun({it, error, /**/ nothing, error, /**/ it, error, /**/ nothing, error, /**/ nothing, error})
          .stability();
  EXPECT_FALSE(run.perturbations[0].too_few_repeats);
  EXPECT_EQ(run.undecided_cases(), 0u);
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
  UnitResult redacted = one;
  redacted.claims_identity.fill(1);
  UnitResult alike = one;
  alike.claims_identity.fill(2);
  EXPECT_NE(identity(redacted), identity(alike)) << "redacted, they only look alike";
  alike.claims_identity.fill(1);
  EXPECT_EQ(identity(redacted), identity(alike));
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
  const PerturbedRun run(
      {it, error, /**/ nothing, other, /**/ it, nothing, /**/ it, it, /**/ other, nothing});
  std::vector<std::vector<Flip>> flips;
  std::vector<std::pair<TrialId, TrialId>> pairs;
  ASSERT_TRUE(visit_cases(run.results(), [&](const CaseResult& result) {
    for (const Flip& flip : flips_of(result))
      pairs.emplace_back(flip.unperturbed->trial, flip.perturbed->trial);
  }));
  // a's second repeat is an error: its answers stand beside the first.
  EXPECT_EQ(pairs, (std::vector<std::pair<TrialId, TrialId>>{{0, 2}, {0, 3}, {4, 8}}));
}

TEST(Flips, OfAnAnswerThatIsNoneSayWhy) {
  const PerturbedRun run({it, it, /**/ refused, it, /**/ it, it, /**/ it, it, /**/ it, it});
  std::vector<AnswerDiff> diffs;
  ASSERT_TRUE(visit_cases(run.results(), [&](const CaseResult& result) {
    for (const Flip& flip : flips_of(result)) diffs.push_back(diff_of(result.fixture, flip));
  }));
  ASSERT_EQ(diffs.size(), 1u);
  EXPECT_EQ(diffs[0].only_unperturbed, std::vector<std::string>{"a/b/c = true"});
  EXPECT_FALSE(diffs[0].unperturbed_reason);
  EXPECT_EQ(diffs[0].perturbed_reason, Reason::refusal);
}

}  // namespace
}  // namespace sluice

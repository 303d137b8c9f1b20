#include "coordinator/statistics/stability.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

namespace sluice::stability_test {

struct OwnedCase {
  std::vector<std::uint32_t> unperturbed;
  std::vector<PerturbedAnswer> perturbed;
  std::uint32_t category = 0;
};

StabilityAnalysis analysed(const std::vector<OwnedCase>& cases, StabilityRules rules = {}) {
  StabilityFold fold(rules);
  for (const OwnedCase& one : cases) fold.add({one.category, one.unperturbed, one.perturbed});
  return fold.finish();
}

TEST(Stability, WithoutRepeatsItIsTheShareOfIdenticalAnswers) {
  const StabilityAnalysis analysis = analysed({
      {{0}, {{0, 0}, {1, 0}, {2, 1}, {3, 0}}, 0},
      {{0}, {{0, 0}, {1, 2}, {2, 1}, {3, 1}}, 1},
      {{0}, {{0, 0}, {1, 0}, {3, 0}}, 1},
  });
  EXPECT_NEAR(*analysis.all.stability, 7.0 / 11.0, 1e-9);
  EXPECT_EQ(analysis.all.answers, 11u);
  EXPECT_EQ(analysis.all.cases, 3u);
  EXPECT_EQ(analysis.all.floor, std::nullopt);
  EXPECT_NEAR(*analysis.cases[0].stability, 0.75, 1e-9);
  EXPECT_NEAR(*analysis.cases[1].stability, 0.25, 1e-9);
  EXPECT_NEAR(*analysis.cases[2].stability, 1.0, 1e-9);
  EXPECT_NEAR(*analysis.categories.at(1).stability, 4.0 / 7.0, 1e-9);
  ASSERT_EQ(analysis.perturbations.size(), 4u);
  EXPECT_NEAR(*analysis.perturbations[0].figures.stability, 1.0, 1e-9);
  EXPECT_NEAR(*analysis.perturbations[1].figures.stability, 2.0 / 3.0, 1e-9);
  EXPECT_NEAR(*analysis.perturbations[2].figures.stability, 0.0, 1e-9);
  EXPECT_EQ(analysis.perturbations[2].figures.answers, 2u);
  // One repeat leaves the floor unknown, and nothing is called unstable.
  for (const auto& one : analysis.perturbations) {
    EXPECT_EQ(one.p, std::nullopt);
    EXPECT_FALSE(one.unstable);
  }
  for (const auto& one : analysis.cases) EXPECT_FALSE(one.unstable);
}

TEST(Stability, IntervalsAreAsCalculatedByHand) {
  // Of 4 answers 3 and 1 are identical: p = 1/2. Residuals 3 - 2 and 1 - 2; clustered variance 2 * 2 / 64 =
  // 1/16, independent (1/4) / 8 = 1/32: design effect 2, n_eff 4. The upper end is Wilson's for 2 of 4 with z
  // = 1.959963984540054: 1/2 + z sqrt(1/16 + z^2/64) / (1 + z^2/4). The lower one is 1/2 times what it is of
  // the three failures of the second case alone: p = 5/8, design effect 2 * (9 - 9 + 9/64 * 32) / (15/8) =
  // 4.8, n_eff 5/3: 0.124233 / 0.625.
  const StabilityAnalysis analysis = analysed({
      {{5}, {{0, 5}, {1, 5}, {2, 9}, {3, 5}}, 0},
      {{5}, {{0, 5}, {1, 7}, {2, 9}, {3, 8}}, 0},
  });
  const double z2 = 1.959963984540054 * 1.959963984540054;
  const double half = std::sqrt(z2) * std::sqrt(1.0 / 16 + z2 / 64) / (1 + z2 / 4);
  EXPECT_NEAR(analysis.all.interval.low, 0.0993861331, 1e-9);
  EXPECT_NEAR(analysis.all.interval.high, 0.5 + half, 1e-9);
  // One case is one answer: its four are compared with the same reference. They counted as four.
  EXPECT_EQ(analysis.cases[0].interval(0.95), wilson_interval(0.75, 1.0, 0.95));
  const StabilityAnalysis alone = analysed({{{5}, {{0, 5}, {1, 5}, {2, 9}, {3, 5}}, 0}});
  EXPECT_EQ(alone.cases[0].interval(0.95), alone.all.interval);
}

TEST(Stability, WithRepeatsItIsTheAgreementOverPairs) {
  // Repeats 0 0 1, perturbed 0 and 1: pairs (0,0) (0,0) (1,0) and (0,1) (0,1) (1,1): 2/3 and 1/3 agree. The
  // floor is one pair of three.
  const StabilityAnalysis analysis = analysed({{{0, 0, 1}, {{0, 0}, {1, 1}}, 0}});
  EXPECT_NEAR(*analysis.cases[0].stability, 0.5, 1e-9);
  EXPECT_NEAR(*analysis.cases[0].floor, 1.0 / 3.0, 1e-9);
  EXPECT_NEAR(*analysis.perturbations[0].figures.stability, 2.0 / 3.0, 1e-9);
  EXPECT_NEAR(*analysis.perturbations[1].figures.stability, 1.0 / 3.0, 1e-9);
  EXPECT_NEAR(*analysis.all.floor, 1.0 / 3.0, 1e-9);
}

TEST(Stability, FloorsPoolThePairsOfRepeats) {
  const StabilityAnalysis analysis = analysed({
      {{0, 0, 0}, {{0, 0}}, 0},
      {{0, 1, 1}, {{0, 1}}, 0},
      {{0, 1}, {}, 0},     // Nothing perturbed: counts for the floor alone.
      {{4}, {{0, 4}}, 0},  // One repeat is left: no pair.
      {{}, {{0, 0}}, 0},   // All repeats ended in errors.
  });
  EXPECT_NEAR(*analysis.all.floor, (3.0 + 1.0 + 0.0) / 7.0, 1e-9);
  EXPECT_EQ(analysis.all.cases, 3u);
  EXPECT_EQ(analysis.cases[3].floor, std::nullopt);
  EXPECT_EQ(analysis.cases[3].p, std::nullopt);
  EXPECT_EQ(analysis.cases[4].stability, std::nullopt);
  ASSERT_EQ(analysis.cases.size(), 5u);
  // The floor of a perturbation is that of the cases that it was applied to.
  EXPECT_NEAR(*analysis.perturbations[0].figures.floor, 4.0 / 6.0, 1e-9);
}

TEST(Stability, FlipsBeyondNoiseAreUnstableAndNoiseIsNot) {
  // 20 cases without noise of three repeats. Perturbation 7 flips six, perturbation 3 none: T = 1 in six
  // cases, each 1/4 by chance; Holm doubles the smaller p.
  std::vector<OwnedCase> cases;
  for (int i = 0; i < 20; ++i) cases.push_back({{0, 0, 0}, {{3, 0}, {7, i < 6 ? 1u : 0u}}, 0});
  const StabilityAnalysis analysis = analysed(cases);
  ASSERT_EQ(analysis.perturbations.size(), 2u);
  EXPECT_EQ(analysis.perturbations[0].perturbation, 3u);
  EXPECT_EQ(analysis.perturbations[0].p, 1.0);
  EXPECT_FALSE(analysis.perturbations[0].unstable);
  EXPECT_NEAR(*analysis.perturbations[1].p, 1.0 / 4096.0, 1e-12);
  EXPECT_NEAR(*analysis.perturbations[1].adjusted_p, 2.0 / 4096.0, 1e-12);
  EXPECT_TRUE(analysis.perturbations[1].unstable);
  EXPECT_NEAR(*analysis.perturbations[1].figures.stability, 0.7, 1e-9);
  EXPECT_NEAR(*analysis.perturbations[1].figures.floor, 1.0, 1e-9);
}

TEST(Stability, ACaseIsUnstableByItsPooledPerturbations) {
  // Five equal repeats and six other answers: 1 of C(11, 5) = 462 labellings; Holm over two cases.
  OwnedCase sensitive{{2, 2, 2, 2, 2}, {}, 0};
  OwnedCase steady = sensitive;
  for (std::uint32_t i = 0; i < 6; ++i) {
    sensitive.perturbed.push_back({i, 3});
    steady.perturbed.push_back({i, 2});
  }
  const StabilityAnalysis analysis = analysed({sensitive, steady});
  EXPECT_NEAR(*analysis.cases[0].p, 1.0 / 462.0, 1e-12);
  EXPECT_NEAR(*analysis.cases[0].adjusted_p, 2.0 / 462.0, 1e-12);
  EXPECT_TRUE(analysis.cases[0].unstable);
  EXPECT_EQ(analysis.cases[1].p, 1.0);
  EXPECT_FALSE(analysis.cases[1].unstable);
}

TEST(Stability, AnAnswerThatPerturbationsShareIsOnePieceOfEvidence) {
  // Three equal repeats, and another answer to each of three perturbed repeats: 2 of C(6, 3) = 20
  // labellings, however many perturbations make the same text.
  for (const std::uint32_t copies : {1u, 2u, 4u, 8u}) {
    OwnedCase one{{0, 0, 0}, {}, 0};
    for (std::uint32_t perturbation = 0; perturbation < copies; ++perturbation) {
      for (std::uint32_t repeat = 0; repeat < 3; ++repeat) {
        one.perturbed.push_back({perturbation, 1, 100 + repeat});
      }
    }
    const StabilityAnalysis analysis = analysed({one});
    EXPECT_NEAR(*analysis.cases[0].p, 2.0 / 20.0, 1e-12) << copies;
    EXPECT_EQ(analysis.cases[0].answers, 3 * copies);
    EXPECT_EQ(analysis.cases[0].units, 3u);
    EXPECT_EQ(analysis.cases[0].interval(0.95), wilson_interval(0.0, 1.0, 0.95));
    EXPECT_EQ(analysis.all.answers, 3 * copies);
  }
}

TEST(Stability, ACaseOfManyKindsOfAnswersIsCountedWithoutItsWholeDistribution) {
  // Five repeats, four of them alike, and 30 perturbed answers of six kinds, one of them the same.
  OwnedCase one{{5, 5, 5, 5, 0}, {}, 0};
  for (std::uint32_t i = 0; i < 30; ++i) one.perturbed.push_back({i % 7, 5 + i % 6});
  StabilityRules tail;
  tail.case_states = 0;
  StabilityRules whole;
  whole.case_states = 1'000'000;
  const double expected = *analysed({one}, whole).cases[0].p;
  EXPECT_LT(expected, 0.05);
  EXPECT_NEAR(*analysed({one}, tail).cases[0].p, expected, 1e-12);
  EXPECT_FALSE(analysed({one}, tail).cases[0].p_is_bound);
  // What hardly deviates gets a bound, which can never be significant.
  OwnedCase usual{{5, 5, 6, 7, 0}, one.perturbed, 0};
  EXPECT_GE(*analysed({usual}, tail).cases[0].p, *analysed({usual}, whole).cases[0].p);
  EXPECT_FALSE(analysed({usual}, tail).cases[0].p_is_bound);
}

/// Ten repeats of two kinds, and three perturbations that each make other answers: of one kind, or each of
/// `kinds`, so that the pattern is another one.
OwnedCase flipped_case(std::uint32_t kinds = 1) {
  OwnedCase one{{0, 0, 0, 0, 0, 0, 0, 0, 1, 1}, {}, 0};
  for (std::uint32_t perturbation = 0; perturbation < 3; ++perturbation) {
    for (std::uint32_t repeat = 0; repeat < 10; ++repeat) {
      one.perturbed.push_back({perturbation, 10 + 10 * perturbation + repeat % kinds});
    }
  }
  return one;
}

TEST(Stability, WhereEveryCaseFlipsAllAreUnstableHoweverManyThereAre) {
  for (const std::uint32_t kinds : {1u, 2u, 3u, 4u}) {
    std::vector<OwnedCase> cases(2'000, flipped_case(kinds));
    const StabilityAnalysis analysis = analysed(cases);
    EXPECT_EQ(std::ranges::count(analysis.cases, true, &CaseStability::unstable), 2'000) << kinds;
    EXPECT_EQ(std::ranges::count(analysis.cases, true, &CaseStability::p_is_bound), 0) << kinds;
  }
  StabilityRules whole;
  whole.case_states = 1'000'000;
  EXPECT_NEAR(*analysed({flipped_case()}).cases[0].p, *analysed({flipped_case()}, whole).cases[0].p, 1e-15);
}

TEST(Stability, ThePOfACaseDependsNeitherOnTheOrderNorOnItsDoubles) {
  const OwnedCase a = flipped_case(2);
  const OwnedCase b = flipped_case(4);
  const StabilityAnalysis forth = analysed({a, b, b, a, a});
  const StabilityAnalysis back = analysed({b, a});
  for (const std::size_t i : {0u, 3u, 4u}) EXPECT_EQ(forth.cases[i].p, back.cases[1].p);
  for (const std::size_t i : {1u, 2u}) EXPECT_EQ(forth.cases[i].p, back.cases[0].p);
}

TEST(Stability, MarksAPThatIsOnlyABound) {
  StabilityRules hurried;
  hurried.case_states = 0;
  hurried.tail_states = 0;
  const CaseStability bound = analysed({flipped_case()}, hurried).cases[0];
  EXPECT_LE(*bound.p, 0.1);
  EXPECT_GE(*bound.p, *analysed({flipped_case()}).cases[0].p);
  EXPECT_TRUE(bound.p_is_bound);
  EXPECT_FALSE(analysed({flipped_case()}).cases[0].p_is_bound);
}

TEST(Stability, NothingGivesNothing) {
  const StabilityAnalysis analysis = analysed({});
  EXPECT_EQ(analysis.all.stability, std::nullopt);
  EXPECT_TRUE(analysis.perturbations.empty());
  EXPECT_TRUE(analysis.cases.empty());
}

}  // namespace sluice::stability_test

#include "coordinator/statistics/agreement.hpp"

#include "coordinator/statistics/intervals.hpp"
#include "coordinator/statistics/random_stream.hpp"
#include "coordinator/statistics/special_functions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::agreement_test {

/// One answer a case.
JudgeAgreement table(std::uint64_t both_pass, std::uint64_t judge_alone, std::uint64_t label_alone,
                     std::uint64_t both_fail) {
  JudgeAgreement agreement;
  for (std::uint64_t i = 0; i < both_pass; ++i) agreement.add_case({1, 0, 0, 0});
  for (std::uint64_t i = 0; i < judge_alone; ++i) agreement.add_case({0, 1, 0, 0});
  for (std::uint64_t i = 0; i < label_alone; ++i) agreement.add_case({0, 0, 1, 0});
  for (std::uint64_t i = 0; i < both_fail; ++i) agreement.add_case({0, 0, 0, 1});
  return agreement;
}

TEST(JudgeAgreement, IsAsCalculatedByHand) {
  // 35 of 50 agree. The judge passes 25, the labels 30: expected agreement 0.5 * 0.6 + 0.5 * 0.4 = 0.5, so
  // kappa = (0.7 - 0.5) / (1 - 0.5) = 0.4.
  const JudgeAgreement agreement = table(20, 5, 10, 15);
  EXPECT_NEAR(agreement.raw(0.95)->value, 0.7, 1e-12);
  EXPECT_NEAR(agreement.kappa(0.95)->value, 0.4, 1e-12);
  const Interval exact = clopper_pearson_interval(35, 15, 0.95);
  EXPECT_NEAR(agreement.raw(0.95)->interval.low, exact.low, 1e-9);
  EXPECT_NEAR(agreement.raw(0.95)->interval.high, exact.high, 1e-9);
}

TEST(JudgeAgreement, VerdictsAreCountedInTheirCells) {
  VerdictCounts counts;
  counts.add(true, true);
  counts.add(true, false);
  counts.add(true, false);
  counts.add(false, true);
  for (int i = 0; i < 4; ++i) counts.add(false, false);
  EXPECT_EQ(counts.both_pass, 1u);
  EXPECT_EQ(counts.judge_alone, 2u);
  EXPECT_EQ(counts.label_alone, 1u);
  EXPECT_EQ(counts.both_fail, 4u);
  EXPECT_EQ(counts.answers(), 8u);
}

// It was -2e-16 and the like, which a report printed as -0.00.
TEST(JudgeAgreement, KappaIsZeroWhereOneOfTheTwoAlwaysSaysTheSame) {
  for (std::uint64_t answers = 2; answers < 200; ++answers) {
    VerdictCounts judge_passes_all;
    judge_passes_all.both_pass = answers - 1;
    judge_passes_all.judge_alone = 1;
    JudgeAgreement agreement;
    agreement.add_case(judge_passes_all);
    const double kappa = agreement.kappa(0.95)->value;
    EXPECT_EQ(kappa, 0.0) << answers;
    EXPECT_FALSE(std::signbit(kappa)) << answers;
  }
}

TEST(JudgeAgreement, HighAgreementIsNoKappaWhereNearlyAllPass) {
  // 90 of 100 agree, as many as by chance: 0.95 * 0.95 + 0.05 * 0.05 = 0.905.
  const auto kappa = table(90, 5, 5, 0).kappa(0.95);
  EXPECT_NEAR(kappa->value, (0.9 - 0.905) / 0.095, 1e-12);
  EXPECT_LT(kappa->interval.low, 0.0);
  EXPECT_GT(kappa->interval.high, 0.1);
}

TEST(JudgeAgreement, PerfectAgreementKeepsAnInterval) {
  const auto kappa = table(10, 0, 0, 10).kappa(0.95);
  EXPECT_EQ(kappa->value, 1.0);
  EXPECT_EQ(kappa->interval.high, 1.0);
  // At even margins a kappa is 1 - 2 d. Wilson for 0 of 20 disagreements: 16.1 %, so kappa is 0.68 or more
  // but for the correction of half an answer, which Newcombe's has at 20.0 % and 0.60.
  EXPECT_LT(kappa->interval.low, 0.66);
  EXPECT_GT(kappa->interval.low, 0.50);
  // Fewer failures say less of the same 20 answers.
  EXPECT_LT(table(18, 0, 0, 2).kappa(0.95)->interval.low, kappa->interval.low);
}

TEST(JudgeAgreement, KappaIsUndefinedWhereBothAlwaysSayTheSame) {
  EXPECT_FALSE(JudgeAgreement().kappa(0.95));
  EXPECT_FALSE(JudgeAgreement().raw(0.95));
  EXPECT_FALSE(table(1, 0, 0, 0).kappa(0.95));
  EXPECT_FALSE(table(30, 0, 0, 0).kappa(0.95));
  EXPECT_FALSE(table(0, 0, 0, 30).kappa(0.95));
  EXPECT_EQ(table(30, 0, 0, 0).raw(0.95)->value, 1.0);
  EXPECT_EQ(table(30, 0, 0, 0).standing(0.6, 0.95), KappaStanding::unclear);
  JudgeAgreement empty;
  empty.add_case({});
  EXPECT_EQ(empty.cases(), 0u);
}

TEST(JudgeAgreement, OneAnswerSaysNothing) {
  const auto kappa = table(0, 1, 0, 0).kappa(0.95);
  ASSERT_TRUE(kappa);
  EXPECT_EQ(kappa->value, 0.0);  // Both always say the same; against each other.
  EXPECT_LT(kappa->interval.low, -0.5);
  EXPECT_GT(kappa->interval.high, 0.5);
}

TEST(JudgeAgreement, AlwaysPassingIsAKappaOfZeroThatSaysLittle) {
  const auto kappa = table(9, 1, 0, 0).kappa(0.95);
  EXPECT_NEAR(kappa->value, 0.0, 1e-12);
  EXPECT_GT(kappa->interval.high, 0.5);
}

TEST(JudgeAgreement, NeitherNamesNorSidesMatter) {
  const auto interval = [](const JudgeAgreement& agreement) { return agreement.kappa(0.95)->interval; };
  const Interval one = interval(table(40, 3, 8, 9));
  for (const Interval& other : {interval(table(9, 3, 8, 40)), interval(table(40, 8, 3, 9))}) {
    EXPECT_NEAR(one.low, other.low, 1e-5);
    EXPECT_NEAR(one.high, other.high, 1e-5);
  }
}

double kappa_of(const std::array<double, 4>& p) {
  const double judge = p[0] + p[1];
  const double label = p[0] + p[2];
  return 1.0 - (p[1] + p[2]) / (judge * (1.0 - label) + label * (1.0 - judge));
}

TEST(JudgeAgreement, TheIntervalHoldsEveryTableThatTheScoreTestDoes) {
  // By brute force: tables at random around the observed one; those with a chi-square of at most 1.96^2 have
  // their kappa within the interval, and some of them come close to both of its ends but for the correction.
  RandomStream random(5);
  for (const auto& counts : {std::array{12, 3, 2, 8}, std::array{30, 1, 0, 2}, std::array{5, 4, 6, 5},
                             std::array{90, 4, 3, 3}, std::array{7, 0, 0, 3}}) {
    int n = 0;
    for (const int count : counts) n += count;
    JudgeAgreement agreement = table(counts[0], counts[1], counts[2], counts[3]);
    const Interval interval = agreement.kappa(0.95)->interval;
    double lowest = 1.0;
    double highest = -1.0;
    for (int draw = 0; draw < 60'000; ++draw) {
      std::array<double, 4> p{};
      double sum = 0.0;
      for (std::size_t i = 0; i < 4; ++i) {
        // Around the share, by as many as three standard errors on either side.
        const double share = counts[i];
        p[i] = std::max(share + (2 * random.unit() - 1) * 3.0 * std::sqrt(share + 1.0), 1e-6);
        sum += p[i];
      }
      double chi_square = 0.0;
      for (std::size_t i = 0; i < 4; ++i) {
        p[i] /= sum;
        chi_square += (counts[i] - n * p[i]) * (counts[i] - n * p[i]) / (n * p[i]);
      }
      if (chi_square > 1.959963984540054 * 1.959963984540054) continue;
      lowest = std::min(lowest, kappa_of(p));
      highest = std::max(highest, kappa_of(p));
    }
    EXPECT_LE(interval.low, lowest) << counts[0];
    EXPECT_GE(interval.high, highest) << counts[0];
    EXPECT_GT(interval.low, lowest - 0.25) << counts[0];
    EXPECT_LT(interval.high, highest + 0.25) << counts[0];
  }
}

TEST(JudgeAgreement, RepeatsOfACaseAreNotMoreEvidence) {
  // Each case three times over, always the same: as wide as one answer a case, not as three times as many.
  JudgeAgreement repeated;
  const JudgeAgreement once = table(20, 5, 10, 15);
  const JudgeAgreement thrice = table(60, 15, 30, 45);
  for (int i = 0; i < 20; ++i) repeated.add_case({3, 0, 0, 0});
  for (int i = 0; i < 5; ++i) repeated.add_case({0, 3, 0, 0});
  for (int i = 0; i < 10; ++i) repeated.add_case({0, 0, 3, 0});
  for (int i = 0; i < 15; ++i) repeated.add_case({0, 0, 0, 3});
  EXPECT_EQ(repeated.cases(), 50u);
  EXPECT_NEAR(repeated.kappa(0.95)->value, 0.4, 1e-12);
  EXPECT_NEAR(repeated.kappa(0.95)->interval.low, once.kappa(0.95)->interval.low, 0.01);
  EXPECT_NEAR(repeated.raw(0.95)->interval.low, once.raw(0.95)->interval.low, 0.01);
  EXPECT_GT(thrice.kappa(0.95)->interval.low, repeated.kappa(0.95)->interval.low + 0.05);
  // Perfect agreement shows no scatter: each case counts once.
  JudgeAgreement perfect;
  for (int i = 0; i < 10; ++i)
    perfect.add_case(i < 5 ? VerdictCounts{4, 0, 0, 0} : VerdictCounts{0, 0, 0, 4});
  EXPECT_NEAR(perfect.kappa(0.95)->interval.low, table(5, 0, 0, 5).kappa(0.95)->interval.low, 1e-6);
}

/// So many cases of so many answers, all agreed on but for some of the first case.
JudgeAgreement agreed_but(std::uint64_t disagreed, int cases, std::uint64_t answers) {
  JudgeAgreement agreement;
  for (int i = 0; i < cases; ++i) {
    const std::uint64_t wrong = i == 0 ? disagreed : 0;
    agreement.add_case(i % 2 == 0 ? VerdictCounts{0, 0, wrong, answers - wrong}
                                  : VerdictCounts{answers, 0, 0, 0});
  }
  return agreement;
}

// One disagreement made every answer count as independent: kappa was known to be at least 0.874 then, and
// 0.602 where all agree; of two tests under twenty arms 0.705 and -0.602, which opened a gate.
TEST(JudgeAgreement, ADisagreementMoreDoesNotRaiseTheLowerEnd) {
  const auto low = [](const JudgeAgreement& agreement) { return agreement.kappa(0.95)->interval.low; };
  EXPECT_NEAR(low(agreed_but(0, 20, 5)), 0.602, 0.001);
  EXPECT_NEAR(low(agreed_but(1, 20, 5)), 0.590, 0.001);
  EXPECT_NEAR(low(agreed_but(0, 2, 20)), -0.602, 0.001);
  EXPECT_NEAR(low(agreed_but(1, 2, 20)), -0.611, 0.001);
  EXPECT_NE(agreed_but(1, 2, 20).standing(0.7, 0.95), KappaStanding::above);
  for (std::uint64_t wrong = 1; wrong <= 5; ++wrong) {
    EXPECT_LE(low(agreed_but(wrong, 20, 5)), low(agreed_but(wrong - 1, 20, 5))) << wrong;
    EXPECT_LE(agreed_but(wrong, 20, 5).raw(0.95)->interval.low,
              agreed_but(wrong - 1, 20, 5).raw(0.95)->interval.low)
        << wrong;
  }
}

TEST(JudgeAgreement, StandsAboveOrBelowALimitOnlyWithItsWholeInterval) {
  EXPECT_EQ(table(200, 10, 10, 200).standing(0.6, 0.95), KappaStanding::above);
  EXPECT_EQ(table(100, 50, 50, 100).standing(0.6, 0.95), KappaStanding::below);
  EXPECT_EQ(table(20, 5, 5, 20).standing(0.6, 0.95), KappaStanding::unclear);
}

TEST(JudgeAgreement, TheIntervalOfKappaHoldsTheTruthOverAllTablesOfTwentyAnswers) {
  // No simulation: each of the 1,771 tables with its probability. Kappa up to 0.99, where an interval without
  // a correction for continuity holds it with 0.90 only; up to 98 % passing, by both or by the labels more
  // often.
  constexpr std::uint64_t answers = 20;
  struct Table {
    std::array<std::uint64_t, 4> counts;
    double ways;
    std::optional<AgreementEstimate> kappa;
  };
  std::vector<Table> tables;
  for (std::uint64_t a = 0; a <= answers; ++a) {
    for (std::uint64_t b = 0; a + b <= answers; ++b) {
      for (std::uint64_t c = 0; a + b + c <= answers; ++c) {
        const std::uint64_t d = answers - a - b - c;
        const double ways = binomial_coefficient(answers, a) * binomial_coefficient(answers - a, b) *
                            binomial_coefficient(c + d, c);
        tables.push_back({{a, b, c, d}, ways, table(a, b, c, d).kappa(0.95)});
      }
    }
  }
  for (const double kappa : {-0.1, 0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.98, 0.99, 1.0}) {
    for (const double label : {0.5, 0.7, 0.8, 0.9, 0.95, 0.98}) {
      for (const double judge : {label, label - 0.1}) {
        const double disagreed = (1.0 - kappa) * (judge * (1.0 - label) + label * (1.0 - judge));
        const double both = 0.5 * (judge + label - disagreed);
        const std::array<double, 4> p{both, judge - both, label - both, 1.0 - judge - label + both};
        if (*std::min_element(p.begin(), p.end()) < -1e-12) continue;  // There is no such judge.
        double held = 0.0;
        for (const Table& one : tables) {
          double probability = one.ways;
          for (std::size_t i = 0; i < 4; ++i) {
            probability *= std::pow(std::max(0.0, p[i]), static_cast<double>(one.counts[i]));
          }
          const Interval interval = one.kappa ? one.kappa->interval : Interval{-1.0, 1.0};
          if (interval.low <= kappa + 1e-6 && kappa - 1e-6 <= interval.high) held += probability;
        }
        EXPECT_GE(held, 0.95) << "kappa " << kappa << ", passing " << judge << " and " << label;
      }
    }
  }
}

}  // namespace sluice::agreement_test

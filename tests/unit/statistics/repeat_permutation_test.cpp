#include "coordinator/statistics/repeat_permutation.hpp"

#include "coordinator/statistics/random_stream.hpp"
#include "paired_cases.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr SwapLimits many_draws{20, 2000, 40'000};

/// A case as pairs of numerator and denominator, base first.
struct PlainCase {
  std::vector<std::pair<double, double>> answers;
  std::size_t base = 0;
  std::uint32_t unit = 0;
};

/// Drop over its standard error, by the definition of both.
double studentised(const std::vector<PlainCase>& cases, const std::vector<unsigned>& masks,
                   std::size_t units) {
  std::vector<std::vector<double>> sums(units, std::vector<double>(4));
  std::vector<double> totals(4);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::size_t all = cases[i].answers.size();
    for (std::size_t j = 0; j < all; ++j) {
      const bool is_base = (masks[i] >> j & 1) != 0;
      const auto count = static_cast<double>(is_base ? cases[i].base : all - cases[i].base);
      const std::size_t at = is_base ? 0 : 2;
      for (auto* to : {&sums[cases[i].unit], &totals}) {
        (*to)[at] += cases[i].answers[j].first / count;
        (*to)[at + 1] += cases[i].answers[j].second / count;
      }
    }
  }
  const double base = totals[0] / totals[1];
  const double current = totals[2] / totals[3];
  double squares = 0.0;
  for (const auto& unit : sums) {
    const double influence =
        (unit[0] - base * unit[1]) / totals[1] - (unit[2] - current * unit[3]) / totals[3];
    squares += influence * influence;
  }
  const double drop = base - current;
  if (std::abs(drop) < 1e-9) return 0.0;
  return squares < 1e-12 ? std::copysign(1e9, drop) : drop / std::sqrt(squares);
}

/// The share of all labellings, one by one, that drop (gain) as much as the observed one.
OneSidedPs brute_force(const std::vector<PlainCase>& cases, std::size_t units) {
  std::vector<unsigned> observed;
  for (const PlainCase& one : cases) observed.push_back((1u << one.base) - 1);
  const double found = studentised(cases, observed, units);
  std::vector<unsigned> masks(cases.size());
  double all = 0.0;
  double drops = 0.0;
  double gains = 0.0;
  const auto visit = [&](const auto& self, std::size_t at) -> void {
    if (at == cases.size()) {
      const double one = studentised(cases, masks, units);
      ++all;
      drops += one >= found - 1e-7;
      gains += one <= found + 1e-7;
      return;
    }
    for (unsigned mask = 0; mask < 1u << cases[at].answers.size(); ++mask) {
      if (static_cast<std::size_t>(__builtin_popcount(mask)) != cases[at].base) continue;
      masks[at] = mask;
      self(self, at + 1);
    }
  };
  visit(visit, 0);
  return {drops / all, gains / all};
}

TEST(RepeatPermutation, AgreesWithAllLabellingsOneByOne) {
  RandomStream random(41);
  for (int run = 0; run < 24; ++run) {
    const bool counts = run % 2 == 0;
    const bool clustered = run % 3 == 0;
    std::vector<PairedCase> cases;
    std::vector<PlainCase> plain;
    for (std::uint32_t i = 0; i < 5; ++i) {
      PairedCase& one = cases.emplace_back();
      one.cluster = i / 2;
      PlainCase& same = plain.emplace_back();
      same.unit = clustered ? i / 2 : i;
      same.base = 1 + random.below(2);
      const std::size_t all = same.base + (i == 0 ? 3 - same.base : 1 + random.below(3));
      for (std::size_t j = 0; j < all; ++j) {
        const MetricShare share = counts ? share_of_f1(1 + random.below(3), random.below(3), random.below(2))
                                         : share_of_score(random.below(5) / 4.0);
        (j < same.base ? one.base : one.current).add(share);
        same.answers.emplace_back(1e-9 * static_cast<double>(share.numerator),
                                  1e-9 * static_cast<double>(share.denominator));
      }
    }
    const PairedSample sample = pair_cases(cases, clustered);
    ASSERT_FALSE(sample.equal_repeats);
    const SwapTestResult result = permute_repeats(sample, many_draws, 5);
    const OneSidedPs expected = brute_force(plain, clustered ? 3 : 5);
    EXPECT_EQ(result.method, PairedMethod::draws);
    if (*sample.totals.drop() == 0.0) continue;
    EXPECT_NEAR(result.p.drop, expected.drop, 0.01) << run;
    EXPECT_NEAR(result.p.improvement, expected.improvement, 0.01) << run;
  }
}

TEST(RepeatPermutation, OneAnswerOfSixIsTheBases) {
  // Three cases that passed in the base and fail five times now: each labelling by chance with 1/6. The swap
  // of whole sides has 1/8, and counts.
  std::vector<PairedCase> cases(3, PairedCase{scores({1.0}), scores({0, 0, 0, 0, 0}), 0});
  cases.resize(20, PairedCase{scores({1.0}), scores({1, 1, 1, 1, 1}), 0});
  const PairedSample sample = pair_cases(cases, false);
  EXPECT_NEAR(permute_repeats(sample, many_draws, 1).p.drop, 1.0 / 216.0, 0.002);
  EXPECT_EQ(swap_test(sample, many_draws, 1).p.drop, 1.0 / 8.0);
}

TEST(RepeatPermutation, TheLargerPCounts) {
  // Twenty cases of which each passes in the base and once fails in five now: by swapping 2^-20 for a drop,
  // yet each of six answers may well be the one that failed.
  const std::vector<PairedCase> cases(20, PairedCase{scores({1.0}), scores({0, 1, 1, 1, 1}), 0});
  const PairedSample sample = pair_cases(cases, false);
  const SwapTestResult result = swap_test(sample, {}, 1);
  EXPECT_NEAR(result.p.drop, std::pow(5.0 / 6.0, 20), 0.005);
  EXPECT_EQ(result.method, PairedMethod::draws);
  EXPECT_EQ(result.assignments, 9999u);
}

// As in the test of swaps: draws alone came to 1/10,000 at best.
TEST(RepeatPermutation, WhereNoDrawIsAsExtremeABoundIsP) {
  // One of six answers passed, and it is the base's, in each of thirty cases. Swaps are less sure: 2^-30.
  const std::vector<PairedCase> cases(30, PairedCase{scores({1.0}), scores({0, 0, 0, 0, 0}), 0});
  const PairedSample sample = pair_cases(cases, false);
  EXPECT_NEAR(permute_repeats(sample, {}, 1).p.drop * std::pow(6.0, 30), 1.0, 1e-9);
  EXPECT_NEAR(swap_test(sample, {}, 1).p.drop * 0x1p30, 1.0, 1e-9);
  const SwapTestResult back = permute_repeats(pair_cases(swapped(cases), false), {}, 1);
  EXPECT_EQ(back.p.improvement, permute_repeats(sample, {}, 1).p.drop);
}

TEST(RepeatPermutation, ManyCasesAreComparedWithTheNormal) {
  RandomStream random(43);
  std::vector<PairedCase> cases(400);
  for (PairedCase& one : cases) {
    one.base.add(share_of_score(random.below(11) / 10.0));
    for (int i = 0; i < 3; ++i) one.current.add(share_of_score(random.below(11) / 10.0));
  }
  const PairedSample sample = pair_cases(cases, false);
  const SwapTestResult drawn = permute_repeats(sample, {}, 1);
  ASSERT_EQ(drawn.method, PairedMethod::draws);
  for (const SwapLimits& limits : {SwapLimits{20, 100, 9999}, SwapLimits{20, 2000, 9999, 1000}}) {
    const SwapTestResult normal = permute_repeats(sample, limits, 1);
    EXPECT_EQ(normal.method, PairedMethod::normal);
    EXPECT_NEAR(normal.p.drop, drawn.p.drop, 0.02);
  }
}

TEST(RepeatPermutation, EqualAnswersAreNoEvidence) {
  const std::vector<PairedCase> cases(30, PairedCase{scores({1.0}), scores({1, 1, 1}), 0});
  const SwapTestResult result = permute_repeats(pair_cases(cases, false), {}, 1);
  EXPECT_EQ(result.p.drop, 1.0);
  EXPECT_EQ(result.p.improvement, 1.0);
}

}  // namespace
}  // namespace sluice

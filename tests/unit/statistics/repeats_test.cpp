#include "coordinator/statistics/repeats.hpp"

#include <cmath>
#include <cstddef>

#include <gtest/gtest.h>

namespace sluice {
namespace {

/// All subsets of k of the repeats, the first `passed` of which pass: by definition, without a formula.
double share_of_subsets(unsigned passed, unsigned assessed, unsigned k, bool all) {
  int subsets = 0;
  int hits = 0;
  for (unsigned mask = 0; mask < 1u << assessed; ++mask) {
    unsigned size = 0;
    unsigned passing = 0;
    for (unsigned i = 0; i < assessed; ++i) {
      if ((mask >> i & 1) == 0) continue;
      ++size;
      passing += i < passed;
    }
    if (size != k) continue;
    ++subsets;
    hits += all ? passing == k : passing > 0;
  }
  return static_cast<double>(hits) / subsets;
}

TEST(Repeats, PassAtKAndPassHatKCountTheSubsets) {
  for (unsigned assessed = 1; assessed <= 7; ++assessed) {
    for (unsigned passed = 0; passed <= assessed; ++passed) {
      for (unsigned k = 1; k <= assessed; ++k) {
        EXPECT_NEAR(*pass_at_k(passed, assessed, k), share_of_subsets(passed, assessed, k, false), 1e-12);
        EXPECT_NEAR(*pass_hat_k(passed, assessed, k), share_of_subsets(passed, assessed, k, true), 1e-12);
      }
    }
  }
  EXPECT_EQ(pass_at_k(1, 2, 3), std::nullopt);
  EXPECT_EQ(pass_hat_k(1, 2, 0), std::nullopt);
}

TEST(Repeats, PassAtKAgreesWithTheFormulaOfChen2021) {
  // Chen et al., "Evaluating large language models trained on code", section 2.1: for n = 200 samples of
  // which c are correct, 1 - prod_{i = n-c+1}^{n} (1 - k / i).
  for (const int c : {1, 37, 150}) {
    for (const int k : {1, 10, 40}) {
      double product = 1.0;
      for (int i = 200 - c + 1; i <= 200; ++i) product *= 1.0 - static_cast<double>(k) / i;
      EXPECT_NEAR(*pass_at_k(static_cast<std::uint64_t>(c), 200, static_cast<std::uint64_t>(k)),
                  1.0 - product, 1e-12);
    }
  }
}

TEST(Repeats, PassCurveAveragesOverCasesWithEnoughRepeats) {
  PassCurve curve(3);
  curve.add(2, 3);
  curve.add(1, 3);
  curve.add(2, 2);
  curve.add(0, 0);  // Errors only: counts nowhere.
  const auto points = curve.points();
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[0].cases, 3u);
  EXPECT_NEAR(*points[0].pass_at_k, (2.0 / 3 + 1.0 / 3 + 1.0) / 3, 1e-12);
  EXPECT_NEAR(*points[0].pass_hat_k, *points[0].pass_at_k, 1e-12);
  EXPECT_NEAR(*points[1].pass_at_k, (1.0 + 2.0 / 3 + 1.0) / 3, 1e-12);
  EXPECT_NEAR(*points[1].pass_hat_k, (1.0 / 3 + 0.0 + 1.0) / 3, 1e-12);
  EXPECT_EQ(points[2].cases, 2u);
  EXPECT_NEAR(*points[2].pass_at_k, 1.0, 1e-12);
  EXPECT_NEAR(*points[2].pass_hat_k, 0.0, 1e-12);
  EXPECT_EQ(PassCurve(1).points().at(0).pass_at_k, std::nullopt);
}

TEST(Repeats, PassCurveAgreesWithTheSingleEstimators) {
  for (std::uint64_t passed = 0; passed <= 9; ++passed) {
    PassCurve curve(9);
    curve.add(passed, 9);
    const auto points = curve.points();
    for (std::uint64_t k = 1; k <= 9; ++k) {
      EXPECT_NEAR(*points[k - 1].pass_at_k, *pass_at_k(passed, 9, k), 1e-12);
      EXPECT_NEAR(*points[k - 1].pass_hat_k, *pass_hat_k(passed, 9, k), 1e-12);
    }
  }
}

}  // namespace
}  // namespace sluice

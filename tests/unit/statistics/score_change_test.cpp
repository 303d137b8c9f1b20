#include "coordinator/statistics/score_change.hpp"

#include "coordinator/statistics/random_stream.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(ScoreChange, IsAsCalculatedByHand) {
  ScoreChange change;
  const double unperturbed[] = {0.8, 0.6};
  const double perturbed[] = {0.7, 1.0, 0.5};
  change.add(unperturbed, perturbed);  // Means over pairs: 0.1, 0.3, 0.2; the repeats differ by 0.2.
  EXPECT_NEAR(*change.mean_absolute(), 0.2, 1e-12);
  EXPECT_NEAR(*change.noise(), 0.2, 1e-12);
  const double single[] = {0.5};
  const double same[] = {0.5};
  change.add(single, same);
  EXPECT_EQ(change.answers(), 4u);
  EXPECT_NEAR(*change.mean_absolute(), 0.15, 1e-12);
  EXPECT_NEAR(*change.noise(), 0.2, 1e-12);  // One repeat has no pair.
}

TEST(ScoreChange, IsUnknownWithoutPairs) {
  ScoreChange change;
  EXPECT_EQ(change.mean_absolute(), std::nullopt);
  const double score[] = {0.5};
  change.add({}, score);
  EXPECT_EQ(change.mean_absolute(), std::nullopt);
  change.add(score, {});
  EXPECT_EQ(change.noise(), std::nullopt);
}

TEST(ScoreChange, AgreesWithAllPairsOneByOne) {
  RandomStream random(99);
  for (int run = 0; run < 50; ++run) {
    std::vector<double> unperturbed(1 + random.below(8));
    std::vector<double> perturbed(1 + random.below(8));
    for (double& score : unperturbed) score = random.below(11) / 10.0;
    for (double& score : perturbed) score = random.below(11) / 10.0;
    double sum = 0.0;
    for (const double a : unperturbed) {
      for (const double b : perturbed) sum += std::abs(a - b);
    }
    ScoreChange change;
    change.add(unperturbed, perturbed);
    const auto pairs = static_cast<double>(unperturbed.size() * perturbed.size());
    EXPECT_NEAR(*change.mean_absolute(), sum / pairs, 1e-9);
  }
}

}  // namespace
}  // namespace sluice

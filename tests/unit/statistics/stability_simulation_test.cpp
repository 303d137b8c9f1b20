// Simulated answers against what the tests for "unstable beyond the floor" promise; one seed for all.
#include "clopper_pearson.hpp"
#include "coordinator/statistics/random_stream.hpp"
#include "coordinator/statistics/stability.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace sluice::stability_simulation_test {

constexpr std::uint64_t seed = 20251105;

/// 40 cases. Each has its own noise: an answer is the case's usual one, or with a probability uniform in 0 ..
/// `noise` one of three others. Perturbation 0 besides changes the answer for good in a share `flipped` of
/// the cases.
struct Model {
  int repeats = 3;
  std::uint32_t perturbations = 7;
  double noise = 0.4;
  double flipped = 0.0;
};

StabilityAnalysis simulated(const Model& model, std::uint64_t run) {
  RandomStream random(seed, run);
  StabilityFold fold(StabilityRules{});
  for (int i = 0; i < 40; ++i) {
    const double noise = model.noise * random.unit();
    const bool flips = random.unit() < model.flipped;
    const auto answer = [&] { return random.unit() < noise ? 1 + random.below(3) : 0u; };
    std::vector<std::uint32_t> unperturbed;
    std::vector<PerturbedAnswer> perturbed;
    for (int repeat = 0; repeat < model.repeats; ++repeat) {
      unperturbed.push_back(answer());
      for (std::uint32_t p = 0; p < model.perturbations; ++p) {
        const std::uint32_t given = answer();
        perturbed.push_back({p, flips && p == 0 ? 9u : given});
      }
    }
    fold.add({0, unperturbed, perturbed});
  }
  return fold.finish();
}

bool any_unstable(const StabilityAnalysis& analysis) {
  return std::any_of(analysis.perturbations.begin(), analysis.perturbations.end(),
                     [](const auto& one) { return one.unstable; });
}

TEST(StabilitySimulation, NoiseAloneIsRarelyCalledUnstable) {
  constexpr std::uint64_t runs = 600;
  std::uint64_t alarms = 0;
  std::uint64_t below_floor = 0;
  std::uint64_t case_alarms = 0;
  for (std::uint64_t run = 0; run < runs; ++run) {
    const StabilityAnalysis analysis = simulated({}, run);
    alarms += any_unstable(analysis);
    below_floor += *analysis.all.stability < *analysis.all.floor;
    case_alarms += std::any_of(analysis.cases.begin(), analysis.cases.end(),
                               [](const auto& one) { return one.unstable; });
  }
  // Over all perturbations together 1-5 %; that the stability is below the floor says nothing by itself.
  EXPECT_LE(clopper_pearson_lower(alarms, runs, 0.95), 0.05) << alarms;
  EXPECT_GE(alarms, runs / 100) << alarms;
  EXPECT_LE(clopper_pearson_lower(case_alarms, runs, 0.95), 0.05) << case_alarms;
  EXPECT_GT(below_floor, runs / 4);
}

TEST(StabilitySimulation, ASensitiveModelIsFound) {
  constexpr std::uint64_t runs = 300;
  std::uint64_t found = 0;
  std::uint64_t others = 0;
  for (std::uint64_t run = 0; run < runs; ++run) {
    const StabilityAnalysis analysis = simulated({3, 7, 0.1, 0.15}, run);
    found += analysis.perturbations.at(0).unstable;
    others += std::any_of(analysis.perturbations.begin() + 1, analysis.perturbations.end(),
                          [](const auto& one) { return one.unstable; });
  }
  EXPECT_GE(found, 0.8 * runs) << found;
  EXPECT_LE(clopper_pearson_lower(others, runs, 0.95), 0.05) << others;
}

TEST(StabilitySimulation, AOneRepeatRunCallsNothingUnstable) {
  const StabilityAnalysis analysis = simulated({1, 7, 0.2, 0.5}, 1);
  EXPECT_FALSE(any_unstable(analysis));
  EXPECT_EQ(analysis.all.floor, std::nullopt);
  EXPECT_TRUE(analysis.all.stability.has_value());
}

}  // namespace sluice::stability_simulation_test

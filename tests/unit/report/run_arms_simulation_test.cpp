// How often the verdicts on a run's arms are wrong.
#include "coordinator/merge/run_arms.hpp"
#include "coordinator/statistics/random_stream.hpp"
#include "tests/unit/report/arms_by_hand.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::run_arms_simulation_test {

using run_arms::Arms;
using run_arms::pass_fail;
using run_arms::scored;

/// How a simulated test comes out: each is as hard as it is, for all arms.
struct Model {
  double level = 0.7;   ///< Share that passes.
  double spread = 1.0;  ///< Of difficulty: 0 makes every test alike.
};

/// Of so many runs, those in which any verdict tells the two arms apart.
int runs_told_apart(const Model& a, const Model& b, std::uint32_t tests, int runs, std::uint64_t seed,
                    bool with_scores = true) {
  int told = 0;
  for (int run = 0; run < runs; ++run) {
    RandomStream random(seed, static_cast<std::uint64_t>(run));
    Arms arms({"a", "b"});
    for (std::uint32_t test = 0; test < tests; ++test) {
      const double difficulty = random.unit() - 0.5;
      for (std::uint32_t arm = 0; arm < 2; ++arm) {
        const Model& model = arm == 0 ? a : b;
        const double ease = std::clamp(model.level + model.spread * difficulty, 0.0, 1.0);
        std::vector<AssessedMetric> metrics{pass_fail(random.unit() < ease)};
        if (with_scores) metrics.push_back(scored(std::clamp(ease + 0.2 * (random.unit() - 0.5), 0.0, 1.0)));
        arms.add(test, arm, std::move(metrics));
      }
    }
    const RunArms result = arms.finish();
    bool apart = false;
    for (const auto& one : result.pairs[0].metrics) {
      apart |= one.verdict == ArmVerdict::better || one.verdict == ArmVerdict::worse;
    }
    told += apart ? 1 : 0;
  }
  return told;
}

// docs/arms.md: one in twenty at most, over sizes and difficulties. 16 of 200 is beyond 5 % by chance in less
// than 3 % of tries.
TEST(RunArmsSimulation, TheSameModelTwiceIsSeldomToldApart) {
  constexpr std::uint64_t seed = 20261123;
  int all = 0;
  for (const std::uint32_t tests : {20u, 100u, 300u}) {
    for (const double spread : {0.0, 0.6}) {
      const int told = runs_told_apart({0.7, spread}, {0.7, spread}, tests, 200, seed + tests);
      EXPECT_LE(told, 16) << tests << " tests, spread " << spread << ", seed " << seed;
      all += told;
    }
  }
  EXPECT_LE(all, 60) << "5 % of all, seed " << seed;
}

TEST(RunArmsSimulation, TenPointsAreFoundOverAHundredTests) {
  constexpr std::uint64_t seed = 7;
  // Scores of one model are ten points lower; what passes is noisier, and needs more tests (below).
  EXPECT_GE(runs_told_apart({0.75, 0.4}, {0.65, 0.4}, 100, 100, seed), 80) << "seed " << seed;
}

TEST(RunArmsSimulation, PassRatesNeedMoreTestsThanScores) {
  constexpr std::uint64_t seed = 9;
  const int hundred = runs_told_apart({0.75, 0.4}, {0.65, 0.4}, 100, 100, seed, false);
  const int six_hundred = runs_told_apart({0.75, 0.4}, {0.65, 0.4}, 600, 100, seed, false);
  EXPECT_LT(hundred, 60) << "docs/arms.md says so; seed " << seed;
  EXPECT_GE(six_hundred, 80) << "seed " << seed;
}

}  // namespace sluice::run_arms_simulation_test

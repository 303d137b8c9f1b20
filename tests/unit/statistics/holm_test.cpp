#include "coordinator/statistics/holm.hpp"

#include "coordinator/statistics/random_stream.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(Holm, AdjustsThePublishedExample) {
  // The worked example of Wikipedia's "Holm-Bonferroni method": at 0.05 the first and the last are rejected.
  const double p_values[] = {0.01, 0.04, 0.03, 0.005};
  const auto adjusted = holm_adjusted(p_values);
  EXPECT_NEAR(adjusted[0], 0.03, 1e-15);
  EXPECT_NEAR(adjusted[1], 0.06, 1e-15);
  EXPECT_NEAR(adjusted[2], 0.06, 1e-15);
  EXPECT_NEAR(adjusted[3], 0.02, 1e-15);
}

TEST(Holm, NeverExceedsOneNorFalls) {
  const double p_values[] = {0.9, 0.4, 0.6};
  EXPECT_EQ(holm_adjusted(p_values), (std::vector<double>{1.0, 1.0, 1.0}));
  const double one[] = {0.2};
  EXPECT_EQ(holm_adjusted(one), std::vector<double>{0.2});
  EXPECT_TRUE(holm_adjusted({}).empty());
}

TEST(HolmBeside, SaysWhatTheAdjustmentOfAllWouldSay) {
  RandomStream random(5);
  for (int round = 0; round < 500; ++round) {
    std::vector<double> p_values(1 + random.below(8));
    for (double& p : p_values) {
      p = random.below(2) == 0 ? random.unit() : std::ldexp(1.0, -static_cast<int>(random.below(12)));
    }
    const double alpha = random.below(2) == 0 ? 0.05 : 0.3;
    const HolmBeside beside(p_values, alpha);
    for (std::size_t own = 0; own < p_values.size(); ++own) {
      for (int units = 0; units < 14; ++units) {
        auto changed = p_values;
        changed[own] = std::ldexp(1.0, -units);
        EXPECT_EQ(beside.is_significant(own, changed[own]), holm_adjusted(changed)[own] <= alpha)
            << "round " << round << ", " << own << ", 2^-" << units;
      }
    }
  }
}

}  // namespace
}  // namespace sluice

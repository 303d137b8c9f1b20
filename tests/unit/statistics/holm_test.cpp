#include "coordinator/statistics/holm.hpp"

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

}  // namespace
}  // namespace sluice

#include "coordinator/statistics/mcnemar.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(McNemar, AgreesWithFagerland2013) {
  // Fagerland, Lydersen and Laake, "The McNemar test for binary matched-pairs data", BMC Medical Research
  // Methodology 13:91 (2013): airway hyper-responsiveness with 1 and 7 discordant pairs, exact conditional
  // two-sided p = 0.070; complete response with 6 and 16, p = 0.052.
  EXPECT_NEAR(2 * mcnemar_exact(7, 1).drop, 0.070, 5e-4);
  EXPECT_NEAR(2 * mcnemar_exact(16, 6).drop, 0.0525, 5e-4);
}

TEST(McNemar, AgreesWithExactBinomialSums) {
  // Whole numbers: P(X >= 7 of 8) = 9/256, and mpmath 1.3.0 for the larger ones.
  EXPECT_NEAR(mcnemar_exact(7, 1).drop, 9.0 / 256.0, 1e-14);
  EXPECT_NEAR(mcnemar_exact(7, 1).improvement, 255.0 / 256.0, 1e-14);
  EXPECT_NEAR(mcnemar_exact(11, 1).drop, 0.003173828125, 1e-14);
  EXPECT_NEAR(mcnemar_exact(25, 15).drop, 0.076929972081416054, 1e-13);
  EXPECT_NEAR(mcnemar_exact(121, 59).drop, 2.2172246318775883e-6, 1e-16);
  EXPECT_NEAR(mcnemar_exact(150, 86).drop, 1.8579680697857212e-5, 1e-15);
}

TEST(McNemar, BothDirectionsMirror) {
  for (std::uint64_t lost = 0; lost < 12; ++lost) {
    for (std::uint64_t gained = 0; gained < 12; ++gained) {
      EXPECT_EQ(mcnemar_exact(lost, gained).drop, mcnemar_exact(gained, lost).improvement);
    }
  }
  EXPECT_EQ(mcnemar_exact(0, 0).drop, 1.0);
}

}  // namespace
}  // namespace sluice

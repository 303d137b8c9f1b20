#include "coordinator/statistics/random_stream.hpp"

#include <array>
#include <cstddef>

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(RandomStream, GivesThePublishedNumbersOfSplitMix64) {
  // The generator's usual test vector (seed 1234567), as in Rosetta Code, "Pseudo-random numbers/Splitmix64".
  RandomStream random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317u);
  EXPECT_EQ(random.next(), 3203168211198807973u);
  EXPECT_EQ(random.next(), 9817491932198370423u);
  EXPECT_EQ(random.next(), 4593380528125082431u);
  EXPECT_EQ(random.next(), 16408922859458223821u);
}

TEST(RandomStream, DiffersBySeedAndByStream) {
  EXPECT_EQ(RandomStream(7, 3).next(), RandomStream(7, 3).next());
  EXPECT_NE(RandomStream(7, 3).next(), RandomStream(7, 4).next());
  EXPECT_NE(RandomStream(7, 3).next(), RandomStream(8, 3).next());
}

TEST(RandomStream, BelowIsUniform) {
  constexpr int draws = 60'000;
  for (const std::uint32_t bound : {1u, 2u, 3u, 6u, 10u}) {
    RandomStream random(bound);
    std::array<int, 10> counts{};
    for (int i = 0; i < draws; ++i) ++counts.at(random.below(bound));
    const double expected = static_cast<double>(draws) / bound;
    double chi_squared = 0.0;
    for (std::size_t i = 0; i < bound; ++i) {
      chi_squared += (counts[i] - expected) * (counts[i] - expected) / expected;
    }
    EXPECT_LT(chi_squared, 27.88) << bound;  // 99.9 % of a chi-squared with 9 degrees of freedom.
  }
}

TEST(RandomStream, BelowReachesBothEndsOfALargeRange) {
  constexpr std::uint32_t bound = 0xc0000000u;  // Where a plain remainder would favour the first third.
  RandomStream random(1);
  int in_first_third = 0;
  for (int i = 0; i < 30'000; ++i) in_first_third += random.below(bound) < bound / 3;
  EXPECT_NEAR(in_first_third, 10'000, 400);
}

TEST(RandomStream, UnitStaysBelowOneAndHasMeanOneHalf) {
  RandomStream random(2);
  double sum = 0.0;
  for (int i = 0; i < 100'000; ++i) {
    const double value = random.unit();
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    sum += value;
  }
  EXPECT_NEAR(sum / 100'000, 0.5, 0.004);
}

}  // namespace
}  // namespace sluice

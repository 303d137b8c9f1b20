#include "coordinator/merge/instability_reach.hpp"

#include "coordinator/statistics/stability.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

double smallest(std::uint64_t unperturbed, std::uint64_t perturbed) {
  SmallestP p;
  p.add(unperturbed, perturbed);
  return p.value();
}

TEST(InstabilityReach, IsOneOfAllLabellings) {
  EXPECT_NEAR(smallest(2, 2), 1.0 / 6, 1e-12);
  EXPECT_NEAR(smallest(3, 24), 1.0 / 2925, 1e-15);
  EXPECT_EQ(SmallestP().value(), 1.0);
  SmallestP two;
  two.add(2, 2);
  two.add(2, 4);
  EXPECT_NEAR(two.value(), 1.0 / 90, 1e-12);
}

TEST(InstabilityReach, CountsAllTestsAsHolmDoes) {
  EXPECT_EQ(out_of_reach(std::vector{0.05}, 0.95), std::vector<bool>{false}) << "at the limit";
  EXPECT_EQ(out_of_reach(std::vector{0.051}, 0.95), std::vector<bool>{true});
  EXPECT_EQ(out_of_reach(std::vector{0.04, 0.04}, 0.95), (std::vector{true, true}));
  EXPECT_EQ(out_of_reach(std::vector{0.02, 0.04}, 0.95), (std::vector{false, false}));
  EXPECT_EQ(out_of_reach(std::vector{0.02, 0.04, 1.0}, 0.95), (std::vector{true, true, false}))
      << "where nothing differs more repeats are of no use";
  EXPECT_TRUE(out_of_reach({}, 0.95).empty());
}

TEST(InstabilityReach, ShowsHowManyRepeatsItTakes) {
  EXPECT_EQ(repeats_needed(0.0, 1, 1, 0.95), 4u) << "2 of C(8, 4) = 70 ways: either side may be the other";
  EXPECT_EQ(repeats_needed(0.0, 8, 1, 0.95), 2u) << "1 of C(18, 2) = 153";
  EXPECT_EQ(repeats_needed(0.0, 8, 12, 0.95), 3u) << "1 of C(27, 3) = 2925, 12 times";
  EXPECT_EQ(repeats_needed(0.5, 2, 2, 0.95), 8u) << "C(16, 8) of C(24, 8), twice: 0.035";
  EXPECT_FALSE(repeats_needed(1.0, 2, 2, 0.95));
}

std::vector<PerturbedAnswer> perturbed_answers(std::uint32_t forms, std::uint32_t repeats, bool half_same) {
  std::vector<PerturbedAnswer> answers;
  for (std::uint32_t i = 0; i < repeats * forms; ++i) {
    const bool is_same = half_same && i % 2 == 0;
    answers.push_back({i % forms, is_same ? 0u : 1u});
  }
  return answers;
}

bool is_found(std::uint32_t cases, std::uint32_t repeats, const std::vector<PerturbedAnswer>& perturbed) {
  StabilityFold fold{StabilityRules{}};
  const std::vector<std::uint32_t> unperturbed(repeats, 0);
  for (std::uint32_t i = 0; i < cases; ++i) fold.add({0, unperturbed, perturbed});
  return fold.finish().cases[0].unstable;
}

TEST(InstabilityReach, AgreesWithTheTestItself) {
  for (const std::uint32_t forms : {1u, 2u, 4u, 8u}) {
    for (const std::uint32_t cases : {1u, 5u, 12u, 100u}) {
      for (const bool half_same : {false, true}) {
        if (half_same && forms == 1) continue;  // No half of an odd number of answers.
        const auto enough = repeats_needed(half_same ? 0.5 : 0.0, forms, cases, 0.95);
        ASSERT_TRUE(enough);
        for (std::uint32_t repeats = 2; repeats <= *enough; ++repeats) {
          const std::vector<double> p(cases, smallest(repeats, std::uint64_t{repeats} * forms));
          const bool found = is_found(cases, repeats, perturbed_answers(forms, repeats, half_same));
          EXPECT_EQ(found, repeats == *enough)
              << cases << " cases in " << forms << " forms, " << repeats << " repeats";
          EXPECT_FALSE(found && out_of_reach(p, 0.95)[0]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace sluice

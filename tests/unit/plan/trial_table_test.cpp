#include "coordinator/plan/trial_table.hpp"

#include <random>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(TrialTable, OneTrialACaseIsTheCase) {
  TrialTable table;
  ASSERT_TRUE(table.add_case());
  ASSERT_TRUE(table.add_case());
  EXPECT_EQ(table.trial_count(), 2u);
  EXPECT_EQ(table.place(1), (TrialPlace{1, 0, 0}));
}

TEST(TrialTable, GoesByCaseThenPerturbationThenRepeat) {
  TrialTable table(2);
  ASSERT_TRUE(table.add_case());
  ASSERT_TRUE(table.add_case(0b101));
  ASSERT_TRUE(table.add_case(0b010));
  ASSERT_EQ(table.trial_count(), 2u + 6u + 4u);
  const std::vector<TrialPlace> expected{{0, 0, 0}, {0, 0, 1}, {1, 0, 0}, {1, 0, 1}, {1, 1, 0}, {1, 1, 1},
                                         {1, 3, 0}, {1, 3, 1}, {2, 0, 0}, {2, 0, 1}, {2, 2, 0}, {2, 2, 1}};
  for (TrialId trial = 0; trial < expected.size(); ++trial) EXPECT_EQ(table.place(trial), expected[trial]);
}

TEST(TrialTable, EveryTrialStandsInItsCasesRange) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    TrialTable table(1 + random() % 5);
    const std::size_t cases = 1 + random() % 20;
    for (std::size_t i = 0; i < cases; ++i) {
      ASSERT_TRUE(table.add_case(random() % 3 == 0 ? 0 : static_cast<std::uint32_t>(random())));
    }
    ASSERT_EQ(table.case_count(), cases);
    ASSERT_EQ(table.first_trial(0), 0u);
    ASSERT_EQ(table.first_trial(cases), table.trial_count());
    TrialPlace before{};
    for (TrialId trial = 0; trial < table.trial_count(); ++trial) {
      const TrialPlace place = table.place(trial);
      EXPECT_GE(trial, table.first_trial(place.case_index));
      EXPECT_LT(trial, table.first_trial(place.case_index + 1));
      EXPECT_LT(place.repeat, table.repeats());
      if (place.perturbation > 0) {
        EXPECT_NE(table.perturbations_of(place.case_index) & (1u << (place.perturbation - 1)), 0u);
      }
      if (trial > 0) {
        EXPECT_LT(std::tie(before.case_index, before.perturbation, before.repeat),
                  std::tie(place.case_index, place.perturbation, place.repeat));
      }
      before = place;
    }
  }
}

}  // namespace
}  // namespace sluice

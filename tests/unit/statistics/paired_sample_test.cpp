#include "coordinator/statistics/paired_sample.hpp"

#include "paired_cases.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(PairedSample, AveragesRepeatsWithinACaseFirst) {
  const PairedCase cases[] = {{scores({1.0, 0.0, 0.5}), scores({0.25}), 0},
                              {scores({1.0}), scores({0.0}), 0}};
  const PairedSample sample = pair_cases(cases, false);
  EXPECT_NEAR(*sample.totals.base(), (0.5 + 1.0) / 2, 1e-12);
  EXPECT_NEAR(*sample.totals.current(), (0.25 + 0.0) / 2, 1e-12);
  EXPECT_NEAR(*sample.totals.drop(), 0.625, 1e-12);
  EXPECT_FALSE(sample.equal_repeats);
  EXPECT_EQ(sample.changed_units, 2u);
}

TEST(PairedSample, ARoundingOfMeansIsNoChange) {
  // 4/9 as one score, and as the mean of three thirds.
  const PairedCase cases[] = {{scores({1.0 / 3, 1.0 / 3, 2.0 / 3}), scores({4.0 / 9}), 0},
                              {scores({2.0 / 3, 2.0 / 3, 1.0 / 3}), scores({5.0 / 9}), 0}};
  EXPECT_EQ(pair_cases(cases, false).changed_units, 0u);
  EXPECT_EQ(*pair_cases(cases, false).totals.drop(), 0.0);
}

TEST(PairedSample, KeepsTheAnswersWhereRepeatsAreUnequal) {
  const PairedCase cases[] = {{scores({1.0, 0.5}), scores({0.25}), 4},
                              {scores({}), scores({0.5}), 4},
                              {scores({0.75}), scores({0.0}), 4}};
  const PairedSample sample = pair_cases(cases, true);
  ASSERT_EQ(sample.repeats.size(), 2u);
  EXPECT_EQ(sample.repeats[0].base, 2u);
  ASSERT_EQ(sample.repeats[0].answers.size(), 3u);
  EXPECT_EQ(sample.repeats[0].answers[1].numerator, 500'000'000);
  EXPECT_EQ(sample.repeats[0].answers[2].numerator, 250'000'000);
  EXPECT_EQ(sample.repeats[1].base, 1u);
  EXPECT_EQ(sample.repeats[1].answers[0].numerator, 750'000'000);
  EXPECT_EQ(sample.repeats[0].unit, sample.repeats[1].unit);
  EXPECT_TRUE(pair_cases(std::span(cases).last(1), false).repeats.empty());
}

TEST(PairedSample, UnitsOfUnequalWeightAreFewer) {
  const PairedCase cases[] = {scored(1, 1, 0), scored(1, 1, 0), scored(1, 1, 0), scored(1, 1, 1)};
  EXPECT_NEAR(pair_cases(cases, false).effective_units(), 4.0, 1e-12);
  EXPECT_NEAR(pair_cases(cases, true).effective_units(), 16.0 / 10.0, 1e-12);  // 4^2 / (3^2 + 1).
  EXPECT_EQ(pair_cases({}, false).effective_units(), 0.0);
}

TEST(PairedSample, LeavesOutWhatIsUndefinedOnASide) {
  const PairedCase cases[] = {scored(1.0, 0.5),
                              {scores({}), scores({0.5}), 0},
                              scored(0.5, 0.5),
                              {scores({0.5}), scores({}), 0},
                              {scores({}), scores({}), 0}};
  const PairedSample sample = pair_cases(cases, false);
  EXPECT_EQ(sample.pairs, 2u);
  EXPECT_EQ(sample.left_out, 3u);
  EXPECT_NEAR(*sample.totals.drop(), 0.25, 1e-12);
  EXPECT_EQ(sample.changed_units, 1u);
}

TEST(PairedSample, AggregatesCountsAsOneRatio) {
  // Base: 2 * 5 / (2 * 5 + 1 + 2) = 10/13 over both cases; current: 2 * 3 / (6 + 2 + 4) = 1/2.
  const PairedCase cases[] = {{f1_of({{3, 1, 0}}), f1_of({{3, 0, 0}}), 0},
                              {f1_of({{2, 0, 2}}), f1_of({{0, 2, 4}}), 0}};
  const PairedSample sample = pair_cases(cases, false);
  EXPECT_NEAR(*sample.totals.base(), 10.0 / 13.0, 1e-12);
  EXPECT_NEAR(*sample.totals.current(), 0.5, 1e-12);
  EXPECT_NEAR(*sample.totals.drop(), 10.0 / 13.0 - 0.5, 1e-12);
}

TEST(PairedSample, PrecisionAndRecallAreRatiosOfSumsToo) {
  RepeatSum base;
  base.add(share_of_precision(3, 1));
  RepeatSum current;
  current.add(share_of_precision(1, 1));
  const PairedCase precision[] = {{base, current, 0}};
  EXPECT_NEAR(*pair_cases(precision, false).totals.drop(), 0.25, 1e-12);
  RepeatSum recall_base;
  recall_base.add(share_of_recall(4, 1));
  RepeatSum recall_current;
  recall_current.add(share_of_recall(2, 3));
  const PairedCase recall[] = {{recall_base, recall_current, 0}};
  EXPECT_NEAR(*pair_cases(recall, false).totals.drop(), 0.4, 1e-12);
}

TEST(PairedSample, AnAggregateWithoutAnyCountIsUndefinedNotZero) {
  RepeatSum nothing;
  nothing.add(share_of_precision(0, 0));
  RepeatSum something;
  something.add(share_of_precision(1, 0));
  const PairedCase cases[] = {{something, nothing, 0}};
  const PairedSample sample = pair_cases(cases, false);
  EXPECT_EQ(sample.totals.current(), std::nullopt);
  EXPECT_EQ(sample.totals.drop(), std::nullopt);
}

TEST(PairedSample, ClustersAddUpTheirCases) {
  const PairedCase cases[] = {scored(1.0, 0.0, 7), scored(0.5, 0.5, 3), scored(0.0, 0.5, 7)};
  const PairedSample sample = pair_cases(cases, true);
  EXPECT_EQ(sample.pairs, 3u);
  ASSERT_EQ(sample.units.size(), 2u);
  EXPECT_EQ(sample.changed_units, 1u);
  EXPECT_NEAR(*sample.totals.drop(), 0.5 / 3, 1e-12);
}

/// Whose answers now are those of one request.
PairedCase asked_by(std::uint32_t answers, PairedCase pair) {
  pair.current_answers = answers;
  return pair;
}

TEST(PairedSample, CasesThatShareTheirAnswersAreOneUnit) {
  const PairedCase cases[] = {asked_by(7, scored(1.0, 0.0, 0)), asked_by(8, scored(1.0, 1.0, 1)),
                              asked_by(7, scored(1.0, 0.5, 2)), scored(0.5, 0.5, 2), scored(1.0, 0.0, 1)};
  const PairedSample sample = pair_cases(cases, false);
  EXPECT_EQ(sample.pairs, 5u);
  EXPECT_EQ(sample.units.size(), 4u);
  EXPECT_TRUE(sample.clustered);
  EXPECT_EQ(sample.changed_units, 2u);
  EXPECT_NEAR(*sample.totals.drop(), 2.5 / 5, 1e-12);
  EXPECT_EQ(pair_cases(cases, true).units.size(), 2u) << "one request of two categories makes them one";
  EXPECT_FALSE(pair_cases(std::span(cases).last(3), false).clustered);
  // On either side, and on both.
  PairedCase arms[] = {scored(1.0, 0.0), scored(1.0, 0.0), scored(1.0, 0.0)};
  arms[0].base_answers = arms[1].base_answers = 3;
  arms[1].current_answers = arms[2].current_answers = 4;
  EXPECT_EQ(pair_cases(arms, false).units.size(), 1u);
}

TEST(PairedSample, WhatIsUndefinedJoinsNoAnswers) {
  PairedCase cases[] = {scored(1.0, 0.0), {scores({}), scores({0.5}), 0}, scored(1.0, 0.0)};
  cases[0].current_answers = cases[1].base_answers = 1;
  cases[1].current_answers = cases[2].current_answers = 2;
  EXPECT_EQ(pair_cases(cases, false).units.size(), 2u);
}

TEST(PairedSample, AnAnswerOfSeveralCasesChangesItsSideForAllOfThem) {
  const PairedCase cases[] = {asked_by(7, {scores({1.0}), scores({1.0, 0.5, 0.0}), 0}),
                              asked_by(7, {scores({1.0}), scores({1.0, 1.0, 0.0}), 0}),
                              asked_by(7, {scores({1.0}), scores({1.0, 0.0}), 0}),
                              asked_by(9, {scores({1.0}), scores({1.0, 1.0, 0.0}), 0})};
  const PairedSample sample = pair_cases(cases, false);
  ASSERT_EQ(sample.repeats.size(), 3u) << "the third has not as many";
  std::vector<std::vector<std::int64_t>> answers;
  std::set<std::size_t> units;
  for (const CaseRepeats& one : sample.repeats) {
    auto& numerators = answers.emplace_back();
    for (const MetricShare& share : one.answers) numerators.push_back(share.numerator / 500'000'000);
    units.insert(one.unit);
  }
  std::ranges::sort(answers);
  EXPECT_EQ(answers, (std::vector<std::vector<std::int64_t>>{{2, 2, 0}, {2, 2, 2, 0}, {4, 4, 3, 0}}));
  EXPECT_EQ(units.size(), 2u);
}

TEST(PairedSample, UnitDropsAreTheDifferencesOfAMean) {
  const PairedCase cases[] = {scored(1.0, 0.25), scored(0.5, 0.75), scored(0.0, 0.0)};
  const auto drops = pair_cases(cases, false).unit_drops();
  double sum = 0.0;
  for (const double drop : drops) sum += drop;
  EXPECT_NEAR(sum / 3, 0.5 / 3, 1e-12);
  std::vector<double> sorted(drops);
  std::sort(sorted.begin(), sorted.end());
  EXPECT_NEAR(sorted[0], -0.25, 1e-12);
  EXPECT_NEAR(sorted[1], 0.0, 1e-12);
  EXPECT_NEAR(sorted[2], 0.75, 1e-12);
}

TEST(PairedSample, UnitDropsOfARatioAreItsInfluence) {
  // Against the difference quotient: a little more of one unit moves the ratio by its influence.
  const PairedCase cases[] = {{f1_of({{30, 4, 6}}), f1_of({{25, 7, 11}}), 0},
                              {f1_of({{12, 9, 1}}), f1_of({{13, 2, 0}}), 0},
                              {f1_of({{8, 0, 5}}), f1_of({{4, 3, 9}}), 0}};
  const PairedSample sample = pair_cases(cases, false);
  const auto drops = sample.unit_drops();
  const double drop = *sample.totals.drop();
  for (std::size_t i = 0; i < sample.units.size(); ++i) {
    SwapSums more = sample.totals;
    constexpr double step = 1e-4;
    const auto part = [&](std::int64_t value) {
      return static_cast<std::int64_t>(step * static_cast<double>(value));
    };
    const SwapUnit& unit = sample.units[i];
    more.add({part(unit.base_numerator), part(unit.base_denominator), part(unit.current_numerator),
              part(unit.current_denominator)});
    EXPECT_NEAR((*more.drop() - drop) / step * 3, drops[i] - drop, 1e-3);
  }
}

}  // namespace
}  // namespace sluice

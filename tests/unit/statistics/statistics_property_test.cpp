#include "coordinator/statistics/bootstrap.hpp"
#include "coordinator/statistics/change_decision.hpp"
#include "coordinator/statistics/random_stream.hpp"
#include "coordinator/statistics/stability.hpp"
#include "paired_cases.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice::statistics_property_test {

constexpr SwapLimits limits{8, 40, 199};  ///< Small, so that each method gets its share of the examples.

RepeatSum any_side(bool counts) {
  RepeatSum side;
  const int repeats = *rc::gen::inRange(0, 4);
  for (int i = 0; i < repeats; ++i) {
    if (counts) {
      side.add(share_of_f1(*rc::gen::inRange<std::uint64_t>(0, 5), *rc::gen::inRange<std::uint64_t>(0, 3),
                           *rc::gen::inRange<std::uint64_t>(0, 3)));
    } else {
      side.add(share_of_score(*rc::gen::inRange(0, 11) / 10.0));
    }
  }
  return side;
}

std::vector<PairedCase> any_cases() {
  const bool counts = *rc::gen::arbitrary<bool>();
  const int count = *rc::gen::inRange(0, 70);
  std::vector<PairedCase> cases;
  for (int i = 0; i < count; ++i) {
    PairedCase one{any_side(counts), any_side(counts), *rc::gen::inRange<std::uint32_t>(0, 9)};
    if (*rc::gen::inRange(0, 3) == 0) one.current = one.base;
    cases.push_back(one);
  }
  return cases;
}

template <class T>
std::vector<T> shuffled(std::vector<T> items) {
  RandomStream random(*rc::gen::arbitrary<std::uint64_t>());
  for (std::size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1], items[random.below(static_cast<std::uint32_t>(i))]);
  }
  return items;
}

MetricDecision assessed(const PairedComparison& comparison) {
  return assess_changes({&comparison, 1}, {0.95, 0.05}).at(0);
}

RC_GTEST_PROP(StatisticsProperty, TheOrderOfCasesDoesNotMatter, ()) {
  const auto cases = any_cases();
  const bool clustered = *rc::gen::arbitrary<bool>();
  const PairedSample sample = pair_cases(cases, clustered);
  const PairedSample other = pair_cases(shuffled(cases), clustered);
  const PairedComparison a = compare_paired(sample, limits, 7);
  const PairedComparison b = compare_paired(other, limits, 7);
  RC_ASSERT(a.test.p.drop == b.test.p.drop);
  RC_ASSERT(a.test.p.improvement == b.test.p.improvement);
  RC_ASSERT(a.drop == b.drop);
  RC_ASSERT(a.deviation == b.deviation);
  RC_ASSERT(assessed(a).decision == assessed(b).decision);
  const BootstrapRules rules{0.95, 60, 5000};
  RC_ASSERT(bootstrap_intervals(sample, rules, 7).drop == bootstrap_intervals(other, rules, 7).drop);
}

RC_GTEST_PROP(StatisticsProperty, SwappingTheRunsSwapsRegressionAndImprovement, ()) {
  const auto cases = any_cases();
  const bool clustered = *rc::gen::arbitrary<bool>();
  const PairedComparison there = compare_paired(cases, clustered, limits, 7);
  const PairedComparison back = compare_paired(swapped(cases), clustered, limits, 7);
  RC_ASSERT(there.test.method == back.test.method);
  if (there.test.method == PairedMethod::normal || there.test.method == PairedMethod::mcnemar) {
    RC_ASSERT(std::abs(there.test.p.drop - back.test.p.improvement) < 1e-12);
  } else {
    RC_ASSERT(there.test.p.drop == back.test.p.improvement);
    RC_ASSERT(there.test.p.improvement == back.test.p.drop);
  }
  const ChangeDecision forwards = assessed(there).decision;
  const ChangeDecision backwards = assessed(back).decision;
  RC_ASSERT((forwards == ChangeDecision::regression) == (backwards == ChangeDecision::improvement));
  RC_ASSERT((forwards == ChangeDecision::improvement) == (backwards == ChangeDecision::regression));
}

RC_GTEST_PROP(StatisticsProperty, EqualRunsNeverFlag, ()) {
  auto cases = any_cases();
  for (PairedCase& one : cases) one.current = one.base;
  const PairedComparison comparison = compare_paired(cases, *rc::gen::arbitrary<bool>(), limits, 7);
  const MetricDecision decision = assessed(comparison);
  RC_ASSERT(comparison.test.p.drop == 1.0);
  RC_ASSERT(decision.decision == ChangeDecision::no_regression ||
            decision.decision == ChangeDecision::underpowered);
}

RC_GTEST_PROP(StatisticsProperty, DecisionsRestOnWhatTheyShow, ()) {
  const PairedComparison comparison = compare_paired(any_cases(), *rc::gen::arbitrary<bool>(), limits, 7);
  const MetricDecision decision = assessed(comparison);
  RC_ASSERT(comparison.pairs + comparison.left_out >= comparison.units);
  RC_ASSERT(comparison.changed_units <= comparison.units);
  RC_ASSERT(comparison.dropped_units <= comparison.changed_units);
  RC_ASSERT(comparison.test.p.drop > 0.0 && comparison.test.p.drop <= 1.0);
  if (!comparison.drop) {
    RC_ASSERT(decision.decision == ChangeDecision::underpowered);
    return;
  }
  RC_ASSERT(*decision.drop_upper_bound >= *comparison.drop - 1e-12);
  RC_ASSERT(*decision.minimum_detectable_effect >= 0.0 && *decision.minimum_detectable_effect <= 1.0);
  if (decision.too_few_changed) RC_ASSERT(decision.decision != ChangeDecision::regression);
  if (decision.decision == ChangeDecision::regression) RC_ASSERT(*comparison.drop >= 0.05 - 1e-9);
}

struct OwnedCase {
  std::vector<std::uint32_t> unperturbed;
  std::vector<PerturbedAnswer> perturbed;
};

std::vector<OwnedCase> any_answers() {
  std::vector<OwnedCase> cases(*rc::gen::inRange<std::size_t>(0, 12));
  for (OwnedCase& one : cases) {
    one.unperturbed = *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange<std::uint32_t>(0, 3));
    if (one.unperturbed.size() > 5) one.unperturbed.resize(5);
    const int answers = *rc::gen::inRange(0, 9);
    for (int i = 0; i < answers; ++i) {
      one.perturbed.push_back(
          {*rc::gen::inRange<std::uint32_t>(0, 4), *rc::gen::inRange<std::uint32_t>(0, 3)});
    }
  }
  return cases;
}

StabilityAnalysis analysed(const std::vector<OwnedCase>& cases) {
  StabilityFold fold({0.95, {}, 3});
  for (const OwnedCase& one : cases) fold.add({0, one.unperturbed, one.perturbed});
  return fold.finish();
}

RC_GTEST_PROP(StatisticsProperty, StabilityDoesNotDependOnOrderOrNames, ()) {
  const auto cases = any_answers();
  auto renamed = shuffled(cases);
  for (OwnedCase& one : renamed) {
    one.perturbed = shuffled(one.perturbed);
    one.unperturbed = shuffled(one.unperturbed);
    for (auto& answer : one.unperturbed) answer = 100 - 7 * answer;
    for (auto& perturbed : one.perturbed) perturbed.answer = 100 - 7 * perturbed.answer;
  }
  const StabilityAnalysis a = analysed(cases);
  const StabilityAnalysis b = analysed(renamed);
  const auto near = [](std::optional<double> x, std::optional<double> y) {
    return x.has_value() == y.has_value() && (!x || std::abs(*x - *y) < 1e-12);
  };
  RC_ASSERT(near(a.all.stability, b.all.stability));
  RC_ASSERT(near(a.all.floor, b.all.floor));
  RC_ASSERT(std::abs(a.all.interval.low - b.all.interval.low) < 1e-9);
  RC_ASSERT(a.perturbations.size() == b.perturbations.size());
  for (std::size_t i = 0; i < a.perturbations.size(); ++i) {
    RC_ASSERT(near(a.perturbations[i].p, b.perturbations[i].p));
    RC_ASSERT(near(a.perturbations[i].figures.stability, b.perturbations[i].figures.stability));
  }
}

RC_GTEST_PROP(StatisticsProperty, IdenticalAnswersAreStable, ()) {
  auto cases = any_answers();
  for (OwnedCase& one : cases) {
    std::fill(one.unperturbed.begin(), one.unperturbed.end(), 1u);
    for (auto& perturbed : one.perturbed) perturbed.answer = 1;
  }
  const StabilityAnalysis analysis = analysed(cases);
  if (analysis.all.stability) RC_ASSERT(*analysis.all.stability == 1.0);
  for (const auto& one : analysis.perturbations) RC_ASSERT(!one.unstable);
  for (const auto& one : analysis.cases) RC_ASSERT(!one.unstable);
}

}  // namespace sluice::statistics_property_test

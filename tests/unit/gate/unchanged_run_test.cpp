// Whatever the suite: a run beside the baseline that it exported, and beside itself, has not got worse. One
// of other answers has or has not, whoever asks, and whatever else always failed. RapidCheck prints the seed
// of a failure, which RC_PARAMS="seed=..." repeats.
#include "coordinator/gate/baseline_export.hpp"
#include "coordinator/gate/compare.hpp"
#include "coordinator/gate/repeated_assessment.hpp"
#include "coordinator/gate/statistical_gate.hpp"
#include "coordinator/suite/canonical_case.hpp"
#include "gate_fixture.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice::unchanged_run_test {

/// A case with what a worker handed out for each of its repeats.
struct AnsweredCase {
  Case test;
  std::vector<std::vector<MetricOutcome>> repeats;
};

struct Run {
  std::vector<AnsweredCase> cases;  ///< By id.
  std::vector<std::string> arms;
  Thresholding suite;
  double least_pass_rate = 0.0;
};

bool any_bool() {
  return *rc::gen::arbitrary<bool>();
}

double any_score() {
  return *rc::gen::inRange(0, 11) / 10.0;
}

/// Up to three checks and a score, whose limits hold or not.
AnsweredCase any_text(int repeats) {
  AnsweredCase any;
  any.test.kind = CaseKind::text;
  const int checks = *rc::gen::inRange(0, 4);
  for (int i = 0; i < checks; ++i)
    any.test.expectations.push_back({{MetricId::must_contain, {std::to_string(i)}}, {}, std::nullopt});
  const bool has_score = checks == 0 || any_bool();
  if (has_score) {
    any.test.expectations.push_back({{MetricId::rouge_n, {"reference"}}, {}, std::nullopt});
    Expectation& expectation = any.test.expectations.back();
    if (any_bool()) expectation.min_score = any_score();
    if (any_bool()) expectation.thresholding.min_floor = any_score();
    if (any_bool()) expectation.thresholding.max_drop = any_score();
  }
  for (int repeat = 0; repeat < repeats; ++repeat) {
    auto& outcomes = any.repeats.emplace_back();
    for (int i = 0; i < checks; ++i) outcomes.push_back(verdict_of(MetricId::must_contain, any_bool()));
    if (has_score) outcomes.push_back(score_of(MetricId::rouge_n, any_score()));
  }
  return any;
}

/// Outcomes as counts give them, so that precision is undefined where nothing is claimed.
AnsweredCase any_fixture(int repeats) {
  AnsweredCase any{fixture_of(""), {}};
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const double found = *rc::gen::inRange(0, 3);
    const double wrong = *rc::gen::inRange(0, 2);
    const std::optional<double> precision =
        found + wrong > 0 ? std::optional(found / (found + wrong)) : std::nullopt;
    any.repeats.push_back(claims_outcomes(precision, found / 2, 2 * found / (found + 2 + wrong), found == 2,
                                          wrong == 0 || any_bool()));
  }
  return any;
}

Run any_run() {
  Run run;
  if (any_bool()) run.suite.mode = ThresholdMode::statistical;
  if (any_bool()) run.arms = {"a", "b"};
  run.least_pass_rate = any_score();
  const int tests = *rc::gen::inRange(1, 8);
  const int repeats = *rc::gen::inRange(1, 6);
  for (int i = 0; i < tests; ++i) {
    const bool is_text = any_bool();
    AnsweredCase first = is_text ? any_text(repeats) : any_fixture(repeats);
    if (*rc::gen::inRange(0, 4) == 0) first.test.known_failure = "it is known";
    first.test.category = any_bool() ? "one" : "other";
    first.test.id = "test-" + std::to_string(i);
    if (run.arms.empty()) run.cases.push_back(first);
    for (std::size_t arm = 0; arm < run.arms.size(); ++arm) {
      AnsweredCase& one = run.cases.emplace_back(first);
      one.test.id += arm_separator + run.arms[arm];
      one.test.arm = static_cast<std::uint32_t>(arm);
      // Another arm answers otherwise.
      if (arm > 0) std::rotate(one.repeats.begin(), one.repeats.begin() + 1, one.repeats.end());
      if (arm > 0 && any_bool()) one.repeats.back() = one.repeats.front();
    }
  }
  return run;
}

/// As CaseResult comes to it. The run must outlive what is returned.
std::vector<CaseAssessment> assessed(const Run& run, const Baseline* baseline) {
  const Gate gate = gate_of(baseline, run.suite);
  std::vector<CaseAssessment> all;
  for (const AnsweredCase& one : run.cases) {
    std::vector<ScoredAnswer> answers;
    for (const auto& outcomes : one.repeats) answers.push_back({outcomes});
    const auto repeats = gate.assess_answers(one.test, answers, answers.size());
    std::vector<const CaseAssessment*> views;
    for (const CaseAssessment& repeat : repeats) views.push_back(&repeat);
    all.push_back(assessment_of_repeats(views));
    if (one.test.known_failure) take_as_known_failure(all.back());
  }
  return all;
}

Baseline exported(const Run& run) {
  BaselineExport pins({"demo", "0.1.0", "2025-12-21T12:00:00Z", "sha256:00"}, "model");
  const auto all = assessed(run, nullptr);
  for (std::size_t i = 0; i < all.size(); ++i) pins.add(run.cases[i].test.id, all[i]);
  auto baseline = pins.finish();
  RC_ASSERT(baseline.has_value());
  return std::move(*baseline);
}

VerdictInput gated(const Run& run, const Baseline& baseline) {
  VerdictInput input;
  PassCountsByPart counts;
  StatisticalGate tests({&baseline, run.suite, 0.05, 1, run.arms});
  const auto all = assessed(run, &baseline);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Case& test = run.cases[i].test;
    tests.add(test, all[i]);
    PassCounts& part = counts[{test.arm, test.category}];
    part.statuses.add(all[i].status);
    part.regressed += all[i].regressed ? 1 : 0;
    part.excused += all[i].is_excused() ? 1 : 0;
    input.statuses.add(all[i].status);
    input.regressed += all[i].regressed ? 1 : 0;
    input.known_failures += all[i].only_known_failures() ? 1 : 0;
  }
  input.pass_groups = pass_groups({run.least_pass_rate}, run.arms, counts);
  const auto statistics = tests.outcome();
  input.run_regressions = statistics ? statistics->regressions() : 0;
  return input;
}

RC_GTEST_PROP(UnchangedRun, NeverRegressesBesideItsOwnBaseline, ()) {
  const Run run = any_run();
  const Baseline baseline = exported(run);
  const VerdictInput input = gated(run, baseline);
  RC_ASSERT(input.regressed == 0u);
  RC_ASSERT(input.run_regressions == 0u);
  RC_ASSERT(run_verdict(input) != RunVerdict::regression);
}

/// Other answers to the same tests. Fixtures are answered as they were.
Run answered_anew(Run run) {
  for (AnsweredCase& one : run.cases) {
    if (one.test.kind != CaseKind::text) continue;
    for (auto& outcomes : one.repeats) {
      for (MetricOutcome& outcome : outcomes)
        outcome = outcome.score ? score_of(outcome.id, any_score()) : verdict_of(outcome.id, any_bool());
    }
  }
  return run;
}

bool has_check(const AnsweredCase& one) {
  return one.test.kind == CaseKind::text && one.repeats.front().front().id == MetricId::must_contain;
}

/// The same with one more check in each test that has some: it fails in every repeat.
Run with_a_check_that_always_fails(Run run) {
  for (AnsweredCase& one : run.cases) {
    if (!has_check(one)) continue;
    one.test.expectations.push_back({{MetricId::must_contain, {"what no answer has"}}, {}, std::nullopt});
    for (auto& outcomes : one.repeats) outcomes.push_back(verdict_of(MetricId::must_contain, false));
  }
  return run;
}

RC_GTEST_PROP(ChangedRun, RegressesWhateverElseAlwaysFailed, ()) {
  Run before = any_run();
  for (AnsweredCase& one : before.cases) {
    if (has_check(one)) one.repeats.front().front() = verdict_of(MetricId::must_contain, true);
  }
  const Run after = answered_anew(before);
  const VerdictInput alone = gated(after, exported(before));
  const VerdictInput beside =
      gated(with_a_check_that_always_fails(after), exported(with_a_check_that_always_fails(before)));
  RC_ASSERT(beside.regressed == alone.regressed);
  RC_ASSERT(beside.run_regressions == alone.run_regressions);
}

/// How much less often the tests of each arm pass than in the baseline.
std::vector<double> drops_of_passes(const Run& run, const Baseline& baseline) {
  StatisticalGate tests({&baseline, run.suite, 0.05, 1, run.arms});
  const auto all = assessed(run, &baseline);
  for (std::size_t i = 0; i < all.size(); ++i) tests.add(run.cases[i].test, all[i]);
  const StatisticalAssessment assessment = tests.finish();
  std::vector<double> drops;
  for (const StatisticalMetric& one : assessment.metrics) {
    if (!one.mean) drops.push_back(one.comparison.drop.value());
  }
  return drops;
}

// Checks were left out by what became of them in the base alone, which made its share too high.
RC_GTEST_PROP(ChangedRun, FallsInHowOftenTestsPassByWhatItWouldRiseTheOtherWayRound, ()) {
  const Run before = any_run();
  const Run after = answered_anew(before);
  const auto there = drops_of_passes(after, exported(before));
  const auto back = drops_of_passes(before, exported(after));
  RC_ASSERT(there.size() == back.size());
  for (std::size_t i = 0; i < there.size(); ++i) RC_ASSERT(std::abs(there[i] + back[i]) < 1e-9);
}

/// A report's side.
NextCase side_of(const Run& run) {
  const auto side = std::make_shared<std::vector<ComparedCase>>();
  for (const AnsweredCase& one : run.cases) {
    ComparedCase& compared = side->emplace_back();
    compared.test_id = one.test.id;
    compared.is_known_failure = one.test.known_failure.has_value();
    compared.category = one.test.category;
    const bool has_check = std::ranges::count(one.test.expectations, MetricId::must_contain,
                                              [](const Expectation& each) { return each.what.metric; }) > 0;
    if (has_check) compared.passes.assign(one.repeats.size(), 1.0);
    for (std::size_t n = 0; n < one.repeats.front().size(); ++n) {
      ComparedMetric& metric = compared.metrics.emplace_back();
      const MetricId id = one.repeats.front()[n].id;
      metric.name = info(id).name;
      metric.thresholding = run.suite;
      if (one.test.kind == CaseKind::text) {
        metric.asked_by_name = true;
        metric.check = check_digest(one.test.expectations[n]);
        metric.thresholding = merged(run.suite, one.test.expectations[n].thresholding);
        metric.min_score = one.test.expectations[n].min_score;
      }
      MeanScore mean;
      std::uint64_t failed = 0;
      for (std::size_t repeat = 0; repeat < one.repeats.size(); ++repeat) {
        const MetricOutcome& outcome = one.repeats[repeat][n];
        if (outcome.score) mean.add(*outcome.score);
        const bool passed = outcome.passed.value_or(true);
        failed += passed ? 0 : 1;
        if (is_check(metric) && !passed) compared.passes[repeat] = 0.0;
        if (one.repeats.size() == 1) continue;
        is_scored(metric) ? metric.repeat_scores.push_back(outcome.score)
                          : metric.repeat_passed.push_back(passed);
      }
      metric.score = mean.mean();
      metric.passed = 2 * failed <= one.repeats.size();
    }
  }
  return [side, next = std::size_t{0}]() mutable -> Result<const ComparedCase*> {
    return next == side->size() ? nullptr : &(*side)[next++];
  };
}

void check_has_not_got_worse(const NextCase& base, const Run& run) {
  CompareRules rules;
  rules.min_pass_rates.general = run.least_pass_rate;
  rules.arms = run.arms;
  rules.tests = run.suite;
  const auto summary = compare(base, side_of(run), rules, [](const ScoreComparison&) {});
  RC_ASSERT(summary.has_value());
  RC_ASSERT(summary->regressions == 0u);
  RC_ASSERT(summary->broke == 0u);
  RC_ASSERT(summary->verdict_input.regressed == 0u);
  const std::size_t worse = summary->statistics ? summary->statistics->regressions() : 0;
  RC_ASSERT(worse == 0u);
  RC_ASSERT(summary->verdict != RunVerdict::regression);
}

RC_GTEST_PROP(ChangedRun, RegressesInAComparisonAsInItsOwnGate, ()) {
  const Run before = any_run();
  const Run after = answered_anew(before);
  const Baseline baseline = exported(before);
  const VerdictInput gate = gated(after, baseline);
  CompareRules rules;
  rules.arms = after.arms;
  rules.tests = after.suite;
  const auto summary = compare(cases_of(baseline), side_of(after), rules, [](const ScoreComparison&) {});
  RC_ASSERT(summary.has_value());
  RC_ASSERT(summary->verdict_input.regressed == gate.regressed);
  const std::size_t worse = summary->statistics ? summary->statistics->regressions() : 0;
  RC_ASSERT(worse == gate.run_regressions);
}

RC_GTEST_PROP(UnchangedRun, NeverRegressesInAComparisonWithItself, ()) {
  const Run run = any_run();
  check_has_not_got_worse(side_of(run), run);
}

RC_GTEST_PROP(UnchangedRun, NeverRegressesInAComparisonWithItsBaseline, ()) {
  const Run run = any_run();
  const Baseline baseline = exported(run);
  check_has_not_got_worse(cases_of(baseline), run);
}

}  // namespace sluice::unchanged_run_test

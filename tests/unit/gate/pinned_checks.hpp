#pragma once

#include "coordinator/gate/baseline_export.hpp"
#include "coordinator/gate/repeated_assessment.hpp"
#include "gate_fixture.hpp"

#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

/// What the tests of pinned checks and of known failures share.
namespace sluice::pinned_checks_test {

inline constexpr auto contains = MetricId::must_contain;

/// A test that makes so many checks by one metric.
inline Case checked_test(std::size_t checks) {
  Case test = test_of("q", contains);
  test.expectations.resize(checks, test.expectations.front());
  return test;
}

/// Assessments refer to their case.
inline const Case& kept(Case test) {
  static std::deque<Case> all;
  return all.emplace_back(std::move(test));
}

inline CaseAssessment assessed(const Baseline* baseline, const std::vector<bool>& passed) {
  std::vector<MetricOutcome> outcomes;
  for (const bool one : passed) outcomes.push_back(verdict_of(contains, one));
  CaseAssessment assessment = gate_of(baseline).assess(kept(checked_test(passed.size())), outcomes);
  for (AssessedMetric& metric : assessment.metrics) metric.detail = {};
  return assessment;
}

/// A test with one check, asked once for each of `repeats`.
inline CaseAssessment repeated(const Baseline* baseline, const std::vector<bool>& repeats) {
  std::vector<CaseAssessment> all;
  for (const bool passed : repeats) all.push_back(assessed(baseline, {passed}));
  std::vector<const CaseAssessment*> views;
  for (const CaseAssessment& one : all) views.push_back(&one);
  return assessment_of_repeats(views);
}

inline Baseline baseline_after(const std::vector<bool>& passed) {
  BaselineExport pins({"demo", "0.1.0", "2025-12-21T12:00:00Z", "sha256:00"}, "model");
  pins.add("q", assessed(nullptr, passed));
  return *pins.finish();
}

}  // namespace sluice::pinned_checks_test

#pragma once

#include "coordinator/merge/case_result.hpp"
#include "coordinator/output/json_writer.hpp"

#include <optional>
#include <span>

namespace sluice {

/// Which thresholds a gate applies to a metric: those of the suite and the test, merged, with what the gate
/// adds by itself. The same without a baseline, so that the report can be assessed beside one later.
class ThresholdsInEffect {
 public:
  explicit ThresholdsInEffect(const RunResults& results)
      : suite_(results.gate.config().suite), gate_(results.gate.config()) {}

  /// Always has a mode, and under `relative` a `max_drop`. Nothing for a pass/fail metric.
  std::optional<Thresholding> of(const AssessedMetric& metric) const;
  /// By what all cases are tested together; nothing unless the suite says `statistical`.
  std::optional<Thresholding> of_all_cases() const;

 private:
  Thresholding tests_of(const Thresholding& given) const;

  const Thresholding& suite_;
  const Gate::Config& gate_;
};

/// The members `precision`, `recall` and `f1`.
void write_json_scores(Json& json, const Scores& scores);

/// The members of what all cases are tested by. REQUIRES: of a mode `statistical`.
void write_json_test_rules(Json& json, const Thresholding& thresholding);

/// The members of a case's object in `fixture_results`, on one line, so that two reports compare line by
/// line. `rubrics` are Suite::rubrics. `details` is memory to reuse.
void write_json_case(Json& json, const CaseResult& result, const ThresholdsInEffect& thresholds,
                     std::span<const Rubric> rubrics, CaseDetails& details);

/// The member `meta` of a case that was judged, with what the votes on each of its judge metrics came to;
/// nothing of another case. `rubrics` are Suite::rubrics.
void write_json_votes(Json& json, const CaseResult& result, std::span<const Rubric> rubrics);

}  // namespace sluice

#include "coordinator/gate/verdict_input.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace sluice {
namespace {

constexpr std::array<std::string_view, 13> mismatches{
    "fingerprint_mismatch", "unused_entries",  "missing_entries",        "expectation_mismatch",
    "rubric_mismatch",      "judge_mismatch",  "judge_samples_mismatch", "perturbations_differ",
    "model_mismatch",       "prompt_mismatch", "corpus_mismatch",        "missing_aggregates",
    "nothing_to_compare"};

void count_stability(const StabilityAssessment& stability, VerdictInput& input) {
  const bool failed = stability.status == MetricStatus::fail;
  const bool dropped = failed && stability.cause == MetricCause::dropped;
  input.run_regressions += dropped ? 1 : 0;
  input.failures += failed && !dropped ? 1 : 0;
  input.warnings += stability.status == MetricStatus::warn ? 1 : 0;
}

}  // namespace

void fail_on_mismatch(std::vector<GateNotice>& notices) {
  for (GateNotice& notice : notices) {
    if (std::ranges::find(mismatches, notice.code) != mismatches.end())
      notice.severity = GateNotice::Severity::failure;
  }
}

void count_comparison(const BaselineComparison& gate, VerdictInput& input) {
  for (const GateNotice& notice : gate.notices) {
    if (!notice.decides) continue;
    input.warnings += notice.severity == GateNotice::Severity::warning ? 1 : 0;
    input.failures += notice.severity == GateNotice::Severity::failure ? 1 : 0;
  }
  if (gate.aggregates) input.aggregates = gate.aggregates->outcome;
  if (gate.stability) count_stability(*gate.stability, input);
  if (gate.statistics) {
    input.run_regressions += gate.statistics->regressions();
    input.warnings += gate.statistics->spared_regressions();
    input.warnings += gate.statistics->decision == ChangeDecision::underpowered ? 1 : 0;
  }
}

}  // namespace sluice

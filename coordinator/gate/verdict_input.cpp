#include "coordinator/gate/verdict_input.hpp"

namespace sluice {
namespace {

void count_stability(const StabilityAssessment& stability, VerdictInput& input) {
  const bool failed = stability.status == MetricStatus::fail;
  const bool dropped = failed && stability.cause == MetricCause::dropped;
  input.run_regressions += dropped ? 1 : 0;
  input.failures += failed && !dropped ? 1 : 0;
  input.warnings += stability.status == MetricStatus::warn ? 1 : 0;
}

}  // namespace

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

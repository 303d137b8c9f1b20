#pragma once

#include "coordinator/gate/aggregate_gate.hpp"
#include "coordinator/gate/gate.hpp"
#include "coordinator/gate/stability_gate.hpp"
#include "coordinator/gate/statistical_gate.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// What a run was compared with: pinned scores by case (--baseline FILE.json), or the aggregates of a
/// manifest (--baseline manifest.toml).
enum class BaselineKind : std::uint8_t { none, scores, aggregates };

/// The comparison of a run with its baseline as a whole, beside what each case came to.
struct BaselineComparison {
  BaselineKind kind = BaselineKind::none;
  std::string baseline_file;  ///< As the user named it; empty without a baseline.
  bool strict = false;
  bool fail_on_regression = false;                  ///< Of compared aggregates.
  bool fail_on_mismatch = false;                    ///< As the function of that name (verdict_input.hpp).
  std::string config_fingerprint;                   ///< `sha256:...` of this run's suite and model settings.
  FingerprintParts fingerprint_parts{};             ///< Of it, as far as they are known.
  std::optional<AggregateAssessment> aggregates;    ///< Exactly for BaselineKind::aggregates.
  std::optional<StabilityAssessment> stability;     ///< Of a run with perturbed answers.
  std::optional<StatisticalAssessment> statistics;  ///< Under `statistical`, with a baseline of scores.
  std::vector<GateNotice> notices;
};

}  // namespace sluice

#pragma once

#include "coordinator/gate/baseline.hpp"
#include "coordinator/gate/baseline_check.hpp"
#include "coordinator/gate/gate.hpp"
#include "coordinator/suite/thresholding.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// The stability of a run beside what it had to reach.
struct StabilityJudgement {
  std::optional<double> score;          ///< Empty where no perturbed answer was judged.
  std::optional<double> baseline;       ///< Of the same perturbations.
  std::optional<double> limit;          ///< The lowest that passes.
  std::optional<double> min_stability;  ///< As the settings say.
  MetricStatus status = MetricStatus::unjudged;
  MetricCause cause = MetricCause::none;

  std::optional<double> delta() const {
    if (!score || !baseline) return std::nullopt;
    return score_delta(*score, *baseline);
  }
};

/// What the stability of a run is judged by.
struct StabilityQuestion {
  std::optional<double> score{};
  std::vector<std::string> perturbations{};  ///< As BaselineStability has them.
  std::optional<double> min_stability{};
  Thresholding suite{};                ///< Of these mode and max_drop; floors are those of other metrics.
  const Baseline* baseline = nullptr;  ///< Null: there are no pinned scores.
  double default_max_drop = 0.05;
};

/// Judges stability as any scored metric is (judge_metrics.hpp): `min_stability` is its fixed limit, the
/// baseline's stability less max_drop the relative one, `statistical` being `relative` here. Without answers
/// nothing is judged. Adds notices: `stability_not_measured` where a limit had nothing to judge, and
/// `perturbations_differ` where the baseline's is that of others and does not count; both warn, and fail
/// under strict. Pure.
StabilityJudgement judge_stability(const StabilityQuestion& question, const GatedRun& run,
                                   std::vector<GateNotice>& notices);

}  // namespace sluice

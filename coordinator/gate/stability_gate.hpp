#pragma once

#include "coordinator/defaults.hpp"
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
struct StabilityAssessment {
  std::optional<double> score;          ///< Empty where no perturbed answer was assessed.
  std::optional<double> baseline;       ///< Of the same perturbations.
  std::optional<double> limit;          ///< The lowest that passes.
  std::optional<double> min_stability;  ///< As the settings say.
  /// The largest drop below a baseline's that passes; empty under `absolute`, where no baseline assesses.
  std::optional<double> max_drop{};
  MetricStatus status = MetricStatus::unjudged;
  MetricCause cause = MetricCause::none;

  std::optional<double> delta() const {
    if (!score || !baseline) return std::nullopt;
    return score_delta(*score, *baseline);
  }
};

/// What the stability of a run is assessed by.
struct StabilityQuestion {
  std::optional<double> score{};
  std::vector<std::string> perturbations{};  ///< As BaselineStability has them; none: nothing was perturbed.
  /// Of these the ones that changed no case: the stability is the same without them, so that a baseline may
  /// lack them.
  std::vector<std::string> idle{};
  std::uint64_t planned = 0;       ///< Perturbed trials.
  std::uint64_t answers = 0;       ///< Those of them that were assessed and compared.
  bool is_selection = false;       ///< Part of a suite, whose stability is another quantity.
  bool base_is_selection = false;  ///< What it is compared with is a part of a suite.
  std::optional<double> min_stability{};
  Thresholding suite{};  ///< Of these mode and max_drop; floors are those of other metrics.
  /// What the baseline says of stability; null: there are no pinned scores.
  const std::optional<BaselineStability>* baseline = nullptr;
  double default_max_drop = defaults::max_drop;
};

/// Checks stability as any scored metric is (assess_metrics.hpp): `min_stability` is its fixed limit, the
/// baseline's stability less max_drop the relative one, `statistical` being `relative` here. Without answers
/// nothing is assessed. Nothing for a run that perturbs nothing, though its `min_stability` is one that had
/// nothing to assess. Adds notices, of which the first three warn, and fail under strict:
/// - `stability_not_measured`: a limit had nothing to assess;
/// - `stability_incomplete`: some perturbed trials have no answer to compare;
/// - `perturbations_differ`: the baseline's is that of others (`idle` ones apart) and does not count;
/// - `stability_not_compared`: there is one in the baseline, and none here, or either is that of a part of
///   the suite (info).
/// Pure.
std::optional<StabilityAssessment> assess_stability(const StabilityQuestion& question, const GatedRun& run,
                                                    std::vector<GateNotice>& notices);

}  // namespace sluice

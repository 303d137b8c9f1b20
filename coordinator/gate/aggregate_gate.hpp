#pragma once

#include "common/defaults.hpp"
#include "coordinator/gate/billionths.hpp"
#include "coordinator/gate/gate.hpp"
#include "coordinator/gate/status.hpp"
#include "coordinator/suite/case.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// One aggregate beside the manifest's.
struct AggregateComparison {
  std::string_view name;  ///< `precision`, `recall` or `f1`.
  std::optional<double> current;
  std::optional<double> baseline;
  AggregateOutcome outcome = AggregateOutcome::not_compared;  ///< Where the baseline has no value.

  std::optional<double> delta() const {
    if (!current || !baseline) return std::nullopt;
    return score_delta(*current, *baseline);
  }
};

/// The aggregated precision, recall and F1 beside the [baseline] table of a manifest (harness spec, sections
/// 11 and 12).
struct AggregateAssessment {
  AggregateBaseline baseline;
  double threshold =
      defaults::regression_threshold;  ///< Largest drop, in absolute points, that is within the limit.
  std::vector<AggregateComparison> metrics;
  AggregateOutcome outcome = AggregateOutcome::not_compared;  ///< The worst of them.
};

/// Whether the table has anything to compare with: precision, recall or F1.
bool pins_scores(const AggregateBaseline& baseline);

/// A drop of exactly `threshold` is within the limit; compared in billionths (gate.hpp). A baseline value
/// whose current one is undefined is beyond it. Pure.
AggregateAssessment assess_aggregates(const AggregateBaseline& baseline, std::optional<double> precision,
                                      std::optional<double> recall, std::optional<double> f1,
                                      double threshold);

/// `statistics_not_compared` (info) under `statistical`, which asks for the scores of each case; a manifest
/// has none.
std::optional<GateNotice> untested_notice(const Thresholding& suite, const std::string& manifest);

/// `model_mismatch` and `prompt_mismatch`, failures under strict: the manifest's aggregates were measured
/// with another model or version of the prompt than this run's. What the manifest does not name is not
/// compared.
std::vector<GateNotice> mismatch_notices(const AggregateBaseline& baseline, const std::string& model,
                                         const std::string& prompt_version, const std::string& manifest,
                                         bool strict);

/// `corpus_mismatch`, a failure under strict: the manifest is that of a corpus of another size than the suite
/// has `fixtures`, so that its aggregates are of others. What the manifest does not say is not compared.
std::optional<GateNotice> corpus_mismatch_notice(const Manifest& pinned, std::uint64_t fixtures,
                                                 const std::string& manifest, bool strict);

/// `missing_aggregates`, a failure under strict: aggregates of the run that the manifest does not pin, so
/// that nothing says whether they fell.
std::optional<GateNotice> missing_aggregates_notice(const AggregateAssessment& assessment,
                                                    const std::string& manifest, bool strict);

}  // namespace sluice

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace sluice {

/// What judges an answer. The number stands on the wire; a metric keeps its number for good.
enum class MetricId : std::uint8_t {
  claims_precision = 1,  ///< TP / (TP + FP); undefined when nothing was extracted.
  claims_recall = 2,     ///< TP / (TP + FN); undefined when nothing was expected.
  claims_f1 = 3,         ///< 2 TP / (2 TP + FP + FN); undefined only for 0/0.
  claims_required = 4,   ///< Passes when every must_contain claim was found.
  claims_forbidden = 5,  ///< Passes when no must_not_contain claim was found.
  claims_absent = 6,     ///< Only where nothing is expected: passes when nothing was extracted.
};

/// A scored metric gives a score in 0..1; the other kind only passes or fails, and takes no thresholds.
enum class MetricKind : std::uint8_t { scored, pass_fail };

struct MetricInfo {
  MetricId id;
  std::string_view name;
  std::string_view version;  ///< Changes whenever the same answer could be judged differently.
  MetricKind kind;
};

/// Every metric that there is.
std::span<const MetricInfo> metric_catalogue();
/// Nothing if the number is not a metric's.
const MetricInfo* find_metric(std::uint8_t number);
const MetricInfo& info(MetricId id);

/// One metric's word on one answer. A scored metric has `passed` only under a threshold; an undefined score
/// (0/0) is empty, never 0.
struct MetricOutcome {
  MetricId id = MetricId::claims_precision;
  std::optional<double> score;
  std::optional<bool> passed;
  friend bool operator==(const MetricOutcome&, const MetricOutcome&) = default;
};

}  // namespace sluice

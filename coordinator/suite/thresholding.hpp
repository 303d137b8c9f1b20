#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice {

/// `relative`: against the baseline's score. `absolute`: against a fixed one (gate ADR, section B).
/// `statistical`: all cases together against the baseline's scores, by tests (docs/statistics.md); of a suite
/// alone.
enum class ThresholdMode : std::uint8_t { relative, absolute, statistical };

std::string_view to_string(ThresholdMode mode);

/// The keys of `thresholding` as far as they were given. All numbers are scores or score differences in 0..1.
struct Thresholding {
  std::optional<ThresholdMode> mode;
  std::optional<double> max_drop;  ///< `relative`: the baseline's score less this still passes.
  std::optional<double>
      min_floor;  ///< `relative` and `statistical`: what passes in any case is no lower than this.
  std::optional<double> min_score;     ///< `absolute`: the lowest score that passes.
  std::optional<double> confidence{};  ///< `statistical`: one less the chance of a false alarm.
  std::optional<double> min_effect{};  ///< `statistical`: the smallest drop that matters.
  bool cluster_by_category = false;    ///< `statistical`: cases of one category are no independent evidence.
  friend bool operator==(const Thresholding&, const Thresholding&) = default;
};

/// `specific` over `general`, key by key (gate ADR, section B).
inline Thresholding merged(const Thresholding& general, const Thresholding& specific) {
  Thresholding result = specific;
  if (!result.mode) result.mode = general.mode;
  if (!result.max_drop) result.max_drop = general.max_drop;
  if (!result.min_floor) result.min_floor = general.min_floor;
  if (!result.min_score) result.min_score = general.min_score;
  // Of the suite alone: no test has its own.
  result.confidence = general.confidence;
  result.min_effect = general.min_effect;
  result.cluster_by_category = general.cluster_by_category;
  return result;
}

}  // namespace sluice

#pragma once

#include <cstdint>
#include <optional>

namespace sluice {

/// `relative`: against the baseline's score. `absolute`: against a fixed one (gate ADR, section B).
enum class ThresholdMode : std::uint8_t { relative, absolute };

/// The keys of `thresholding` as far as they were given. All numbers are scores or score differences in 0..1.
struct Thresholding {
  std::optional<ThresholdMode> mode;
  std::optional<double> max_drop;   ///< `relative`: the baseline's score less this still passes.
  std::optional<double> min_floor;  ///< `relative`: what passes in any case is no lower than this.
  std::optional<double> min_score;  ///< `absolute`: the lowest score that passes.
  friend bool operator==(const Thresholding&, const Thresholding&) = default;
};

/// `specific` over `general`, key by key (gate ADR, section B).
inline Thresholding merged(const Thresholding& general, const Thresholding& specific) {
  Thresholding result = specific;
  if (!result.mode) result.mode = general.mode;
  if (!result.max_drop) result.max_drop = general.max_drop;
  if (!result.min_floor) result.min_floor = general.min_floor;
  if (!result.min_score) result.min_score = general.min_score;
  return result;
}

}  // namespace sluice

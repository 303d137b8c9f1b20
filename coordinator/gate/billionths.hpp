#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>

namespace sluice {

/// Scores are compared in whole billionths: what a decimal fraction loses in binary (0.85 - 0.92 is not
/// -0.07) is far below half of one, so it never decides, and equal decimals are equal. Monotonous: a lower
/// score is never above a limit that a higher one misses. NaN is below every score.
std::int64_t billionths(double score);

/// The double nearest to so many billionths; it prints as that decimal.
double from_billionths(std::int64_t count);

/// current - baseline in whole billionths: -0.07 for 0.85 and 0.92.
double score_delta(double current, double baseline);

namespace wording {

/// As few decimals as keep the scores apart that the gate keeps apart, from 2 to 9.
int decimals_for(std::initializer_list<std::optional<double>> scores);

}  // namespace wording

}  // namespace sluice

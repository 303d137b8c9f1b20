#pragma once

#include <optional>

namespace sluice {

/// Precision TP / (TP + FP), recall TP / (TP + FN), F1 = 2 TP / (2 TP + FP + FN); each empty for 0/0.
struct Scores {
  std::optional<double> precision;
  std::optional<double> recall;
  std::optional<double> f1;
  friend bool operator==(const Scores&, const Scores&) = default;
};

}  // namespace sluice

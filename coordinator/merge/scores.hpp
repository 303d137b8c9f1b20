#pragma once

#include "coordinator/facts/scores.hpp"

#include <cstdint>

namespace sluice {

/// True positives, false positives and false negatives.
struct Counts {
  std::uint64_t true_positives = 0;
  std::uint64_t false_positives = 0;
  std::uint64_t false_negatives = 0;

  Counts& operator+=(const Counts& other);
  friend bool operator==(const Counts&, const Counts&) = default;
};

/// A sum of doubles that does not lose the small ones beside the big ones (Neumaier). The order still matters
/// in the last bit: add in plan order.
class PreciseSum {
 public:
  void add(double value);
  double value() const { return sum_ + correction_; }

 private:
  double sum_ = 0.0;
  double correction_ = 0.0;
};

/// Counts of which each case's part is multiplied by the case's weight.
class WeightedCounts {
 public:
  void add(const Counts& counts, double weight);
  double true_positives() const { return true_positives_.value(); }
  double false_positives() const { return false_positives_.value(); }
  double false_negatives() const { return false_negatives_.value(); }

 private:
  PreciseSum true_positives_;
  PreciseSum false_positives_;
  PreciseSum false_negatives_;
};

Scores scores_of(const Counts& counts);
Scores scores_of(const WeightedCounts& counts);

}  // namespace sluice

#include "coordinator/merge/scores.hpp"

#include <cmath>

namespace sluice {
namespace {

std::optional<double> ratio(double part, double whole) {
  if (whole == 0.0) return std::nullopt;
  return part / whole;
}

Scores scores_of(double tp, double fp, double fn) {
  return {
      .precision = ratio(tp, tp + fp), .recall = ratio(tp, tp + fn), .f1 = ratio(2 * tp, 2 * tp + fp + fn)};
}

}  // namespace

Counts& Counts::operator+=(const Counts& other) {
  true_positives += other.true_positives;
  false_positives += other.false_positives;
  false_negatives += other.false_negatives;
  return *this;
}

void PreciseSum::add(double value) {
  const double next = sum_ + value;
  correction_ += std::abs(sum_) >= std::abs(value) ? (sum_ - next) + value : (value - next) + sum_;
  sum_ = next;
}

void WeightedCounts::add(const Counts& counts, double weight) {
  true_positives_.add(weight * static_cast<double>(counts.true_positives));
  false_positives_.add(weight * static_cast<double>(counts.false_positives));
  false_negatives_.add(weight * static_cast<double>(counts.false_negatives));
}

Scores scores_of(const Counts& counts) {
  return scores_of(static_cast<double>(counts.true_positives), static_cast<double>(counts.false_positives),
                   static_cast<double>(counts.false_negatives));
}

Scores scores_of(const WeightedCounts& counts) {
  return scores_of(counts.true_positives(), counts.false_positives(), counts.false_negatives());
}

}  // namespace sluice

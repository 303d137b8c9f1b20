#include "coordinator/gate/billionths.hpp"

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

constexpr double billion = 1e9;
// Far beyond every score, and far enough from the ends of int64 for sums and differences.
constexpr double largest = 1e6;

}  // namespace

std::int64_t billionths(double score) {
  if (std::isnan(score)) score = -largest;
  return std::llround(std::clamp(score, -largest, largest) * billion);
}

double from_billionths(std::int64_t count) {
  // Both are exact and the quotient is rounded once: the nearest double.
  return static_cast<double>(count) / billion;
}

double score_delta(double current, double baseline) {
  return from_billionths(billionths(current) - billionths(baseline));
}

}  // namespace sluice

#include "coordinator/gate/billionths.hpp"

#include "coordinator/display/numbers.hpp"

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

namespace wording {

int decimals_for(std::initializer_list<std::optional<double>> scores) {
  const auto kept_apart = [&](int decimals) {
    const double step = std::pow(10.0, -decimals);
    for (const auto& a : scores) {
      for (const auto& b : scores) {
        if (!a || !b || billionths(*a) == billionths(*b)) continue;
        if (std::abs(*a - *b) < step / 2 || fixed(*a, decimals) == fixed(*b, decimals)) return false;
      }
    }
    return true;
  };
  int decimals = 2;
  while (decimals < 9 && !kept_apart(decimals)) ++decimals;
  return decimals;
}

}  // namespace wording

}  // namespace sluice

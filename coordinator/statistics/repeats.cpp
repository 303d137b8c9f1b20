#include "coordinator/statistics/repeats.hpp"

#include <algorithm>

namespace sluice {
namespace {

/// C(part, k) / C(whole, k): the chance that k draws without replacement all come from the part.
double all_from_part(std::uint64_t part, std::uint64_t whole, std::uint64_t k) {
  if (k > part) return 0.0;
  double chance = 1.0;
  for (std::uint64_t i = 0; i < k; ++i) {
    chance *= static_cast<double>(part - i) / static_cast<double>(whole - i);
  }
  return chance;
}

}  // namespace

std::optional<double> pass_at_k(std::uint64_t passed, std::uint64_t assessed, std::uint64_t k) {
  if (k == 0 || k > assessed) return std::nullopt;
  return 1.0 - all_from_part(assessed - passed, assessed, k);
}

std::optional<double> pass_hat_k(std::uint64_t passed, std::uint64_t assessed, std::uint64_t k) {
  if (k == 0 || k > assessed) return std::nullopt;
  return all_from_part(passed, assessed, k);
}

void PassCurve::add(std::uint64_t passed, std::uint64_t assessed) {
  // Each k's product continues that of k - 1.
  double none_passes = 1.0;
  double all_pass = 1.0;
  const std::uint64_t last = std::min<std::uint64_t>(assessed, sums_.size());
  for (std::uint64_t i = 0; i < last; ++i) {
    const auto left = static_cast<double>(assessed - i);
    const std::uint64_t failed = assessed - passed;
    none_passes *= failed > i ? static_cast<double>(failed - i) / left : 0.0;
    all_pass *= passed > i ? static_cast<double>(passed - i) / left : 0.0;
    Sums& sums = sums_[i];
    ++sums.cases;
    sums.at_least_one += 1.0 - none_passes;
    sums.all += all_pass;
  }
}

std::vector<PassCurve::Point> PassCurve::points() const {
  std::vector<Point> points;
  points.reserve(sums_.size());
  for (const Sums& sums : sums_) {
    Point point{points.size() + 1, sums.cases};
    if (sums.cases > 0) {
      point.pass_at_k = sums.at_least_one / static_cast<double>(sums.cases);
      point.pass_hat_k = sums.all / static_cast<double>(sums.cases);
    }
    points.push_back(point);
  }
  return points;
}

}  // namespace sluice

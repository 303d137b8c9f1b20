#include "coordinator/statistics/tail_bound.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstddef>
#include <vector>

namespace sluice {
namespace {

/// About the least value of exp(log_bound(l)) over l > 0. Each l gives a bound, so that a rough search costs
/// precision only. REQUIRES: log_bound is convex, and 0 at 0.
template <class LogBound>
double least_bound(double first, const LogBound& log_bound) {
  constexpr int most_doublings = 60;
  constexpr int steps = 30;
  double low = 0.0;
  double middle = first;
  double value = log_bound(middle);
  double high = 2.0 * middle;
  for (int i = 0; i < most_doublings; ++i) {
    const double next = log_bound(high);
    if (next >= value) break;
    low = middle;
    middle = high;
    value = next;
    high = 2.0 * middle;
  }
  double least = value;
  for (int i = 0; i < steps; ++i) {
    const double left = low + (high - low) / 3.0;
    const double right = high - (high - low) / 3.0;
    const double at_left = log_bound(left);
    const double at_right = log_bound(right);
    least = std::min({least, at_left, at_right});
    (at_left < at_right ? high : low) = at_left < at_right ? right : left;
  }
  constexpr double lowest = -700.0;  // No p-value is 0.
  return std::exp(std::clamp(least, lowest, 0.0));
}

double swap_bound(const SwapParts& parts, double sum, double opposed) {
  if (sum <= 0.0) return 1.0;
  const double count = static_cast<double>(parts.sizes.size());
  // Of log cosh(l size) - l size the terms that cancel each other are left out.
  return least_bound(sum / parts.squares, [&](double l) {
    double log_bound = 2.0 * l * opposed - count * std::log(2.0);
    for (const double size : parts.sizes) log_bound += std::log1p(std::exp(-2.0 * l * size));
    return log_bound;
  });
}

/// How a case's part in the drop may come out: the sum of `picked` of its pulls, less or more.
struct LabelledCase {
  std::size_t picked = 0;     ///< Answers of the side with fewer.
  bool is_even = false;       ///< No side has fewer.
  double moved = 0.0;         ///< Observed, in billionths.
  std::vector<double> pulls;  ///< What each answer adds if it is on that side; sorted.

  friend auto operator<=>(const LabelledCase&, const LabelledCase&) = default;
};

/// ln of the mean of exp(l pull).
double log_mean_exp(const std::vector<double>& pulls, double l) {
  const double most = l > 0.0 ? pulls.back() : pulls.front();
  double sum = 0.0;
  for (const double pull : pulls) sum += std::exp(l * (pull - most));
  return l * most + std::log(sum / static_cast<double>(pulls.size()));
}

/// `direction`: 1 for a drop, -1 for a gain.
LabelledCase labelled(const CaseRepeats& repeats, std::int64_t direction) {
  const auto all = static_cast<std::int64_t>(repeats.answers.size());
  const auto base = static_cast<std::int64_t>(repeats.base);
  std::int64_t sum = 0;
  std::int64_t base_sum = 0;
  for (std::int64_t i = 0; i < all; ++i) {
    const std::int64_t score = repeats.answers[static_cast<std::size_t>(i)].numerator;
    sum += score;
    if (i < base) base_sum += score;
  }
  const auto divisor = static_cast<double>(base * (all - base));
  LabelledCase one;
  one.picked = static_cast<std::size_t>(std::min(base, all - base));
  one.is_even = 2 * base == all;
  one.moved = static_cast<double>(direction * (all * base_sum - base * sum)) / divisor;
  const std::int64_t sign = one.is_even || base < all - base ? direction : -direction;
  for (const MetricShare& share : repeats.answers)
    one.pulls.push_back(static_cast<double>(sign * (all * share.numerator - sum)) / divisor);
  std::ranges::sort(one.pulls);
  return one;
}

double label_bound(std::span<const CaseRepeats> repeats, std::int64_t direction) {
  std::vector<LabelledCase> cases;
  for (const CaseRepeats& one : repeats) cases.push_back(labelled(one, direction));
  std::erase_if(cases, [](const LabelledCase& one) { return one.pulls.front() == one.pulls.back(); });
  std::ranges::sort(cases, [](const LabelledCase& a, const LabelledCase& b) { return (a <=> b) < 0; });
  double sum = 0.0;
  double variance = 0.0;
  for (const LabelledCase& one : cases) {
    sum += one.moved;
    double squares = 0.0;
    for (const double pull : one.pulls) squares += pull * pull;
    variance += squares * static_cast<double>(one.picked) / static_cast<double>(one.pulls.size());
  }
  if (sum <= 0.0) return 1.0;
  return least_bound(sum / variance, [&](double l) {
    double log_bound = -l * sum;
    for (const LabelledCase& one : cases) {
      double each = log_mean_exp(one.pulls, l);
      if (one.is_even) each = std::max(each, log_mean_exp(one.pulls, -l));
      log_bound += static_cast<double>(one.picked) * each;
    }
    return log_bound;
  });
}

bool has_one_denominator(const CaseRepeats& repeats) {
  return std::ranges::all_of(repeats.answers, [&](const MetricShare& share) {
    return share.denominator == repeats.answers.front().denominator;
  });
}

}  // namespace

OneSidedPs swap_tail_bound(const SwapParts& parts) {
  return {swap_bound(parts, parts.sum(), parts.gained), swap_bound(parts, -parts.sum(), parts.dropped)};
}

OneSidedPs label_tail_bound(std::span<const CaseRepeats> repeats) {
  if (!std::ranges::all_of(repeats, has_one_denominator)) return {};
  return {label_bound(repeats, 1), label_bound(repeats, -1)};
}

OneSidedPs beyond_draws(const OneSidedPs& p, std::uint32_t draws, const std::function<OneSidedPs()>& bound) {
  const double floor = 1.0 / (1.0 + static_cast<double>(draws));
  if (p.drop > floor && p.improvement > floor) return p;
  const OneSidedPs less = bound();
  return {p.drop <= floor ? std::min(p.drop, less.drop) : p.drop,
          p.improvement <= floor ? std::min(p.improvement, less.improvement) : p.improvement};
}

}  // namespace sluice

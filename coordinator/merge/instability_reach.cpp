#include "coordinator/merge/instability_reach.hpp"

#include "coordinator/defaults.hpp"
#include "coordinator/statistics/holm.hpp"
#include "coordinator/statistics/label_permutation.hpp"
#include "coordinator/statistics/special_functions.hpp"

#include <cmath>
#include <cstddef>

namespace sluice {
namespace {

constexpr double tolerance = 1e-9;

/// P(T >= the observed one) by all labellings, where the unperturbed answers and `same` of the perturbed ones
/// are alike, and the others too.
double tail_of_two_answers(std::uint32_t unperturbed, std::uint32_t same, std::uint32_t others) {
  const AgreementExcess scale(unperturbed, same + others);
  const std::uint32_t first = unperturbed + same;
  const std::int64_t observed = scale.of_class(unperturbed, first);
  double ways = 0.0;
  for (std::uint32_t taken = 0; taken <= unperturbed; ++taken) {
    const std::uint32_t rest = unperturbed - taken;
    if (scale.of_class(taken, first) + scale.of_class(rest, others) < observed) continue;
    ways += binomial_coefficient(first, taken) * binomial_coefficient(others, rest);
  }
  return ways / binomial_coefficient(first + others, unperturbed);
}

}  // namespace

void SmallestP::add(std::uint64_t unperturbed, std::uint64_t perturbed) {
  log_ways_ += std::log(binomial_coefficient(unperturbed + perturbed, unperturbed));
}

double SmallestP::value() const {
  return std::exp(-log_ways_);
}

std::vector<bool> out_of_reach(std::span<const double> smallest, double confidence) {
  // No adjusted value falls when another test's p rises: these are the smallest ones.
  const std::vector<double> adjusted = holm_adjusted(smallest);
  std::vector<bool> out;
  out.reserve(smallest.size());
  for (std::size_t i = 0; i < smallest.size(); ++i) {
    out.push_back(smallest[i] < 1.0 && adjusted[i] > 1.0 - confidence + tolerance);
  }
  return out;
}

std::optional<std::uint32_t> repeats_needed(double same_share, double units_per_repeat, std::uint64_t tests,
                                            double confidence) {
  for (std::uint32_t repeats = 2; repeats <= defaults::max_repeats_tried; ++repeats) {
    // Where some of the answers are missing: no more than are certain to come.
    const auto perturbed = static_cast<std::uint32_t>(std::floor(repeats * units_per_repeat + tolerance));
    if (perturbed == 0) continue;
    const auto same = static_cast<std::uint32_t>(std::ceil(same_share * perturbed - tolerance));
    const double p = tail_of_two_answers(repeats, same, perturbed - same);
    if (p * static_cast<double>(tests) <= 1.0 - confidence + tolerance) return repeats;
  }
  return std::nullopt;
}

}  // namespace sluice

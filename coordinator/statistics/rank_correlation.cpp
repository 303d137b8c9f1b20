#include "coordinator/statistics/rank_correlation.hpp"

#include "coordinator/statistics/random_stream.hpp"
#include "coordinator/statistics/special_functions.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace sluice {
namespace {

struct CaseMean {
  double trait = 0.0;
  double score = 0.0;
};

/// Sorted by value, so that neither the order of answers nor the numbers of cases matter.
std::vector<CaseMean> case_means(std::span<const RankedAnswer> answers) {
  std::vector<RankedAnswer> sorted(answers.begin(), answers.end());
  std::sort(sorted.begin(), sorted.end(), [](const RankedAnswer& left, const RankedAnswer& right) {
    if (left.case_number != right.case_number) return left.case_number < right.case_number;
    return std::pair{left.trait, left.score} < std::pair{right.trait, right.score};
  });
  std::vector<CaseMean> means;
  for (std::size_t begin = 0; begin < sorted.size();) {
    CaseMean sum;
    std::size_t end = begin;
    for (; end < sorted.size() && sorted[end].case_number == sorted[begin].case_number; ++end) {
      sum.trait += sorted[end].trait;
      sum.score += sorted[end].score;
    }
    const auto repeats = static_cast<double>(end - begin);
    means.push_back({sum.trait / repeats, sum.score / repeats});
    begin = end;
  }
  std::sort(means.begin(), means.end(), [](const CaseMean& left, const CaseMean& right) {
    return std::pair{left.trait, left.score} < std::pair{right.trait, right.score};
  });
  return means;
}

/// Means of the same numbers in another order differ in their last bits, which must not part ties.
bool is_tie(double left, double right) {
  return std::abs(left - right) <= 1e-12 * std::max(std::abs(left), std::abs(right));
}

/// One side of the correlation: each value's rank, doubled and from the middle (how many are below less how
/// many are above), which is a whole number under ties too.
class Ranks {
 public:
  explicit Ranks(const std::vector<double>& values) : order_(values.size()), ranks_(values.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::sort(order_.begin(), order_.end(), [&](std::size_t left, std::size_t right) {
      return std::pair{values[left], left} < std::pair{values[right], right};
    });
    for (std::size_t begin = 0; begin < order_.size();) {
      std::size_t end = begin + 1;
      while (end < order_.size() && is_tie(values[order_[end - 1]], values[order_[end]])) ++end;
      const auto rank = static_cast<std::int64_t>(begin) - static_cast<std::int64_t>(order_.size() - end);
      for (std::size_t i = begin; i < end; ++i) ranks_[order_[i]] = rank;
      begin = end;
    }
  }

  const std::vector<std::int64_t>& values() const { return ranks_; }

  /// For each item: the sum of what stands above it less the sum of what stands below.
  std::vector<double> above_less_below(const std::vector<std::int64_t>& summands) const {
    const double total =
        static_cast<double>(std::accumulate(summands.begin(), summands.end(), std::int64_t{0}));
    std::vector<double> differences(order_.size());
    double below = 0.0;
    for (std::size_t begin = 0; begin < order_.size();) {
      double tied = 0.0;
      std::size_t end = begin;
      for (; end < order_.size() && ranks_[order_[end]] == ranks_[order_[begin]]; ++end) {
        tied += static_cast<double>(summands[order_[end]]);
      }
      for (std::size_t i = begin; i < end; ++i) differences[order_[i]] = total - tied - 2.0 * below;
      below += tied;
      begin = end;
    }
    return differences;
  }

 private:
  std::vector<std::size_t> order_;
  std::vector<std::int64_t> ranks_;
};

std::int64_t product_sum(const std::vector<std::int64_t>& left, const std::vector<std::int64_t>& right) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < left.size(); ++i) sum += left[i] * right[i];
  return sum;
}

/// The influence of a case on rho: its derivative by the case's weight, in the sums of products of which rho
/// is made. The weight also moves the ranks of all others. The squares add up to rho's variance.
double influence_variance(const Ranks& traits, const Ranks& scores, double rho) {
  const auto& u = traits.values();
  const auto& v = scores.values();
  const auto uu = static_cast<double>(product_sum(u, u));
  const auto vv = static_cast<double>(product_sum(v, v));
  const std::vector<double> v_by_trait = traits.above_less_below(v);
  const std::vector<double> u_by_score = scores.above_less_below(u);
  const std::vector<double> u_by_trait = traits.above_less_below(u);
  const std::vector<double> v_by_score = scores.above_less_below(v);
  double squares = 0.0;
  for (std::size_t i = 0; i < u.size(); ++i) {
    const auto ui = static_cast<double>(u[i]);
    const auto vi = static_cast<double>(v[i]);
    const double by_uv = (ui * vi + v_by_trait[i] + u_by_score[i]) / std::sqrt(uu * vv);
    const double by_uu = (ui * ui + 2.0 * u_by_trait[i]) / uu;
    const double by_vv = (vi * vi + 2.0 * v_by_score[i]) / vv;
    const double influence = by_uv - 0.5 * rho * (by_uu + by_vv);
    squares += influence * influence;
  }
  const auto count = static_cast<double>(u.size());
  return squares * count / (count - 1.0);
}

Interval fisher_interval(double rho, double influence_variance, double cases, double confidence) {
  // A perfect order of n cases is still one that a single further case could break.
  const double inner = std::clamp(rho, -1.0 + 1.0 / cases, 1.0 - 1.0 / cases);
  const double slope = 1.0 - inner * inner;
  const double two_sided = 0.5 * (1.0 + confidence);
  const double bonett_wright =
      normal_quantile(two_sided) * std::sqrt((1.0 + 0.5 * inner * inner) / (cases - 3.0));
  const double by_influence = student_t_quantile(two_sided, cases - 3.0) *
                              std::sqrt(influence_variance * cases / (cases - 3.0)) / slope;
  const double reach = std::max(bonett_wright, by_influence);
  const double middle = std::atanh(inner);
  return {std::min(rho, std::tanh(middle - reach)), std::max(rho, std::tanh(middle + reach))};
}

double permutation_p(const std::vector<std::int64_t>& traits, std::vector<std::int64_t> scores,
                     std::uint32_t draws, std::uint64_t seed) {
  const std::int64_t observed = std::abs(product_sum(traits, scores));
  RandomStream random(seed);
  std::uint64_t hits = 0;
  for (std::uint32_t draw = 0; draw < draws; ++draw) {
    std::int64_t sum = 0;
    for (std::size_t left = scores.size(); left > 0; --left) {
      std::swap(scores[left - 1], scores[random.below(static_cast<std::uint32_t>(left))]);
      sum += traits[left - 1] * scores[left - 1];
    }
    hits += std::abs(sum) >= observed;
  }
  return static_cast<double>(1 + hits) / (1.0 + draws);
}

}  // namespace

RankCorrelation rank_correlation(std::span<const RankedAnswer> answers, double confidence,
                                 const RankLimits& limits, std::uint64_t seed) {
  const std::vector<CaseMean> means = case_means(answers);
  RankCorrelation result;
  result.answers = answers.size();
  result.cases = means.size();
  if (means.size() < fewest_ranked_cases) return result;
  std::vector<double> values(means.size());
  std::transform(means.begin(), means.end(), values.begin(), [](const CaseMean& one) { return one.trait; });
  const Ranks traits(values);
  std::transform(means.begin(), means.end(), values.begin(), [](const CaseMean& one) { return one.score; });
  const Ranks scores(values);
  const auto& u = traits.values();
  const auto& v = scores.values();
  const double scale =
      std::sqrt(static_cast<double>(product_sum(u, u))) * std::sqrt(static_cast<double>(product_sum(v, v)));
  if (scale <= 0.0) return result;
  const double rho = std::clamp(static_cast<double>(product_sum(u, v)) / scale, -1.0, 1.0);
  const auto cases = static_cast<double>(means.size());
  result.rho = rho;
  result.interval = fisher_interval(rho, influence_variance(traits, scores, rho), cases, confidence);
  result.p = means.size() <= limits.drawn_cases ? permutation_p(u, v, limits.draws, seed)
                                                : 2.0 * normal_cdf(-std::abs(rho) * std::sqrt(cases - 1.0));
  return result;
}

}  // namespace sluice

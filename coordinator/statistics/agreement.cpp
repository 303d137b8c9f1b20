#include "coordinator/statistics/agreement.hpp"

#include "coordinator/statistics/special_functions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sluice {
namespace {

/// Probabilities or weights of the four cells, in the order of VerdictCounts.
using Cells = std::array<double, 4>;

/// How often two would disagree who pass as often as these, independently of each other; for cells that add
/// up to `all`, all^2 as often.
double expected_disagreement(const Cells& p, double all = 1.0) {
  const double judge = p[0] + p[1];
  const double label = p[0] + p[2];
  return judge * (all - label) + label * (all - judge);
}

/// REQUIRES: an expected disagreement above 0.
double kappa_of(const Cells& p, double all = 1.0) {
  return 1.0 - (p[1] + p[2]) * all / expected_disagreement(p, all);
}

/// The slope of kappa in each cell; only differences between cells mean anything, as the sum is 1.
Cells kappa_slopes(const Cells& p) {
  const double expected = expected_disagreement(p);
  const double weight = (p[1] + p[2]) / (expected * expected);
  const double by_judge = weight * (1.0 - 2.0 * (p[0] + p[2]));
  const double by_label = weight * (1.0 - 2.0 * (p[0] + p[1]));
  return {by_judge + by_label, by_judge - 1.0 / expected, by_label - 1.0 / expected, 0.0};
}

/// The table that is farthest in a direction among those that the score test does not tell from the observed
/// one: maximises sum slope p subject to sum p = 1 and sum observed^2 / p <= 1 + reach, where the latter less
/// 1 is Pearson's chi-square over the number of answers. By Lagrange p = c observed / sqrt(top - slope), with
/// top above every slope; a cell without observations gets what is left once top is its own slope.
class ScoreRegion {
 public:
  ScoreRegion(const Cells& observed, double reach) : observed_(observed), reach_(reach) {}

  Cells farthest(const Cells& slopes) const {
    const double top = *std::max_element(slopes.begin(), slopes.end());
    double highest_observed = -std::numeric_limits<double>::infinity();
    double mean = 0.0;
    for (std::size_t i = 0; i < 4; ++i) {
      if (observed_[i] > 0.0) highest_observed = std::max(highest_observed, slopes[i]);
      mean += observed_[i] * slopes[i];
    }
    double scatter = 0.0;
    for (std::size_t i = 0; i < 4; ++i) {
      scatter += observed_[i] * (slopes[i] - mean) * (slopes[i] - mean);
    }
    if (highest_observed < top) {
      const Sums at_top = sums(slopes, top);
      if (at_top.roots * at_top.inverses <= 1.0 + reach_) return with_empty_cell(slopes, top, at_top.roots);
    }
    if (scatter <= 1e-24) return observed_;
    return table(slopes, top + excess_over_top(slopes, top, scatter));
  }

 private:
  struct Sums {
    double roots = 0.0;     ///< sum observed sqrt(top - slope)
    double inverses = 0.0;  ///< sum observed / sqrt(top - slope)
    double cubes = 0.0;     ///< sum observed / sqrt(top - slope)^3
  };

  Sums sums(const Cells& slopes, double top) const {
    Sums all;
    for (std::size_t i = 0; i < 4; ++i) {
      if (observed_[i] <= 0.0) continue;
      const double root = std::sqrt(top - slopes[i]);
      all.roots += observed_[i] * root;
      all.inverses += observed_[i] / root;
      all.cubes += observed_[i] / (root * root * root);
    }
    return all;
  }

  /// Newton's method on the logarithms, where the chi-square is nearly a straight line; within a bracket.
  double excess_over_top(const Cells& slopes, double top, double scatter) const {
    double low = 0.0;
    double high = std::numeric_limits<double>::infinity();
    double excess = std::sqrt(scatter / (4.0 * reach_));
    for (int step = 0; step < 100; ++step) {
      const Sums all = sums(slopes, top + excess);
      const double reached = all.roots * all.inverses - 1.0;
      (reached > reach_ ? low : high) = excess;
      const double slope = 0.5 * (all.inverses * all.inverses - all.roots * all.cubes) * excess / reached;
      double next = excess * std::exp(std::clamp(-std::log(reached / reach_) / slope, -5.0, 5.0));
      if (!(next > low && next < high)) next = std::isinf(high) ? 4.0 * low : 0.5 * (low + high);
      const bool settled = std::abs(next - excess) <= 1e-10 * excess;
      excess = next;
      if (settled) break;
    }
    return excess;
  }

  Cells table(const Cells& slopes, double top) const {
    const double scale = sums(slopes, top).inverses;
    Cells p{};
    for (std::size_t i = 0; i < 4; ++i) {
      if (observed_[i] > 0.0) p[i] = observed_[i] / (scale * std::sqrt(top - slopes[i]));
    }
    return p;
  }

  Cells with_empty_cell(const Cells& slopes, double top, double roots) const {
    Cells p{};
    double rest = 1.0;
    for (std::size_t i = 0; i < 4; ++i) {
      if (observed_[i] <= 0.0) continue;
      p[i] = observed_[i] * roots / ((1.0 + reach_) * std::sqrt(top - slopes[i]));
      rest -= p[i];
    }
    // Empty cells that are as good share it: by turns in one and the other, no search gets to their middle.
    std::array<bool, 4> is_best{};
    for (std::size_t i = 0; i < 4; ++i) {
      is_best[i] = observed_[i] <= 0.0 && slopes[i] >= top - 1e-9 * (1.0 + std::abs(top));
    }
    const auto sharing = static_cast<double>(std::count(is_best.begin(), is_best.end(), true));
    for (std::size_t i = 0; i < 4; ++i) {
      if (is_best[i]) p[i] += std::max(0.0, rest) / sharing;
    }
    return p;
  }

  Cells observed_;
  double reach_;
};

Cells between(const Cells& from, const Cells& to, double part) {
  Cells p{};
  for (std::size_t i = 0; i < 4; ++i) p[i] = from[i] + part * (to[i] - from[i]);
  return p;
}

/// The largest `sign` * kappa within the region around a table, by the method of Frank and Wolfe (1956): to
/// the farthest table along the slope, or part of the way there. The region is convex. REQUIRES: a start
/// within it.
double farthest_kappa(const ScoreRegion& region, const Cells& start, double sign) {
  Cells p = start;
  double best = sign * kappa_of(p);
  for (int step = 0; step < 100; ++step) {
    Cells slopes = kappa_slopes(p);
    for (double& slope : slopes) slope *= sign;
    const Cells target = region.farthest(slopes);
    const double before = best;
    for (double part = 1.0; part > 1e-3; part *= 0.5) {
      const Cells next = between(p, target, part);
      const double value = expected_disagreement(next) > 0.0 ? sign * kappa_of(next) : best;
      if (value <= best) continue;
      best = value;
      p = next;
      break;
    }
    if (best - before < 1e-8) break;
  }
  return best;
}

/// The same with the correction for continuity: half an answer is moved to wherever that reaches farthest.
/// Without it the interval misses a kappa close to 1 in up to one run of ten.
double corrected_kappa_limit(const Cells& observed, double answers, double z, double sign) {
  const double reach = z * z / answers;
  const ScoreRegion region(observed, reach);
  double best = farthest_kappa(region, observed, sign);
  // A single answer, and the like, have no slope to begin with.
  const Cells other_start =
      region.farthest(sign > 0.0 ? Cells{1.0, 0.0, 0.0, 1.0} : Cells{0.0, 1.0, 1.0, 0.0});
  if (expected_disagreement(other_start) > 1e-12) {
    best = std::max(best, farthest_kappa(region, other_start, sign));
  }
  const Cells slopes = kappa_slopes(observed);
  for (std::size_t from = 0; from < 4; ++from) {
    for (std::size_t to = 0; to < 4; ++to) {
      if (observed[from] <= 0.0 || sign * (slopes[to] - slopes[from]) <= 1e-12) continue;
      Cells moved = observed;
      const double part = std::min(0.5 / answers, moved[from]);
      moved[from] -= part;
      moved[to] += part;
      if (expected_disagreement(moved) <= 1e-12) continue;
      best = std::max(best, farthest_kappa(ScoreRegion(moved, reach), moved, sign));
    }
  }
  return std::clamp(sign * best, -1.0, 1.0);
}

Cells as_cells(const VerdictCounts& counts) {
  return {static_cast<double>(counts.both_pass), static_cast<double>(counts.judge_alone),
          static_cast<double>(counts.label_alone), static_cast<double>(counts.both_fail)};
}

Cells shares(const VerdictCounts& counts) {
  Cells cells = as_cells(counts);
  for (double& cell : cells) cell /= static_cast<double>(counts.answers());
  return cells;
}

}  // namespace

void VerdictCounts::add(bool judge_passes, bool label_passes) {
  if (judge_passes) {
    ++(label_passes ? both_pass : judge_alone);
  } else {
    ++(label_passes ? label_alone : both_fail);
  }
}

void JudgeAgreement::add_case(const VerdictCounts& answers) {
  if (answers.answers() == 0) return;
  ++cases_;
  counts_.both_pass += answers.both_pass;
  counts_.judge_alone += answers.judge_alone;
  counts_.label_alone += answers.label_alone;
  counts_.both_fail += answers.both_fail;
  const auto size = static_cast<double>(answers.answers());
  case_squares_ += size * size;
  agreed_.add(static_cast<double>(answers.both_pass + answers.both_fail), size);
  const Cells cells = as_cells(answers);
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) products_[i][j] += cells[i] * cells[j];
  }
}

/// As ClusteredProportion does it, for any estimate to which an answer of a cell adds its influence: by how
/// much the influences scatter more over cases than they would over as many independent answers. No more than
/// the agreement itself allows for: a single disagreement scatters like independent answers.
double JudgeAgreement::effective_answers(const std::array<double, 4>& slopes, double confidence) const {
  const auto answers = static_cast<double>(counts_.answers());
  if (case_squares_ <= answers) return answers;  // One answer a case.
  const Cells p = shares(counts_);
  double mean = 0.0;
  for (std::size_t i = 0; i < 4; ++i) mean += p[i] * slopes[i];
  double independent = 0.0;
  double clustered = 0.0;
  for (std::size_t i = 0; i < 4; ++i) {
    independent += answers * p[i] * (slopes[i] - mean) * (slopes[i] - mean);
    for (std::size_t j = 0; j < 4; ++j)
      clustered += (slopes[i] - mean) * (slopes[j] - mean) * products_[i][j];
  }
  const auto cases = static_cast<double>(cases_);
  const double design_effect = cases_ < 2 || independent <= 1e-12 * answers
                                   ? case_squares_ / answers
                                   : cases / (cases - 1.0) * clustered / independent;
  return std::min(answers / std::max(1.0, design_effect), agreed_.effective_trials(confidence));
}

std::optional<AgreementEstimate> JudgeAgreement::raw(double confidence) const {
  if (cases_ == 0) return std::nullopt;
  const Cells p = shares(counts_);
  const double agreed = p[0] + p[3];
  const double answers = effective_answers({1.0, 0.0, 0.0, 1.0}, confidence);
  return AgreementEstimate{agreed,
                           clopper_pearson_interval(agreed * answers, (p[1] + p[2]) * answers, confidence)};
}

std::optional<AgreementEstimate> JudgeAgreement::kappa(double confidence) const {
  if (cases_ == 0) return std::nullopt;
  const Cells p = shares(counts_);
  if (expected_disagreement(p) <= 1e-15) return std::nullopt;
  const double answers = effective_answers(kappa_slopes(p), confidence);
  const double z = normal_quantile(0.5 * (1.0 + confidence));
  // Of whole numbers: shares are rounded, and 0 became -0.00 in a report.
  const double value = kappa_of(as_cells(counts_), static_cast<double>(counts_.answers()));
  return AgreementEstimate{
      value, {corrected_kappa_limit(p, answers, z, -1.0), corrected_kappa_limit(p, answers, z, 1.0)}};
}

KappaStanding JudgeAgreement::standing(double limit, double confidence) const {
  const auto estimate = kappa(confidence);
  if (!estimate) return KappaStanding::unclear;
  if (estimate->interval.low >= limit) return KappaStanding::above;
  return estimate->interval.high < limit ? KappaStanding::below : KappaStanding::unclear;
}

}  // namespace sluice

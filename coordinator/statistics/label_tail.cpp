#include "coordinator/statistics/label_tail.hpp"

#include "coordinator/statistics/label_blocks.hpp"
#include "coordinator/statistics/special_functions.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace sluice {
namespace {

constexpr std::int64_t unreachable = std::numeric_limits<std::int64_t>::min();

/// What the blocks from each one on can add at most to the excess, by how many unperturbed answers they get.
class MostToCome {
 public:
  MostToCome(const std::vector<LabelBlock>& blocks, std::uint32_t unperturbed)
      : width_(unperturbed + 1), most_((blocks.size() + 1) * width_, unreachable) {
    most_[blocks.size() * width_] = 0;
    for (std::size_t at = blocks.size(); at-- > 0;) {
      const LabelBlock& block = blocks[at];
      for (std::size_t left = 0; left < width_; ++left) {
        std::int64_t& most = most_[at * width_ + left];
        for (std::size_t taken = 0; taken < std::min(block.ways.size(), left + 1); ++taken) {
          const std::int64_t rest = after(at, left - taken);
          if (rest != unreachable) most = std::max(most, rest + block.excesses[taken]);
        }
      }
    }
  }

  std::int64_t after(std::size_t block, std::size_t left) const { return most_[(block + 1) * width_ + left]; }

 private:
  std::size_t width_;
  std::vector<std::int64_t> most_;
};

/// ln of the mean of exp(rate * T) over all labellings.
class LogMean {
 public:
  LogMean(const AnswerPattern& pattern, const AgreementExcess& scale)
      : blocks_(label_blocks(pattern, scale)),
        width_(pattern.unperturbed + 1),
        denominator_(static_cast<double>(scale.denominator())),
        log_ways_(log_binomial(pattern.answers(), pattern.unperturbed)) {}

  /// The coefficient of z^unperturbed of the product over the blocks of the sum of ways * exp(rate * excess)
  /// * z^taken, over all ways.
  double operator()(double rate) {
    sums_.assign(1, 1.0);
    double log_scale = 0.0;
    for (const LabelBlock& block : blocks_) {
      weights_.clear();
      for (std::size_t taken = 0; taken < block.ways.size(); ++taken) {
        const double excess = static_cast<double>(block.excesses[taken]) / denominator_;
        weights_.push_back(block.ways[taken] * std::exp(rate * excess));
      }
      next_.assign(std::min(width_, sums_.size() + weights_.size() - 1), 0.0);
      for (std::size_t chosen = 0; chosen < sums_.size(); ++chosen) {
        const std::size_t takes = std::min(weights_.size(), next_.size() - chosen);
        for (std::size_t taken = 0; taken < takes; ++taken)
          next_[chosen + taken] += sums_[chosen] * weights_[taken];
      }
      const double largest = *std::max_element(next_.begin(), next_.end());
      log_scale += std::log(largest);
      for (double& sum : next_) sum /= largest;
      std::swap(sums_, next_);
    }
    return std::log(sums_.back()) + log_scale - log_ways_;
  }

 private:
  static double log_binomial(double items, double chosen) {
    return log_gamma(items + 1.0) - log_gamma(chosen + 1.0) - log_gamma(items - chosen + 1.0);
  }

  std::vector<LabelBlock> blocks_;
  std::size_t width_;
  double denominator_;
  double log_ways_;
  std::vector<double> sums_;
  std::vector<double> next_;
  std::vector<double> weights_;
};

}  // namespace

ExactTail exact_upper_tail(const AnswerPattern& pattern, std::int64_t excess, std::uint64_t max_states) {
  ExactTail tail;
  const std::uint32_t unperturbed = pattern.unperturbed;
  const double all = binomial_coefficient(pattern.answers(), unperturbed);
  if (std::isinf(all)) return tail;
  const std::vector<LabelBlock> blocks =
      label_blocks(pattern, AgreementExcess(unperturbed, pattern.perturbed));
  const MostToCome most(blocks, unperturbed);
  std::vector<LabelState> states{{0, 0, 1.0}};
  std::vector<LabelState> next;
  for (std::size_t at = 0; at < blocks.size(); ++at) {
    const LabelBlock& block = blocks[at];
    next.clear();
    for (const LabelState& state : states) {
      const auto takes = std::min<std::size_t>(block.ways.size(), unperturbed - state.chosen + 1);
      for (std::uint32_t taken = 0; taken < takes; ++taken) {
        const std::uint32_t chosen = state.chosen + taken;
        const std::int64_t so_far = state.excess + block.excesses[taken];
        const std::int64_t to_come = most.after(at, unperturbed - chosen);
        if (to_come == unreachable || so_far + to_come < excess) continue;
        next.push_back({chosen, so_far, state.ways * block.ways[taken]});
      }
      if (tail.tried_states + next.size() > max_states) {
        tail.tried_states += next.size();
        return tail;
      }
    }
    tail.tried_states += next.size();
    if (!next.empty()) merge_equal(next);
    std::swap(states, next);
  }
  double ways = 0.0;
  for (const LabelState& state : states) ways += state.ways;
  tail.p = std::min(1.0, ways / all);
  return tail;
}

double upper_tail_bound(const AnswerPattern& pattern, std::int64_t excess) {
  constexpr int most_doublings = 8;
  constexpr double worth_it = 0.05;  ///< Of ln p.
  const AgreementExcess scale(pattern.unperturbed, pattern.perturbed);
  const double variance = scale.variance(pattern);
  if (excess <= 0 || variance <= 0.0) return 1.0;
  const double observed = static_cast<double>(excess) / static_cast<double>(scale.denominator());
  LogMean log_mean(pattern, scale);
  const auto log_bound = [&](double rate) { return log_mean(rate) - rate * observed; };
  // Convex in the rate; for a normal distribution this one is the best.
  double rate = observed / variance;
  double best = log_bound(rate);
  for (int i = 0; i < most_doublings; ++i) {
    const double next = log_bound(2.0 * rate);
    if (!(next < best)) break;
    const bool is_flat = next > best - worth_it;
    rate *= 2.0;
    best = next;
    if (is_flat) break;
  }
  for (const double factor : {0.5, 0.7, 1.4}) best = std::min(best, log_bound(factor * rate));
  constexpr double rounding = 1e-9;
  return std::min(1.0, std::exp(best) * (1.0 + rounding));
}

}  // namespace sluice

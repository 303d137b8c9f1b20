#include "coordinator/statistics/vote_noise.hpp"

#include "coordinator/statistics/change_decision.hpp"
#include "coordinator/statistics/special_functions.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace sluice {
namespace {

/// How often two votes differ, on the same answer and on different ones.
struct Disagreement {
  std::size_t answers = 0;
  double mean = 0.0;       ///< Of the shares of passes.
  double within = 0.0;     ///< On the same answer.
  double deviation = 0.0;  ///< Of `within` from answer to answer.
  double between = 0.0;    ///< On different ones.
};

Disagreement measure(std::span<const VoteCount> answers) {
  Disagreement found;
  double shares = 0.0;
  double same = 0.0;  ///< What pairing each answer with itself would add to `between`.
  double sum = 0.0;
  double squares = 0.0;
  for (const VoteCount& one : answers) {
    if (one.votes < 2) continue;
    ++found.answers;
    const double votes = one.votes;
    const double share = one.passes / votes;
    const double differing = 2.0 * one.passes * (votes - one.passes) / (votes * (votes - 1.0));
    shares += share;
    same += share * (1.0 - share);
    sum += differing;
    squares += differing * differing;
  }
  if (found.answers < 2) return found;
  const auto count = static_cast<double>(found.answers);
  found.mean = shares / count;
  found.within = sum / count;
  found.deviation = std::sqrt(std::max(0.0, squares - sum * sum / count) / (count - 1.0));
  found.between = 2.0 * (shares * (count - shares) - same) / (count * (count - 1.0));
  return found;
}

double flip_rate(const Disagreement& found, double within, std::uint32_t votes) {
  const double between = std::max(found.between, within);
  if (between <= 0.0) return 0.0;
  return majority_flip_rate(found.mean, 1.0 - within / between, votes);
}

/// Whatever the chances to pass, an odd majority errs toward the likelier side: M (1 - M) <= p (1 - p), so
/// that majorities differ no more often than single votes do. Of an even number a tie fails: at most twice as
/// often.
double upper_flip_rate(const Disagreement& found, std::uint32_t votes, double confidence) {
  PairedComparison spread;
  spread.units = found.answers;
  spread.drop = found.within;
  spread.deviation = found.deviation;
  spread.effective_units = static_cast<double>(found.answers);
  const double factor = votes % 2 == 0 ? 2.0 : 1.0;
  return std::min(0.5, factor * drop_upper_bound(spread, confidence));
}

}  // namespace

double majority_flip_rate(double mean, double correlation, std::uint32_t votes) {
  if (correlation >= 1.0) return 0.0;
  const double rest = 1.0 - correlation;
  const std::uint32_t both = 2 * votes;
  // E[p^j (1 - p)^(both - j)] for each j, in logarithms: the products go beyond what a double holds. A
  // correlation of 0 is no special case.
  std::vector<double> passing{0.0};
  std::vector<double> failing{0.0};
  double scale = 0.0;
  for (std::uint32_t i = 0; i < both; ++i) {
    passing.push_back(passing.back() + std::log(mean * rest + i * correlation));
    failing.push_back(failing.back() + std::log((1.0 - mean) * rest + i * correlation));
    scale += std::log(rest + i * correlation);
  }
  std::vector<double> ways(both + 1, 0.0);  ///< For one majority to pass and the other not, by passes in all.
  for (std::uint32_t pass = votes / 2 + 1; pass <= votes; ++pass) {
    for (std::uint32_t fail = 0; fail <= votes / 2; ++fail) {
      ways[pass + fail] += binomial_coefficient(votes, pass) * binomial_coefficient(votes, fail);
    }
  }
  double flips = 0.0;
  for (std::uint32_t j = 0; j <= both; ++j) {
    if (ways[j] > 0.0) flips += std::exp(std::log(ways[j]) + passing[j] + failing[both - j] - scale);
  }
  return std::clamp(2.0 * flips, 0.0, 0.5);
}

std::optional<VoteNoise> vote_noise(std::span<const VoteCount> answers, std::uint32_t votes,
                                    const VoteNoiseRules& rules) {
  const Disagreement found = measure(answers);
  if (found.answers < 2) return std::nullopt;
  VoteNoise noise;
  noise.answers = found.answers;
  noise.pair_disagreement = found.within;
  noise.flip_rate = flip_rate(found, found.within, votes);
  noise.flip_rate_upper = std::max(noise.flip_rate, upper_flip_rate(found, votes, rules.confidence));
  for (std::uint32_t tried = 1; tried <= rules.most_votes && !noise.enough_votes; tried += 2) {
    if (flip_rate(found, found.within, tried) < rules.limit) noise.enough_votes = tried;
  }
  return noise;
}

}  // namespace sluice

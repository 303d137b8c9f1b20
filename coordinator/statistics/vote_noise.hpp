#pragma once

#include "coordinator/defaults.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sluice {

/// A judge's votes on one answer. REQUIRES: passes <= votes.
struct VoteCount {
  std::uint32_t votes = 0;
  std::uint32_t passes = 0;
};

struct VoteNoiseRules {
  double limit = defaults::statistics::vote_noise_limit;        ///< What `enough_votes` has to stay below.
  std::uint32_t most_votes = defaults::statistics::most_votes;  ///< That are tried for it. At most 99.
  double confidence = defaults::statistics::confidence;         ///< Of the upper limit; one-sided.
};

/// How much of a judge's verdicts is luck.
struct VoteNoise {
  std::size_t answers = 0;         ///< With two votes or more.
  double pair_disagreement = 0.0;  ///< How often two votes on one answer differ; without bias.
  /// How often fresh votes, as many as there were, would come to another verdict (more than half pass) than
  /// those that were seen.
  double flip_rate = 0.0;
  /// Its upper limit without any model: majorities of an odd number differ no more often than single votes
  /// do, so it is that of pair_disagreement (twice that for an even number). At most 0.5.
  double flip_rate_upper = 0.5;
  /// The smallest odd number of votes whose flip rate is below the limit; empty if most_votes are too few.
  std::optional<std::uint32_t> enough_votes;
};

/// The noise of `votes` votes an answer. Nothing with fewer than two answers of two votes or more: one vote
/// tells nothing of its noise.
///
/// A majority of the seen votes compared with these votes themselves would look too steady: they made it. So
/// the answers' chances to pass are taken for a beta distribution, with the mean of the votes, and with
/// the correlation within an answer 1 - (disagreement of two votes on one answer) / (that of two votes on
/// different answers), both without bias. How noise falls with more votes is that model's word: where a few
/// answers are a toss-up and all others clear, the rate is up to twice what it says, and more votes help less
/// (docs/statistics.md).
/// REQUIRES: votes > 0. Time: O(answers + most_votes^3).
std::optional<VoteNoise> vote_noise(std::span<const VoteCount> answers, std::uint32_t votes,
                                    const VoteNoiseRules& rules = {});

/// How often two majorities of so many votes each differ, if the chances to pass are beta distributed with
/// this mean and correlation within an answer (1: each answer is clear; 0: all have the same chance).
/// REQUIRES: 0 <= mean, correlation <= 1; 0 < votes <= 99.
double majority_flip_rate(double mean, double correlation, std::uint32_t votes);

}  // namespace sluice

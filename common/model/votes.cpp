#include "common/model/votes.hpp"

#include "common/defaults.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace sluice {

namespace {

std::size_t passes(std::span<const CountedVote> votes) {
  return static_cast<std::size_t>(std::ranges::count(votes, true, &CountedVote::passed));
}

/// Of the votes that pass, or of those that do not, the one that is closest to the score. REQUIRES: there is
/// one.
const std::string& rationale_of(std::span<const Vote> votes, const JudgeScore& counted, bool passed) {
  const double score = counted.score();
  const Vote* closest = nullptr;
  for (std::size_t i = 0; i < votes.size(); ++i) {
    if (counted.votes[i].passed != passed) continue;
    if (closest == nullptr || std::abs(votes[i].score - score) < std::abs(closest->score - score))
      closest = &votes[i];
  }
  return closest->rationale;
}

/// Without what decimal fractions lose in binary, which is far below what scores are compared by.
double without_noise(double score) {
  const double rounded = std::round(score * 1e9) / 1e9;
  return std::abs(score - rounded) < 1e-12 ? rounded : score;
}

}  // namespace

std::string_view to_string(JudgeSource source) {
  switch (source) {
    case JudgeSource::judge:
      return "judge";
    case JudgeSource::cache:
      return "cache";
    case JudgeSource::trace:
      return "trace";
  }
  std::abort();
}

double JudgeScore::score() const {
  // From the first vote on, so that the mean of equal votes is theirs to the last digit.
  const double first = votes.front().score;
  double beyond = 0.0;
  for (const CountedVote& vote : votes) beyond += vote.score - first;
  return std::clamp(without_noise(first + beyond / static_cast<double>(votes.size())), 0.0, 1.0);
}

bool JudgeScore::passed() const {
  return 2 * passes(votes) > votes.size();
}

double JudgeScore::agreement() const {
  const std::size_t for_it = passes(votes);
  return static_cast<double>(std::max(for_it, votes.size() - for_it)) / static_cast<double>(votes.size());
}

JudgeScore count_votes(MetricId metric, std::span<const Vote> votes, double min_score, JudgeSource source) {
  JudgeScore counted{metric, source, {}, {}};
  for (const Vote& vote : votes) counted.votes.push_back({vote.score, vote.score >= min_score});
  const bool passed = counted.passed();
  const std::string& winning = rationale_of(votes, counted, passed);
  if (counted.is_unanimous()) {
    counted.rationale = beginning(winning, defaults::max_rationale_bytes);
    return counted;
  }
  const auto others = std::ranges::count(counted.votes, !passed, &CountedVote::passed);
  const std::string whole = std::string(beginning(winning, defaults::max_rationale_bytes / 2)) + " (" +
                            std::to_string(others) + " of " + std::to_string(votes.size()) +
                            " votes against it: " + rationale_of(votes, counted, !passed);
  counted.rationale = std::string(beginning(whole, defaults::max_rationale_bytes - 1)) + ")";
  return counted;
}

}  // namespace sluice

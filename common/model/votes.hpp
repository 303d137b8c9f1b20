#pragma once

#include "common/model/metrics.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// One judge's answer about one answer.
struct Vote {
  double score = 0.0;  ///< 0..1
  std::string rationale;
  friend bool operator==(const Vote&, const Vote&) = default;
};

/// Where a judge score is from: calls of this run, or a cache alone; `trace` is for answers that were judged
/// elsewhere.
enum class JudgeSource : std::uint8_t { judge = 1, cache = 2, trace = 3 };

std::string_view to_string(JudgeSource source);

/// What was made of a vote: its score, and whether it reached the expectation's min_score.
struct CountedVote {
  double score = 0.0;
  bool passed = false;
  friend bool operator==(const CountedVote&, const CountedVote&) = default;
};

/// What a judge metric came to (docs/judges.md). Never without votes.
struct JudgeScore {
  MetricId metric = MetricId::faithfulness;
  JudgeSource source = JudgeSource::judge;
  std::vector<CountedVote> votes;  ///< By their index.
  /// Of the vote on the winning side that is closest to the score, the first of several, and where votes
  /// disagree also of the closest against it; at most defaults::max_rationale_bytes.
  std::string rationale;

  double score() const;      ///< The mean of the votes' scores.
  bool passed() const;       ///< More than half of the votes pass.
  double agreement() const;  ///< The share of the larger side: 0.5 to 1.
  bool is_unanimous() const { return agreement() == 1.0; }
  friend bool operator==(const JudgeScore&, const JudgeScore&) = default;
};

/// REQUIRES: there is a vote.
JudgeScore count_votes(MetricId metric, std::span<const Vote> votes, double min_score, JudgeSource source);

}  // namespace sluice

#pragma once

#include "common/model/judge.hpp"
#include "coordinator/merge/case_result.hpp"
#include "coordinator/statistics/judge_bias.hpp"
#include "coordinator/statistics/rank_correlation.hpp"
#include "coordinator/statistics/vote_noise.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

/// What an answer's length was measured in.
enum class LengthUnit : std::uint8_t {
  bytes,   ///< Every answer is in the results as a whole.
  tokens,  ///< Of the answer, as its provider counts them; hidden reasoning may be among them.
};

std::string_view to_string(LengthUnit unit);

/// How a trait of the answers that should not matter goes with their scores.
struct TraitBias {
  RankCorrelation correlation;
  BiasDecision decision;  ///< Without a correlation nothing is beyond chance.
};

/// What the judge did for one score under one rubric, over the unperturbed answers of a run.
struct JudgedMetricBias {
  ScoreId score;
  std::string rubric;  ///< Its id.
  std::string rubric_version;
  std::size_t answers = 0;  ///< That were judged.
  std::uint32_t votes = 0;  ///< On an answer; where tests differ, as most have it.
  LengthUnit length_unit = LengthUnit::bytes;
  TraitBias length;
  TraitBias format;                ///< The share of Markdown marks in what is kept of the answer.
  std::optional<VoteNoise> noise;  ///< As vote_noise gives it.
};

struct JudgeBias {
  double confidence = 0.0;  ///< Of all measures together.
  std::vector<JudgedMetricBias> metrics;
};

/// Folds the cases of a run, in plan order. Memory: some 40 bytes for each judged answer.
class JudgeBiasFold {
 public:
  /// `has_arms`: cases of one test under several arms are answers to one question.
  JudgeBiasFold(bool has_arms, double confidence, std::uint64_t seed)
      : has_arms_(has_arms), confidence_(confidence), seed_(seed) {}

  void add(const CaseResult& result);
  /// Nothing where nothing was judged. `rubrics` are Suite::rubrics. Call once.
  std::optional<JudgeBias> finish(std::span<const Rubric> rubrics) const;

 private:
  struct Answer {
    std::uint32_t case_number = 0;
    VoteCount votes;
    std::uint32_t shown_bytes = 0;  ///< As many as the result keeps.
    std::uint32_t tokens = 0;       ///< 0: not known.
    double score = 0.0;
    double markup = 0.0;
  };
  using Answers = std::vector<Answer>;

  JudgedMetricBias measure(const Answers& answers, std::uint64_t seed) const;
  void decide(JudgeBias& result) const;

  bool has_arms_;
  double confidence_;
  std::uint64_t seed_;
  std::uint32_t cases_ = 0;
  std::map<std::pair<ScoreId, std::uint32_t>, Answers> judged_;  ///< With the rubric.
};

}  // namespace sluice

#include "coordinator/merge/judge_bias_fold.hpp"

#include "coordinator/merge/markup_share.hpp"
#include "coordinator/merge/shown_text.hpp"
#include "coordinator/statistics/random_stream.hpp"

#include <algorithm>

namespace sluice {
namespace {

/// Of two that are as frequent the larger.
std::uint32_t most_frequent(const std::map<std::uint32_t, std::size_t>& counts) {
  std::uint32_t found = 0;
  std::size_t most = 0;
  for (const auto& [number, count] : counts) {
    if (count < most) continue;
    most = count;
    found = number;
  }
  return found;
}

}  // namespace

std::string_view to_string(LengthUnit unit) {
  return unit == LengthUnit::bytes ? "bytes" : "tokens";
}

void JudgeBiasFold::add(const CaseResult& result) {
  const std::uint32_t case_number = has_arms_ ? result.fixture.test : cases_;
  ++cases_;
  for (const TrialResult& trial : result.trials) {
    if (trial.perturbation > 0 || trial.error != nullptr || trial.unit == nullptr) continue;
    for (const AssessedMetric& metric : trial.assessment.metrics) {
      if (!metric.votes || !metric.score) continue;
      Answer& one = judged_[{metric.score_id(), metric.votes->rubric}].emplace_back();
      one.case_number = case_number;
      one.votes = {metric.votes->votes, metric.votes->passed};
      one.score = *metric.score;
      if (judges_context(metric.id)) continue;  // No trait of the answer is seen.
      one.shown_bytes = static_cast<std::uint32_t>(trial.unit->shown_text.size());
      one.tokens =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(trial.unit->usage.output_tokens, UINT32_MAX));
      one.markup = markup_share(trial.unit->shown_text);
    }
  }
}

JudgedMetricBias JudgeBiasFold::measure(const Answers& answers, std::uint64_t seed) const {
  JudgedMetricBias result;
  result.answers = answers.size();
  const bool all_whole =
      std::ranges::none_of(answers, [](const Answer& one) { return may_go_on(one.shown_bytes); });
  result.length_unit = all_whole ? LengthUnit::bytes : LengthUnit::tokens;
  std::vector<RankedAnswer> by_length;
  std::vector<RankedAnswer> by_format;
  std::vector<VoteCount> votes;
  std::map<std::uint32_t, std::size_t> vote_counts;
  for (const Answer& one : answers) {
    const double length = all_whole ? one.shown_bytes : one.tokens;
    if (all_whole || one.tokens > 0) by_length.push_back({one.case_number, length, one.score});
    by_format.push_back({one.case_number, one.markup, one.score});
    votes.push_back(one.votes);
    ++vote_counts[one.votes.votes];
  }
  RandomStream seeds(seed, 0);
  result.length.correlation = rank_correlation(by_length, confidence_, {}, seeds.next());
  result.format.correlation = rank_correlation(by_format, confidence_, {}, seeds.next());
  result.votes = most_frequent(vote_counts);
  if (result.votes > 0) result.noise = vote_noise(votes, result.votes);
  return result;
}

void JudgeBiasFold::decide(JudgeBias& result) const {
  std::vector<TraitBias*> measured;
  std::vector<BiasEvidence> evidence;
  for (JudgedMetricBias& metric : result.metrics) {
    for (TraitBias* trait : {&metric.length, &metric.format}) {
      if (!trait->correlation.rho) continue;
      measured.push_back(trait);
      evidence.push_back({trait->correlation.p, trait->correlation.interval});
    }
  }
  const auto decisions = decide_biases(evidence, confidence_);
  for (std::size_t i = 0; i < measured.size(); ++i) measured[i]->decision = decisions[i];
}

std::optional<JudgeBias> JudgeBiasFold::finish(std::span<const Rubric> rubrics) const {
  if (judged_.empty()) return std::nullopt;
  JudgeBias result{confidence_, {}};
  for (const auto& [key, answers] : judged_) {
    const auto& [score, rubric] = key;
    JudgedMetricBias one = measure(answers, RandomStream(seed_, result.metrics.size()).next());
    one.score = score;
    if (rubric < rubrics.size()) {
      one.rubric = rubrics[rubric].id;
      one.rubric_version = rubrics[rubric].version;
    }
    result.metrics.push_back(std::move(one));
  }
  decide(result);
  return result;
}

}  // namespace sluice

#include "worker/scoring/score.hpp"

#include "worker/scoring/claims_parser.hpp"
#include "worker/scoring/matcher.hpp"

#include <cstddef>
#include <optional>
#include <utility>

namespace sluice {
namespace {

/// Nothing for 0/0: undefined is not zero.
std::optional<double> ratio(std::size_t part, std::size_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

MetricOutcome scored(MetricId id, std::optional<double> score) {
  return {id, score, std::nullopt};
}
MetricOutcome judged(MetricId id, bool passed) {
  return {id, std::nullopt, passed};
}

}  // namespace

TrialScore score_trial(const std::vector<FinalClaim>& claims, const ScoringTask& task) {
  TrialScore score;
  score.trial = task.trial;
  score.claims = match_claims(claims, task);
  const std::size_t true_positives = score.claims.matched.size();
  const std::size_t false_positives = score.claims.unexpected.size();
  const std::size_t false_negatives = score.claims.missing.size();
  score.metrics = {
      scored(MetricId::claims_precision, ratio(true_positives, true_positives + false_positives)),
      scored(MetricId::claims_recall, ratio(true_positives, true_positives + false_negatives)),
      scored(MetricId::claims_f1,
             ratio(2 * true_positives, 2 * true_positives + false_positives + false_negatives)),
      judged(MetricId::claims_required, score.claims.missing.empty()),
      judged(MetricId::claims_forbidden, score.claims.forbidden.empty()),
  };
  if (task.must_contain.empty()) {
    score.metrics.push_back(judged(MetricId::claims_absent, score.claims.unexpected.empty()));
  }
  return score;
}

void score_answer(const Completion& completion, const Ontology& ontology, const WorkUnit& unit,
                  UnitResult& out) {
  out.answer = answer_digest(completion);
  out.usage = completion.usage;
  out.error = completion.non_answer;
  out.parsed.clear();
  out.claims.clear();
  out.scores.clear();
  if (out.error) return;
  Result<std::vector<ParsedClaim>> parsed = parse_claims(completion.text);
  if (!parsed) {
    out.error = std::move(parsed.error());
    return;
  }
  out.parsed = std::move(*parsed);
  out.claims.reserve(out.parsed.size());
  for (const ParsedClaim& claim : out.parsed) out.claims.push_back(ontology.resolve(claim));
  out.scores.reserve(unit.tasks.size());
  for (const ScoringTask& task : unit.tasks) out.scores.push_back(score_trial(out.claims, task));
}

}  // namespace sluice

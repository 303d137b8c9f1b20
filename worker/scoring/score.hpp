#pragma once

#include "common/claim.hpp"
#include "common/completion.hpp"
#include "common/ontology.hpp"
#include "common/result.hpp"
#include "common/trial.hpp"
#include "worker/scoring/similarity.hpp"
#include "worker/scoring/text_metrics.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace sluice {

/// What judges the answers of a run. Immutable but for what the judge has compiled; thread-safe.
struct Judges {
  const Ontology& ontology;
  const TextJudge& text_judge;
};

/// An answer as a trial is judged by it.
struct JudgedAnswer {
  std::string_view text;
  const std::vector<FinalClaim>& claims;
  const EmbeddedTexts& embedded;  ///< Holds all texts_to_embed.
};

/// Judges an answer for one trial: if the task judges claims, their metrics in the order of their numbers
/// (claims_absent only where nothing is expected), then the metrics of its texts in their order. Errors:
/// those of TextJudge and judge_similarity.
Result<TrialScore> score_trial(const JudgedAnswer& answer, const ScoringTask& task, const TextJudge& judge);

/// Fills the part of a unit's result that follows from its answer: `answer`, `usage`, `shown_text`, and
/// either `error` (a refusal, a truncated answer, unparsable claims, or what a metric could not be judged
/// for) or `parsed`, `claims` and a score for each of the unit's tasks. An answer is read as claims only if a
/// task judges them. Leaves `unit`, `key` and `spend` alone. `read`: the answer's claims, if parse_claims was
/// called for it already.
void score_answer(const Completion& completion, const Judges& judges, const WorkUnit& unit,
                  const EmbeddedTexts& embedded, UnitResult& out,
                  std::optional<std::vector<ParsedClaim>> read = std::nullopt);

}  // namespace sluice

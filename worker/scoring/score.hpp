#pragma once

#include "common/model/claim.hpp"
#include "common/model/completion.hpp"
#include "common/model/ontology.hpp"
#include "common/model/result.hpp"
#include "common/model/trial.hpp"
#include "worker/defaults.hpp"
#include "worker/scoring/evidence.hpp"
#include "worker/scoring/text_metrics.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// What assesses the answers of a run. Immutable but for what the assess has compiled; thread-safe.
struct Checks {
  const Ontology& ontology;
  const TextChecker& text_checker;
  std::size_t max_unmatched_claims = defaults::max_unmatched_claims_of_unit;
};

/// An answer as a trial is assessed by it.
struct AssessedAnswer {
  CheckedAnswer checked;
  const std::vector<FinalClaim>& claims;
  const EmbeddedTexts& embedded;        ///< Holds all texts_to_embed.
  std::span<const GivenVotes> votes{};  ///< Those of each judge metric of the task.
};

/// Checks an answer for one trial: if the task assesses claims, their metrics in the order of their numbers
/// (claims_absent only where nothing is expected), then the metrics of its texts in their order, then its
/// judge metrics. Errors: those of TextChecker and assess_similarity; internal_error for votes that are not
/// there.
Result<TrialScore> score_trial(const AssessedAnswer& answer, const ScoringTask& task,
                               const TextChecker& assess);

/// Whether the non-answer is an answer to the task, and no error: a refusal of the provider's own where the
/// task checks for one, an empty answer where it expects one.
bool takes(const ScoringTask& task, const Completion& non_answer);
/// What is an answer to each of a unit's tasks; nothing of a unit without one.
TakenNonAnswers taken_by_all(const WorkUnit& unit);

/// Why a judge metric did not pass, in at most defaults::max_detail_bytes; empty if it did.
std::string detail_of(const JudgeScore& judged);

/// How an answer's text begins, as a result shows it: as it is, or, where it is itself the error, as one line
/// without control characters.
std::string shown_beginning(std::string_view text, bool is_error);

/// Fills the part of a unit's result that follows from its answer's text: `usage`, `shown_text`, and either
/// `error` (a refusal, a truncated answer, unparsable claims, or what a metric could not be assessed
/// for) or `parsed`, `claims` and a score for each of the unit's tasks; of a non-answer both, where tasks
/// take it (UnitResult). An answer is read as claims only if a task assesses them. Leaves `unit`, `key`,
/// `answer` and `spend` alone. `read`: the answer's claims, if parse_claims was called for it already.
void score_answer(const Completion& completion, const Checks& checks, const WorkUnit& unit,
                  const Evidence& evidence, UnitResult& out,
                  std::optional<std::vector<ParsedClaim>> read = std::nullopt);

}  // namespace sluice

#pragma once

#include "common/error.hpp"
#include "common/model/metrics.hpp"
#include "common/model/ontology.hpp"
#include "common/model/result.hpp"
#include "coordinator/facts/committed_results.hpp"
#include "coordinator/gate/gate.hpp"
#include "coordinator/gate/repeated_assessment.hpp"
#include "coordinator/merge/scores.hpp"
#include "coordinator/plan/trial_table.hpp"
#include "coordinator/suite/suite.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace sluice {

class Redactor;

/// The committed results of a run beside the plan that they answer. Holds references: whoever makes one keeps
/// the suite and the source alive.
struct RunResults {
  const Suite& suite;
  const ResultSource& source;
  std::size_t trials = 0;                       ///< Trials of the plan: ids 0 .. trials - 1.
  std::function<std::size_t(TrialId)> case_of;  ///< Index into suite.cases of each trial.
  std::function<Error(TrialId)> unfinished;     ///< Why a trial has no committed result.
  const Gate& gate;                             ///< What turns outcomes into statuses.
  /// Where repeats and perturbations are; null: a trial is a case.
  const TrialTable* table = nullptr;
  const Ontology* ontology = nullptr;  ///< What expectations are taken for; null: what was written.
  /// Whether the run ended before anybody began with a trial that has no result; null: that is not known.
  std::function<bool(TrialId)> not_started{};
  /// What is taken out of the cases that are handed out; null: nothing. Their results are as the source has
  /// them.
  const Redactor* redactor = nullptr;
  bool is_mock = false;  ///< Nobody answered: recorded answers were passed over as well.
  /// Whether other trials have the request of this one, too; null: none does.
  std::function<bool(TrialId)> shares_request{};
};

/// What one trial came to.
struct TrialResult {
  TrialId trial = 0;
  std::uint32_t perturbation = 0;  ///< As TrialPlace has it.
  std::uint32_t repeat = 0;
  const Error* error = nullptr;       ///< Set exactly when the trial was not assessed.
  const UnitResult* unit = nullptr;   ///< Null when no result was committed.
  const TrialScore* score = nullptr;  ///< Null with an error.
  bool not_started = false;           ///< As RunResults has it.
  /// Of this answer (repeated_assessment.hpp, assessed_repeats); that of a perturbed one decides nothing. Of
  /// a repeat without one that failed for it: assessment_of_non_answer.
  CaseAssessment assessment{};

  /// A repeat that takes part in what the case comes to. One of a case that is an error decides nothing.
  bool counts() const { return perturbation == 0 && (error == nullptr || assessment.is_non_answer); }
};

/// True if the model gave no answer (error.hpp, is_non_answer).
bool is_without_answer(const TrialResult& trial);

/// What one case came to. A view: valid only while the callback that it is handed to runs. What assesses a
/// case are its unperturbed repeats. `unit` and `score` are those of one of them: of the first that came to
/// what the case did (for `flaky` and `fail` the first that failed), so that what is shown says why.
struct CaseResult {
  const Case& fixture;
  TrialId trial = 0;  ///< The case's first.
  CaseStatus status = CaseStatus::error;
  bool not_started = false;           ///< An error, and only because the run ended before its turn came.
  const Error* error = nullptr;       ///< Set exactly when status is `error`.
  const UnitResult* unit = nullptr;   ///< Null when no result was committed.
  const TrialScore* score = nullptr;  ///< Null when status is `error`.
  /// Of a claims case, summed over its repeats; empty when status is `error`.
  std::optional<Counts> counts{};
  CaseAssessment assessment{};            ///< Without metrics when status is `error`.
  RepeatTally repeats{};                  ///< Of the unperturbed trials.
  std::span<const TrialResult> trials{};  ///< All of the case, in plan order.
  const Ontology* ontology = nullptr;     ///< As RunResults has it.
  bool is_mock = false;                   ///< The same.
  bool shares_request = false;            ///< RunResults has it of the case's first trial.

  std::span<const AssessedMetric> metrics() const { return assessment.metrics; }
  /// The first that answered the unperturbed input: the same for cases of one request, which share the
  /// answers of all their repeats. Nothing where no result was committed.
  std::optional<UnitId> first_unit() const;
};

/// Calls `visit` once for each case of the plan in order, those without a committed result included. The
/// trials of one case are held at a time. A repeat that the model gave no answer in has failed. A case of
/// which fewer than half of the repeats count, or none has an answer, is an error; otherwise those that ended
/// in any other error are left out. A result that does not fit its case (positions
/// out of range, counts that do not add up, a metric without an outcome, a score beyond 0..1 or other than
/// its votes') becomes a case error `internal_error`. Fails when the source or a case's file fails, or when
/// trials are not of the plan or not ascending.
Result<void> visit_cases(const RunResults& results, const std::function<void(const CaseResult&)>& visit);

/// A claim that was expected and not found, and what came instead: the nearest extracted claim about the same
/// subject that met no other expectation, or null.
struct MissedClaim {
  const ExpectedClaim* expected = nullptr;   ///< As the fixture writes it.
  std::optional<ExpectedClaim> taken_for{};  ///< By the ontology, where that is something else.
  const FinalClaim* got = nullptr;
  bool below_min_confidence = false;  ///< `got` was left out because the case requires more confidence.
};

/// A claim that was forbidden and extracted all the same.
struct ForbiddenClaim {
  const ExpectedClaim* forbidden = nullptr;  ///< As the fixture writes it.
  std::optional<ExpectedClaim> taken_for{};  ///< By the ontology, where that is something else.
  const FinalClaim* got = nullptr;
};

/// Why a case failed, in the order of its expectations and of the answer. Views like CaseResult.
struct CaseDetails {
  std::vector<MissedClaim> missing;
  std::vector<const FinalClaim*> unexpected;  ///< False positives; forbidden ones are not repeated here.
  std::vector<ForbiddenClaim> forbidden;
};

/// Fills `details` (its memory is reused); empty for a case error.
void explain(const CaseResult& result, CaseDetails& details);

}  // namespace sluice

#pragma once

#include "common/checks/redactor.hpp"
#include "common/error.hpp"
#include "common/model/trial.hpp"
#include "common/settings/settings.hpp"
#include "coordinator/facts/case_outcome.hpp"
#include "coordinator/facts/run_record.hpp"
#include "coordinator/ledger/ledger.hpp"
#include "coordinator/observations/observation_page.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

/// What the ledger knows of a past run's cases beside their trials.
namespace sluice {

/// The arms of a run of `sluice grade`.
struct GradedArms {
  std::string baseline;
  std::string baseline_provider;
  std::string baseline_model;
  std::string candidate;
};

/// By the settings in its record; nothing for a run that did not grade.
std::optional<GradedArms> graded_arms(const RunRecord& run);

/// Who was paid for a grade beside its candidate; nothing for who was not asked.
struct Graders {
  std::optional<ResolvedProvider> baseline;
  std::optional<ResolvedProvider> judge;
  std::optional<ResolvedProvider> embedder;
};

/// By the settings in its record, each with its kind and model, by which it has a price.
Graders graders_of(const RunRecord& run);

/// The names of a run's arms in their order, by the settings in its record; of one that graded the baseline's
/// goes first.
std::vector<std::string> arm_names(const RunRecord& run);

/// The run's cases that did not simply pass, with what they missed redacted. Errors: ledger_failed.
Result<std::vector<CaseOutcome>> redacted_cases_of(const Ledger& ledger, const PastRun& past,
                                                   const Redactor& redactor);

/// What each case missed (CaseOutcome), by id, redacted. Errors: ledger_failed.
Result<std::map<std::string, std::vector<std::string>>> missed_by_cases(const Settings& settings,
                                                                        const PastRun& past,
                                                                        const Redactor& redactor);

/// The pairs of a run that graded, redacted; empty for any other. Errors: ledger_failed.
Result<std::map<TrialId, GradedPair>> pairs_of(const Settings& settings, const PastRun& past,
                                               const Redactor& redactor);

}  // namespace sluice

#pragma once

#include "common/error.hpp"
#include "common/hash.hpp"
#include "common/ontology.hpp"
#include "common/request.hpp"
#include "common/run_settings.hpp"
#include "common/trial.hpp"
#include "coordinator/suite/prompt.hpp"
#include "coordinator/suite/suite.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

struct UnitLoad;

/// What every request of a run has in common.
struct RequestSettings {
  ProviderSettings provider;
  std::string model;
  std::optional<double> temperature;
  std::uint32_t max_tokens = 0;
  std::optional<std::int64_t> seed;
  SharedText response_schema;
};

/// What is to be done: the trials of a suite in id order, and the units of work that they share. A pure
/// function of suite, prompt and settings. Holds keys and positions, no texts: a unit is rendered when it is
/// handed out. Immutable; thread-safe. The suite must outlive the plan.
class Plan {
 public:
  /// Fails if a case's file cannot be read any more, and with fixture_invalid if the cases of one request are
  /// more than a message to a worker can hold.
  static Result<Plan> make(const Suite& suite, PromptTemplate prompt, const Ontology& ontology,
                           RequestSettings settings);

  std::size_t trial_count() const { return unit_of_.size(); }
  std::size_t unit_count() const { return keys_.size(); }
  const Digest& key(UnitId unit) const { return keys_[unit]; }
  /// By unit.
  std::span<const Digest> keys() const { return keys_; }
  UnitId unit_of(TrialId trial) const { return unit_of_[trial]; }
  /// The trials that the unit's answer serves, ascending.
  std::span<const TrialId> trials_of(UnitId unit) const;
  std::size_t case_of(TrialId trial) const { return trial; }
  std::string_view case_id(TrialId trial) const { return suite_->cases.id(case_of(trial)); }
  Result<CaseRef> case_of_trial(TrialId trial) const { return suite_->cases.read(case_of(trial)); }
  /// The unit as it goes to a worker. Fails if a case's file cannot be read any more.
  Result<WorkUnit> render(UnitId unit) const;

 private:
  Plan(const Suite& suite, PromptTemplate prompt, const Ontology& ontology, RequestSettings settings);
  Result<void> number_units(std::vector<UnitLoad>& loads);
  void group_trials();
  Error too_large(UnitId unit) const;
  /// What the requests of all claims cases have in common: everything but the user message.
  ModelRequest claims_request() const;
  ModelRequest request_of(const Case& test_case) const;

  const Suite* suite_;
  PromptTemplate prompt_;
  RequestSettings settings_;
  SharedText system_;
  std::vector<Digest> keys_;               ///< By unit.
  std::vector<UnitId> unit_of_;            ///< By trial.
  std::vector<TrialId> trials_by_unit_;    ///< Trials, grouped by unit...
  std::vector<std::uint32_t> unit_begin_;  ///< ...from here to the next one's begin.
};

}  // namespace sluice

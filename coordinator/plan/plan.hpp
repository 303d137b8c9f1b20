#pragma once

#include "common/error.hpp"
#include "common/hash.hpp"
#include "common/model/judge.hpp"
#include "common/model/ontology.hpp"
#include "common/model/request.hpp"
#include "common/model/trial.hpp"
#include "coordinator/plan/request_maker.hpp"
#include "coordinator/plan/task_maker.hpp"
#include "coordinator/plan/trial_design.hpp"
#include "coordinator/plan/trial_table.hpp"
#include "coordinator/suite/prompts/prompt.hpp"
#include "coordinator/suite/suite.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sluice {

struct UnitLoad;

/// What is to be done: the trials of a suite (trial_table.hpp has their order) and the units of work that
/// they share. A pure function of suite, prompt, settings and design. A perturbation that changes nothing
/// in a case has no trial there. Holds keys and positions, no texts but those of perturbations that are
/// applied once: a unit is rendered when it is handed out. Immutable; thread-safe as far as the perturbations
/// are. The suite must outlive the plan.
class Plan {
 public:
  /// file_unreadable if a case's file cannot be read any more; fixture_invalid if the cases of one request
  /// are more than a message to a worker can hold; usage_invalid if there are more trials than numbers for
  /// them.
  /// `settings` are by arm (Case::arm), one at least.
  static Result<Plan> make(const Suite& suite, PromptTemplate prompt, const Ontology& ontology,
                           std::vector<RequestSettings> settings, TrialDesign design = {});
  static Result<Plan> make(const Suite& suite, PromptTemplate prompt, const Ontology& ontology,
                           RequestSettings settings, TrialDesign design = {}) {
    return make(suite, std::move(prompt), ontology, std::vector{std::move(settings)}, std::move(design));
  }

  std::size_t trial_count() const { return unit_of_.size(); }
  std::size_t unit_count() const { return keys_.size(); }
  const Digest& key(UnitId unit) const { return keys_[unit]; }
  /// By unit.
  std::span<const Digest> keys() const { return keys_; }
  UnitId unit_of(TrialId trial) const { return unit_of_[trial]; }
  /// The trials that the unit's answer serves, ascending.
  std::span<const TrialId> trials_of(UnitId unit) const;
  const TrialTable& trials() const { return trials_; }
  std::size_t case_of(TrialId trial) const { return trials_.place(trial).case_index; }
  /// The arm that pays for the unit; one that sends the same request as others is the first of them.
  std::size_t arm_of(UnitId unit) const { return arm_of_trial(trials_of(unit).front()); }
  std::size_t arm_of_trial(TrialId trial) const { return suite_->cases.arm(case_of(trial)); }
  /// Who answers it.
  const std::string& provider_of(UnitId unit) const { return settings(arm_of(unit)).provider.name; }
  std::size_t arm_count() const { return requests_.settings().size(); }
  /// Names of the parameters that the arm itself says.
  const std::vector<std::string>& own_params(std::size_t arm) const { return settings(arm).own_params; }
  /// Whether any arm asks this provider for answers.
  bool has_provider(std::string_view name) const;
  std::string_view case_id(TrialId trial) const { return suite_->cases.id(case_of(trial)); }
  Result<CaseRef> case_of_trial(TrialId trial) const { return suite_->cases.read(case_of(trial)); }
  /// For people: `tls-001`, `tls-001 (repeat 2)`, `tls-001 (crlf, repeat 1)`; repeats count from 1.
  std::string trial_name(TrialId trial) const;
  /// In the order of the design.
  const std::vector<PerturbationFacts>& perturbations() const { return facts_; }
  const JudgedCases& judged_cases() const { return tasks_.judged_cases(); }
  /// Those of the suite's rubrics that its cases use: what JudgeExpectation::rubric counts.
  std::vector<Rubric> rubrics() const { return tasks_.rubrics(); }
  /// All of them: what JudgeQuestion::rubric counts.
  const std::vector<Rubric>& suite_rubrics() const { return suite_->rubrics; }
  /// Whether a judge metric of a case has a context of its own.
  bool gives_context() const { return tasks_.gives_context(); }
  /// Whether a case has a metric of all calls of an answer (common/model/expectation.hpp).
  bool checks_all_calls() const { return tasks_.checks_all_calls(); }
  /// The unit's request alone. Fails as `render` does.
  Result<ModelRequest> request(UnitId unit) const;
  /// The unit as it goes to a worker. Fails if a case's file cannot be read any more, or a perturbation says
  /// something else than before.
  Result<WorkUnit> render(UnitId unit) const;

 private:
  class RequestKeys;
  class KeyedCases;
  class UnitsByKey;
  class UnitNumbering;

  Plan(const Suite& suite, PromptTemplate prompt, const Ontology& ontology,
       std::vector<RequestSettings> settings, TrialDesign design);
  const RequestSettings& settings(std::size_t arm) const { return requests_.settings()[arm]; }
  Result<void> number_units(std::vector<UnitLoad>& loads);
  void group_trials();
  Error too_large(UnitId unit) const;
  /// Null for a case without one.
  SharedText few_shot_of(std::size_t case_index) const;
  /// A case as a trial has it. REQUIRES: the trial is perturbed.
  Result<Case> perturbed_form(const TrialPlace& place, const Case& test_case) const;

  const Suite* suite_;
  RequestMaker requests_;
  TaskMaker tasks_;
  TrialDesign design_;
  TrialTable trials_;
  std::vector<PerturbationFacts> facts_;   ///< By perturbation.
  std::vector<Digest> keys_;               ///< By unit.
  std::vector<UnitId> unit_of_;            ///< By trial.
  std::vector<TrialId> trials_by_unit_;    ///< Trials, grouped by unit...
  std::vector<std::uint32_t> unit_begin_;  ///< ...from here to the next one's begin.
  /// Texts of perturbations that are applied once, by case * max_perturbations + perturbation.
  std::unordered_map<std::uint64_t, SharedText> held_texts_;
};

}  // namespace sluice

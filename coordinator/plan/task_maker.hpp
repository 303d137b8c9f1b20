#pragma once

#include "common/model/judge.hpp"
#include "common/model/ontology.hpp"
#include "common/model/trial.hpp"
#include "coordinator/plan/request_maker.hpp"
#include "coordinator/suite/case.hpp"
#include "coordinator/suite/suite.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace sluice {

/// The cases of a plan that judge metrics assess.
struct JudgedCases {
  std::size_t count = 0;
  std::vector<std::string> first{};  ///< The ids of the first defaults::named_trials.
};

/// Makes the scoring tasks of cases: what a worker assesses an answer by. Gathers first what the cases of a
/// plan expect, since tasks count only the rubrics that are used. Pure; thread-safe once all cases are added.
class TaskMaker {
 public:
  /// The suite must outlive it.
  TaskMaker(const Suite& suite, const Ontology& ontology);

  /// A case of the plan.
  void add(const Case& test_case);
  /// REQUIRES: all cases of the plan are added. `form` is the case as the trial has it: a judge is shown what
  /// was asked. `settings` are those of the case's arm.
  ScoringTask of(TrialId trial, const Case& test_case, const Case& form,
                 const RequestSettings& settings) const;

  /// Whether the case's tasks show a judge what was asked; else its form does not matter to `of`.
  static bool shows_question(const Case& test_case);
  const JudgedCases& judged_cases() const { return judged_; }
  /// Those of the suite's rubrics that its cases use: what JudgeExpectation::rubric counts.
  std::vector<Rubric> rubrics() const;
  /// Whether a judge metric of a case has a context of its own.
  bool gives_context() const { return gives_context_; }
  /// Whether a case has a metric of all calls of an answer (common/model/expectation.hpp).
  bool checks_all_calls() const { return checks_all_calls_; }

 private:
  std::vector<ExpectedClaim> canonical(const std::vector<ExpectedClaim>& written) const;
  JudgeExpectation asked_of_judge(const Case& test_case, const Expectation& expectation,
                                  const RequestSettings& settings) const;

  const Suite* suite_;
  Ontology ontology_;
  JudgedCases judged_;
  bool gives_context_ = false;
  bool checks_all_calls_ = false;
  std::vector<bool> uses_rubric_;  ///< By rubric of the suite.
};

}  // namespace sluice

#pragma once

#include "common/error.hpp"
#include "coordinator/facts/run_facts.hpp"
#include "coordinator/merge/case_result.hpp"
#include "coordinator/merge/retrieval_fold.hpp"
#include "coordinator/plan/plan.hpp"
#include "coordinator/report/report.hpp"
#include "coordinator/session/run_assessment.hpp"
#include "coordinator/session/run_gate.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_options.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace sluice {

/// What a run was asked by, and the results that there are.
struct RunSoFar {
  const RunOptions& options;
  const RunInputs& inputs;
  const Plan& plan;
  const RunFacts& facts;
  const ResultSource& source;
  /// Whether a trial without a result was begun by nobody.
  std::function<bool(TrialId)> not_started;
};

/// What is done with a report; what could not be written.
using UseReport = std::function<std::vector<Error>(const ReportInput&)>;

/// A run's results under the gate in effect, judged, and shown in each form that is asked for. Holds
/// references to all that it is made of. Not thread-safe.
class AssessedRun {
 public:
  /// What the assessment does not know.
  struct Beside {
    const RetrievalSummary* retrieval = nullptr;  ///< Of a suite with solved examples.
    bool is_redacted = true;        ///< The results are, by the patterns that the report redacts by.
    bool prompts_are_lost = false;  ///< As ReportInput has it.
  };

  /// Under `loaded`, the gate of load_gate; with --baseline-arm under that arm's scores. Assesses nothing
  /// yet. Fails as gate_against_arm does.
  static Result<AssessedRun> under(const RunGate& loaded, const RunSoFar& run);

  const RunGate& gate() const { return *gate_; }
  const RunResults& results() const { return results_; }
  const RunPrice& price() const { return price_; }

  /// Visits all cases, as assess_run does.
  Result<void> assess(const VisitCase& also = {});
  /// That of assess(), which must have succeeded.
  RunAssessment& assessment() { return *assessment_; }

  /// Hands everything that a report shows to `use`, after assess(). What it could not write.
  std::vector<Error> report(const Beside& beside, const UseReport& use) const;

 private:
  AssessedRun(const RunGate& gate, std::unique_ptr<const RunGate> of_arm, const RunSoFar& run);

  RunIdentity identity() const;

  RunSoFar run_;
  std::unique_ptr<const RunGate> of_arm_;
  const RunGate* gate_;
  RunResults results_;
  RunPrice price_;
  std::optional<RunAssessment> assessment_;
};

/// What retrieval came to, with what became of the cases; nothing of a suite without solved examples. Fails
/// as visit_cases does.
Result<std::optional<JudgedRetrievals>> retrieval_of(const RunInputs& inputs, const RunResults& results);

}  // namespace sluice

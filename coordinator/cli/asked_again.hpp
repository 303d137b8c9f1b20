#pragma once

#include "common/checks/redactor.hpp"
#include "common/settings/settings.hpp"
#include "coordinator/facts/past_cases.hpp"
#include "coordinator/gate/gate.hpp"
#include "coordinator/ledger/ledger.hpp"
#include "coordinator/merge/renumbered_results.hpp"
#include "coordinator/plan/plan.hpp"
#include "coordinator/session/asked_cases.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_options.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace CLI {
class App;
}

/// What a past run asked, by the flags that the ledger has of it.
namespace sluice {

/// What was asked, as the run's plan has it.
struct Asked {
  RunOptions options;
  RunInputs inputs;
  std::shared_ptr<const Plan> plan{};
  bool is_as_it_was = true;     ///< Else the plan says no more than which trial is of which case.
  bool is_judged_alike = true;  ///< Each case but the noted ones is judged as it was.
  /// Where trials have other numbers in the plan than they had: those that have one; empty: none has another.
  std::vector<RenumberedTrials> trials{};
  SharedCases shared{};  ///< Under Changed::left_out, with what is planned: those that both have.
  PastCases cases{};     ///< Those that are noted alone: they are in the plan as well.
  std::string unread{};  ///< Why nothing of the suite can be used, so that all of them are.
};

/// Whether the commands of a run's --perturb-command may run once more, as its plan needs them.
enum class Programs : std::uint8_t { may_run, never };

/// What is done with cases of the run that its suite has no more, or judges otherwise, where the ledger keeps
/// what the run's cases were.
enum class Changed : std::uint8_t {
  noted,     ///< They are shown as the run noted them.
  left_out,  ///< The others are shown alone; of a case that is judged otherwise nothing is.
  refused,   ///< As of a run whose cases nobody noted.
};

/// Where a run of the ledger is found, and what it is read with.
struct RunPlace {
  const CLI::App& command;  ///< Whose flags go before those of the run.
  const Settings& settings;
  const Ledger& ledger;
  Programs programs = Programs::may_run;
  Changed changed = Changed::noted;
};

/// By the run's own flags, then those of the command; provider and model of the run where neither names them.
/// Error: the exit code, after it was reported why it is not known any more, or that a program would have to
/// run.
tl::expected<std::unique_ptr<Asked>, int> plan_again(const PastRun& past, const RunPlace& place);

/// The committed results of the run, by the numbers of the plan. The ledger and `asked` must outlive it.
class AskedResults final : public ResultSource {
 public:
  AskedResults(const Ledger& ledger, const std::string& run_id, const Asked& asked)
      : recorded_(ledger.results_of(run_id)) {
    if (!asked.trials.empty()) renumbered_.emplace(*recorded_, asked.trials);
  }

  Result<void> visit_from(TrialId first, const VisitTrial& visit) const override {
    return renumbered_ ? renumbered_->visit_from(first, visit) : recorded_->visit_from(first, visit);
  }
  /// By the numbers of then.
  const ResultSource& recorded() const { return *recorded_; }

 private:
  std::unique_ptr<ResultSource> recorded_;
  std::optional<RenumberedResults> renumbered_;
};

/// What a report of the run says of the cases that are noted alone: nothing where there are none.
std::optional<GateNotice> notice_of_noted(const Asked& asked);

/// Which solved example each case of the run found.
Result<std::vector<RetrievalEvent>> retrievals_of(const Settings& settings, const PastRun& past);

/// By the run's own flags, those of the command and the settings.
Result<Redactor> redactor_of(const PastRun& past, const CLI::App& command, const Settings& settings);

}  // namespace sluice

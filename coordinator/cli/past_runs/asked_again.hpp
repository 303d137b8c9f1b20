#pragma once

#include "common/checks/redactor.hpp"
#include "common/settings/settings.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/ledger/ledger.hpp"
#include "coordinator/plan/plan.hpp"
#include "coordinator/session/asked_cases.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_options.hpp"

#include <cstdint>
#include <memory>
#include <optional>
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
  std::shared_ptr<const Plan> plan;
  bool is_as_it_was = true;  ///< Else the plan says no more than which trial is of which case.
  /// Where tests were added or removed since (RunPlace::tests): those that the run and the suite have, which
  /// are all that is planned.
  std::optional<SharedCases> shared{};
};

/// Whether the commands of a run's --perturb-command may run once more, as its plan needs them.
enum class Programs : std::uint8_t { may_run, never };

/// Whether tests that were added or removed since are left out, where the others can be told apart.
enum class Tests : std::uint8_t { all, shared };

/// Where a run of the ledger is found, and what it is read with.
struct RunPlace {
  const CLI::App& command;  ///< Whose flags go before those of the run.
  const Settings& settings;
  const Ledger& ledger;
  Programs programs = Programs::may_run;
  Tests tests = Tests::all;
  bool writes_files = false;  ///< What the suite reads now is not to be written over, whatever the copy has.
};

/// Adds the flags of those settings that have an effect on a past run: where it is found, how it is shown,
/// and what was asked where its own flags do not say it. Where the fixtures are is not among them: the run
/// names its suite.
void add_asked_settings(CLI::App& command, SettingFlags& settings);

/// By the run's own flags, then those of the command; provider and model of the run where neither names them.
/// Error: the exit code, after it was reported why it is not known any more, or that a program would have to
/// run.
tl::expected<std::unique_ptr<Asked>, int> plan_again(const PastRun& past, const RunPlace& place);

/// Which solved example each case of the run found.
Result<std::vector<RetrievalEvent>> retrievals_of(const Settings& settings, const PastRun& past);

/// By the run's own flags, those of the command and the settings.
Result<Redactor> redactor_of(const PastRun& past, const CLI::App& command, const Settings& settings);

}  // namespace sluice

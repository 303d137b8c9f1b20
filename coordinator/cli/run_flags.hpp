#pragma once

#include "common/settings/settings.hpp"
#include "common/transport/local_workers.hpp"
#include "coordinator/cli/run/execute_run.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_options.hpp"
#include "coordinator/suite/suite.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace CLI {
class App;
}

/// What the commands that run a suite have in common.
namespace sluice {

/// The suite, as an argument.
void add_suite_argument(CLI::App& app, RunFlags& flags);
/// --allow-path, what is selected of the suite, and how the caches are used.
void add_suite_flags(CLI::App& app, RunFlags& flags);
/// How the caches of answers are used: part of add_suite_flags.
void add_cache_flags(CLI::App& app, RunFlags& flags);
/// The ways in which a test is answered: --arm and --perturb-command.
void add_answer_flags(CLI::App& app, RunFlags& flags);
/// Who works, and where it shows.
void add_distribution_flags(CLI::App& app, RunFlags& flags);
/// What --report-inputs does.
inline constexpr const char* report_inputs_words = "Reports in JSON have each case's prompt";
/// `formats`: those of --format, for the help.
void add_report_flags(CLI::App& app, RunFlags& flags, const std::string& formats);
void add_log_flags(CLI::App& app, RunFlags& flags);

/// The flags that were given to the command, as RunRecord::flags has them; without those that say where
/// something is written, and those whose value may hold a secret. Of a run of some cases
/// (RunFlags::only_cases) also these. Call after parsing.
std::string given_flags(const CLI::App& app, const std::vector<std::string>& only_cases = {});
/// The cases in the text of given_flags; empty for a run that flags alone say.
std::vector<std::string> only_cases_of(const std::string& flags);
/// The baseline in such a text, a path or the arm of a grade; empty where none was given.
std::string baseline_of(const std::string& flags);
/// What such a text selects of its suite, by flags or by the cases themselves; empty: all of it.
std::string selection_of(const std::string& flags);
/// Whether the run of such a text pinned its scores (--export-baseline).
bool has_pinned_scores(const std::string& flags);
/// What flags of a record select of their suite. Of the suite as it is now they may select other cases: who
/// names the cases leaves them out.
enum class TakenFlags : std::uint8_t { all, all_but_selection };
/// Gives the command those flags of a record that it has, and that it was not given itself. Call after
/// parsing. ledger_failed if the text is none of given_flags.
Result<void> take_flags(CLI::App& app, const std::string& flags, TakenFlags which = TakenFlags::all);

/// A suite with the settings that hold for it.
struct RunSource {
  std::string path;
  Suite suite;
  Settings settings;
};

/// Loads what the flags name. Error: the exit code, after everything wrong was reported.
tl::expected<RunSource, int> load_run_source(const SettingFlags& settings, const RunFlags& flags);

/// Warns where the settings file beside the suite is not read.
void warn_of_unread_settings(const SettingFlags& settings, const RunFlags& flags, const std::string& suite);

/// What a run would begin with.
struct LoadedRun {
  RunOptions options;
  RunInputs inputs;
};

/// Warns where nobody named the provider, and the model's name does not say whose it is: the default provider
/// is nobody's choice.
void warn_of_default_provider(const RunOptions& options);

/// Loads everything that a run of these flags reads before it starts. `adapt`: changes the settings before
/// anything is made of them. Error: the exit code, after everything wrong was reported.
tl::expected<LoadedRun, int> load_run(const SettingFlags& settings, const RunFlags& flags,
                                      const std::function<void(Settings&)>& adapt = {});

/// Runs what the flags name, under the suite's arms or theirs. Returns the exit code. `use`: as execute_run.
int run_suite(const SettingFlags& settings, const RunFlags& flags, const PrepareWorkers& prepare_workers,
              const RunUse* use = nullptr);

}  // namespace sluice

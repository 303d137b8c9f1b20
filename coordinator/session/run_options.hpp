#pragma once

#include "common/error.hpp"
#include "common/fleet/fleet_security.hpp"
#include "common/model/grading.hpp"
#include "common/settings/settings.hpp"
#include "common/settings/tcp_endpoint.hpp"
#include "coordinator/facts/suite_copy.hpp"
#include "coordinator/session/report_options.hpp"
#include "coordinator/suite/selection.hpp"
#include "coordinator/suite/suite.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// In the order in which they are offered.
enum class LogLevel : std::uint8_t { error, warn, info, debug, trace };

std::string_view to_string(LogLevel level);

/// A perturbation by an external command, as `--perturb-command NAME=COMMAND` gives it.
struct PerturbCommand {
  std::string name;
  std::string command;
  friend bool operator==(const PerturbCommand&, const PerturbCommand&) = default;
};

/// The flags of `sluice run` that are no settings, as given.
struct RunFlags {
  std::optional<std::string> suite;       ///< A YAML suite, or a folder of fixtures.
  std::shared_ptr<const SuiteCopy> copy;  ///< Of a past run's suite, which stands for its files; may be null.
  std::vector<std::string> allowed_paths;  ///< See add_allow_path.
  std::optional<std::string> listen;
  std::optional<std::string> workers;
  std::vector<std::string> categories;  ///< Lists with commas.
  std::vector<std::string> filters;     ///< As CaseFilter::parse takes them.
  std::optional<std::string> max_fixtures;
  bool samples = false;  ///< --sample was given, perhaps with a seed.
  std::optional<std::string> sample_seed;
  std::optional<std::string> answers;  ///< A file of recorded answers.
  std::vector<std::string> arms;       ///< `NAME=PROVIDER:MODEL` each.
  std::optional<std::string> baseline_arm;
  std::vector<std::string> perturb_commands;  ///< `NAME=COMMAND` each.
  bool refresh = false;
  bool no_cache = false;
  bool forget_limits = false;
  bool judge_refresh = false;
  bool allow_commands = false;
  bool suite_is_of_past_run = false;  ///< `suite` is not from the command line.
  bool insecure = false;
  std::optional<std::string> fleet_key;  ///< A file, as the next one.
  std::optional<std::string> fleet_allow;
  std::optional<std::string> call_log;
  std::optional<std::string> metrics_listen;
  std::optional<std::string> baseline;
  std::optional<std::string> export_baseline;
  std::optional<std::string> harvest;
  bool allow_errors = false;
  bool fail_on_regression = false;
  bool fail_on_mismatch = false;
  bool strict = false;
  ReportFlags report;
  bool quiet = false;
  bool verbose = false;
  std::optional<std::string> log_level;
  std::string given{};                    ///< As RunRecord::flags.
  std::vector<std::string> only_cases{};  ///< As RunOptions has it.
  std::string only_arm{};                 ///< The one of the arms that answers; empty: all of them.
  std::string resumed_run{};              ///< As RunOptions has it.
};

/// An arm of a run, with the provider and the model that answer under it.
struct RunArm {
  Arm arm;
  ResolvedProvider provider;
};

/// What a run's answers are graded against, and how.
struct RunGrading {
  GradeJudge judge = GradeJudge::exact;
  RunArm baseline;
  std::optional<std::int64_t> judge_seed;  ///< GradeJudge::llm alone.
};

/// Everything that the user sets of a run.
struct RunOptions {
  Settings settings;
  std::string suite_path;             ///< A YAML suite or a folder of fixtures.
  ResolvedProvider provider;          ///< The chosen provider and its model; of several arms the first one's.
  std::vector<RunArm> arms;           ///< Empty: the suite is answered in one way.
  std::optional<RunGrading> grading;  ///< `sluice grade`; the candidate is the only one of `arms`.
  std::optional<std::uint32_t> baseline_arm;  ///< The arm that the others are gated against.
  std::optional<std::string> listen;          ///< tcp://HOST:PORT; nothing: in this process alone.
  std::uint32_t workers = 1;                  ///< Workers inside this process; not 0 without `listen`.
  Selection selection;
  std::vector<std::string> only_cases;     ///< By id, with arms; of what is selected. Empty: all.
  std::vector<std::string> perturbations;  ///< As perturbations_wanted says: names, or "all" alone.
  std::vector<PerturbCommand> perturb_commands;
  /// Only a part of the suite runs, so that baseline entries of the others lack nothing.
  bool is_selection() const { return selection.is_part() || !only_cases.empty(); }
  std::optional<std::string> answers;          ///< A file of recorded answers.
  std::shared_ptr<const SuiteCopy> copy;       ///< As RunFlags has it.
  std::vector<std::string> allowed_paths;      ///< The same.
  bool answers_alone = false;                  ///< No model is named: a test without one is an error.
  bool returns_embeddings = false;             ///< Results have the answers' embeddings; another run follows.
  bool refresh = false;                        ///< Renew what the cache holds.
  bool no_cache = false;                       ///< Neither read nor write the cache.
  bool forget_limits = false;                  ///< What earlier runs learnt of the providers.
  bool judge_refresh = false;                  ///< Renew the votes that the cache holds.
  bool allow_commands = false;                 ///< Whoever named the suite, its commands may run.
  bool suite_is_named = false;                 ///< On the command line.
  std::optional<FleetFiles> fleet;             ///< Workers from elsewhere come in by keys alone.
  std::optional<std::string> unused_key;       ///< The home's, where it is on loopback that nobody needs one.
  std::optional<std::string> call_log;         ///< Gets a line for each call of the workers in this process.
  std::optional<std::string> metrics_listen;   ///< As parse_metrics_endpoint gives it.
  std::optional<std::string> baseline;         ///< A baseline file or a manifest.toml to gate against.
  std::optional<std::string> export_baseline;  ///< Where this run's scores are to be pinned.
  bool has_pinned_scores = false;              ///< A past run has done so.
  std::optional<std::string> harvest;          ///< Where what passed is added to solved examples.
  bool allow_errors = false;                   ///< Export what there is of a run with case errors.
  bool fail_on_regression = false;             ///< A regression of the manifest's aggregates fails.
  bool fail_on_mismatch = false;               ///< So does what the baseline and the run do not share.
  bool strict = false;                         ///< Warnings fail.
  std::vector<ReportTarget> reports;           ///< That of --format and --output first.
  bool report_inputs = false;                  ///< ReportInput::with_inputs
  bool progress = true;                        ///< False under --quiet.
  LogLevel log_level = LogLevel::info;
  std::string given_flags{};  ///< As RunRecord::flags.
  std::string resumed_run{};  ///< Id of the run that goes on; empty: a new one begins.
};

/// tcp://HOST:PORT, HOST being an IPv4 address, [IPv6], a name or `*`, PORT from 0 (any free one) to 65535.
/// usage_invalid for anything else.
Result<TcpEndpoint> parse_listen(std::string_view endpoint);
/// The fleet's files where workers from elsewhere are to show keys: beyond loopback always, unless --insecure
/// is said; on loopback where a key is named. insecure_refused for a host beyond loopback where there is no
/// key.
Result<std::optional<FleetFiles>> fleet_files(const RunFlags& flags, const TcpEndpoint& endpoint,
                                              const std::string& home);

/// Checks the flags and their combinations. `arms` are those of flags or suite (run_arms). usage_invalid
/// names the flag; settings_invalid if there is no such provider, or no model.
Result<RunOptions> make_run_options(const RunFlags& flags, Settings settings, std::vector<Arm> arms = {});

}  // namespace sluice

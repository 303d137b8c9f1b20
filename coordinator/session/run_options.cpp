#include "coordinator/session/run_options.hpp"

#include "common/defaults.hpp"
#include "common/documents/table_reader.hpp"
#include "common/settings/base_url.hpp"
#include "common/settings/metrics_endpoint.hpp"
#include "common/settings/setting_definitions.hpp"
#include "common/settings/tcp_endpoint.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/session/arm_options.hpp"
#include "coordinator/session/flag_values.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/trial_design.hpp"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <system_error>
#include <utility>

namespace sluice {
namespace {

/// By LogLevel.
const std::initializer_list<std::string_view> log_levels{"error", "warn", "info", "debug", "trace"};

using Conflict = std::optional<std::string>;

Conflict cache_conflict(const RunFlags& flags, Mode mode) {
  const auto needs_live = [&](const std::string& flag_asks) {
    return flag_asks + " again, so it needs --mode live (the mode is " + std::string(to_string(mode)) + ")";
  };
  if (flags.refresh && flags.no_cache)
    return "--refresh renews what the cache holds and --no-cache ignores it: use one of them";
  if (flags.refresh && mode != Mode::live) return needs_live("--refresh asks the providers");
  if (flags.no_cache && mode == Mode::cached) {
    return "--no-cache leaves --mode cached nothing to read: use --mode live, or drop --no-cache";
  }
  if (flags.judge_refresh && flags.no_cache) {
    return "--judge-refresh renews the votes that the cache holds and --no-cache ignores it: use one of them";
  }
  if (flags.judge_refresh && mode != Mode::live) return needs_live("--judge-refresh asks the judge");
  return std::nullopt;
}

Conflict log_conflict(const RunFlags& flags) {
  if (flags.quiet && (flags.verbose || flags.log_level))
    return "--quiet goes with neither --verbose nor --log-level: use one of them";
  if (flags.verbose && flags.log_level) return "--verbose means --log-level debug: use one of them";
  return std::nullopt;
}

/// What it is gated against, or pins.
Conflict baseline_conflict(const RunFlags& flags) {
  if (flags.baseline && flags.export_baseline) {
    return "--baseline compares with pinned scores and --export-baseline writes new ones: gate first, and "
           "export in a run of its own";
  }
  if (flags.baseline && flags.baseline_arm) {
    return "--baseline and --baseline-arm both name what the run is gated against: use one of them";
  }
  const std::string_view selects = !flags.categories.empty() ? "--categories"
                                   : !flags.filters.empty()  ? "--filter"
                                   : flags.max_fixtures      ? "--max-fixtures"
                                                             : "";
  if (flags.export_baseline && !selects.empty()) {
    return "--export-baseline pins a whole suite, whose gate would otherwise miss the other cases' scores: "
           "leave out " +
           std::string(selects);
  }
  if (flags.fail_on_regression && !flags.baseline) {
    return "--fail-on-regression needs something to compare with: add --baseline FILE";
  }
  if (flags.fail_on_mismatch && !flags.baseline) {
    return "--fail-on-mismatch needs something to compare with: add --baseline FILE";
  }
  if (flags.allow_errors && !flags.export_baseline) {
    return "--allow-errors is about --export-baseline, which is not given";
  }
  return std::nullopt;
}

/// Which answers are assessed.
Conflict answer_conflict(const RunFlags& flags) {
  if (flags.answers && flags.answers->empty()) return "--answers must name a file";
  if (flags.samples && !flags.max_fixtures) {
    return "--sample says which of the fixtures --max-fixtures takes: add --max-fixtures N";
  }
  return std::nullopt;
}

Conflict fleet_conflict(const RunFlags& flags) {
  for (const auto& [flag, is_given] :
       {std::pair("--insecure", flags.insecure), std::pair("--fleet-key", flags.fleet_key.has_value()),
        std::pair("--fleet-allow", flags.fleet_allow.has_value())}) {
    if (is_given && !flags.listen) return std::string(flag) + " is about --listen, which is not given";
  }
  if (flags.insecure && (flags.fleet_key || flags.fleet_allow))
    return "--insecure admits everybody, and --fleet-key and --fleet-allow those with keys: leave out one of "
           "them";
  return std::nullopt;
}

/// Combinations that make no sense, each with what to do instead.
Conflict conflict_in(const RunFlags& flags, Mode mode) {
  if (auto conflict = cache_conflict(flags, mode)) return conflict;
  for (const auto conflict_of : {log_conflict, baseline_conflict, answer_conflict, fleet_conflict}) {
    if (auto conflict = conflict_of(flags)) return conflict;
  }
  return std::nullopt;
}

/// A budget for what is paid, in a run that pays for nothing. One from a file is for other runs.
std::optional<std::string> budget_without_effect(const Settings& settings) {
  if (settings.mode.value == Mode::live) return std::nullopt;
  const auto refused = [&](const Stamp& stamp) {
    return stamp.origin == Origin::flag
               ? std::optional(stamp.where + " bounds what the providers are paid for, and --mode " +
                               std::string(to_string(settings.mode.value)) + " calls none: leave it out")
               : std::nullopt;
  };
  const auto& tokens = settings.max_run_tokens;
  if (auto problem = refused({tokens.origin, tokens.where})) return problem;
  return refused({settings.max_run_cost.origin, settings.max_run_cost.where});
}

Result<Selection> selection_of(const RunFlags& flags) {
  Selection selection;
  auto categories = names_of("--categories", flags.categories, "tls,jwt");
  if (!categories) return fail(std::move(categories.error()));
  selection.categories = std::move(*categories);
  auto filters = filters_of(flags.filters);
  if (!filters) return fail(std::move(filters.error()));
  selection.filters = std::move(*filters);
  if (flags.max_fixtures) {
    const auto limit = number_of("--max-fixtures", *flags.max_fixtures, 1, defaults::max_fixtures_limit);
    if (!limit) return fail(limit.error());
    selection.max_cases = *limit;
  }
  if (flags.samples) {
    const auto seed = flags.sample_seed
                          ? number_of("--sample", *flags.sample_seed, 0, defaults::max_sample_seed)
                          : Result<std::uint32_t>(defaults::unnamed_sample_seed);
    if (!seed) return fail(seed.error());
    selection.sample_seed = *seed;
  }
  return selection;
}

Result<std::uint32_t> workers_of(const RunFlags& flags) {
  if (!flags.workers) return flags.listen ? 0u : 1u;
  const auto workers = number_of("--workers", *flags.workers, 0, defaults::max_local_workers);
  if (workers && *workers == 0 && !flags.listen) {
    return usage_error(
        "--workers 0 leaves nobody to do the work: add --listen tcp://HOST:PORT, and start sluice-worker");
  }
  return workers;
}

Result<LogLevel> log_level_of(const RunFlags& flags) {
  if (flags.quiet) return LogLevel::warn;
  if (flags.verbose) return LogLevel::debug;
  // In a fleet it matters who comes and goes; on a laptop it is noise.
  const auto choice =
      choice_of("--log-level", flags.log_level.value_or(flags.listen ? "info" : "warn"), log_levels);
  if (!choice) return fail(choice.error());
  return static_cast<LogLevel>(*choice);
}

/// A file that a baseline must not replace.
std::optional<std::string> problem_with_export(const RunFlags& flags) {
  if (!flags.export_baseline) return std::nullopt;
  const std::string shown = "\"" + excerpt(*flags.export_baseline, defaults::quoted_bytes) + "\"";
  if (flags.suite && is_same_file(*flags.suite, *flags.export_baseline)) {
    return "--export-baseline would write over the suite " + shown + ": name another file";
  }
  if (std::filesystem::path(*flags.export_baseline).extension() == ".toml") {
    return "--export-baseline writes a JSON file, and " + shown +
           " is a TOML file: name another, or pin the aggregates of a manifest with `sluice update-baseline`";
  }
  return std::nullopt;
}

Result<std::vector<PerturbCommand>> perturb_commands_of(const RunFlags& flags) {
  std::vector<PerturbCommand> commands;
  for (const std::string& given : flags.perturb_commands) {
    const std::size_t equals = std::min(given.find('='), given.size());
    const PerturbCommand command{given.substr(0, equals), given.substr(std::min(equals + 1, given.size()))};
    const bool is_name =
        !command.name.empty() && command.name.size() <= 64 && std::ranges::all_of(command.name, [](char c) {
          return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
        });
    if (is_name && command.command.find_first_not_of(" \t") == std::string::npos) {
      return usage_error("--perturb-command \"" + excerpt(given, defaults::quoted_bytes) +
                         "\" names no command behind the name: it must be NAME=COMMAND, like shout=\"tr a-z "
                         "A-Z\"");
    }
    if (!is_name) {
      return usage_error(
          "--perturb-command must be NAME=COMMAND, like shout=\"tr a-z A-Z\", with a name of small "
          "letters, digits, _ and -, not \"" +
          excerpt(given, 80) + "\"");
    }
    if (std::ranges::find(commands, command.name, &PerturbCommand::name) != commands.end()) {
      return usage_error("--perturb-command names \"" + command.name +
                         "\" twice: give each command its own name");
    }
    commands.push_back(command);
  }
  return commands;
}

Result<std::optional<std::uint32_t>> find_baseline_arm(const RunFlags& flags,
                                                       const std::vector<RunArm>& arms) {
  if (!flags.baseline_arm) return std::nullopt;
  const std::string& wanted = *flags.baseline_arm;
  if (arms.size() < 2) {
    return usage_error(
        "--baseline-arm gates the other arms against one, and the run has none: name two or more with --arm "
        "NAME=PROVIDER:MODEL, or with \"arms\" in the suite");
  }
  std::vector<std::string_view> names;
  for (std::uint32_t i = 0; i < arms.size(); ++i) {
    if (arms[i].arm.name == wanted) return i;
    names.push_back(arms[i].arm.name);
  }
  return usage_error("--baseline-arm names \"" + excerpt(wanted, defaults::quoted_bytes) +
                     "\", which is no arm of the run; there are " +
                     quoted_list(std::vector<std::string>(names.begin(), names.end())) +
                     did_you_mean(wanted, names));
}

/// Which workers there are, and where they and whoever watches find the run.
Result<void> take_workers(const RunFlags& flags, const Settings& settings, RunOptions& options) {
  const auto workers = workers_of(flags);
  if (!workers) return fail(workers.error());
  options.workers = *workers;
  if (flags.call_log && flags.call_log->empty()) return usage_error("--call-log must name a file");
  if (flags.call_log && *workers == 0) {
    return usage_error(
        "--call-log is written by the workers inside this process, of which there are none: say it to "
        "sluice-worker");
  }
  options.call_log = flags.call_log;
  if (flags.metrics_listen) {
    auto endpoint = parse_metrics_endpoint(*flags.metrics_listen);
    if (!endpoint) return fail(std::move(endpoint.error()));
    options.metrics_listen = std::move(*endpoint);
  }
  if (!flags.listen) {
    return settings.expect_workers.origin == Origin::flag
               ? usage_error("--expect-workers is about --listen, which is not given")
               : Result<void>();
  }
  const auto endpoint = parse_listen(*flags.listen);
  if (!endpoint) return fail(endpoint.error());
  auto fleet = fleet_files(flags, *endpoint, settings.home.value);
  if (!fleet) return fail(std::move(fleet.error()));
  options.listen = flags.listen;
  options.fleet = std::move(*fleet);
  const std::string key = fleet_files_in(settings.home.value).key;
  std::error_code unreadable;  // Of others, perhaps: nobody needs it here.
  if (is_loopback(*endpoint) && !options.fleet && !flags.insecure && std::filesystem::exists(key, unreadable))
    options.unused_key = key;
  return {};
}

/// The files that the run reads or writes beside its reports, which must replace none of them.
std::vector<NamedFile> files_named_in(const RunFlags& flags) {
  std::vector<NamedFile> files;
  const std::pair<const char*, const std::optional<std::string>&> named[] = {
      {"the suite", flags.suite},
      {"--answers", flags.answers},
      {"--baseline", flags.baseline},
      {"--call-log", flags.call_log},
      {"--export-baseline", flags.export_baseline},
      {"--harvest", flags.harvest}};
  for (const auto& [what, file] : named) {
    if (file) files.emplace_back(what, *file);
  }
  return files;
}

/// What the run is gated by, and what it writes.
Result<void> take_files(const RunFlags& flags, RunOptions& options) {
  if (flags.baseline && flags.baseline->empty()) return usage_error("--baseline must name a file");
  if (flags.export_baseline && flags.export_baseline->empty()) {
    return usage_error("--export-baseline must name a file");
  }
  if (auto wrong_target = problem_with_export(flags)) return usage_error(std::move(*wrong_target));
  auto reports = make_report_targets(flags.report, files_named_in(flags));
  if (!reports) return fail(std::move(reports.error()));
  options.reports = std::move(*reports);
  options.report_inputs = flags.report.inputs;
  options.baseline = flags.baseline;
  options.export_baseline = flags.export_baseline;
  options.harvest = flags.harvest;
  return {};
}

Result<void> take_perturbations(const RunFlags& flags, const Settings& settings, RunOptions& options) {
  auto perturbations = perturbations_wanted(settings);
  if (!perturbations) return fail(std::move(perturbations.error()));
  const bool perturbs = !perturbations->empty() || !flags.perturb_commands.empty();
  if (flags.answers && (perturbs || settings.repeat.value > 1)) {
    return usage_error("--answers has one answer to each test as it is: " +
                       how_to_try_as_is(settings, !flags.perturb_commands.empty(), true));
  }
  if (settings.min_stability.origin == Origin::flag && !perturbs) {
    return usage_error(
        "--min-stability is about answers to perturbed inputs: add --perturb, or use --mode robust");
  }
  auto commands = perturb_commands_of(flags);
  if (!commands) return fail(std::move(commands.error()));
  options.perturbations = std::move(*perturbations);
  options.perturb_commands = std::move(*commands);
  return {};
}

/// Who answers.
Result<void> take_models(const RunFlags& flags, Settings& settings, std::vector<Arm> named,
                         RunOptions& options) {
  auto arms = resolve_arms(settings, std::move(named));
  if (!arms) return fail(std::move(arms.error()));
  const auto baseline_arm = find_baseline_arm(flags, *arms);
  if (!baseline_arm) return fail(baseline_arm.error());
  options.baseline_arm = *baseline_arm;
  options.answers = flags.answers;
  if (flags.answers && arms->empty() && !names_model(settings)) {
    // Nobody is asked; what is recorded says which model answered.
    settings.model.value = defaults::recorded_model;
    options.answers_alone = true;
  }
  // Every arm may name a provider of its own, so that the run's needs no model.
  auto provider = arms->empty() ? resolve_provider(settings, models_with_prices(settings))
                                : Result<ResolvedProvider>(arms->front().provider);
  if (!provider) return fail(std::move(provider.error()));
  options.provider = std::move(*provider);
  options.arms = std::move(*arms);
  return {};
}

void take_switches(const RunFlags& flags, RunOptions& options) {
  options.copy = flags.copy;
  options.allowed_paths = flags.allowed_paths;
  options.only_cases = flags.only_cases;
  options.given_flags = flags.given;
  options.resumed_run = flags.resumed_run;
  options.refresh = flags.refresh;
  options.no_cache = flags.no_cache;
  options.forget_limits = flags.forget_limits;
  options.judge_refresh = flags.judge_refresh;
  options.allow_commands = flags.allow_commands;
  options.suite_is_named = flags.suite.has_value() && !flags.suite_is_of_past_run;
  options.allow_errors = flags.allow_errors;
  options.fail_on_regression = flags.fail_on_regression;
  options.fail_on_mismatch = flags.fail_on_mismatch;
  options.strict = flags.strict;
  options.progress = !flags.quiet;
}

}  // namespace

std::string_view to_string(LogLevel level) {
  return *(log_levels.begin() + static_cast<std::size_t>(level));
}

Result<TcpEndpoint> parse_listen(std::string_view endpoint) {
  const auto parts = parse_tcp_endpoint(endpoint);
  if (parts && (parts->host == "*" || is_host_entry(parts->host))) return *parts;
  return usage_error("--listen must be tcp://HOST:PORT (port 0 picks one), not \"" + excerpt(endpoint, 80) +
                     "\"");
}

Result<std::optional<FleetFiles>> fleet_files(const RunFlags& flags, const TcpEndpoint& endpoint,
                                              const std::string& home) {
  FleetFiles files = fleet_files_in(home);
  if (flags.fleet_key) files.key = *flags.fleet_key;
  if (flags.fleet_allow) files.allowed = *flags.fleet_allow;
  const bool is_local = is_loopback(endpoint);
  if (flags.fleet_key || flags.fleet_allow ||
      (!is_local && !flags.insecure && std::filesystem::exists(files.key)))
    return files;
  if (is_local || flags.insecure) return std::nullopt;
  return fail(
      Reason::insecure_refused,
      "--listen \"" + excerpt(*flags.listen, 80) + "\" is open to other machines, and there is no key at " +
          files.key +
          ": make keys with `sluice keys new NAME`, once for each worker; or say --insecure if everybody who "
          "reaches the port may read prompts and answers and hand in results");
}

Result<RunOptions> make_run_options(const RunFlags& flags, Settings settings, std::vector<Arm> arms) {
  if (auto conflict = conflict_in(flags, settings.mode.value)) return usage_error(std::move(*conflict));
  if (auto conflict = budget_without_effect(settings)) return usage_error(std::move(*conflict));
  RunOptions options;
  if (auto taken = take_workers(flags, settings, options); !taken) return fail(std::move(taken.error()));
  auto selection = selection_of(flags);
  if (!selection) return fail(std::move(selection.error()));
  options.selection = std::move(*selection);
  if (auto taken = take_files(flags, options); !taken) return fail(std::move(taken.error()));
  if (auto taken = take_perturbations(flags, settings, options); !taken)
    return fail(std::move(taken.error()));
  const auto log_level = log_level_of(flags);
  if (!log_level) return fail(log_level.error());
  options.log_level = *log_level;
  if (auto taken = take_models(flags, settings, std::move(arms), options); !taken)
    return fail(std::move(taken.error()));
  take_switches(flags, options);
  options.settings = std::move(settings);
  return options;
}

}  // namespace sluice

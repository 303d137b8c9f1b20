#include "coordinator/cli/run_flags.hpp"

#include "common/checks/redactor.hpp"
#include "common/documents/json_depth.hpp"
#include "common/model/redaction.hpp"
#include "common/text/printable.hpp"
#include "common/text/text.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/gate/quoted.hpp"
#include "coordinator/session/arm_options.hpp"
#include "coordinator/suite/suite_loader.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace sluice {
namespace {

/// Where something is written (a run of some of the cases would take the whole run's place there), what is
/// allowed for once, and the suite, which the record has.
constexpr std::array<std::string_view, 12> not_repeated{
    "forget-limits",   "allow-commands", "harvest",  "output", "report",   "report-inputs",
    "export-baseline", "allow-errors",   "call-log", "help",   "fixtures", "resume"};

/// Of the record of flags: no flags, but what stands for some.
constexpr const char* cases_member = "only cases";
constexpr const char* pins_member = "pins scores";

/// Flags that select tests of a suite.
constexpr std::array selecting{"categories", "filter", "max-fixtures", "sample"};

/// Null if the text has none, or is none of given_flags.
nlohmann::json member_of(const std::string& flags, const char* name) {
  const auto given = parse_tree<nlohmann::json>(flags);
  return given.is_object() ? given.value(name, nlohmann::json()) : nlohmann::json();
}

bool names_a_path(const CLI::Option& option) {
  const std::string& type = option.get_type_name();
  return type == "FILE" || type == "DIR";
}

std::string absolute_path(const std::string& file) {
  if (file.empty() || file.starts_with("~/")) return file;
  std::error_code error;
  const auto path = std::filesystem::absolute(file, error);
  return error ? file : path.lexically_normal().string();
}

/// A user's name and password in an address, or what looks like an API key.
bool may_hold_secret(const std::string& text) {
  static const Redactor keys = [] {
    const RedactionPattern pattern{"keys", std::string(find_shipped_redaction("keys")->pattern)};
    return *Redactor::make({&pattern, 1});
  }();
  constexpr std::string_view before_host = "://";
  for (auto at = text.find(before_host); at != std::string::npos; at = text.find(before_host, at + 1)) {
    const std::size_t host = at + before_host.size();
    const std::size_t end = std::min(text.find_first_of("/?#\"' \t\r\n", host), text.size());
    if (text.find('@', host) < end) return true;
  }
  return keys.redacted(text).has_value();
}

/// Unless they may hold a secret.
void copy_settings(const SettingFlags& settings, const Settings& effective, SuiteCopier& copier) {
  const auto inputs = settings.inputs();
  if (!inputs) return;
  // What a program is given is anybody's guess.
  const auto runs_program = [](const auto& provider) { return provider.kind.value == ProviderKind::exec; };
  if (std::ranges::any_of(effective.providers, runs_program)) return;
  CopiedSettings copy{whole_path(".").native(), inputs->file_name, inputs->file_text,
                      variables_of_settings(*inputs)};
  const auto is_secret = [](const auto& variable) { return may_hold_secret(variable.second); };
  if (may_hold_secret(copy.text.value_or("")) || std::ranges::any_of(copy.variables, is_secret)) return;
  copier.add_settings(std::move(copy));
}

Result<std::string> suite_path(const RunFlags& flags, const Settings& effective) {
  const auto& folder = effective.fixtures_dir;
  if (!flags.suite) return folder.value;
  if (folder.origin == Origin::flag) {
    return fail(Reason::usage_invalid, "both a suite (\"" + excerpt(*flags.suite, 80) + "\") and " +
                                           folder.where + " are given: name one of them");
  }
  return *flags.suite;
}

}  // namespace

void add_suite_argument(CLI::App& app, RunFlags& flags) {
  app.add_option("SUITE", flags.suite, "A YAML suite or a folder of fixtures (default: --fixtures)")
      ->type_name("");
}

void add_suite_flags(CLI::App& app, RunFlags& flags) {
  add_allow_path(app, flags.allowed_paths);
  app.add_option("--categories,--category", flags.categories, "Only these categories")
      ->allow_extra_args(false)
      ->type_name("A,B");
  add_filter(app, flags.filters);
  app.add_option("--max-fixtures", flags.max_fixtures,
                 "Only the first N cases by id, or with --sample N chosen ones")
      ->type_name("N");
  app.add_option_function<std::vector<std::string>>(
         "--sample",
         [&flags](const std::vector<std::string>& seed) {
           flags.samples = true;
           if (!seed.empty() && !seed.front().empty()) flags.sample_seed = seed.front();
         },
         "With --max-fixtures: sample the cases by category, with this seed (default 1)")
      ->expected(0, 1)
      ->type_name("SEED");
  add_cache_flags(app, flags);
  app.add_flag("--allow-commands", flags.allow_commands,
               "Allow checks to run commands from files that are not named here");
  app.add_flag("--judge-refresh", flags.judge_refresh, "Ask the judge again and renew its votes");
}

void add_cache_flags(CLI::App& app, RunFlags& flags) {
  app.add_flag("--refresh", flags.refresh, "Ask the providers again and renew the cache");
  app.add_flag("--no-cache", flags.no_cache, "Neither read nor write the cache");
  app.add_flag("--forget-limits", flags.forget_limits,
               "Forget what earlier runs learnt about the providers' limits (see `sluice limits`)");
}

void add_answer_flags(CLI::App& app, RunFlags& flags) {
  app.add_option("--answers", flags.answers, "Assess these recorded answers instead of asking a model")
      ->type_name("FILE");
  app.add_option("--arm", flags.arms,
                 "Ask this model too, and compare; replaces the suite's arms; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME=PROVIDER:MODEL");
  app.add_option("--perturb-command", flags.perturb_commands,
                 "A perturbation by a command that reads the text and writes a changed one; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME=COMMAND");
}

void add_distribution_flags(CLI::App& app, RunFlags& flags) {
  app.add_option("--listen", flags.listen, "Wait for sluice-worker processes here (port 0 picks one)")
      ->type_name("tcp://HOST:PORT");
  app.add_option(
         "--fleet-key", flags.fleet_key,
         "Key by which workers know this coordinator (default beyond loopback: HOME/fleet/coordinator.key)")
      ->type_name("FILE");
  app.add_option("--fleet-allow", flags.fleet_allow,
                 "List of the admitted workers (default HOME/fleet/allowed)")
      ->type_name("FILE");
  app.add_flag("--insecure", flags.insecure,
               "Listen beyond loopback without keys: anybody who reaches the port can read and take part");
  app.add_option("--workers", flags.workers, "Workers inside this process (default 1; 0 with --listen)")
      ->type_name("N");
  app.add_option("--metrics-listen", flags.metrics_listen,
                 "Serve /metrics to Prometheus, /healthz and /readyz (:PORT is 127.0.0.1)")
      ->type_name("HOST:PORT");
  app.add_option("--call-log", flags.call_log, "Append a JSON line for each call at the instant it starts")
      ->type_name("FILE");
}

void add_report_flags(CLI::App& app, RunFlags& flags, const std::string& formats) {
  app.add_option("--format", flags.report.format,
                 "Format of the report (default: by the ending of --output, else table)")
      ->type_name(formats);
  app.add_option("--output", flags.report.output, "Write the report to this file instead of stdout")
      ->type_name("FILE");
  app.add_option("--report", flags.report.reports,
                 "Write a further report in a format of --format; may be repeated")
      ->allow_extra_args(false)
      ->type_name("FORMAT=FILE");
}

void add_log_flags(CLI::App& app, RunFlags& flags) {
  app.add_flag("--quiet,-q", flags.quiet, "No progress, warnings and errors only");
  app.add_flag("--verbose,-v", flags.verbose, "Log details");
  app.add_option("--log-level", flags.log_level, "What is logged (default warn; with --listen info)")
      ->type_name("error|warn|info|debug|trace");
}

std::string given_flags(const CLI::App& app, const std::vector<std::string>& only_cases) {
  nlohmann::json flags = nlohmann::json::object();
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0 || option->get_lnames().empty()) continue;
    const std::string& name = option->get_lnames().front();
    if (std::ranges::find(not_repeated, name) != not_repeated.end()) continue;
    auto values = option->results();
    // Whoever reads them again may stand elsewhere.
    if (names_a_path(*option)) std::ranges::transform(values, values.begin(), absolute_path);
    if (std::ranges::none_of(values, may_hold_secret)) flags[name] = values;
  }
  if (!only_cases.empty()) flags[cases_member] = only_cases;
  const CLI::Option* pins = app.get_option_no_throw("--export-baseline");
  if (pins != nullptr && pins->count() > 0) flags[pins_member] = std::array{"true"};
  return flags.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<std::string> only_cases_of(const std::string& flags) {
  std::vector<std::string> cases;
  for (const auto& one : member_of(flags, cases_member)) {
    if (one.is_string()) cases.push_back(one.get<std::string>());
  }
  return cases;
}

std::string baseline_of(const std::string& flags) {
  const auto given = member_of(flags, "baseline");
  const bool is_named = given.is_array() && !given.empty() && given.front().is_string();
  return is_named ? given.front().get<std::string>() : "";
}

std::string selection_of(const std::string& flags) {
  nlohmann::json selected = nlohmann::json::object();
  const auto add = [&](const char* name) {
    if (auto given = member_of(flags, name); !given.is_null()) selected[name] = std::move(given);
  };
  for (const char* name : selecting) add(name);
  add(cases_member);
  return selected.empty() ? "" : selected.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

bool has_pinned_scores(const std::string& flags) {
  return !member_of(flags, pins_member).is_null();
}

Result<void> take_flags(CLI::App& app, const std::string& flags, TakenFlags which) {
  const auto given = parse_tree<nlohmann::json>(flags);
  const std::string damaged = "the flags that the ledger has of the run are damaged";
  if (!given.is_object()) return fail(Reason::ledger_failed, damaged);
  for (const auto& [name, values] : given.items()) {
    CLI::Option* option = app.get_option_no_throw("--" + name);
    if (option == nullptr || option->count() > 0) continue;
    const bool selects = std::ranges::find(selecting, name) != selecting.end();
    if (selects && which == TakenFlags::all_but_selection) continue;
    for (const auto& value : values) {
      if (value.is_string()) option->add_result(value.get<std::string>());
    }
    if (option->count() == 0) continue;  // None of them is a text.
    try {
      option->run_callback();
    } catch (const CLI::Error& error) {
      return fail(Reason::ledger_failed, damaged + ": " + printable(error.what()));
    }
  }
  return {};
}

tl::expected<RunSource, int> load_run_source(const SettingFlags& settings, const RunFlags& flags) {
  // Twice: where the fixtures are is a setting, and a suite brings settings of its own.
  const bool only_errors = flags.log_level == "error";
  const auto without_suite = settings.load(only_errors ? Warnings::left_out : Warnings::shown);
  if (!without_suite) return tl::unexpected(report_findings(without_suite.error()));
  const auto path = suite_path(flags, *without_suite);
  if (!path) return tl::unexpected(report_error(path.error()));
  auto loaded = load_any_suite(*path, flags.allowed_paths, flags.copy);
  if (!loaded) return tl::unexpected(report_findings(loaded.error()));
  auto effective = settings.load(Warnings::left_out, std::move(loaded->settings));
  if (!effective) return tl::unexpected(report_findings(effective.error()));
  if (loaded->suite.copier) copy_settings(settings, *effective, *loaded->suite.copier);
  return RunSource{*path, std::move(loaded->suite), std::move(*effective)};
}

void warn_of_unread_settings(const SettingFlags& settings, const RunFlags& flags, const std::string& suite) {
  const std::string remark = settings.unread_file_remark(suite);
  if (!remark.empty() && flags.log_level != "error") report_warning(remark);
}

namespace {

struct LoadedOptions {
  RunOptions options;
  Suite suite;
};

tl::expected<LoadedOptions, int> load_options(const SettingFlags& settings, const RunFlags& flags,
                                              const std::function<void(Settings&)>& adapt) {
  auto source = load_run_source(settings, flags);
  if (!source) return tl::unexpected(source.error());
  if (adapt) adapt(source->settings);
  auto arms = run_arms(flags, source->suite);
  if (!arms) return tl::unexpected(report_error(arms.error()));
  if (const auto fitting = fit_to_arms(source->settings, *arms); !fitting)
    return tl::unexpected(report_error(fitting.error()));
  const auto unknown = unknown_providers(source->settings, *arms);
  auto options = make_run_options(flags, std::move(source->settings), std::move(*arms));
  const bool is_hinted =
      !options && !unknown.empty() && options.error().message.ends_with(unknown.front().finding.message);
  const std::string hint = is_hinted ? settings.file_beside(source->path, unknown.front().name) : "";
  if (hint.empty()) warn_of_unread_settings(settings, flags, source->path);
  if (!options) return tl::unexpected(report_error(options.error().message + hint));
  options->suite_path = source->path;
  return LoadedOptions{std::move(*options), std::move(source->suite)};
}

}  // namespace

void warn_of_default_provider(const RunOptions& options) {
  const Settings& settings = options.settings;
  const std::string& model = settings.model.value;
  const bool is_default = settings.provider.origin == Origin::default_value && !model.empty();
  if (!is_default || !options.arms.empty() || settings.mode.value == Mode::mock || options.answers) return;
  if (options.log_level == LogLevel::error) return;
  const std::string prefix = model.substr(0, model.find(':'));
  const bool is_prefixed = prefix.size() + 1 < model.size() && settings.find_provider(prefix) != nullptr;
  report_warning("the name of the model \"" + model + "\" does not say who serves it, so that \"" +
                 settings.provider.value + "\", the default, is taken: name the provider as well, as in " +
                 (is_prefixed ? "--provider " + shell_word(prefix) + " --model " +
                                    shell_word(model.substr(prefix.size() + 1))
                              : "--provider openai"));
}

tl::expected<LoadedRun, int> load_run(const SettingFlags& settings, const RunFlags& flags,
                                      const std::function<void(Settings&)>& adapt) {
  auto loaded = load_options(settings, flags, adapt);
  if (!loaded) return tl::unexpected(loaded.error());
  auto inputs = load_run_inputs(loaded->options, std::move(loaded->suite));
  if (!inputs) return tl::unexpected(report_findings(inputs.error()));
  warn_of_default_provider(loaded->options);
  return LoadedRun{std::move(loaded->options), std::move(*inputs)};
}

int run_suite(const SettingFlags& settings, const RunFlags& flags, const PrepareWorkers& prepare_workers,
              const RunUse* use) {
  auto loaded = load_options(settings, flags, {});
  if (!loaded) return loaded.error();
  return execute_run(loaded->options, std::move(loaded->suite), prepare_workers, use);
}

}  // namespace sluice

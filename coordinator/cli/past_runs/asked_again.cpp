#include "coordinator/cli/past_runs/asked_again.hpp"

#include "common/text/printable.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/past_runs/past_details.hpp"
#include "coordinator/cli/past_runs/past_runs.hpp"
#include "coordinator/cli/run_flags.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/plan/plan_identity.hpp"
#include "coordinator/session/embedding_run.hpp"
#include "coordinator/session/run_plan.hpp"
#include "coordinator/session/run_record.hpp"
#include "coordinator/suite/suite_loader.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace sluice {
namespace {

/// The flags that say what a past run asked.
struct AskedFlags {
  CLI::App app;
  SettingFlags settings;
  RunFlags flags;
  bool suite_is_given = false;  ///< To the command: it goes before that of the run.

  explicit AskedFlags(const RunRecord& run) {
    // --judge of `sluice grade` is another thing.
    if (graded_arms(run)) settings.rename("judge", "--judge-provider");
    add_suite_argument(app, flags);
    add_suite_flags(app, flags);
    add_answer_flags(app, flags);
    settings.add_to(app);
  }

  /// These cases in place of what was selected then: a test more makes another selection.
  void take_cases(std::span<const AskedCase> cases) {
    flags.categories.clear();
    flags.filters.clear();
    flags.max_fixtures.reset();
    flags.samples = false;
    flags.sample_seed.reset();
    flags.only_cases.clear();
    for (const AskedCase& one : cases) flags.only_cases.push_back(one.id);
  }

  /// What the command was given goes before what the run was. Its filter says what is shown of the run; of
  /// one whose flags are not known also what was selected.
  Result<void> take(const CLI::App& command, const RunRecord& run) {
    const auto graded = graded_arms(run);
    for (const CLI::Option* given : command.get_options()) {
      if (graded && given->get_name() == "--arm") continue;  // Beside those of the run, below.
      if (given->count() == 0 || (given->get_name() == "--filter" && !run.flags.empty())) continue;
      CLI::Option* same = app.get_option_no_throw(given->get_name());
      if (same == nullptr) continue;
      for (const std::string& value : given->results()) same->add_result(value);
      same->run_callback();
    }
    if (!run.flags.empty()) {
      if (auto taken = take_flags(app, run.flags); !taken) return taken;
      flags.only_cases = only_cases_of(run.flags);
      flags.given = run.flags;
    }
    if (graded) {
      flags.only_arm = graded->candidate;
      if (const CLI::Option* given = command.get_option_no_throw("--arm");
          given != nullptr && given->count() > 0)
        add_arms(given->results());
    }
    suite_is_given = flags.suite.has_value();
    if (!suite_is_given) flags.suite = run.suite_path;
    flags.log_level = "error";  // The command has shown its warnings.
    return {};
  }

 private:
  /// In place of those of the same names.
  void add_arms(const std::vector<std::string>& given) {
    for (const std::string& arm : given) {
      const std::string name = arm.substr(0, arm.find('=')) + '=';
      std::erase_if(flags.arms, [&](const std::string& known) { return known.starts_with(name); });
      flags.arms.push_back(arm);
    }
  }
};

/// Provider and model of the run, where the flags name none: those of one arm stand in its record.
void take_over(const PastRun& past, Settings& settings) {
  const auto is_one = [](const std::string& names) { return names.find(", ") == std::string::npos; };
  const std::string where = "that of run " + short_id(past.run.run_id) +
                            "; where its settings lie elsewhere, name the file with --config";
  if (settings.provider.origin != Origin::flag && is_one(past.run.provider))
    settings.provider = {past.run.provider, Origin::file, where};
  if (settings.model.origin != Origin::flag && is_one(past.run.model)) {
    settings.model = {past.run.model, Origin::file, where};
    settings.model_provider = settings.provider.value;
  }
}

int not_as_it_was(const PastRun& past, const RunOptions& options, Tests wanted) {
  if (options.copy) {
    return report_error(
        "which cases run " + short_id(past.run.run_id) +
        " had is not known by these settings: repeats, perturbations, arms or the selection are others now "
        "(the environment, sluice.toml or flags given here); where its selection was not recorded, --filter "
        "names "
        "its cases");
  }
  const std::string& suite = options.suite_path;
  return report_error(
      "which cases run " + short_id(past.run.run_id) +
      " had is not known, and not all of it is among the observations: " + suite +
      " and these flags have others now, and the ledger has no copy of that suite (keep_suites = false, "
      "[redaction], more than 16 MiB, or an earlier sluice). Where cases came, went or were renamed since, "
      "only runs with a copy or --save-observations can be looked at; else give the flags of that run (its "
      "arms, repeats, perturbations). `sluice compare` takes " +
      (wanted == Tests::all ? "the tests that two runs share, or " : "") +
      "a baseline (--export-baseline) or JSON report that was kept of it");
}

/// A scan of a code base, and what embeds before a run, have a suite that no file holds.
bool has_suite_of_its_own(const PastRun& past) {
  const std::string made_by = command_of(past.run);
  return made_by != embed_command && made_by != generate_command;
}

int would_run_programs(const PastRun& past) {
  const std::string id = short_id(past.run.run_id);
  return report_error("the inputs of run " + id +
                      " were perturbed by commands (--perturb-command), which its report would run again, "
                      "and a page runs none: `sluice report " +
                      id + "` runs them and makes it" + (past.summary ? "" : ", once the run has ended"));
}

int without_suite(const PastRun& past) {
  return report_error(
      "run " + short_id(past.run.run_id) + " was made by `sluice " + command_of(past.run) +
      "`, whose questions stand in no suite: only what --save-observations keeps of such a run "
      "can be looked at");
}

/// What the run's flags make of the settings of now; `settings` where these do not load any more, which
/// whoever needs them reports.
Result<Settings> settings_of_now(const PastRun& past, const CLI::App& command, const Settings& settings) {
  AskedFlags flags(past.run);
  if (auto taken = flags.take(command, past.run); !taken) return fail(std::move(taken.error()));
  auto of_run = flags.settings.load(Warnings::left_out);
  return of_run ? std::move(*of_run) : settings;
}

}  // namespace

void add_asked_settings(CLI::App& command, SettingFlags& settings) {
  settings.add_to(command, {"home",
                            "log_format",
                            "redact",
                            "mode",
                            "provider",
                            "model",
                            "base_url",
                            "temperature",
                            "max_output_tokens",
                            "seed",
                            "perturb",
                            "repeat",
                            "embedding_provider",
                            "embedding_model",
                            "judge",
                            "judge_model",
                            "judge_samples",
                            "judge_temperature",
                            "judge_max_tokens",
                            "prompt_file",
                            "ontology_file",
                            "prices_file"});
}

Result<Redactor> redactor_of(const PastRun& past, const CLI::App& command, const Settings& settings) {
  const auto now = settings_of_now(past, command, settings);
  if (!now) return fail(now.error());
  return Redactor::make(redaction_of(*now));
}

Result<std::vector<RetrievalEvent>> retrievals_of(const Settings& settings, const PastRun& past) {
  const auto ledger = open_past_runs(settings);
  if (!ledger) return fail(ledger.error());
  if (!*ledger) return std::vector<RetrievalEvent>();
  return (*ledger)->retrievals_of(past.run.run_id);
}

namespace {

using PlannedAgain = tl::expected<std::unique_ptr<Asked>, int>;

SettingsInputs inputs_of(const SuiteCopy& copy, const PastRun& past) {
  SettingsInputs inputs{copy.settings->file + " as run " + short_id(past.run.run_id) + " had it",
                        copy.settings->text, copy.settings->variables};
  if (const char* home = std::getenv("HOME")) inputs.variables.emplace("HOME", home);
  return inputs;
}

/// Adds what the suite reads now, as far as it can be read, to what a copy of it protects.
void protect_files_of_now(const std::vector<std::string>& allowed, const RunOptions& options, Suite& suite) {
  const auto now = load_any_suite(options.suite_path, allowed);
  if (!now) return;
  const auto add = [](auto& to, const auto& more) {
    to.insert(to.end(), more.begin(), more.end());
    std::ranges::sort(to);
  };
  add(suite.input_files, now->suite.input_files);
  add(suite.fixture_folders, now->suite.fixture_folders);
}

/// Those whom the suite's tests do not ask, for what their calls cost.
void take_graders(Graders graders, RunInputs& inputs) {
  if (graders.baseline) inputs.grading.emplace().baseline.provider = std::move(*graders.baseline);
  if (graders.judge && !inputs.judge.provider) {
    inputs.judge.provider = std::move(graders.judge->provider);
    inputs.judge.judge.model = std::move(graders.judge->model);
  }
  if (graders.embedder && !inputs.embedding.provider) {
    inputs.embedding.provider = std::move(graders.embedder->provider);
    inputs.embedding.embedding.model = std::move(graders.embedder->model);
  }
}

/// Without a plan.
PlannedAgain loaded_again(const PastRun& past, const RunPlace& place, const AskedFlags& flags) {
  Result<Settings> now;
  if (flags.flags.copy) now = settings_of_now(past, place.command, place.settings);
  if (!now) return tl::unexpected(report_error(now.error()));
  auto loaded = load_run(flags.settings, flags.flags, [&](Settings& chosen) {
    take_over(past, chosen);
    chosen.home = place.settings.home;
    if (!flags.flags.copy) return;
    // What is redacted now was not when the run was noted, or there would be no copy of it.
    chosen.redact = now->redact;
    chosen.redaction_patterns = now->redaction_patterns;
  });
  if (!loaded) return tl::unexpected(loaded.error());
  if (place.programs == Programs::never && !loaded->options.perturb_commands.empty())
    return tl::unexpected(would_run_programs(past));
  loaded->options.progress = false;
  if (place.writes_files && loaded->options.copy)
    protect_files_of_now(flags.flags.allowed_paths, loaded->options, loaded->inputs.suite);
  if (awaits_embeddings(loaded->inputs)) {
    const auto events = place.ledger.retrievals_of(past.run.run_id);
    if (!events) return tl::unexpected(report_error(events.error()));
    loaded->inputs.retrieval = retrieval_again(loaded->inputs.suite, *events);
  }
  take_graders(graders_of(past.run), loaded->inputs);
  return std::make_unique<Asked>(Asked{std::move(loaded->options), std::move(loaded->inputs), nullptr});
}

/// `is_as_it_was` alone is left to be said.
PlannedAgain planned(PlannedAgain asked) {
  if (!asked) return asked;
  auto plan = make_plan((*asked)->options, (*asked)->inputs);
  if (!plan) return tl::unexpected(report_error(plan.error()));
  (*asked)->plan = *plan;
  return asked;
}

bool has_other_tests(const std::vector<AskedCase>& then, const CaseList& now) {
  if (then.size() != now.size()) return true;
  for (std::size_t i = 0; i < then.size(); ++i) {
    if (then[i].id != now.id(i)) return true;
  }
  return false;
}

/// Empty where the ledger does not have them, or was damaged and lacks some: then no number is what it was.
Result<std::vector<AskedCase>> noted_cases(const PastRun& past, const Ledger& ledger) {
  auto noted = ledger.asked_by(past.run.run_id);
  if (!noted) return noted;
  const auto trials =
      std::accumulate(noted->begin(), noted->end(), std::uint64_t{0},
                      [](std::uint64_t sum, const AskedCase& one) { return sum + one.trials; });
  if (trials != past.run.trials) noted->clear();
  return noted;
}

int judged_otherwise(const PastRun& past, const std::string& suite, const std::vector<std::string>& cases) {
  return report_error(wording::counted(cases.size(), "case") + " of " + suite + " " +
                      (cases.size() == 1 ? "is" : "are") + " not what run " + short_id(past.run.run_id) +
                      " had (checks, settings or perturbations), as " + printable(cases.front()) +
                      ": check out what they were, or run it again; `sluice compare` takes a baseline "
                      "(--export-baseline) or JSON report that was kept of it");
}

/// Of the tests alone that the run and the suite have. `then`: of the run; `as_they_are`: the whole suite.
PlannedAgain planned_of_shared(const PastRun& past, const RunPlace& place, AskedFlags& flags,
                               const std::vector<AskedCase>& then, const Asked& as_they_are) {
  const auto none = [&] { return tl::unexpected(not_as_it_was(past, as_they_are.options, Tests::shared)); };
  const auto& cases = as_they_are.inputs.suite.cases;
  bool shares_any = past.run.selection;  // What was selected then need not be now.
  for (std::size_t i = 0; !shares_any && i < cases.size(); ++i)
    shares_any = std::ranges::binary_search(then, cases.id(i), {}, &AskedCase::id);
  if (!shares_any) return none();
  flags.take_cases(then);
  auto asked = planned(loaded_again(past, place, flags));
  if (!asked) return asked;
  if (!past.run.selection) (*asked)->options.only_cases.clear();
  const auto now = asked_cases((*asked)->options, (*asked)->inputs, *(*asked)->plan);
  if (!now) return tl::unexpected(report_error(now.error()));
  SharedCases shared = shared_cases(then, *now);
  if (!shared.otherwise.empty())
    return tl::unexpected(judged_otherwise(past, as_they_are.options.suite_path, shared.otherwise));
  if (shared.trials.empty()) return none();
  (*asked)->shared = std::move(shared);
  return asked;
}

}  // namespace

tl::expected<std::unique_ptr<Asked>, int> plan_again(const PastRun& past, const RunPlace& place) {
  if (!has_suite_of_its_own(past)) return tl::unexpected(without_suite(past));
  AskedFlags flags(past.run);
  if (const auto taken = flags.take(place.command, past.run); !taken)
    return tl::unexpected(report_error(taken.error()));
  if (!flags.suite_is_given) {
    auto copy = place.ledger.suite_of(past.run.run_id);
    if (!copy) report_warning(copy.error().message + "; the suite is read as it is now");
    flags.flags.copy = copy ? std::move(*copy) : nullptr;
    const CLI::Option* config = place.command.get_option_no_throw("--config");
    const bool is_config_given = config != nullptr && config->count() > 0;
    if (flags.flags.copy && flags.flags.copy->settings && !is_config_given)
      flags.settings.read_from(inputs_of(*flags.flags.copy, past));
  }
  auto asked = loaded_again(past, place, flags);
  if (!asked) return asked;
  std::vector<AskedCase> then;
  if (place.tests == Tests::shared) {
    auto noted = noted_cases(past, place.ledger);
    if (!noted) return tl::unexpected(report_error(noted.error()));
    then = std::move(*noted);
    // No plan of the whole suite is needed, and there may be none: a test that was added asks for a judge.
    if (!then.empty() && has_other_tests(then, (*asked)->inputs.suite.cases))
      return planned_of_shared(past, place, flags, then, **asked);
  }
  asked = planned(std::move(asked));
  if (!asked) return asked;
  const Plan& plan = *(*asked)->plan;
  (*asked)->is_as_it_was = to_prefixed_hex(plan_identity(plan)) == past.run.plan_identity;
  if ((*asked)->is_as_it_was || numbers_alike(past.run, plan)) return asked;
  if (!then.empty()) return planned_of_shared(past, place, flags, then, **asked);
  return tl::unexpected(not_as_it_was(past, (*asked)->options, place.tests));
}

}  // namespace sluice

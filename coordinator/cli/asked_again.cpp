#include "coordinator/cli/asked_again.hpp"

#include "common/text/printable.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/past_details.hpp"
#include "coordinator/cli/past_runs.hpp"
#include "coordinator/cli/run_flags.hpp"
#include "coordinator/cli/run_report.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/gate/test_changes.hpp"
#include "coordinator/plan/plan_identity.hpp"
#include "coordinator/session/embedding_run.hpp"
#include "coordinator/session/past_suite.hpp"
#include "coordinator/session/run_plan.hpp"
#include "coordinator/session/run_record.hpp"
#include "coordinator/suite/suite_loader.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace sluice {
namespace {

/// The flags that say what a past run asked.
struct AskedFlags {
  CLI::App app;
  SettingFlags settings;
  RunFlags flags;

  explicit AskedFlags(const RunRecord& run) {
    // --judge of `sluice grade` is another thing.
    if (graded_arms(run)) settings.rename("judge", "--judge-provider");
    add_suite_argument(app, flags);
    add_suite_flags(app, flags);
    add_answer_flags(app, flags);
    settings.add_to(app);
  }

  /// Where the cases are known: a test more makes another selection.
  void forget_selection() {
    flags.categories.clear();
    flags.filters.clear();
    flags.max_fixtures.reset();
    flags.samples = false;
    flags.sample_seed.reset();
    flags.only_cases.clear();
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
    }
    if (graded) {
      flags.only_arm = graded->candidate;
      if (const CLI::Option* given = command.get_option_no_throw("--arm");
          given != nullptr && given->count() > 0)
        add_arms(given->results());
    }
    if (!flags.suite) flags.suite = run.suite_path;
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

/// A member of the JSON object of the record's settings; null where it has none.
nlohmann::json in_record(const PastRun& past, const char* member) {
  const auto settings = nlohmann::json::parse(past.run.settings, nullptr, false);
  return settings.is_object() ? settings.value(member, nlohmann::json()) : nlohmann::json();
}

std::string text_in(const nlohmann::json& object, const char* member) {
  const auto found = object.find(member);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// The arms of the run; empty where it had none.
std::vector<Arm> arms_in_record(const PastRun& past) {
  std::vector<Arm> arms;
  for (const auto& one : in_record(past, "arms")) {
    if (!one.is_object()) continue;
    Arm arm;
    arm.name = text_in(one, "name");
    arm.provider = text_in(one, "provider");
    arm.model = text_in(one, "model");
    arm.where = "run " + short_id(past.run.run_id);
    arms.push_back(std::move(arm));
  }
  return arms;
}

/// Who judged, where the flags of the run are not known.
void take_over_judge(const nlohmann::json& judge, const std::string& where, Settings& settings) {
  if (!judge.is_object() || settings.judge.origin == Origin::flag) return;
  const std::string provider = text_in(judge, "provider");
  settings.judge = settings.judge_provider = {provider, Origin::file, where};
  settings.judge_model = {text_in(judge, "model"), Origin::file, where};
  settings.judge_model_provider = provider;
  const auto take = [&](const char* member, auto& setting) {
    const auto found = judge.find(member);
    if (found == judge.end() || !found->is_number()) return;
    setting = {found->template get<std::decay_t<decltype(setting.value)>>(), Origin::file, where};
  };
  take("samples", settings.judge_samples);
  take("temperature", settings.judge_temperature);
  take("max_tokens", settings.judge_max_tokens);
}

/// What the run had, where flags do not say it: provider and model (those of one arm stand in its record),
/// mode and repeats.
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
  if (settings.mode.origin != Origin::flag) {
    settings.robust = past.run.mode == "robust";
    for (const Mode mode : {Mode::cached, Mode::live, Mode::mock}) {
      if (past.run.mode == to_string(mode) || (settings.robust && mode == Mode::live))
        settings.mode = {mode, Origin::file, where};
    }
  }
  const auto repeat = in_record(past, "repeat");
  if (settings.repeat.origin != Origin::flag && repeat.is_number_unsigned() && repeat > 0)
    settings.repeat = {repeat.get<std::uint32_t>(), Origin::file, where};
  if (past.run.flags.empty()) take_over_judge(in_record(past, "judge"), where, settings);
}

int not_as_it_was(const PastRun& past, const std::string& suite) {
  return report_error(
      "which cases run " + short_id(past.run.run_id) +
      " had is not known, and not all of it is among the observations: " + suite +
      " and these flags have others now. Check out the suite of then, or give the flags of that run (its "
      "arms, repeats, perturbations, selection); later runs with --save-observations can be looked at all "
      "the "
      "same. `sluice compare` takes a baseline (--export-baseline) or JSON report that was kept of it");
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

}  // namespace

Result<Redactor> redactor_of(const PastRun& past, const CLI::App& command, const Settings& settings) {
  AskedFlags flags(past.run);
  if (auto taken = flags.take(command, past.run); !taken) return fail(std::move(taken.error()));
  const auto of_run = flags.settings.load(Warnings::left_out);
  // Settings that do not load any more were reported by whoever needs them.
  return Redactor::make(redaction_of(of_run ? *of_run : settings));
}

Result<std::vector<RetrievalEvent>> retrievals_of(const Settings& settings, const PastRun& past) {
  const auto ledger = open_past_runs(settings);
  if (!ledger) return fail(ledger.error());
  if (!*ledger) return std::vector<RetrievalEvent>();
  return (*ledger)->retrievals_of(past.run.run_id);
}

std::optional<GateNotice> notice_of_noted(const Asked& asked) {
  std::vector<std::string> gone;
  std::vector<std::string> changed;
  for (const auto& [index, noted] : asked.cases.noted)
    (noted.is_gone ? gone : changed).emplace_back(asked.inputs.suite.cases.id(index));
  auto notice = noted_notice(gone, changed, asked.unread);
  if (notice) notice->subject = past_run_subject;
  return notice;
}

namespace {

using PlannedAgain = tl::expected<std::unique_ptr<Asked>, int>;

/// Without a plan.
PlannedAgain loaded_again(const PastRun& past, const RunPlace& place, const AskedFlags& flags) {
  auto loaded = load_run(flags.settings, flags.flags, [&](Settings& chosen) {
    take_over(past, chosen);
    chosen.home = place.settings.home;
  });
  if (!loaded) {
    if (place.changed != Changed::refused)
      report_error("nothing else is known of run " + short_id(past.run.run_id) +
                   ", whose cases are not in the ledger: check out what it was made of");
    return tl::unexpected(loaded.error());
  }
  if (place.programs == Programs::never && !loaded->options.perturb_commands.empty())
    return tl::unexpected(would_run_programs(past));
  loaded->options.progress = false;
  if (awaits_embeddings(loaded->inputs)) {
    const auto events = place.ledger.retrievals_of(past.run.run_id);
    if (!events) return tl::unexpected(report_error(events.error()));
    loaded->inputs.retrieval = retrieval_again(loaded->inputs.suite, *events);
  }
  return std::make_unique<Asked>(Asked{std::move(loaded->options), std::move(loaded->inputs)});
}

/// `is_as_it_was` alone is left to be said.
PlannedAgain planned(PlannedAgain asked) {
  if (!asked) return asked;
  auto plan = make_plan((*asked)->options, (*asked)->inputs);
  if (!plan) return tl::unexpected(report_error(plan.error()));
  (*asked)->plan = *plan;
  return asked;
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
  return report_error(
      wording::counted(cases.size(), "case") + " of " + suite + " " + (cases.size() == 1 ? "is" : "are") +
      " not what run " + short_id(past.run.run_id) + " had (checks, settings or perturbations), as " +
      printable(cases.front()) +
      ": check out what they were, or run it again; `sluice diff` shows what answers differ "
      "all the same, and `sluice compare` takes a baseline (--export-baseline) or JSON report "
      "that was kept of it");
}

/// Plans the cases alone that the run and the suite have, and says how they stand to each other; or what is
/// in the way.
tl::expected<std::unique_ptr<Asked>, std::vector<Finding>> planned_of_both(const PastRun& past,
                                                                           std::span<const AskedCase> then,
                                                                           RunOfSuite run) {
  const auto in_the_way = [path = run.options.suite_path](const Error& error) {
    return tl::unexpected(std::vector{Finding{path, 0, error.message}});
  };
  const auto is_of_run = [arms = arms_in_record(past)](const RunArm& one) {
    return std::ranges::find(arms, one.arm.name, &Arm::name) != arms.end();
  };
  std::erase_if(run.options.arms, [&](const RunArm& one) { return !is_of_run(one); });
  run.suite.examples.reset();  // A run that was shown any has not noted its cases.
  if (const auto kept = keep_asked(then, run.options.arms, run.suite); !kept) return in_the_way(kept.error());
  std::vector<std::string> ids;
  for (const AskedCase& one : then) ids.push_back(one.id);
  if (run.suite.cases.empty()) {
    run.options.answers.reset();
  } else {
    run.options.only_cases = ids;
  }
  auto inputs = load_run_inputs(run.options, std::move(run.suite));
  if (!inputs) return tl::unexpected(std::move(inputs.error()));
  run.options.only_cases = past.run.selection ? std::move(ids) : std::vector<std::string>();
  auto asked = std::make_unique<Asked>(Asked{std::move(run.options), std::move(*inputs)});
  std::vector<AskedCase> now;
  if (!asked->inputs.suite.cases.empty()) {
    auto plan = make_plan(asked->options, asked->inputs);
    if (!plan) return in_the_way(plan.error());
    asked->plan = std::move(*plan);
    // With the suite as it was no case needs a look.
    if (numbers_alike(past.run, *asked->plan) && was_judged_alike(past.run, asked->inputs)) return asked;
    auto cases = asked_cases(asked->options, asked->inputs, *asked->plan);
    if (!cases) return in_the_way(cases.error());
    now = std::move(*cases);
  }
  asked->shared = shared_cases(then, now);
  return asked;
}

PlannedAgain without_others(const PastRun& past, std::unique_ptr<Asked> asked) {
  const std::string& suite = asked->options.suite_path;
  if (!asked->shared.otherwise.empty())
    return tl::unexpected(judged_otherwise(past, suite, asked->shared.otherwise));
  if (!asked->plan) return tl::unexpected(not_as_it_was(past, suite));
  asked->trials = asked->shared.trials;
  return asked;
}

/// With the others as the run noted them.
PlannedAgain with_others(const PastRun& past, const Ledger& ledger, std::span<const AskedCase> then,
                         std::unique_ptr<Asked> asked) {
  const SharedCases shared = std::exchange(asked->shared, {});
  if (shared.otherwise.empty() && shared.lost.empty()) return asked;
  const auto outcomes = noted_outcomes(ledger, past);
  if (!outcomes) return tl::unexpected(report_error(outcomes.error()));
  const auto results = ledger.results_of(past.run.run_id);
  auto cases = put_back({then, *results, *outcomes}, shared, asked->plan.get(), asked->options.arms,
                        asked->inputs.suite);
  if (!cases) return tl::unexpected(report_error(cases.error()));
  asked->cases = std::move(*cases);
  auto plan = make_plan(asked->options, asked->inputs);
  if (!plan) return tl::unexpected(report_error(plan.error()));
  asked->plan = std::move(*plan);
  asked->trials = numbers_now(then, asked->plan->trials());
  return asked;
}

/// What would be run of the suite, with what the run had where nothing else is said.
tl::expected<RunOfSuite, int> run_again(const PastRun& past, const RunPlace& place, const AskedFlags& flags,
                                        std::string path, LoadedSuite loaded) {
  auto source = source_of(flags.settings, std::move(path), std::move(loaded));
  if (!source) return tl::unexpected(source.error());
  take_over(past, source->settings);
  source->settings.home = place.settings.home;
  auto run = options_of(flags.settings, flags.flags, std::move(*source));
  if (!run) return run;
  if (place.programs == Programs::never && !run->options.perturb_commands.empty())
    return tl::unexpected(would_run_programs(past));
  run->options.progress = false;
  return run;
}

/// A suite of which nothing is left but its name.
LoadedSuite unread_suite(const PastRun& past, AskedFlags& flags) {
  LoadedSuite loaded;
  loaded.suite.name = past.run.suite;
  loaded.suite.arms = arms_in_record(past);
  flags.flags.arms.clear();
  flags.flags.perturb_commands.clear();
  return loaded;
}

/// Case by case: a suite in which others changed, or that is gone, still says or leaves known what the rest
/// came to.
PlannedAgain planned_by_case(const PastRun& past, const RunPlace& place, AskedFlags& flags,
                             std::span<const AskedCase> then) {
  flags.forget_selection();
  const auto path = suite_path_of(flags.settings, flags.flags);
  if (!path) return tl::unexpected(path.error());
  std::vector<Finding> in_the_way;
  if (auto loaded = load_any_suite(*path, flags.flags.allowed_paths)) {
    auto run = run_again(past, place, flags, *path, std::move(*loaded));
    if (!run) return tl::unexpected(run.error());
    const bool has_its_arms = std::ranges::all_of(arms_in_record(past), [&](const Arm& arm) {
      return std::ranges::any_of(run->options.arms,
                                 [&](const RunArm& one) { return one.arm.name == arm.name; });
    });
    if (has_its_arms) {
      auto asked = planned_of_both(past, then, std::move(*run));
      if (asked) {
        return place.changed == Changed::left_out ? without_others(past, std::move(*asked))
                                                  : with_others(past, place.ledger, then, std::move(*asked));
      }
      in_the_way = std::move(asked.error());
    } else {
      in_the_way = {{*path, 0, "it has other arms than the run"}};
    }
  } else {
    in_the_way = std::move(loaded.error());
  }
  // Whoever names a suite means that one.
  if (place.changed == Changed::left_out || *path != past.run.suite_path)
    return tl::unexpected(report_findings(in_the_way));
  auto run = run_again(past, place, flags, *path, unread_suite(past, flags));
  if (!run) return tl::unexpected(run.error());
  auto asked = planned_of_both(past, then, std::move(*run));
  if (!asked) return tl::unexpected(report_findings(in_the_way));
  (*asked)->unread = to_text(in_the_way.front());
  return with_others(past, place.ledger, then, std::move(*asked));
}

}  // namespace

tl::expected<std::unique_ptr<Asked>, int> plan_again(const PastRun& past, const RunPlace& place) {
  if (!has_suite_of_its_own(past)) return tl::unexpected(without_suite(past));
  AskedFlags flags(past.run);
  if (const auto taken = flags.take(place.command, past.run); !taken)
    return tl::unexpected(report_error(taken.error()));
  std::vector<AskedCase> then;
  if (place.changed != Changed::refused) {
    auto noted = noted_cases(past, place.ledger);
    if (!noted) return tl::unexpected(report_error(noted.error()));
    then = std::move(*noted);
  }
  auto asked =
      then.empty() ? planned(loaded_again(past, place, flags)) : planned_by_case(past, place, flags, then);
  if (!asked) return asked;
  const Plan& plan = *(*asked)->plan;
  (*asked)->is_as_it_was =
      (*asked)->cases.noted.empty() && to_prefixed_hex(plan_identity(plan)) == past.run.plan_identity;
  if (!then.empty()) return asked;
  (*asked)->is_judged_alike = was_judged_alike(past.run, (*asked)->inputs);
  if ((*asked)->is_as_it_was || numbers_alike(past.run, plan)) return asked;
  return tl::unexpected(not_as_it_was(past, (*asked)->options.suite_path));
}

}  // namespace sluice

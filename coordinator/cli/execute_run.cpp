#include "coordinator/cli/execute_run.hpp"

#include "common/clock.hpp"
#include "common/defaults.hpp"
#include "common/documents/table_reader.hpp"
#include "common/process/logging.hpp"
#include "common/process/signals.hpp"
#include "common/text/stderr_line.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/conduct_run.hpp"
#include "coordinator/cli/past_runs.hpp"
#include "coordinator/cli/resumed_run.hpp"
#include "coordinator/cli/run_flags.hpp"
#include "coordinator/cli/run_ledger.hpp"
#include "coordinator/cli/run_notes.hpp"
#include "coordinator/cli/run_observations.hpp"
#include "coordinator/cli/run_report.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/ledger/run_lock.hpp"
#include "coordinator/merge/aggregate.hpp"
#include "coordinator/output/output_file.hpp"
#include "coordinator/session/arm_options.hpp"
#include "coordinator/session/embedding_run.hpp"
#include "coordinator/session/harvest.hpp"
#include "coordinator/session/provider_limits.hpp"
#include "coordinator/session/resume_run.hpp"
#include "coordinator/session/run_commands.hpp"
#include "coordinator/session/run_gate.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_outputs.hpp"
#include "coordinator/session/run_plan.hpp"
#include "coordinator/session/run_record.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace sluice {
namespace {

/// A random UUID (RFC 9562, version 4).
std::string new_run_id() {
  std::random_device entropy;
  std::string id;
  constexpr std::string_view shape = "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx";
  for (const char c : shape) {
    const auto digit = entropy() % 16;
    if (c == 'x') id += "0123456789abcdef"[digit];
    if (c == 'y') id += "89ab"[digit % 4];
    if (c != 'x' && c != 'y') id += c;
  }
  return id;
}

/// Which part of the suite runs, where that is not what its flags spell out.
void note_selection(const RunOptions& options, std::size_t cases) {
  if (const auto& seed = options.selection.sample_seed; seed && options.progress) {
    say(wording::counted(cases, "case") + ", sampled by category (--sample " + std::to_string(*seed) + ")");
  }
  if (cases < options.only_cases.size()) {
    const std::size_t missing = options.only_cases.size() - cases;
    report_warning(wording::counted(missing, "case") + " of the run before " + (missing == 1 ? "is" : "are") +
                   " no longer in the suite");
  }
}

/// What the home's ledger knows of the suite's judges, where the gate asks for it. Of a home that cannot be
/// written to too, whose run is recorded elsewhere.
Result<std::vector<JudgeCalibration>> known_calibrations(const RunOptions& options, const Suite& suite) {
  if (!options.settings.judge_min_kappa.value || suite.rubrics.empty())
    return std::vector<JudgeCalibration>{};
  const auto ledger = open_past_runs(options.settings);
  if (!ledger) return fail(ledger.error());
  if (!*ledger) return std::vector<JudgeCalibration>{};
  return (*ledger)->calibrations_of(suite.name);
}

/// Opened where workers from elsewhere come in by keys.
Result<std::optional<FleetSecurity>> fleet_of(const RunOptions& options) {
  if (!options.fleet) return std::nullopt;
  auto fleet = open_fleet(*options.fleet);
  if (!fleet) return fail(std::move(fleet.error()));
  return std::move(*fleet);
}

/// The run's settings, leases and budgets.
Result<RunController::Config> controller_of(const RunOptions& options, const RunInputs& inputs,
                                            const Plan& plan, Ledger& ledger, const std::string& run_id) {
  RunController::Config controller;
  controller.settings = run_settings(options, inputs, run_id);
  fit_judge(plan, controller.settings);
  controller.dispatch = {defaults::heartbeat_interval, defaults::liveness, defaults::max_losses,
                         options.settings.case_timeout.value + defaults::lease_grace};
  controller.worker_timeout = options.settings.worker_timeout.value;
  controller.drain_timeout = options.settings.drain_timeout.value;
  controller.another_follows = options.returns_embeddings;
  controller.models = places_of_models(options);
  if (options.listen) controller.expected_workers = options.settings.expect_workers.value.value_or(0);
  controller.affinities = affinities_of(plan.keys());
  if (controller.settings.mode != Mode::mock) {  // Mock answers are nobody's.
    const auto pins = ledger.pins(plan.keys());
    if (!pins) return fail(pins.error());
    add_pins(*pins, controller);
  }
  controller.notes_leases =
      options.listen && controller.settings.mode == Mode::live && controller.settings.write_cache;
  if (auto budgets = add_budgets(options, inputs, controller); !budgets)
    return fail(std::move(budgets.error()));
  return controller;
}

/// What they learnt of the providers; forgotten first if that is asked for. Without it a run learns anew.
std::vector<LearnedLimits> limits_of_earlier_runs(const RunOptions& options,
                                                  const std::vector<ProviderSettings>& providers,
                                                  Ledger& ledger) {
  if (options.settings.mode.value != Mode::live) return {};
  for (const ProviderSettings& provider : providers) {
    if (!options.forget_limits) break;
    if (const auto done = ledger.forget_limits(key_identity(provider)); !done)
      report_warning("what was learnt of the provider \"" + provider.name +
                     "\" is not forgotten: " + done.error().message);
  }
  const auto remembered = ledger.limits();
  if (remembered) return limits_for(providers, *remembered, unix_now_ms());
  report_warning("what earlier runs learnt of the providers cannot be read: " + remembered.error().message);
  return {};
}

/// A run that cannot note them is as good as any other: the next one learns them anew.
void remember_limits(const std::vector<ProviderSettings>& providers, const RunFacts& facts,
                     const std::string& run_id, Ledger& ledger) {
  for (const RememberedLimits& one :
       limits_learned(providers, facts.budgets, run_id, facts.completed_at_ms)) {
    if (const auto noted = ledger.note_limits(one); !noted)
      report_warning("what was learnt of the provider \"" + one.provider +
                     "\" is not kept: " + noted.error().message);
  }
}

/// The workers inside of this process call from here: a key that is not set is said before they start, and
/// not by each of them.
std::optional<Error> missing_key(const RunOptions& options, const RunSettings& settings) {
  if (options.listen || settings.mode != Mode::live) return std::nullopt;
  std::vector<std::string> names;
  std::vector<std::string> variables;
  for (const ProviderSettings& provider : settings.providers) {
    const std::string& variable = provider.api_key_env;
    const char* const key = variable.empty() ? "" : std::getenv(variable.c_str());
    if (variable.empty() || (key != nullptr && *key != '\0')) continue;
    names.push_back(provider.name);
    if (std::ranges::find(variables, variable) == variables.end()) variables.push_back(variable);
  }
  if (names.empty()) return std::nullopt;
  const bool is_one = names.size() == 1;
  std::string lacking;
  std::string exported;
  for (const std::string& variable : variables) {
    lacking += (lacking.empty() ? "" : ", ") + variable;
    exported += " " + variable + "=...";
  }
  return Error{Reason::key_missing,
               (is_one ? "the provider " : "the providers ") + quoted_list(names) +
                   (is_one ? " needs an API key, and " : " need API keys, and ") + lacking +
                   (variables.size() == 1 ? " is" : " are") + " not set: `export" + exported +
                   "` here, or say api_key_env = \"\" under [providers." +
                   (is_one ? names.front() : std::string("NAME")) + "] of sluice.toml to call without a key"};
}

/// Of the run's own workers; empty if it has none.
StartWorkers prepare_own_workers(const RunOptions& options, const PrepareWorkers& prepare_workers) {
  if (options.workers == 0) return {};
  return prepare_workers({.settings = options.settings,
                          .name = std::nullopt,
                          .use_cache = options.settings.mode.value != Mode::mock && !options.no_cache,
                          .borrow_caches = !options.listen});
}

/// What a run leaves for the one that follows.
struct FinishedRun {
  int exit_code = exit_error;
  std::string endpoint;  ///< Empty if it did not come that far.
};

/// From the gate to the report. `before`: the calls of an embedding run before this one; may be null.
FinishedRun run_loaded(const RunOptions& options, const RunInputs& inputs, RunGate& gate,
                       const Surroundings& around, const RunUse* use, const RunFacts* before = nullptr) {
  const auto failed = [](const Error& error) { return FinishedRun{report_error(error), {}}; };
  const auto recorded_in = RunLedger::open(options.settings);
  if (!recorded_in) return failed(recorded_in.error());
  const bool goes_on = !options.resumed_run.empty();
  const std::string run_id = goes_on ? options.resumed_run : new_run_id();
  set_log_context({.run = run_id});
  // Before the ledger is open, which a repair may replace, and until all is said of the run.
  const auto lock = RunLock::take(recorded_in->file().parent_path(), run_id);
  if (!lock) return failed(lock.error());
  const auto outlives = options.settings.durable.value ? Outlives::power : Outlives::process;
  auto ledger = open_ledger(recorded_in->file(), outlives);
  if (!ledger) return failed(ledger.error());
  lock->expect_ledger();
  StartWorkers start_workers = prepare_own_workers(options, around.prepare_workers);
  // This thread's, while the recorder owns the other one.
  auto history = Ledger::open(recorded_in->file(), outlives);
  if (!history) return failed(history.error());

  auto calibrations = known_calibrations(options, inputs.suite);
  if (!calibrations) return failed(calibrations.error());
  require_calibrations(options, std::move(*calibrations), gate);

  const auto plan = make_plan(options, inputs);
  if (!plan) return failed(plan.error());
  auto observations = open_run_observations(options.settings);
  const bool observed = observations.has_value();
  // What is wrong with it is said before there is a run that could not begin.
  auto fleet = fleet_of(options);
  if (!fleet) return failed(fleet.error());
  auto controller = controller_of(options, inputs, **plan, *ledger, run_id);
  if (!controller) return failed(controller.error());
  if (const auto missing = missing_key(options, controller->settings)) return failed(*missing);
  // Commands are given the whole answer, too.
  controller->settings.observe = observed || command_rules(options, inputs) != nullptr;
  if (before != nullptr) {
    controller->elapsed_before = std::chrono::milliseconds(before->completed_at_ms - before->started_at_ms);
    controller->paid_before = before->paid_by_arm;
  }
  RunRecord record = record_of(options, inputs, controller->settings, **plan, unix_now_ms(),
                               use != nullptr ? use->command : run_command);
  const auto stopped = [&](const Error& error) {
    return FinishedRun{report_failed_run(*history, run_id, error, unix_now_ms()), {}};
  };
  if (goes_on) {
    auto taken_up = take_up(record, **plan, *ledger, *controller);
    if (!taken_up) return failed(taken_up.error());
    record = std::move(*taken_up);
    if (options.progress) {
      const auto done = controller->earlier->tally().trials().done();
      say("going on with run " + short_id(run_id) + ": " +
          wording::counted_of(done, (*plan)->trial_count(), "trial") +
          (done == 1 ? " has its result" : " have their results"));
    }
  } else if (const auto begun = ledger->begin_run(record); !begun) {
    return failed(begun.error());
  }
  if (before != nullptr) {
    if (const auto noted = note_spent_before(*before, run_id, *ledger); !noted) return stopped(noted.error());
  }
  if (inputs.retrieval) {
    const auto noted = ledger->note_retrievals(run_id, events_of(*inputs.retrieval));
    if (!noted) return stopped(noted.error());
  }

  std::optional<ObserverConfig> observer;
  if (observations) observer = observer_config(std::move(*observations), *plan, options, inputs, run_id);
  const std::vector<ProviderSettings> providers = controller->settings.providers;
  auto learned = limits_of_earlier_runs(options, providers, *ledger);
  ConductedRun conducted{options,
                         inputs,
                         *plan,
                         std::move(*controller),
                         std::move(*fleet),
                         std::move(learned),
                         std::move(*ledger),
                         std::move(observer),
                         std::move(start_workers)};
  std::optional<RunNotes> notes;
  if (!recorded_in->is_temporary()) notes.emplace(RunNotes::Run{options, inputs, *plan, run_id}, *history);
  auto run = conduct(std::move(conducted), around);
  if (notes) notes->finish();
  FinishedRun end;
  if (run) {
    RunFacts& facts = run->ended.facts;
    facts.started_at_ms = goes_on ? record.started_at_ms : run->started_at_ms;
    facts.completed_at_ms = run->completed_at_ms;
    if (before != nullptr) add_embedding_run(*before, facts);
    remember_limits(providers, facts, run_id, *history);
    end = {report_run(options, inputs, gate, **plan, *history, facts, run->ended.begun_units, observed, use),
           run->endpoint};
    const bool is_report = use == nullptr || !use->conclude;
    const bool is_left = facts.cut_short || end.exit_code == exit_error;
    const bool can_go_on = !facts.cut_short || !would_end_again(to_string(facts.cut_short->reason));
    if (is_left && is_report && can_go_on && !recorded_in->is_temporary())
      print_resume_command(options, run_id);
  } else {
    if (observed) finish_run_observations(options.settings, run_id, {});
    end = stopped(run.error());
  }
  if (use != nullptr && !use->is_kept && end.exit_code == exit_ok) {
    if (const auto removed = history->remove_run(run_id); !removed)
      end.exit_code = report_error(removed.error());
  }
  return end;
}

/// What an embedding run left for the run that follows.
struct EmbeddedBefore {
  RunFacts facts;
  std::string endpoint;  ///< Workers that wait for the run that follows look for it there.
};

/// Has workers embed what the solved examples are found by, and finds them. Error: the exit code, after what
/// went wrong was reported. `reported`: the gate of the run that follows, for its report's files where it
/// does not come to that; null for one without a report.
tl::expected<EmbeddedBefore, int> embed_before(const RunOptions& options, RunInputs& inputs,
                                               const RunGate* reported, const Surroundings& around_run) {
  const auto run = embedding_run(options, inputs);
  if (!run) return tl::unexpected(report_error(run.error()));
  auto gate = load_gate(run->options, run->inputs);
  if (!gate) return tl::unexpected(report_error(gate.error()));
  if (options.progress) {
    say("finding solved examples by " + wording::counted(run->names.size(), "embedding"));
  }
  Surroundings around = around_run;
  around.style.is_assessed = false;
  EmbeddedBefore embedded;
  RunUse use;
  use.command = embed_command;
  use.is_kept = false;
  use.is_assessed = false;
  use.conclude = [&](const ConcludedRun& concluded) {
    EmbeddingFold fold(*run);
    const auto visited = visit_cases(concluded.results, [&](const CaseResult& result) {
      fold.add(concluded.results.case_of(result.trial), result);
    });
    if (!visited) return report_error(visited.error());
    auto retrieval = fold.retrieve(inputs, concluded.facts.cut_short);
    embedded.facts = concluded.facts;
    if (!retrieval) {
      embedded.facts.cut_short = retrieval.error();
      const int code = report_error(retrieval.error());
      if (reported == nullptr) return code;
      const auto written = report_unasked(options, inputs, *reported, embedded.facts);
      return written ? code : report_error(written.error());
    }
    inputs.retrieval = std::move(*retrieval);
    return exit_ok;
  };
  const FinishedRun end = run_loaded(run->options, run->inputs, *gate, around, &use);
  if (!inputs.retrieval) return tl::unexpected(end.exit_code);
  // One that came when the run was over has stopped nothing.
  if (around.signals.has_come()) return tl::unexpected(report_error("interrupted before any test was asked"));
  embedded.endpoint = end.endpoint;
  return embedded;
}

}  // namespace

int execute_run(const RunOptions& options, Suite suite, const PrepareWorkers& prepare_workers,
                const RunUse* use) {
  SignalWatch signals(exit_error);
  set_log_format(options.settings.log_format.value);
  ProgressStyle style = detect_progress_style();
  style.is_assessed = use == nullptr || use->is_assessed;
  const Surroundings around{prepare_workers, signals, style};
  set_up_logging(to_string(options.log_level), around.style.live && options.progress);
  if (const auto possible = check_run_outputs(options, suite); !possible)
    return report_error(possible.error());
  if (const auto allowed = check_commands(options, suite); !allowed) return report_error(allowed.error());
  auto inputs = load_run_inputs(options, std::move(suite));
  if (!inputs) return report_findings(inputs.error());
  warn_of_default_provider(options);
  note_selection(options, inputs->suite.cases.size());
  if (use != nullptr && use->check) {
    if (const auto findings = use->check(options, *inputs); !findings.empty())
      return report_findings(findings);
  }
  if (options.harvest) {
    if (const auto possible = check_harvest(options); !possible) return report_error(possible.error());
  }
  auto gate = load_gate(options, *inputs);
  if (!gate) return report_error(gate.error());
  std::optional<EmbeddedBefore> before;
  if (!options.resumed_run.empty() && awaits_embeddings(*inputs)) {
    if (const auto known = retrieve_as_before(options, *inputs); !known) return report_error(known.error());
  }
  if (awaits_embeddings(*inputs)) {
    auto embedded =
        embed_before(options, *inputs, use == nullptr || !use->conclude ? &*gate : nullptr, around);
    if (!embedded) return embedded.error();
    before = std::move(*embedded);
  }
  if (options.harvest) {
    if (const auto possible = check_harvest_without_help(*inputs); !possible)
      return report_error(possible.error());
  }
  if (!before) return run_loaded(options, *inputs, *gate, around, use).exit_code;
  RunOptions following = options;
  if (following.listen) following.listen = before->endpoint;
  return run_loaded(following, *inputs, *gate, around, use, &before->facts).exit_code;
}

}  // namespace sluice

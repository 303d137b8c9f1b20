#include "coordinator/cli/run/recorded_run.hpp"

#include "common/checks/key_mask.hpp"
#include "common/clock.hpp"
#include "common/defaults.hpp"
#include "common/documents/table_reader.hpp"
#include "common/text/stderr_line.hpp"
#include "coordinator/cli/past_runs/past_runs.hpp"
#include "coordinator/cli/run/command_progress.hpp"
#include "coordinator/cli/run/resumed_run.hpp"
#include "coordinator/cli/run/run_notes.hpp"
#include "coordinator/cli/run/run_observations.hpp"
#include "coordinator/cli/run/run_report.hpp"
#include "coordinator/cli/run_flags.hpp"
#include "coordinator/dispatch/defaults.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/gate/quoted.hpp"
#include "coordinator/session/arm_options.hpp"
#include "coordinator/session/embedding_run.hpp"
#include "coordinator/session/provider_limits.hpp"
#include "coordinator/session/resume_run.hpp"
#include "coordinator/session/run_commands.hpp"
#include "coordinator/session/run_plan.hpp"
#include "coordinator/session/run_record.hpp"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string_view>
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
  const auto& list = options.fleet->allowed;
  const bool is_of_home = list == fleet_files_in(options.settings.home.value).allowed;
  fleet->allow_flags = is_of_home ? home_flag(options.settings) : " --fleet-allow " + shell_word(list);
  return std::move(*fleet);
}

/// What they learnt of the providers; forgotten first if that is asked for. Without it a run learns anew.
std::vector<LearnedLimits> limits_of_earlier_runs(const RunOptions& options,
                                                  const std::vector<ProviderSettings>& providers,
                                                  Ledger& ledger) {
  if (options.settings.mode.value != Mode::live) return {};
  for (const ProviderSettings& provider : providers) {
    if (!options.forget_limits) break;
    if (const auto done = ledger.forget_limits(limits_identity(provider)); !done)
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
                     const std::string& run_id, std::int64_t now_ms, Ledger& ledger) {
  for (const RememberedLimits& one : limits_learned(providers, facts.budgets, run_id, now_ms)) {
    if (const auto noted = ledger.note_limits(one); !noted)
      report_warning("what was learnt of the provider \"" + one.provider +
                     "\" is not kept: " + noted.error().message);
  }
}

/// What a provider that answers no test is asked for: a suite may not name it at all.
std::string other_use(const RunOptions& options, const RunSettings& settings, const std::string& provider) {
  const auto answers = [&](const RunArm& arm) { return arm.provider.provider.name == provider; };
  if (options.provider.provider.name == provider || std::ranges::any_of(options.arms, answers)) return {};
  if (settings.judge.provider == provider) return ", which judges (--judge names another),";
  if (settings.embedding.provider == provider)
    return ", which embeds texts (--embedding-provider names another),";
  return {};
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
    if (variable.empty() || (key != nullptr && !usable_key(key).empty())) continue;
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
                   (is_one ? other_use(options, settings, names.front()) : "") +
                   (is_one ? " needs an API key, and " : " need API keys, and ") + lacking +
                   (variables.size() == 1 ? " is" : " are") + " not set: `export" + exported +
                   "` here, or say api_key_env = \"\" under [providers." +
                   (is_one ? names.front() : std::string("NAME")) + "] of sluice.toml to call without a key"};
}

/// Whether the run looks for answers, votes or embeddings: not if every answer is recorded, and nobody judges
/// or compares it.
bool looks_into_caches(const RunOptions& options, const RunInputs& inputs) {
  if (options.grading || inputs.judge.provider || inputs.embedding.provider) return true;
  const std::size_t arms = std::max<std::size_t>(options.arms.size(), 1);
  for (std::uint32_t arm = 0; arm < arms; ++arm) {
    if (inputs.suite.cases.lacks_answers(arm)) return true;
  }
  return false;
}

/// Of the run's own workers; empty if it has none.
StartWorkers prepare_own_workers(const RunOptions& options, const RunInputs& inputs,
                                 const PrepareWorkers& prepare_workers) {
  if (options.workers == 0) return {};
  return prepare_workers({.settings = options.settings,
                          .name = std::nullopt,
                          .use_cache = options.settings.mode.value != Mode::mock && !options.no_cache,
                          .borrow_caches = !options.listen,
                          .misses_nothing = options.refresh || !looks_into_caches(options, inputs)});
}

}  // namespace

RecordedRun::RecordedRun(const RunOptions& options, const RunInputs& inputs, RunGate& gate,
                         const Surroundings& around, const RunUse* use, const RunFacts* before)
    : options_(options), inputs_(inputs), gate_(gate), around_(around), use_(use), before_(before) {}

Result<void> RecordedRun::open_ledgers() {
  auto recorded_in = RunLedger::open(options_.settings);
  if (!recorded_in) return fail(std::move(recorded_in.error()));
  recorded_in_.emplace(std::move(*recorded_in));
  run_id_ = goes_on() ? options_.resumed_run : new_run_id();
  set_log_context({.run = run_id_});
  const auto& file = recorded_in_->file();
  auto lock = RunLock::take(file.parent_path(), run_id_, [&] {
    report_warning("`sluice runs prune` or `sluice doctor --repair` is at work in " +
                   file.parent_path().string() + ": the run begins when that is done");
  });
  if (!lock) return fail(std::move(lock.error()));
  lock_.emplace(std::move(*lock));
  const auto outlives = options_.settings.durable.value ? Outlives::power : Outlives::process;
  auto ledger = open_ledger(file, outlives);
  if (!ledger) return fail(std::move(ledger.error()));
  ledger_.emplace(std::move(*ledger));
  lock_->expect_ledger();
  // The cache is opened beside the rest.
  start_workers_ = prepare_own_workers(options_, inputs_, around_.prepare_workers);
  auto history = Ledger::open(file, outlives);
  if (!history) return fail(std::move(history.error()));
  history_.emplace(std::move(*history));
  return {};
}

Result<void> RecordedRun::prepare() {
  auto calibrations = known_calibrations(options_, inputs_.suite);
  if (!calibrations) return fail(std::move(calibrations.error()));
  require_calibrations(options_, std::move(*calibrations), gate_);
  auto plan = make_plan(options_, inputs_, command_progress(options_));
  if (!plan) return fail(std::move(plan.error()));
  plan_ = std::move(*plan);
  observations_ = open_run_observations(options_.settings);
  observed_ = observations_.has_value();
  // What is wrong with it is said before there is a run that could not begin.
  auto fleet = fleet_of(options_);
  if (!fleet) return fail(std::move(fleet.error()));
  fleet_ = std::move(*fleet);
  return make_controller();
}

/// The run's settings, leases and budgets.
Result<void> RecordedRun::make_controller() {
  RunController::Config& controller = controller_;
  controller.settings = run_settings(options_, inputs_, run_id_);
  fit_judge(*plan_, controller.settings);
  controller.later_parts = {inputs_.suite.cases.has_recorded_calls(), plan_->checks_all_calls(),
                            inputs_.suite.takes_non_answers, !inputs_.suite.labels.empty()};
  if (auto missing = missing_key(options_, controller.settings)) return fail(std::move(*missing));
  // Commands are given the whole answer, too.
  controller.settings.observe = observed_ || command_rules(options_, inputs_) != nullptr;
  controller.dispatch = {defaults::heartbeat_interval, defaults::liveness, defaults::max_losses,
                         options_.settings.case_timeout.value + defaults::lease_grace};
  controller.worker_timeout = options_.settings.worker_timeout.value;
  controller.drain_timeout = options_.settings.drain_timeout.value;
  controller.another_follows = options_.returns_embeddings;
  controller.models = places_of_models(options_);
  // One that goes on begins with whoever is there: its workers may have died with its last part.
  if (options_.listen && !goes_on())
    controller.expected_workers = options_.settings.expect_workers.value.value_or(0);
  controller.affinities = affinities_of(plan_->keys());
  if (controller.settings.mode != Mode::mock) {  // Mock answers are nobody's.
    const auto pins = ledger_->pins(plan_->keys());
    if (!pins) return fail(pins.error());
    add_pins(*pins, controller);
  }
  controller.notes_leases =
      options_.listen && controller.settings.mode == Mode::live && controller.settings.write_cache;
  if (before_ != nullptr) {
    controller.elapsed_before = std::chrono::milliseconds(before_->completed_at_ms - before_->started_at_ms);
    controller.paid_before = before_->paid_by_arm;
  }
  return add_budgets(options_, inputs_, controller);
}

Result<void> RecordedRun::begin() {
  record_ = record_of(options_, inputs_, controller_.settings, *plan_, unix_now_ms(),
                      use_ != nullptr ? use_->command : run_command);
  if (before_ != nullptr) facts_.paid = before_->paid;
  if (goes_on()) return take_up_earlier_part();
  const auto begun = ledger_->begin_run(record_);
  is_open_ = begun.has_value();
  return begun;
}

Result<void> RecordedRun::take_up_earlier_part() {
  auto taken_up = take_up(record_, *plan_, inputs_.suite.copier.get(), *ledger_, controller_);
  if (!taken_up) return fail(std::move(taken_up.error()));
  record_ = std::move(*taken_up);
  facts_.paid += controller_.earlier->tally().facts().paid;
  if (!options_.progress) return {};
  const auto done = controller_.earlier->tally().trials().done();
  say("going on with run " + short_id(run_id_) + " of " + options_.suite_path + ": " +
      wording::counted_of(done, plan_->trial_count(), "trial") +
      (done == 1 ? " has its result" : " have their results"));
  return {};
}

Result<void> RecordedRun::note_what_came_before() {
  if (before_ != nullptr) {
    if (auto noted = note_spent_before(*before_, run_id_, *ledger_); !noted) return noted;
  }
  return inputs_.retrieval ? ledger_->note_retrievals(run_id_, events_of(*inputs_.retrieval))
                           : Result<void>();
}

ConductedRun RecordedRun::to_conduct() {
  std::optional<ObserverConfig> observer;
  if (observations_) observer = observer_config(std::move(*observations_), plan_, options_, inputs_, run_id_);
  auto learned = limits_of_earlier_runs(options_, controller_.settings.providers, *ledger_);
  const auto open_again = [this](Ledger& ledger) -> Result<void> {
    if (is_open_) return {};
    const auto opened = reopen(record_, ledger);
    is_open_ = opened.has_value();
    return opened;
  };
  return {options_,
          inputs_,
          plan_,
          std::move(controller_),
          std::move(fleet_),
          std::move(learned),
          std::move(*ledger_),
          std::move(observer),
          std::move(start_workers_),
          open_again};
}

FinishedRun RecordedRun::stopped(const Error& why) {
  // The ledger keeps what the earlier parts came to if this one could not begin.
  if (!is_open_) return {report_error(why), {}};
  facts_.completed_at_ms = unix_now_ms();
  return {report_failed_run(*history_, run_id_, why, facts_), {}};
}

void RecordedRun::take_facts(EndedRun& ended) {
  facts_ = std::move(ended.ended.facts);
  facts_.started_at_ms = record_.started_at_ms;
  facts_.completed_at_ms = ended.completed_at_ms;
  if (before_ != nullptr) add_embedding_run(*before_, facts_);
  begun_units_ = std::move(ended.ended.begun_units);
}

FinishedRun RecordedRun::finish(RunReport& report, std::string endpoint) {
  const RunFacts& facts = facts_;
  const ReportedRun reported = report.finish();
  FinishedRun end{reported.exit_code, std::move(endpoint)};
  const bool is_left = facts.cut_short || end.exit_code == exit_error;
  const bool can_go_on = !facts.cut_short || !would_end_again(to_string(facts.cut_short->reason));
  if (is_left && makes_report(use_) && can_go_on && !recorded_in_->is_temporary())
    say(reported.lacks_reports && !facts.cut_short && !options_.export_baseline && !options_.harvest
            ? how_to_report(options_, run_id_)
            : how_to_go_on(options_, inputs_.suite, run_id_, facts.cut_short));
  return end;
}

FinishedRun RecordedRun::run() {
  for (const auto step : {&RecordedRun::open_ledgers, &RecordedRun::prepare, &RecordedRun::begin}) {
    if (const auto done = (this->*step)(); !done) return {report_error(done.error()), {}};
  }
  if (const auto noted = note_what_came_before(); !noted) return stopped(noted.error());
  const std::vector<ProviderSettings> providers = controller_.settings.providers;
  ConductedRun conducted = to_conduct();
  std::optional<RunNotes> notes;
  if (!recorded_in_->is_temporary())
    notes.emplace(RunNotes::Run{options_, inputs_, plan_, run_id_}, *history_);
  if (makes_report(use_) && !recorded_in_->is_temporary())
    around_.signals.say_at_an_early_end(how_to_go_on(options_, inputs_.suite, run_id_, std::nullopt));
  RunReport report({options_, inputs_, *plan_, *history_, run_id_, facts_, begun_units_, use_,
                    !recorded_in_->is_temporary()},
                   gate_, observed_);
  report.follow([&notes] {
    if (notes) notes->wait();
  });
  auto ended = conduct(std::move(conducted), around_);
  if (ended) {
    take_facts(*ended);
    report.run_is_over();
  } else {
    report.give_up();
  }
  if (notes) notes->finish();
  FinishedRun end;
  if (ended) {
    remember_limits(providers, facts_, run_id_, facts_.completed_at_ms, *history_);
    end = finish(report, std::move(ended->endpoint));
  } else {
    if (observed_) finish_run_observations(options_.settings, run_id_, {});
    end = stopped(ended.error());
  }
  around_.signals.say_at_an_early_end({});
  // It would stand before the run that has the port, as the last one, and as the one to go on with.
  const bool never_began =
      !ended && ended.error().reason == Reason::listen_failed && !goes_on() && before_ == nullptr;
  if (never_began || (use_ != nullptr && !use_->is_kept && end.exit_code == exit_ok)) {
    if (const auto removed = history_->remove_run(run_id_); !removed)
      end.exit_code = report_error(removed.error());
  }
  return end;
}

}  // namespace sluice

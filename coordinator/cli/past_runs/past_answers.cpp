#include "coordinator/cli/past_runs/past_answers.hpp"

#include "common/text/text.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/defaults.hpp"
#include "coordinator/cli/past_runs/asked_again.hpp"
#include "coordinator/cli/past_runs/past_details.hpp"
#include "coordinator/cli/past_runs/past_runs.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/gate/status.hpp"
#include "coordinator/ledger/observation_store.hpp"
#include "coordinator/merge/shown_text.hpp"
#include "coordinator/observations/observe.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_record.hpp"
#include "coordinator/session/suite_path.hpp"
#include "coordinator/suite/answers/recorded_answers.hpp"
#include "coordinator/suite/suite_loader.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

namespace sluice {

std::shared_ptr<const SuiteCopy> copy_of_suite(const Settings& settings, const PastRun& past) {
  const auto ledger = open_past_runs(settings);
  if (!ledger || !*ledger) return nullptr;
  const auto copy = (*ledger)->suite_of(past.run.run_id);
  return copy ? *copy : nullptr;
}

namespace {

/// The wanted cases of one run.
class Choice {
 public:
  /// Error: the exit code, after what is wrong was reported.
  static tl::expected<Choice, int> make(const WantedCases& wanted, const PastRun& past,
                                        const Settings& settings) {
    Choice choice(wanted);
    if (!look_at_whole_cases(wanted.filters)) return choice;
    auto loaded = load_any_suite(past.run.suite_path, wanted.allowed_paths, copy_of_suite(settings, past));
    if (!loaded) return tl::unexpected(report_findings(loaded.error()));
    Selection selection;
    selection.filters = wanted.filters;
    auto part = select(std::move(loaded->suite), selection);
    if (!part) {
      if (part.error().reason == Reason::usage_invalid)
        part.error().message += how_to_list_tests(past.run.suite_path);
      return tl::unexpected(report_error(part.error()));
    }
    choice.tests_.emplace();
    for (std::size_t i = 0; i < part->cases.size(); ++i) choice.tests_->emplace(part->cases.id(i));
    return choice;
  }

  bool has(std::string_view id, std::string_view category, bool has_arm) const {
    const std::string& named = wanted_->case_id;
    const bool is_named = named.empty() || id == named ||
                          (has_arm && id.starts_with(named) && id.substr(named.size()).starts_with('@'));
    if (!is_named) return false;
    const std::string_view arm = has_arm ? id.substr(std::min(id.rfind('@'), id.size())) : "";
    if (tests_) return tests_->contains(id.substr(0, id.size() - arm.size()));
    return fits(wanted_->filters, {id, category, arm});
  }

 private:
  explicit Choice(const WantedCases& wanted) : wanted_(&wanted) {}

  const WantedCases* wanted_;
  std::optional<std::set<std::string, std::less<>>> tests_;  ///< Those of the suite that fit.
};

/// A pair is recorded as its candidate's.
void name_pair(const GradedArms& arms, WantedCases& wanted) {
  const std::string of_baseline = '@' + arms.baseline;
  if (!arms.baseline.empty() && wanted.case_id.ends_with(of_baseline))
    wanted.case_id.replace(wanted.case_id.size() - of_baseline.size(), of_baseline.size(),
                           '@' + arms.candidate);
}

struct SavedTrials {
  std::vector<Observation> wanted;
  std::uint64_t of_run = 0;  ///< Whether wanted or not.
};

Result<SavedTrials> read_saved(const PastRun& past, const WantedCases& wanted, const Choice& choice,
                               const Settings& settings, const Redactor& redactor) {
  SavedTrials saved;
  const auto store = ObservationStore::open_read_only(observations_file(settings));
  if (!store) return fail(store.error());
  if (!*store) return saved;
  ObservationFilter filter;
  filter.run = past.run.run_id;
  const auto count = (*store)->count(filter);
  if (!count) return fail(count.error());
  saved.of_run = *count;
  filter.case_id = wanted.case_id;
  const auto visited = (*store)->visit(filter, ObservationStore::Order::oldest_first, std::nullopt,
                                       [&](const Observation& one) {
                                         if (!choice.has(one.case_id, one.category, !one.arm.empty())) return;
                                         saved.wanted.push_back(one);
                                         redact(saved.wanted.back(), redactor);
                                       });
  if (!visited) return fail(visited.error());
  std::ranges::stable_sort(saved.wanted, {}, &Observation::trial);
  return saved;
}

/// The results of the units that answer wanted cases, whole: a unit's answer serves other trials, too.
Result<std::map<UnitId, UnitResult>> read_results(const ResultSource& results, const Asked& asked,
                                                  const Choice& choice) {
  const Plan& plan = *asked.plan;
  const CaseList& cases = asked.inputs.suite.cases;
  std::set<UnitId> wanted;
  for (TrialId trial = 0; trial < plan.trial_count(); ++trial) {
    const std::size_t of = plan.case_of(trial);
    if (choice.has(cases.id(of), cases.category(of), !asked.options.arms.empty()))
      wanted.insert(plan.unit_of(trial));
  }
  std::map<UnitId, UnitResult> units;
  const auto visited = results.visit([&](const CommittedTrial& one) {
    const UnitId unit = plan.unit_of(one.trial);
    if (!wanted.contains(unit)) return;
    const auto [known, is_new] = units.try_emplace(unit, one.unit);
    auto& scores = known->second.scores;
    if (!is_new) scores.insert(scores.end(), one.unit.scores.begin(), one.unit.scores.end());
  });
  if (!visited) return fail(visited.error());
  return units;
}

/// An answer that is wanted, and where it goes.
struct WantedAnswer {
  UnitResult* result = nullptr;
  TrialId trial = 0;  ///< One that it serves.
};

/// A short answer stands whole in the ledger, also when a later run has renewed it in the caches.
bool take_shown_text(UnitResult& result) {
  if (result.error || result.shown_text.empty() || may_go_on(result.shown_text.size())) return false;
  result.observed = ObservedAnswer{result.shown_text, "", "", 0};
  return true;
}

/// Puts the answers beside the results. For each, whether it is nowhere any more.
Result<std::vector<bool>> add_answers(const std::vector<WantedAnswer>& wanted, const PastRun& past,
                                      const Asked& asked, const CacheTools& tools) {
  // Nobody answered, and recorded answers were passed over.
  if (past.run.mode == to_string(Mode::mock)) return std::vector<bool>(wanted.size());
  std::vector<UsedAnswer> called_for;
  std::vector<std::size_t> of;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    UnitResult& result = *wanted[i].result;
    if (is_zero(result.answer)) continue;
    const auto test_case = asked.plan->case_of_trial(wanted[i].trial);
    if (!test_case) return fail(test_case.error());
    // Else the file of now may have another answer than was judged.
    if (const auto& recorded = (*test_case)->recorded; recorded && asked.is_as_it_was) {
      result.observed = ObservedAnswer{recorded->answer.text, recorded_finish, recorded->answer.model, 0};
      continue;
    }
    called_for.push_back({result.key, result.answer});
    of.push_back(i);
  }
  auto answers = tools.read_answers(asked.options.settings, called_for);
  if (!answers) return fail(answers.error());
  std::vector<bool> lost(wanted.size());
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (auto& answer = (*answers)[i]) {
      wanted[of[i]].result->observed =
          ObservedAnswer{std::move(answer->text), std::move(answer->finish_reason),
                         std::move(answer->served_model), answer->created_at_ms};
    } else if (!take_shown_text(*wanted[of[i]].result)) {
      lost[of[i]] = true;
    }
  }
  return lost;
}

/// A case of one trial has the status that the gate gave it; of one of several the ledger does not say which.
void take_statuses(const std::map<std::string, std::string>& noted, std::vector<Observation>& trials) {
  std::map<std::string_view, std::size_t> unperturbed;
  for (const Observation& one : trials) unperturbed[one.case_id] += one.perturbation.empty() ? 1 : 0;
  for (Observation& one : trials) {
    if (!one.perturbation.empty() || unperturbed[one.case_id] != 1) continue;
    const auto found = noted.find(one.case_id);
    one.status = found == noted.end() ? std::string(to_string(CaseStatus::pass)) : found->second;
  }
}

/// By the requests that the plan renders again.
Result<void> add_trials(const Asked& asked, const Choice& choice, const ResultSource& results,
                        const CacheTools& tools, const PastRun& past, ObservationMaker& maker,
                        PastTrials& to) {
  auto units = read_results(results, asked, choice);
  if (!units) return fail(units.error());
  std::vector<WantedAnswer> wanted;
  for (auto& [id, result] : *units) wanted.push_back({&result, asked.plan->trials_of(id).front()});
  const auto lost = add_answers(wanted, past, asked, tools);
  if (!lost) return fail(lost.error());
  auto& made = to.observations;
  for (std::size_t unit = 0; unit < wanted.size(); ++unit) {
    const auto keep = [&](Observation one) {
      if ((*lost)[unit]) to.lost_answers.insert(one.trial);
      made.push_back(std::move(one));
    };
    if (auto added = maker.make(*wanted[unit].result, past.run.started_at_ms, keep); !added) return added;
  }
  return {};
}

/// By the numbers of the trials alone: the answers are found by the keys in the ledger.
Result<void> add_trials_without_prompts(const Asked& asked, const Choice& choice, const ResultSource& results,
                                        const CacheTools& tools, const PastRun& past, ObservationMaker& maker,
                                        PastTrials& to) {
  struct Recorded {
    CommittedTrial trial;
    bool pays = false;
  };
  const CaseList& cases = asked.inputs.suite.cases;
  std::vector<Recorded> recorded;
  std::optional<UnitId> last_unit;
  const auto visited = results.visit([&](const CommittedTrial& one) {
    const bool pays = !last_unit || one.unit.unit > *last_unit;
    if (pays) last_unit = one.unit.unit;
    const std::size_t of = asked.plan->case_of(one.trial);
    if (choice.has(cases.id(of), cases.category(of), !asked.options.arms.empty()))
      recorded.push_back({one, pays});
  });
  if (!visited) return fail(visited.error());
  std::vector<WantedAnswer> wanted;
  for (Recorded& one : recorded) wanted.push_back({&one.trial.unit, one.trial.trial});
  const auto lost = add_answers(wanted, past, asked, tools);
  if (!lost) return fail(lost.error());
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    const CommittedTrial& one = recorded[i].trial;
    auto made = maker.make_without_prompt(one, recorded[i].pays, past.run.started_at_ms);
    if (!made) return fail(std::move(made.error()));
    to.observations.push_back(std::move(*made));
    if (asked.options.arms.empty()) {
      to.observations.back().model = past.run.model;
      to.observations.back().provider = past.run.provider;
    }
    if ((*lost)[i]) to.lost_answers.insert(one.trial);
  }
  to.prompts_are_lost = true;
  return {};
}

/// With arms each test by itself, too.
std::vector<std::string> ids_of(const CaseList& cases) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < cases.size() && i < defaults::max_diffed_trials; ++i) {
    const std::string id(cases.id(i));
    names.push_back(id);
    if (const auto arm = id.rfind('@'); arm != std::string::npos) names.push_back(id.substr(0, arm));
  }
  return names;
}

Result<PastTrials> make_trials(const PastRun& past, const Asked& asked, const Choice& choice,
                               const ResultSource& results, const CacheTools& tools) {
  std::vector<std::string> arms;
  for (const RunArm& one : asked.options.arms) arms.push_back(one.arm.name);
  ObservationMaker maker(asked.plan,
                         {past.run.run_id, past.run.prompt_version, past.run.prompt_hash, std::move(arms),
                          price_of(asked.options, asked.inputs), asked.inputs.redactor});
  PastTrials trials;
  const auto add = asked.is_as_it_was ? add_trials : add_trials_without_prompts;
  const auto added = add(asked, choice, results, tools, past, maker, trials);
  if (!added) return fail(added.error());
  auto& made = trials.observations;
  if (made.empty()) trials.known_cases = ids_of(asked.inputs.suite.cases);
  std::erase_if(
      made, [&](const Observation& one) { return !choice.has(one.case_id, one.category, !one.arm.empty()); });
  for (Observation& one : made) redact(one, asked.inputs.redactor);
  std::ranges::stable_sort(made, {}, &Observation::trial);
  return trials;
}

/// Of a run whose checks and settings are not those of then it is not known.
Result<void> add_judging(const PastRun& past, const Asked& asked, PastTrials& to) {
  if (!was_judged_alike(past.run, asked.inputs)) return {};
  std::set<std::string_view> cases;
  for (const Observation& one : to.observations) cases.insert(one.case_id);
  auto judged = judged_cases(asked, [&](std::string_view id) { return cases.contains(id); });
  if (!judged) return fail(judged.error());
  to.judged = std::move(*judged);
  return {};
}

tl::expected<PastTrials, int> trials_from_caches(const PastRun& past, const WantedCases& wanted,
                                                 const Choice& choice, const CLI::App& command,
                                                 const Settings& settings, const CacheTools& tools) {
  const auto ledger = open_past_runs(settings);
  if (!ledger) return tl::unexpected(report_error(ledger.error()));
  if (!*ledger) return tl::unexpected(report_error("the run ledger is gone"));
  const auto results = (*ledger)->results_of(past.run.run_id);
  // What cannot be read is not worth a plan.
  const auto readable =
      results->visit_from(std::numeric_limits<TrialId>::max(), [](const CommittedTrial&) {});
  if (!readable) return tl::unexpected(report_error(readable.error()));
  const auto asked = plan_again(past, {command, settings, **ledger});
  if (!asked) return tl::unexpected(asked.error());
  auto trials = make_trials(past, **asked, choice, *results, tools);
  if (!trials) return tl::unexpected(report_error(trials.error()));
  if (wanted.with_judging) {
    if (const auto added = add_judging(past, **asked, *trials); !added)
      return tl::unexpected(report_error(added.error()));
  }
  const auto noted = noted_statuses(settings, past);
  if (!noted) return tl::unexpected(report_error(noted.error()));
  if (*noted) take_statuses(**noted, trials->observations);
  return std::move(*trials);
}

}  // namespace

tl::expected<PastTrials, int> trials_of(const PastRun& past, const WantedCases& asked_for, TrialSource source,
                                        const CLI::App& command, const Settings& settings,
                                        const CacheTools& tools) {
  WantedCases wanted = asked_for;
  if (const auto graded = graded_arms(past.run)) name_pair(*graded, wanted);
  const auto choice = Choice::make(wanted, past, settings);
  if (!choice) return tl::unexpected(choice.error());
  auto redactor = redactor_of(past, command, settings);
  if (!redactor) return tl::unexpected(report_error(redactor.error()));
  auto saved = read_saved(past, wanted, *choice, settings, *redactor);
  if (!saved) {
    if (source == TrialSource::saved) return tl::unexpected(report_error(saved.error()));
    report_warning("the observations are not read, but ledger and caches: " + saved.error().message);
    saved = SavedTrials();
  }
  const bool are_all = saved->of_run >= past.run.trials;
  const bool are_enough = wanted.case_id.empty() ? are_all : !saved->wanted.empty();
  const auto retrievals = retrievals_of(settings, past);
  if (!retrievals) return tl::unexpected(report_error(retrievals.error()));
  PastTrials trials;
  if (are_enough || source == TrialSource::saved) {
    trials.observations = std::move(saved->wanted);
    if (!are_all) trials.saved_alone = saved->of_run;
  } else {
    auto made = trials_from_caches(past, wanted, *choice, command, settings, tools);
    if (!made) return tl::unexpected(made.error());
    trials = std::move(*made);
  }
  trials.redactor = std::move(*redactor);
  for (const RetrievalEvent& one : *retrievals) trials.retrievals.emplace(one.test, one);
  return trials;
}

int report_no_result(const std::string& who_has, const WantedCases& wanted,
                     const std::vector<std::string>& known_cases) {
  const auto quoted = [](const std::string& text) {
    return "\"" + excerpt(text, defaults::quoted_flag_bytes) + "\"";
  };
  std::string which = wanted.case_id.empty() ? "" : " of a case " + quoted(wanted.case_id);
  for (const CaseFilter& filter : wanted.filters) {
    const bool is_first = &filter == wanted.filters.data();
    which += (is_first ? " that fits --filter " : " --filter ") + quoted(filter.text());
  }
  const std::vector<std::string_view> known(known_cases.begin(), known_cases.end());
  const bool is_known = std::ranges::find(known, wanted.case_id) != known.end();
  const bool are_all = wanted.case_id.empty() && wanted.filters.empty();
  std::string advice =
      is_known || are_all ? "; the run ended before it had one" : did_you_mean(wanted.case_id, known);
  if (advice.empty()) advice = bracket_advice(wanted.filters);
  if (advice.empty() && !known.empty()) advice = "; --filter '*' names all that there are";
  return report_error(who_has + " no result" + which + advice);
}

Result<std::optional<std::map<std::string, std::string>>> noted_statuses(const Settings& settings,
                                                                         const PastRun& past) {
  // With the flags came the notes.
  if (past.run.flags.empty() || !past.summary || command_of(past.run) != run_command) return std::nullopt;
  const auto ledger = open_past_runs(settings);
  if (!ledger) return fail(ledger.error());
  if (!*ledger) return std::nullopt;
  const auto cases = (*ledger)->cases_of(past.run.run_id);
  if (!cases) return fail(cases.error());
  // A run that could not be assessed has no notes either.
  if (cases->empty() && past.summary->verdict == to_string(RunVerdict::error)) return std::nullopt;
  std::map<std::string, std::string> statuses;
  for (const CaseOutcome& one : *cases) statuses.emplace(one.id, to_string(one.status));
  return statuses;
}

}  // namespace sluice

#include "coordinator/cli/run_report.hpp"

#include "common/defaults.hpp"
#include "common/text/stderr_line.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/not_passed.hpp"
#include "coordinator/cli/past_runs.hpp"
#include "coordinator/cli/run_observations.hpp"
#include "coordinator/cli/whole_answers.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/merge/aggregate.hpp"
#include "coordinator/merge/held_results.hpp"
#include "coordinator/merge/redacted_results.hpp"
#include "coordinator/merge/retrieval_fold.hpp"
#include "coordinator/report/assessment_wording.hpp"
#include "coordinator/report/json_cases.hpp"
#include "coordinator/report/report.hpp"
#include "coordinator/report/wording.hpp"
#include "coordinator/session/baseline_run.hpp"
#include "coordinator/session/harvest.hpp"
#include "coordinator/session/report_output.hpp"
#include "coordinator/session/run_assessment.hpp"
#include "coordinator/session/run_plan.hpp"
#include "coordinator/session/suite_path.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <vector>

namespace sluice {
namespace {

/// Why a trial has no committed result.
Error unfinished(const RunFacts& facts) {
  if (facts.cut_short) return *facts.cut_short;
  return {Reason::worker_lost, "every worker that began this trial was lost"};
}

/// The run was stopped before a worker began with the unit, which has no result. After a defect nobody knows.
bool not_started(const RunFacts& facts, const std::vector<UnitId>& begun_units, UnitId unit) {
  return facts.cut_short && facts.cut_short->reason != Reason::internal_error &&
         !std::ranges::binary_search(begun_units, unit);
}

/// What the ledger keeps of a run for later commands.
RunSummary summary_of(const RunFacts& facts, const RunAssessment& assessment, int code) {
  RunSummary summary;
  summary.completed_at_ms = facts.completed_at_ms;
  summary.verdict = to_string(assessment.verdict);
  summary.exit_code = code;
  if (facts.cut_short) summary.reason_code = to_string(facts.cut_short->reason);
  summary.scores = scores_of(assessment.aggregates.all.counts);
  summary.statuses = assessment.aggregates.all.statuses;
  summary.paid = facts.paid;
  summary.estimated_cost = assessment.aggregates.estimated_cost;
  return summary;
}

/// Of a run that nothing assesses: a file with findings has not failed, and no precision is 0 for them.
void count_answers(RunSummary& summary) {
  StatusCounts& statuses = summary.statuses;
  statuses.passed = statuses.total() - statuses.errors;
  statuses.warned = statuses.flaky = statuses.failed = 0;
  summary.scores = {};
}

/// Not by a budget of the run: then what there is is shown.
bool is_stopped(const RunFacts& facts) {
  return facts.cut_short && !is_run_budget(facts.cut_short->reason);
}

/// A run that was stopped before it had anything to show is reported in one sentence to whoever watches;
/// otherwise what it has is shown.
bool is_worth_a_report(const RunAssessment& assessment, const RunFacts& facts) {
  if (!is_stopped(facts) || facts.cut_short->reason == Reason::interrupted) return true;
  const auto& statuses = assessment.aggregates.all.statuses;
  return statuses.total() > statuses.errors;
}

/// The targets that get a report. Files always do: else that of an earlier run stays there, and passes for
/// this one's.
std::vector<ReportTarget> targets_of(const RunOptions& options, const RunAssessment& assessment,
                                     const RunFacts& facts) {
  std::vector<ReportTarget> targets = options.reports;
  if (!is_worth_a_report(assessment, facts)) {
    std::erase_if(targets, [](const ReportTarget& target) { return !target.file; });
  }
  return targets;
}

/// What the files that cases name are relative to.
std::string source_folder(const std::string& suite_path) {
  namespace fs = std::filesystem;
  std::error_code none;
  return fs::is_directory(suite_path, none) ? suite_path : fs::path(suite_path).parent_path().string();
}

/// What became of --export-baseline, for whoever watches.
void print_pinned(const std::string& file, std::size_t results, const RunAssessment& assessment) {
  const auto failed = assessment.aggregates.all.statuses.failed;
  const std::string but =
      failed > 0 ? "; " + wording::counted(failed, "case") + " of this run failed, whatever is pinned" : "";
  say("pinned " + wording::counted(results, "result") + " in " + file + but);
}

/// What became of --harvest, for whoever watches.
void print_harvest(const std::string& file, const Harvest& harvest) {
  std::string words = "added " + wording::counted(harvest.added, "solved example") + " to " + file;
  if (harvest.lost > 0)
    words += "; " + wording::counted(harvest.lost, "answer") +
             " left out, since no cache of this home holds all of it";
  if (harvest.beyond > 0)
    words += "; " + wording::counted(harvest.beyond, "answer") + " left out, since the file is full (" +
             wording::grouped(defaults::max_solved_examples) + " examples, " +
             std::to_string(defaults::max_suite_bytes >> 20) + " MiB)";
  say(words);
}

/// What the run came to, for whoever watches one whose report goes to files alone.
void print_outcome(const std::vector<ReportTarget>& targets, const RunAssessment& assessment) {
  std::string files;
  for (const ReportTarget& target : targets) {
    if (!target.file) return;
    files += (files.empty() ? "" : ", ") + *target.file;
  }
  say(std::string(to_string(assessment.verdict)) + ": " + wording::tally(assessment.aggregates.all) +
      "; see " + files);
}

/// `interrupted by SIGINT; 44 of 60 cases were not started`.
Error with_not_run(Error cut_short, const Totals& all) {
  if (all.not_started > 0)
    cut_short.message += "; " + wording::counted_of(all.not_started, all.statuses.total(), "case") +
                         (all.not_started == 1 ? " was" : " were") + " not started";
  return cut_short;
}

/// What became of each fixture since the run that the manifest's [baseline] was made of; nothing where the
/// home's ledger does not know that run.
Result<std::optional<GateNotice>> changes_since_baseline(const RunOptions& options,
                                                         const AggregateBaseline& baseline, const Plan& plan,
                                                         const ResultSource& results) {
  const auto ledger = open_past_runs(options.settings);
  if (!ledger) return fail(ledger.error());
  if (!*ledger) return std::nullopt;
  const auto runs = (*ledger)->baseline_runs(suite_path_of(options.suite_path));
  if (!runs) return fail(runs.error());
  const auto past =
      std::ranges::find_if(*runs, [&](const PastRun& run) { return is_made_of(baseline, run); });
  if (past == runs->end()) return std::nullopt;
  auto compared = compare_fixtures(plan, *past, *(*ledger)->results_of(past->run.run_id), results);
  if (!compared) return fail(compared.error());
  return fixtures_changed_notice(std::move(*compared), short_id(past->run.run_id), *options.baseline);
}

/// What retrieval came to, with what became of the cases; nothing of a suite without examples.
Result<std::optional<JudgedRetrievals>> retrieval_of(const RunInputs& inputs, const RunResults& results) {
  if (!inputs.retrieval) return std::nullopt;
  RetrievalFold fold(events_of(*inputs.retrieval));
  const auto visited = visit_cases(
      results, [&](const CaseResult& result) { fold.add(results.case_of(result.trial), result.status); });
  if (!visited) return fail(visited.error());
  return fold.finish();
}

std::vector<ArmIdentity> arms_of(const RunOptions& options, const RunInputs& inputs) {
  std::vector<ArmIdentity> arms;
  for (const RunArm& one : options.arms) {
    arms.push_back({one.provider.provider.kind, one.provider.provider.name, one.provider.model,
                    one.arm.prompt ? inputs.suite.prompts[*one.arm.prompt].id : std::string()});
  }
  return arms;
}

/// Of a run that asked nobody.
class NoResults final : public ResultSource {
 public:
  Result<void> visit_from(TrialId, const VisitTrial&) const override { return {}; }
};

}  // namespace

int report_failed_run(Ledger& ledger, const std::string& run_id, const Error& why, std::int64_t ended_at_ms) {
  RunSummary unassessed;
  unassessed.completed_at_ms = ended_at_ms;
  unassessed.verdict = to_string(RunVerdict::error);
  unassessed.exit_code = report_error(why);
  unassessed.reason_code = to_string(why.reason);
  const auto noted = ledger.finish_run(run_id, unassessed);
  return noted ? unassessed.exit_code : report_error(noted.error());
}

namespace {

/// With what the run has at hand: whole answers for the page, and cases that are written already.
UseReport to_targets(const std::vector<ReportTarget>& targets, const Settings& settings,
                     const CacheTools* caches = nullptr, const JsonCases* json_cases = nullptr) {
  return [&targets, &settings, caches, json_cases](ReportInput input) {
    if (caches != nullptr)
      input.whole_answers = whole_answers(*caches, settings, input.facts.run_id, input.redactor);
    input.json_cases = json_cases;
    return write_reports(targets, input);
  };
}

bool is_json(const ReportTarget& target) {
  return target.format == ReportFormat::json;
}

/// Whether the JSON report has the cases as they are judged: nothing is taken out of them, and nothing is
/// said of them that only the end of the run tells.
bool may_write_json_ahead(const RunOptions& options, const RunInputs& inputs, const Plan& plan) {
  return std::ranges::any_of(options.reports, is_json) && inputs.redactor.empty() &&
         !measures_stability(&plan.trials(), plan.perturbations());
}

/// Whether anybody is known to look at the results beside the verdict and the JSON report that is written
/// ahead.
bool are_visited_again(const RunOptions& options, const RunInputs& inputs, const RunGate& gate) {
  return !std::ranges::all_of(options.reports, is_json) || inputs.retrieval || options.harvest ||
         options.baseline_arm || gate.aggregates;
}

/// Whether the results were kept under the patterns that the report redacts by.
enum class Kept : std::uint8_t { redacted, otherwise };

/// Everything that a report shows, in each of the forms that are asked for. What could not be written.
std::vector<Error> write_run_reports(const RunOptions& options, const RunInputs& inputs,
                                     const RunResults& results, const RunGate& gate, const RunFacts& facts,
                                     const RunAssessment& assessment, const RunPrice& price,
                                     const RetrievalSummary* retrieval, const UseReport& use,
                                     Kept kept = Kept::redacted, bool prompts_are_lost = false) {
  const RedactedResults clean(results.source, inputs.redactor);
  const bool is_clean = kept == Kept::redacted || inputs.redactor.empty();
  const RunResults shown{results.suite,       is_clean ? results.source : clean,
                         results.trials,      results.case_of,
                         results.unfinished,  results.gate,
                         results.table,       results.ontology,
                         results.not_started, &inputs.redactor};
  const RunIdentity identity{inputs.prompt.version,          inputs.prompt.hash,
                             inputs.ontology.version(),      options.provider.provider.kind,
                             options.provider.provider.name, options.provider.model,
                             gate.judge.identity(),          arms_of(options, inputs)};
  PaidTokens of_judge;
  of_judge.of(CallKind::judge) = facts.paid.of(CallKind::judge);
  const ReportInput input{shown,
                          assessment.aggregates,
                          assessment.verdict,
                          identity,
                          facts,
                          assessment.gate,
                          std::string(mode_name(options.settings)),
                          price(facts.paid_by_arm),
                          source_folder(options.suite_path),
                          assessment.stability ? &*assessment.stability : nullptr,
                          options.is_selection(),
                          options.settings.min_stability.value,
                          price(of_judge),
                          assessment.arms ? &*assessment.arms : nullptr,
                          assessment.judge_bias ? &*assessment.judge_bias : nullptr,
                          assessment.calibrations ? &*assessment.calibrations : nullptr,
                          retrieval,
                          &inputs.redactor,
                          prompts_are_lost,
                          options.settings.min_pass_rate.value};
  return use(input);
}

int report_results(const RunOptions& options, const RunInputs& inputs, const RunGate& loaded,
                   const Plan& plan, Ledger& ledger, const RunFacts& facts,
                   const std::vector<UnitId>& begun_units, const RunUse* use, const VisitCase& also) {
  const auto recorded = ledger.results_of(facts.run_id);
  const bool concludes = use != nullptr && use->conclude;
  const bool json_ahead = !concludes && may_write_json_ahead(options, inputs, plan);
  const bool are_held = !json_ahead || are_visited_again(options, inputs, loaded);
  const HeldResults source(*recorded, are_held ? defaults::max_held_result_bytes : 0, [&plan](TrialId trial) {
    return trial < plan.trial_count() ? &plan.key(plan.unit_of(trial)) : nullptr;
  });
  const auto results_under = [&](const Gate& one) {
    return RunResults{inputs.suite,
                      source,
                      plan.trial_count(),
                      [&](TrialId trial) { return plan.case_of(trial); },
                      [&](TrialId) { return unfinished(facts); },
                      one,
                      &plan.trials(),
                      &inputs.ontology,
                      [&](TrialId trial) { return not_started(facts, begun_units, plan.unit_of(trial)); }};
  };
  std::optional<RunGate> against_arm;
  if (options.baseline_arm) {
    auto made = gate_against_arm(options, inputs, results_under(loaded.gate), loaded);
    if (!made) return report_failed_run(ledger, facts.run_id, made.error(), facts.completed_at_ms);
    against_arm = std::move(*made);
  }
  const RunGate& gate = against_arm ? *against_arm : loaded;
  const RunResults results = results_under(gate.gate);
  const RunPrice price = price_of(options, inputs);
  std::optional<BaselineExport> pins = pins_of(options, inputs, gate, facts);
  std::optional<JsonCases> json_cases;
  if (json_ahead)
    json_cases.emplace(results,
                       are_held ? defaults::max_json_beside_results : defaults::max_held_result_bytes);
  NotPassed not_passed;
  const auto take = [&](const CaseResult& result) {
    if (also) also(result);
    if (!concludes) not_passed.add(result);
    if (json_cases) json_cases->add(result);
    if (pins && result.status != CaseStatus::error) pins->add(result.fixture.id, result.metrics());
  };
  auto assessment = assess_run(options, results, gate, plan.perturbations(), price, facts.cut_short, take);
  if (!assessment) return report_failed_run(ledger, facts.run_id, assessment.error(), facts.completed_at_ms);
  if (concludes) {
    const int used = use->conclude({options, inputs, results, gate, facts, price, ledger});
    RunSummary summary = summary_of(facts, *assessment, used);
    if (!use->is_assessed) count_answers(summary);
    const auto noted = ledger.finish_run(facts.run_id, summary);
    return noted ? used : report_error(noted.error());
  }
  if (gate.aggregates) {
    auto changes = changes_since_baseline(options, *gate.aggregates, plan, source);
    // The verdict stands without them.
    if (!changes) report_warning("which fixtures changed is not known: " + changes.error().message);
    if (changes && *changes) assessment->gate.notices.push_back(std::move(**changes));
  }
  const auto retrieval = retrieval_of(inputs, results);
  if (!retrieval) return report_failed_run(ledger, facts.run_id, retrieval.error(), facts.completed_at_ms);
  int code = assessment->exit_code;
  const auto targets = targets_of(options, *assessment, facts);
  const auto failures =
      write_run_reports(options, inputs, results, gate, facts, *assessment, price,
                        *retrieval ? &(*retrieval)->summary : nullptr,
                        to_targets(targets, options.settings, use != nullptr ? use->caches : nullptr,
                                   json_cases ? &*json_cases : nullptr));
  for (const Error& error : failures) code = report_error(error);
  if (options.progress && failures.empty() && !facts.cut_short) print_outcome(targets, *assessment);
  if (options.export_baseline) {
    const auto pinned = export_baseline(options, std::move(pins), *assessment);
    if (pinned && options.progress) print_pinned(*options.export_baseline, *pinned, *assessment);
    if (!pinned) {
      const int failed = report_error(pinned.error());
      // A refusal is mostly about a run that has failed already, with an exit code of its own.
      if (pinned.error().reason != Reason::usage_invalid || code == 0) code = failed;
    }
  }
  if (options.harvest) {
    const auto answers = use != nullptr && use->caches != nullptr
                             ? whole_answers(*use->caches, options.settings, facts.run_id, &inputs.redactor)
                             : ReadWholeAnswers();
    const auto added = harvest_examples(options, inputs.redactor, results, answers);
    if (!added) code = report_error(added.error());
    if (added && options.progress) print_harvest(*options.harvest, *added);
  }
  if (facts.cut_short) report_error(with_not_run(*facts.cut_short, assessment->aggregates.all));
  if (*retrieval) {
    if (const auto kept = ledger.note_retrievals(facts.run_id, (*retrieval)->events); !kept)
      code = report_error(kept.error());
  }
  // After the report, which is what was paid for; a ledger that fails now does not take it away.
  if (const auto kept = not_passed.note(ledger, facts.run_id); !kept) code = report_error(kept.error());
  const auto noted = ledger.finish_run(facts.run_id, summary_of(facts, *assessment, code));
  return noted ? code : report_error(noted.error());
}

}  // namespace

int report_run(const RunOptions& options, const RunInputs& inputs, const RunGate& loaded, const Plan& plan,
               Ledger& ledger, const RunFacts& facts, const std::vector<UnitId>& begun_units, bool observed,
               const RunUse* use) {
  if (!observed) return report_results(options, inputs, loaded, plan, ledger, facts, begun_units, use, {});
  GatedStatuses statuses;
  const int code = report_results(options, inputs, loaded, plan, ledger, facts, begun_units, use,
                                  [&](const CaseResult& result) { statuses.add(result); });
  finish_run_observations(options.settings, facts.run_id, statuses.changed());
  return code;
}

Result<void> report_unasked(const RunOptions& options, const RunInputs& inputs, const RunGate& gate,
                            const RunFacts& facts) {
  std::vector<ReportTarget> targets = options.reports;
  std::erase_if(targets, [](const ReportTarget& target) { return !target.file; });
  if (targets.empty()) return {};
  const auto plan = make_plan(options, inputs, std::vector<SharedText>(inputs.suite.cases.size()));
  if (!plan) return fail(plan.error());
  const NoResults nothing;
  const RunResults results{inputs.suite,
                           nothing,
                           (*plan)->trial_count(),
                           [&](TrialId trial) { return (*plan)->case_of(trial); },
                           [&](TrialId) { return unfinished(facts); },
                           gate.gate,
                           &(*plan)->trials(),
                           &inputs.ontology,
                           [&](TrialId trial) { return not_started(facts, {}, (*plan)->unit_of(trial)); }};
  const RunPrice price = price_of(options, inputs);
  const auto assessment =
      assess_run(options, results, gate, (*plan)->perturbations(), price, facts.cut_short);
  if (!assessment) return fail(assessment.error());
  auto failures = write_run_reports(options, inputs, results, gate, facts, *assessment, price, nullptr,
                                    to_targets(targets, options.settings));
  if (!failures.empty()) return fail(std::move(failures.front()));
  return {};
}

namespace {

/// `known_failure` of a test and the baseline are in no fingerprint: the verdict alone shows that they
/// changed.
std::optional<GateNotice> other_verdict(const std::string& then, RunVerdict now) {
  if (then.empty() || then == to_string(now)) return std::nullopt;
  return GateNotice{GateNotice::Severity::info, "verdict_otherwise",
                    "this run ended as `" + then + "`, and what gates it now makes it `" +
                        std::string(to_string(now)) +
                        "`: known_failure of a test, the baseline or a calibration has changed since.",
                    false, past_run_subject};
}

}  // namespace

Result<void> report_again(const PastResults& past, const UseReport& use) {
  const RunOptions& options = past.options;
  const RunInputs& inputs = past.inputs;
  const RunGate& loaded = past.gate;
  const Plan& plan = past.plan;
  const RunFacts& facts = past.facts;
  const auto results_under = [&](const Gate& one) {
    return RunResults{inputs.suite, past.source, plan.trial_count(),
                      [&](TrialId trial) { return plan.case_of(trial); },
                      [&](TrialId) { return unfinished(facts); }, one, &plan.trials(), &inputs.ontology,
                      // Which of them was begun is not noted.
                      [&](TrialId) { return facts.cut_short.has_value(); }};
  };
  std::optional<RunGate> against_arm;
  if (options.baseline_arm) {
    auto made = gate_against_arm(options, inputs, results_under(loaded.gate), loaded);
    if (!made) return fail(std::move(made.error()));
    against_arm = std::move(*made);
  }
  const RunGate& gate = against_arm ? *against_arm : loaded;
  const RunResults results = results_under(gate.gate);
  const RunPrice price = price_of(options, inputs);
  auto assessment = assess_run(options, results, gate, plan.perturbations(), price, facts.cut_short);
  if (!assessment) return fail(std::move(assessment.error()));
  assessment->gate.notices.insert(assessment->gate.notices.end(), past.notices.begin(), past.notices.end());
  if (auto other = other_verdict(past.verdict, assessment->verdict))
    assessment->gate.notices.push_back(std::move(*other));
  const auto retrieval = retrieval_of(inputs, results);
  if (!retrieval) return fail(retrieval.error());
  auto failures =
      write_run_reports(options, inputs, results, gate, facts, *assessment, price,
                        *retrieval ? &(*retrieval)->summary : nullptr, use,
                        past.is_redacted ? Kept::redacted : Kept::otherwise, past.prompts_are_lost);
  if (!failures.empty()) return fail(std::move(failures.front()));
  return {};
}

}  // namespace sluice

#include "coordinator/cli/run/run_report.hpp"

#include "common/text/stderr_line.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/defaults.hpp"
#include "coordinator/cli/past_runs/past_runs.hpp"
#include "coordinator/cli/past_runs/whole_answers.hpp"
#include "coordinator/cli/run/command_progress.hpp"
#include "coordinator/cli/run/not_passed.hpp"
#include "coordinator/cli/run/resumed_run.hpp"
#include "coordinator/cli/run/run_observations.hpp"
#include "coordinator/cli/run/run_wording.hpp"
#include "coordinator/merge/followed_results.hpp"
#include "coordinator/merge/held_results.hpp"
#include "coordinator/report/data/json_cases.hpp"
#include "coordinator/report/report.hpp"
#include "coordinator/session/assessed_run.hpp"
#include "coordinator/session/baseline_run.hpp"
#include "coordinator/session/harvest.hpp"
#include "coordinator/session/report_output.hpp"
#include "coordinator/session/run_plan.hpp"
#include "coordinator/session/suite_path.hpp"

#include <algorithm>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sluice {
namespace {

/// Of a unit without a result.
bool not_started(const RunFacts& facts, const std::vector<UnitId>& begun_units, UnitId unit) {
  return facts.tells_not_started() && !std::ranges::binary_search(begun_units, unit);
}

/// What the ledger keeps of a run for later commands.
RunSummary summary_of(const RunFacts& facts, AssessedRun& run, int code) {
  const RunAssessment& assessment = run.assessment();
  RunSummary summary;
  summary.completed_at_ms = facts.completed_at_ms;
  summary.verdict = to_string(assessment.verdict);
  summary.exit_code = code;
  if (facts.cut_short) summary.reason_code = to_string(facts.cut_short->reason);
  summary.scores = scores_of(assessment.aggregates.all.counts);
  summary.statuses = assessment.aggregates.all.statuses;
  summary.known_failures = assessment.aggregates.all.known_failures;
  summary.paid = facts.paid;
  summary.paid_cost = paid_cost(facts, run.price());
  summary.estimated_cost = assessment.aggregates.estimated_cost;
  return summary;
}

/// Of a run that nothing assesses: a file with findings has not failed, and no precision is 0 for them.
void count_answers(RunSummary& summary) {
  StatusCounts& statuses = summary.statuses;
  statuses.passed = statuses.total() - statuses.errors;
  statuses.warned = statuses.flaky = statuses.failed = 0;
  summary.known_failures = 0;
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

/// Files always get a report: else that of an earlier run stays there, and passes for this one's.
std::vector<ReportTarget> files_among(std::vector<ReportTarget> targets) {
  std::erase_if(targets, [](const ReportTarget& target) { return !target.file; });
  return targets;
}

bool is_json(const ReportTarget& target) {
  return target.format == ReportFormat::json;
}

/// Whether the JSON report has the cases as they are judged: nothing is taken out of them, and nothing is
/// said of them that only the end of the run tells.
bool may_write_json_ahead(const RunOptions& options, const RunInputs& inputs, const Plan& plan) {
  return std::ranges::any_of(options.reports, is_json) && inputs.redactor.empty() && !options.report_inputs &&
         !measures_stability(&plan.trials(), plan.perturbations());
}

/// Whether anybody is known to look at the results beside the verdict and the JSON report that is written
/// ahead.
bool are_visited_again(const RunOptions& options, const RunInputs& inputs, const RunGate& gate) {
  return !std::ranges::all_of(options.reports, is_json) || inputs.retrieval || options.harvest ||
         options.baseline_arm || gate.aggregates;
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

/// Of a run that asked nobody.
class NoResults final : public ResultSource {
 public:
  Result<void> visit_from(TrialId, const VisitTrial&) const override { return {}; }
};

}  // namespace

/// Takes a run from its results to its report, and to its end in the ledger.
class RunReport::Reporter {
 public:
  Reporter(const RunToReport& run, const RunGate& loaded, bool observed)
      : ended_(run),
        loaded_(loaded),
        observed_(observed),
        recorded_(run.ledger.results_of(run.run_id)),
        followed_(
            *recorded_,
            [this](TrialId first, const VisitTrial& visit) {
              return ended_.ledger.visit_consecutive(ended_.run_id, first, visit);
            },
            over_) {}
  ~Reporter() { over_.give_up(); }
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;

  void follow(const std::function<void()>& before) {
    const bool may_follow = !concludes() && !ended_.options.baseline_arm &&
                            ended_.plan.trial_count() <= defaults::max_followed_trials;
    if (!may_follow) return;
    assessing_ = std::async(std::launch::async, [this, before] {
      before();
      return assess(followed_);
    });
  }

  void run_is_over() {
    over_.tell();
    if (assessing_.valid()) assessing_.wait();
  }

  void give_up() {
    over_.give_up();
    if (assessing_.valid()) assessing_.wait();
  }

  ReportedRun finish() {
    // What the thread has thrown is thrown here: what else the run noted is in the ledger by now.
    const auto assessed = assessing_.valid() ? assessing_.get() : assess(*recorded_);
    const int code = finish_with_code(assessed);
    if (observed_) finish_run_observations(ended_.options.settings, ended_.run_id, statuses_.changed());
    return {code, lacks_reports_};
  }

 private:
  int finish_with_code(const Result<void>& assessed) {
    if (!assessed) return failed(assessed.error());
    return concludes() ? conclude() : show();
  }

  /// Visits all cases. Looks at nothing that the run's end brings before the results have come to theirs.
  Result<void> assess(const ResultSource& results) {
    const bool json_ahead = !concludes() && may_write_json_ahead(ended_.options, ended_.inputs, ended_.plan);
    const bool are_held = !json_ahead || are_visited_again(ended_.options, ended_.inputs, loaded_);
    source_.emplace(results, are_held ? defaults::max_held_result_bytes : 0,
                    [this](TrialId trial) { return key_of(trial); });
    auto under_gate =
        AssessedRun::under(loaded_, {ended_.options, ended_.inputs, ended_.plan, ended_.facts, *source_,
                                     [this](TrialId trial) { return is_not_started(trial); }});
    if (!under_gate) return fail(std::move(under_gate.error()));
    run_.emplace(std::move(*under_gate));
    if (json_ahead)
      json_cases_.emplace(run_->results(),
                          are_held ? defaults::max_json_beside_results : defaults::max_held_result_bytes);
    pins_ = pins_of(ended_.options, ended_.inputs, run_->gate());
    return run_->assess([&](const CaseResult& result) { add(result); });
  }

  void add(const CaseResult& result) {
    if (observed_) statuses_.add(result);
    if (!concludes()) not_passed_.add(result, ended_.inputs.redactor);
    if (json_cases_) json_cases_->add(result);
    if (pins_ && result.status != CaseStatus::error) pins_->add(result.fixture.id, result.assessment);
  }

  bool concludes() const { return !makes_report(ended_.use); }
  const CacheTools* caches() const { return ended_.use != nullptr ? ended_.use->caches : nullptr; }

  int failed(const Error& error) {
    return report_failed_run(ended_.ledger, ended_.run_id, error, ended_.facts);
  }

  const Digest* key_of(TrialId trial) const {
    return trial < ended_.plan.trial_count() ? &ended_.plan.key(ended_.plan.unit_of(trial)) : nullptr;
  }

  bool is_not_started(TrialId trial) const {
    return not_started(ended_.facts, ended_.begun_units, ended_.plan.unit_of(trial));
  }

  int conclude() {
    AssessedRun& run = *run_;
    const int code = ended_.use->conclude(
        {ended_.options, ended_.inputs, run.results(), run.gate(), ended_.facts, run.price(), ended_.ledger});
    RunSummary summary = summary_of(ended_.facts, run, code);
    if (!ended_.use->is_assessed) count_answers(summary);
    const auto noted = ended_.ledger.finish_run(ended_.run_id, summary, ended_.facts.part_time);
    return noted ? code : report_error(noted.error());
  }

  int show() {
    AssessedRun& run = *run_;
    note_changes_since_baseline(run);
    const auto retrieval = retrieval_of(ended_.inputs, run.results());
    if (!retrieval) return failed(retrieval.error());
    code_ = run.assessment().exit_code;
    write_reports_of(run, *retrieval ? &(*retrieval)->summary : nullptr);
    if (ended_.options.export_baseline) pin(run.assessment());
    if (ended_.options.harvest) harvest(run.results());
    if (ended_.facts.cut_short)
      report_error(with_not_started(*ended_.facts.cut_short, run.assessment().aggregates.all));
    // After the report, which is what was paid for; a ledger that fails now does not take it away.
    if (*retrieval) expect(ended_.ledger.note_retrievals(ended_.run_id, (*retrieval)->events));
    expect(not_passed_.note(ended_.ledger, ended_.run_id));
    expect(ended_.ledger.finish_run(ended_.run_id, summary_of(ended_.facts, run, code_),
                                    ended_.facts.part_time));
    return code_;
  }

  void expect(const Result<void>& done) {
    if (done) return;
    code_ = exit_error;
    // A full disk refuses each of them, and has ended the run perhaps.
    const std::string& why = done.error().message;
    const bool is_said = ended_.facts.cut_short && ended_.facts.cut_short->message == why;
    if (!is_said && std::exchange(last_failure_, why) != why) code_ = report_error(done.error());
  }

  void note_changes_since_baseline(AssessedRun& run) const {
    if (!run.gate().aggregates) return;
    auto changes = changes_since_baseline(ended_.options, *run.gate().aggregates, ended_.plan, *source_);
    // The verdict stands without them.
    if (!changes) report_warning("which fixtures changed is not known: " + changes.error().message);
    if (changes && *changes) run.assessment().gate.notices.push_back(std::move(**changes));
  }

  void write_reports_of(AssessedRun& run, const RetrievalSummary* retrieval) {
    const auto targets = is_worth_a_report(run.assessment(), ended_.facts)
                             ? ended_.options.reports
                             : files_among(ended_.options.reports);
    const auto failures = run.report({.retrieval = retrieval}, [&](ReportInput input) {
      if (caches() != nullptr)
        input.whole_answers =
            whole_answers(*caches(), ended_.options.settings, ended_.run_id, input.redactor);
      input.with_inputs = ended_.options.report_inputs;
      input.home_flag = ended_.is_kept ? std::optional(home_flag(ended_.options.settings)) : std::nullopt;
      input.json_cases = json_cases_ ? &*json_cases_ : nullptr;
      return write_reports(targets, input);
    });
    for (const Error& error : failures) code_ = report_error(error);
    lacks_reports_ = !failures.empty();
    if (!ended_.options.progress || !failures.empty() || ended_.facts.cut_short) return;
    if (const auto line = outcome_line(targets, run.assessment()); !line.empty()) say(line);
  }

  void pin(const RunAssessment& assessment) {
    const auto pinned = export_baseline(ended_.options, std::move(pins_), ended_.facts, assessment);
    if (pinned && ended_.options.progress)
      say(pinned_line(*ended_.options.export_baseline, *pinned, assessment));
    if (pinned) return;
    const int failed = report_error(pinned.error());
    // A refusal is mostly about a run that has failed already, with an exit code of its own.
    if (pinned.error().reason != Reason::usage_invalid || code_ == 0) code_ = failed;
  }

  void harvest(const RunResults& results) {
    ReadWholeAnswers answers;
    if (caches() != nullptr)
      answers = whole_answers(*caches(), ended_.options.settings, ended_.run_id, &ended_.inputs.redactor);
    const std::string& file = *ended_.options.harvest;
    const auto added = harvest_examples(ended_.options, ended_.inputs.redactor, results, answers, [&] {
      report_warning("another process adds to " + file + ": this run's answers are added when that is done");
    });
    if (!added) code_ = report_error(added.error());
    if (added && ended_.options.progress) say(harvest_line(file, *added));
  }

  const RunToReport ended_;
  const RunGate& loaded_;
  const bool observed_;
  RunOver over_;
  std::unique_ptr<const ResultSource> recorded_;
  FollowedResults followed_;
  // What assess() makes.
  std::optional<HeldResults> source_;
  std::optional<AssessedRun> run_;
  // What its visit brings beside the verdict.
  GatedStatuses statuses_;
  std::optional<BaselineExport> pins_;
  std::optional<JsonCases> json_cases_;
  NotPassed not_passed_;
  std::string last_failure_;  ///< Of the ledger, after the report.
  bool lacks_reports_ = false;
  int code_ = exit_ok;
  std::future<Result<void>> assessing_;  ///< Last: its end waits for the thread.
};

RunReport::RunReport(const RunToReport& run, const RunGate& gate, bool observed)
    : reporter_(std::make_unique<Reporter>(run, gate, observed)) {}
RunReport::~RunReport() = default;

void RunReport::follow(const std::function<void()>& before) {
  reporter_->follow(before);
}
void RunReport::run_is_over() {
  reporter_->run_is_over();
}
void RunReport::give_up() {
  reporter_->give_up();
}
ReportedRun RunReport::finish() {
  return reporter_->finish();
}

int report_failed_run(Ledger& ledger, const std::string& run_id, const Error& why, const RunFacts& facts) {
  RunSummary unassessed;
  unassessed.completed_at_ms = facts.completed_at_ms;
  unassessed.paid = facts.paid;
  unassessed.verdict = to_string(RunVerdict::error);
  unassessed.exit_code = report_error(why);
  unassessed.reason_code = to_string(why.reason);
  const auto noted = ledger.finish_run(run_id, unassessed, facts.part_time);
  return noted ? unassessed.exit_code : report_error(noted.error());
}

Result<void> report_unasked(const RunOptions& options, const RunInputs& inputs, const RunGate& gate,
                            const RunFacts& facts) {
  const auto targets = files_among(options.reports);
  if (targets.empty()) return {};
  const auto plan = make_plan(options, inputs, std::vector<SharedText>(inputs.suite.cases.size()),
                              command_progress(options));
  if (!plan) return fail(plan.error());
  const NoResults nothing;
  auto run = AssessedRun::under(gate, {options, inputs, **plan, facts, nothing, [&](TrialId trial) {
                                         return not_started(facts, {}, (*plan)->unit_of(trial));
                                       }});
  if (!run) return fail(std::move(run.error()));
  if (auto assessed = run->assess(); !assessed) return assessed;
  auto failures = run->report({}, [&](const ReportInput& input) { return write_reports(targets, input); });
  if (!failures.empty()) return fail(std::move(failures.front()));
  return {};
}

}  // namespace sluice

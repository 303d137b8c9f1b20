#include "coordinator/session/run_assessment.hpp"

#include "coordinator/defaults.hpp"
#include "coordinator/gate/baseline_check.hpp"
#include "coordinator/gate/judge_changes.hpp"
#include "coordinator/gate/judge_family.hpp"
#include "coordinator/gate/recorded_differences.hpp"
#include "coordinator/gate/unjudged_scores.hpp"
#include "coordinator/gate/verdict_input.hpp"
#include "coordinator/merge/scores.hpp"
#include "coordinator/output/output_file.hpp"
#include "coordinator/report/wording/judge_wording.hpp"
#include "coordinator/report/wording/wording.hpp"
#include "coordinator/score_files/baseline_file.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sluice {
namespace {

std::vector<std::string> arm_names_of(const std::vector<RunArm>& arms) {
  std::vector<std::string> names;
  for (const RunArm& one : arms) names.push_back(one.arm.name);
  return names;
}

VerdictInput verdict_input(const RunAssessment& assessment, const std::optional<Error>& cut_short) {
  const Totals& all = assessment.aggregates.all;
  VerdictInput input;
  input.statuses = all.statuses;
  input.regressed = all.regressed;
  input.failed_apart = all.failed_apart;
  input.known_failures = all.known_failures;
  input.pass_groups = assessment.pass_groups;
  input.ended_by_budget = cut_short && is_run_budget(cut_short->reason);
  input.cut_short = cut_short && !input.ended_by_budget;
  count_comparison(assessment.gate, input);
  return input;
}

/// Watches the cases go by for the notices of the comparison as a whole.
class EntryWatch {
 public:
  /// `pins`: the run's scores become a baseline, by which the next one is judged.
  EntryWatch(const RunGate& gate, bool is_selection, bool pins)
      : run_(gate.run), strict_(gate.comparison.strict) {
    // A manifest's aggregates judge claims scores; whoever pins scores has what judges them.
    if (!gate.aggregates && !pins) unjudged_.emplace();
    if (!gate.scores) return;
    missing_.emplace();
    judges_.emplace(*gate.scores, gate.judge);
    // Under a selection most entries are of cases that were not meant to run.
    if (!is_selection) unused_.emplace(*gate.scores);
  }

  void visit(const CaseResult& result) {
    const auto& id = result.fixture.id;
    if (missing_) missing_->visit(id, result.metrics());
    if (unjudged_) unjudged_->visit(id, result.metrics());
    if (judges_) judges_->visit(id, result.metrics());
    if (!unused_) return;
    result.status == CaseStatus::error ? unused_->visit_error(id) : unused_->visit(id, result.metrics());
  }

  void finish(std::vector<GateNotice>& notices) {
    if (judges_) std::ranges::move(judges_->finish(run_), std::back_inserter(notices));
    if (missing_) std::ranges::move(missing_->finish(run_), std::back_inserter(notices));
    if (unused_) take(unused_->finish(run_), notices);
    if (unjudged_) take(unjudged_->finish(strict_), notices);
  }

 private:
  static void take(std::optional<GateNotice> notice, std::vector<GateNotice>& notices) {
    if (notice) notices.push_back(std::move(*notice));
  }

  const GatedRun& run_;
  bool strict_;
  std::optional<UnjudgedScores> unjudged_;
  std::optional<JudgeChanges> judges_;
  std::optional<MissingEntries> missing_;
  std::optional<UnusedEntries> unused_;
};

/// `crlf 1`: what a baseline calls a perturbation.
std::string versioned_name(const PerturbationFacts& perturbation) {
  return perturbation.name + " " + perturbation.version;
}

std::vector<std::string> versioned_names(const std::vector<PerturbationFacts>& perturbations) {
  std::vector<std::string> names;
  for (const PerturbationFacts& one : perturbations) names.push_back(versioned_name(one));
  return names;
}

BaselineStability baseline_stability(const RunStability& stability) {
  std::vector<PerturbationFacts> facts;
  for (const PerturbationSummary& one : stability.perturbations) facts.push_back(one.facts);
  const StabilityFigures& all = stability.analysis.all;
  return {from_billionths(billionths(all.stability.value_or(0.0))), all.cases, all.answers, stability.repeats,
          versioned_names(facts)};
}

std::optional<StatisticalGate> statistical_gate(const RunOptions& options, const RunGate& gate) {
  const Gate::Config& config = gate.gate.config();
  if (!gate.scores) return std::nullopt;
  if (config.suite.mode != ThresholdMode::statistical && !gate.scores->pins(passed_name)) return std::nullopt;
  return StatisticalGate({gate.scores.get(), config.suite, config.default_max_drop,
                          defaults::statistics::seed, arm_names_of(options.arms)});
}

std::optional<RunArmsFold> arms_fold(const RunOptions& options, const RunGate& gate) {
  if (options.arms.empty()) return std::nullopt;
  const Gate::Config& config = gate.gate.config();
  ArmRules rules;
  rules.confidence = config.suite.confidence.value_or(defaults::statistics::confidence);
  rules.min_effect = config.suite.min_effect.value_or(defaults::min_effect);
  rules.by_category = config.suite.cluster_by_category;
  rules.seed = defaults::statistics::seed;
  rules.baseline = options.baseline_arm;
  return RunArmsFold(arm_names_of(options.arms), rules);
}

/// The fake judge is for trying out: there is nothing to learn of it.
std::optional<JudgeBiasFold> judge_bias_fold(const RunOptions& options, const RunGate& gate) {
  if (gate.judge.identity().is_fake()) return std::nullopt;
  return JudgeBiasFold(!options.arms.empty(), defaults::statistics::confidence, defaults::statistics::seed);
}

/// Each arm is told apart from the baseline's by itself: under `statistical` by all that is compared, else by
/// how often tests pass alone.
void add_arm_notices(const RunOptions& options, const RunGate& gate, RunAssessment& assessment) {
  if (!options.baseline_arm) return;
  std::vector<ScoreId> fail_nothing;
  if (assessment.calibrations && !options.strict) fail_nothing = assessment.calibrations->uncalibrated();
  const bool is_asked_for = gate.gate.config().suite.mode == ThresholdMode::statistical;
  auto notices = is_asked_for ? arm_notices(*assessment.arms, *options.baseline_arm, fail_nothing)
                              : arm_pass_notices(*assessment.arms, *options.baseline_arm);
  std::ranges::move(notices, std::back_inserter(assessment.gate.notices));
}

/// What is to be said of the judge, whether it is fake, calibrated or biased.
void add_judge_notices(const RunOptions& options, const JudgeIdentity& judge, RunAssessment& assessment) {
  auto& notices = assessment.gate.notices;
  if (auto fake = fake_judge_notice(judge)) notices.push_back(std::move(*fake));
  if (assessment.calibrations) {
    std::ranges::move(
        wording::calibration_notices(*assessment.calibrations, options.suite_path, options.strict),
        std::back_inserter(notices));
  }
  if (!assessment.judge_bias) return;
  std::vector<AnsweringModel> models;
  for (const RunArm& one : options.arms)
    models.push_back({one.arm.name, one.provider.provider.kind, one.provider.model});
  if (models.empty()) models.push_back({"", options.provider.provider.kind, options.provider.model});
  if (auto family = judge_family_notice(judge, models)) notices.push_back(std::move(*family));
  std::ranges::move(wording::judge_bias_notices(*assessment.judge_bias), std::back_inserter(notices));
}

/// Adds the tests over all cases, and what they cannot say. Of a part of the suite nobody asks that it is
/// enough; arms are compared with one another besides.
void add_statistics(const RunOptions& options, const RunGate& gate, const StatisticalGate& tests,
                    RunAssessment& assessment) {
  auto& comparison = assessment.gate;
  comparison.statistics = tests.outcome();
  if (options.is_selection() || gate.run.base_is_arm) return;
  if (auto few = tests.too_few_tests_notice(assessment.aggregates.all.regressed))
    comparison.notices.push_back(std::move(*few));
  if (auto undecided = tests.undecided_arms_notice(assessment.aggregates.all.regressed))
    comparison.notices.push_back(std::move(*undecided));
  if (gate.gate.config().suite.mode != ThresholdMode::statistical) return;
  const bool is_said = std::ranges::count(comparison.notices, "nothing_to_compare", &GateNotice::code) > 0;
  auto nothing = nothing_paired_notice(*comparison.statistics, assessment.aggregates.all.statuses.errors,
                                       options.strict);
  if (nothing && !is_said) comparison.notices.push_back(std::move(*nothing));
}

/// Adds the stability to the comparison as a whole.
void add_stability(const RunOptions& options, const RunGate& gate,
                   const std::vector<PerturbationFacts>& perturbations, RunAssessment& assessment) {
  StabilityQuestion question;
  if (assessment.stability) {
    question.score = assessment.stability->stability();
    question.planned = assessment.stability->perturbed_trials;
    question.answers = assessment.stability->analysis.all.answers;
  }
  question.perturbations = versioned_names(perturbations);
  for (const PerturbationFacts& one : perturbations) {
    if (one.changed == 0 && one.failed == 0) question.idle.push_back(versioned_name(one));
  }
  question.is_selection = options.is_selection();
  question.min_stability = options.settings.min_stability.value;
  question.suite = gate.gate.config().suite;
  if (gate.scores) question.baseline = &gate.scores->stability;
  question.default_max_drop = gate.gate.config().default_max_drop;
  GatedRun run = gate.run;
  run.strict = options.strict;
  assessment.gate.stability = assess_stability(question, run, assessment.gate.notices);
}

/// Adds the comparison of the aggregates with the manifest's.
void add_aggregates(const RunOptions& options, const RunGate& gate, RunAssessment& assessment) {
  if (!gate.aggregates) return;
  auto untested = untested_notice(gate.gate.config().suite, gate.comparison.baseline_file);
  if (untested) assessment.gate.notices.push_back(std::move(*untested));
  const Scores scores = scores_of(assessment.aggregates.all.counts);
  assessment.gate.aggregates = assess_aggregates(*gate.aggregates, scores.precision, scores.recall, scores.f1,
                                                 options.settings.regression_threshold.value);
  auto missing =
      missing_aggregates_notice(*assessment.gate.aggregates, gate.comparison.baseline_file, options.strict);
  if (missing) assessment.gate.notices.push_back(std::move(*missing));
}

/// Why the run may not be pinned: part of the repeats is missing, or for its stability of the perturbed
/// answers.
std::string missing_answers(const RunAssessment& assessment) {
  if (const std::uint64_t lost = assessment.aggregates.all.lost_repeats; lost > 0) {
    return wording::counted(lost, "repeat") +
           " ended in an error, which what is pinned would not show; run again, or say --allow-errors to pin "
           "what the others came to";
  }
  if (!assessment.stability) return "";
  const std::uint64_t planned = assessment.stability->perturbed_trials;
  const std::uint64_t answers = assessment.stability->analysis.all.answers;
  if (answers >= planned) return "";
  return wording::counted_of(planned - answers, planned, "answer") + " to perturbed inputs " +
         (planned - answers == 1 ? "is" : "are") +
         " missing, which the stability would not show; run again, or say --allow-errors to pin that of the "
         "others";
}

}  // namespace

bool measures_stability(const TrialTable* table, const std::vector<PerturbationFacts>& perturbations) {
  const bool has_several_trials = table != nullptr && table->trial_count() > table->case_count();
  return has_several_trials || !perturbations.empty();
}

Result<RunAssessment> assess_run(const RunOptions& options, const RunResults& results, const RunGate& gate,
                                 const std::vector<PerturbationFacts>& perturbations, const RunPrice& price,
                                 const std::optional<Error>& cut_short, const VisitCase& also) {
  AggregateFold fold;
  EntryWatch entries(gate, options.is_selection(),
                     options.export_baseline.has_value() || options.has_pinned_scores);
  std::optional<RunStabilityFold> stability;
  if (measures_stability(results.table, perturbations)) {
    // Not the suite's `confidence`, which is that of its gate (docs/statistics.md).
    StabilityRules rules;
    rules.confidence = defaults::statistics::confidence;
    rules.seed = defaults::statistics::seed;
    stability.emplace(RunStabilityFold::Config{perturbations, options.settings.repeat.value, rules});
  }
  // Each arm is compared with the baseline's by itself.
  std::optional<StatisticalGate> statistics =
      options.baseline_arm ? std::nullopt : statistical_gate(options, gate);
  std::optional<RunArmsFold> arms = arms_fold(options, gate);
  std::optional<JudgeBiasFold> judge_bias = judge_bias_fold(options, gate);
  const auto& samples = options.settings.judge_samples;
  RecordedDifferences recorded(samples.origin == Origin::default_value ? std::nullopt
                                                                       : std::optional(samples.value));
  LabelFold labels(results.suite.labels);
  std::optional<CalibrationFold> calibrations;
  if (gate.gate.config().calibrations) calibrations.emplace(gate.gate.config().calibrations);
  const auto visited = visit_cases(results, [&](const CaseResult& result) {
    fold.add(result);
    if (also) also(result);
    entries.visit(result);
    recorded.visit(result.fixture, result.metrics());
    if (stability) stability->add(result);
    if (arms) arms->add(result);
    if (judge_bias) judge_bias->add(result);
    labels.add(result);
    if (calibrations) calibrations->add(result.metrics());
    if (statistics && result.status != CaseStatus::error)
      statistics->add(result.fixture, result.assessment,
                      result.first_unit().value_or(PairedCase::own_answers));
  });
  if (!visited) return fail(visited.error());

  RunAssessment assessment{fold.finish(price), gate.comparison, std::nullopt, std::nullopt, std::nullopt};
  if (calibrations) assessment.calibrations = calibrations->finish(results.suite.rubrics);
  if (arms) assessment.arms = arms->finish(price);
  if (judge_bias) assessment.judge_bias = judge_bias->finish(results.suite.rubrics);
  if (stability) assessment.stability = stability->finish();
  assessment.labels = labels.finish();
  if (statistics) add_statistics(options, gate, *statistics, assessment);
  add_stability(options, gate, perturbations, assessment);
  if (auto lost = repeats_incomplete_notice(assessment.aggregates.all.lost_repeats, options.strict))
    assessment.gate.notices.push_back(std::move(*lost));
  entries.finish(assessment.gate.notices);
  std::ranges::move(recorded.finish(), std::back_inserter(assessment.gate.notices));
  add_arm_notices(options, gate, assessment);
  add_judge_notices(options, gate.judge.identity(), assessment);
  add_aggregates(options, gate, assessment);
  if (options.fail_on_mismatch) fail_on_mismatch(assessment.gate.notices);
  assessment.pass_groups = pass_groups({options.settings.min_pass_rate.value, results.suite.min_pass_rates},
                                       arm_names_of(options.arms), assessment.aggregates.pass_counts);
  const auto input = verdict_input(assessment, cut_short);
  assessment.verdict = run_verdict(input);
  assessment.exit_code = exit_code(assessment.verdict, input, {options.strict, options.fail_on_regression});
  return assessment;
}

std::optional<BaselineExport> pins_of(const RunOptions& options, const RunInputs& inputs,
                                      const RunGate& gate) {
  if (!options.export_baseline) return std::nullopt;
  const bool is_mock = options.settings.mode.value == Mode::mock;
  return BaselineExport({inputs.suite.name,
                         SLUICE_VERSION,
                         {},
                         inputs.fingerprint,
                         inputs.suite.path_in_checkout,
                         is_mock ? std::string(to_string(Mode::mock)) : std::string(),
                         inputs.fingerprint_parts},
                        inputs.embedding.embedding.model, gate.judge);
}

Result<std::size_t> export_baseline(const RunOptions& options, std::optional<BaselineExport> pins,
                                    const RunFacts& facts, const RunAssessment& assessment) {
  const std::string& file = *options.export_baseline;
  if (!pins || facts.cut_short) {
    return fail(Reason::usage_invalid,
                "no baseline was written to " + file + ": the run was cut short; run it to its end");
  }
  if (assessment.aggregates.all.statuses.total() == 0) {
    return fail(Reason::usage_invalid, "no baseline was written to " + file +
                                           ": the suite has no cases, so that there is nothing to pin");
  }
  const auto errors = assessment.aggregates.all.statuses.errors;
  if (errors > 0 && !options.allow_errors) {
    return fail(Reason::usage_invalid, "no baseline was written to " + file + ": " +
                                           wording::counted(errors, "case") +
                                           " ended in an error; run again, or say --allow-errors to pin "
                                           "the scores of the others");
  }
  if (const auto missing = missing_answers(assessment); !missing.empty() && !options.allow_errors) {
    return fail(Reason::usage_invalid, "no baseline was written to " + file + ": " + missing);
  }
  if (assessment.stability && assessment.stability->stability()) {
    pins->set_stability(baseline_stability(*assessment.stability));
  }
  pins->set_created_at(wording::rfc3339(facts.completed_at_ms));
  auto baseline = pins->finish();
  if (!baseline) return fail(std::move(baseline.error()));
  keep_date_if_unchanged(*baseline, file);
  const auto written = write_whole_file("baseline", file, [&](Sink& sink) -> Result<void> {
    write_baseline(*baseline, sink);
    return {};
  });
  if (!written) return fail(written.error());
  return baseline->size();
}

}  // namespace sluice

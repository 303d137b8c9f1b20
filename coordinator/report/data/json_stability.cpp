#include "coordinator/report/data/json_stability.hpp"

#include "coordinator/report/answer_diff.hpp"
#include "coordinator/report/data/json_interval.hpp"

#include <string>
#include <string_view>

namespace sluice {
namespace {

void write_figures(Json& json, const StabilityFigures& figures) {
  json.member("cases", figures.cases);
  json.member("answers", figures.answers);
  json.member("stability", figures.stability);
  write_interval(json, "interval", known(figures.interval, figures.stability.has_value()));
  json.member("floor", figures.floor);
  write_interval(json, "floor_interval", known(figures.floor_interval, figures.floor.has_value()));
}

void write_changes(Json& json, const std::map<ScoreId, ScoreChange>& changes) {
  json.key("score_changes").open('[');
  for (const auto& [score, change] : changes) {
    json.open('{');
    json.member("metric", to_string(score));
    json.member("answers", change.answers());
    json.member("mean_absolute", change.mean_absolute());
    json.member("noise", change.noise());
    json.close('}');
  }
  json.close(']');
}

void write_skipped(Json& json, const PerturbationFacts& facts) {
  json.key("skipped").open('[');
  for (const auto& [why, cases] : facts.skipped) {
    json.open('{');
    json.member("language", why.first);
    json.member("reason", why.second);
    json.member("cases", cases);
    json.close('}');
  }
  json.close(']');
}

void write_perturbation(Json& json, const PerturbationSummary& one) {
  json.open('{');
  json.member("name", one.facts.name);
  json.member("version", one.facts.version);
  json.member("changed", one.facts.changed);
  json.member("unchanged", one.facts.unchanged);
  write_skipped(json, one.facts);
  json.member("failed", one.facts.failed);
  json.key("first_failure");
  one.facts.failed > 0 ? json.value(one.facts.first_failure) : json.null();
  json.member("flips", one.flips);
  write_figures(json, one.stability ? one.stability->figures : StabilityFigures{});
  const bool has_test = one.stability && one.stability->p;
  json.key("method");
  has_test ? json.value(to_string(one.stability->method)) : json.null();
  json.member("p", has_test ? one.stability->p : std::nullopt);
  json.member("adjusted_p", has_test ? one.stability->adjusted_p : std::nullopt);
  json.member("unstable", one.stability && one.stability->unstable);
  json.member("too_few_repeats", one.too_few_repeats);
  write_changes(json, one.score_changes);
  json.close('}');
}

void write_perturbations(Json& json, const RunStability& run) {
  json.line(2);
  json.key("perturbations").open('[');
  for (const PerturbationSummary& one : run.perturbations) {
    json.line(3);
    write_perturbation(json, one);
  }
  json.text() += run.perturbations.empty() ? "" : "\n    ";
  json.close(']');
  json.line(2);
  json.key("most_flipping");
  const PerturbationSummary* most = run.most_flipping();
  most == nullptr ? json.null() : json.value(most->facts.name);
}

void write_categories(Json& json, const RunStability& run) {
  json.line(2);
  json.key("by_category").open('{');
  for (const auto& [number, figures] : run.analysis.categories) {
    json.line(3);
    json.key_of(run.categories.at(number)).open('{');
    write_figures(json, figures);
    write_changes(json, run.category_score_changes.at(number));
    json.close('}');
  }
  json.text() += run.analysis.categories.empty() ? "" : "\n    ";
  json.close('}');
}

void write_pass_curve(Json& json, const RunStability& run) {
  json.line(2);
  json.key("pass_curve").open('[');
  for (const PassCurve::Point& point : run.pass_curve) {
    json.line(3);
    json.open('{');
    json.member("k", point.k);
    json.member("cases", point.cases);
    json.member("pass_at_k", point.pass_at_k);
    json.member("pass_hat_k", point.pass_hat_k);
    json.close('}');
  }
  json.text() += run.pass_curve.empty() ? "" : "\n    ";
  json.close(']');
}

void write_stability_limits(Json& json, const StabilityAssessment& assessed) {
  json.member("status", to_string(assessed.status));
  json.key("cause");
  assessed.cause == MetricCause::none ? json.null() : json.value(to_string(assessed.cause));
  json.member("baseline", assessed.baseline);
  json.member("delta", assessed.delta());
  json.member("limit", assessed.limit);
  json.member("min_stability", assessed.min_stability);
  json.member("max_drop", assessed.max_drop);
}

void write_gate(Json& json, const std::optional<StabilityAssessment>& assessed) {
  json.line(2);
  json.key("gate");
  if (!assessed) return json.null();
  json.open('{');
  write_stability_limits(json, *assessed);
  json.close('}');
}

void write_texts(Json& json, std::string_view name, const std::vector<std::string>& texts) {
  json.key(name).open('[');
  for (const std::string& text : texts) json.value(text);
  json.close(']');
}

void write_side(Json& json, std::string_view name, const TrialResult& trial,
                const std::vector<std::string>& only, const std::optional<Reason>& non_answer) {
  json.key(name).open('{');
  json.member("status", to_string(trial.error != nullptr ? CaseStatus::error : trial.assessment.status));
  json.key("reason_code");
  non_answer ? json.value(to_string(*non_answer)) : json.null();
  write_texts(json, "only", only);
  json.close('}');
}

void write_flip(Json& json, const Case& fixture, const Flip& flip, const RunStability& run) {
  const AnswerDiff diff = diff_of(fixture, flip);
  json.open('{');
  json.member("perturbation", run.perturbations.at(flip.perturbed->perturbation - 1).facts.name);
  json.member("repeat", std::uint64_t{flip.perturbed->repeat} + 1);
  write_side(json, "unperturbed", *flip.unperturbed, diff.only_unperturbed, diff.unperturbed_reason);
  write_side(json, "perturbed", *flip.perturbed, diff.only_perturbed, diff.perturbed_reason);
  json.close('}');
}

void write_test(Json& json, const StatisticalMetric& one) {
  const PairedComparison& compared = one.comparison;
  const MetricDecision& decision = one.decision;
  json.member("verdict", to_string(decision.decision));
  json.member("pairs", compared.pairs);
  json.member("units", compared.units);
  json.member("changed_units", compared.changed_units);
  json.member("dropped_units", compared.dropped_units);
  json.member("equal_repeats", compared.equal_repeats);
  json.member("base", compared.base);
  json.member("current", compared.current);
  json.member("drop", compared.drop);
  write_interval(json, "drop_interval", one.intervals.drop);
  json.member("deviation", compared.deviation);
  json.member("method", to_string(compared.test.method));
  json.member("p_drop", compared.test.p.drop);
  json.member("p_improvement", compared.test.p.improvement);
  json.member("adjusted_p_drop", decision.adjusted_p.drop);
  json.member("adjusted_p_improvement", decision.adjusted_p.improvement);
  json.member("drop_upper_bound", decision.drop_upper_bound);
  json.member("minimum_detectable_effect", decision.minimum_detectable_effect);
  json.member("units_needed", decision.units_needed);
  json.member("too_few_changed", decision.too_few_changed);
  json.member("left_out", one.left_out.count());
  json.member("became_undefined", one.became_undefined.count());
  json.member("dropped_cases", one.drops.count());
  json.key("largest_drops").open('[');
  for (const CaseDrop& fallen : one.drops.kept()) {
    json.open('{');
    json.member("test_id", fallen.test_id);
    json.member("base", fallen.base);
    json.member("current", fallen.current);
    json.member("drop", fallen.drop());
    json.close('}');
  }
  json.close(']');
}

}  // namespace

void write_json_stability(Json& json, const ReportInput& input) {
  const RunStability& run = *input.stability;
  json.line(1);
  json.member("stability", run.stability());
  json.line(1);
  json.key("stability_details").open('{');
  json.line(2);
  json.member("repeats", run.repeats);
  json.member("confidence", run.confidence);
  json.member("seed", run.seed);
  json.line(2);
  json.member("trials", input.aggregates.all.trials);
  json.member("trial_errors", input.aggregates.all.trial_errors);
  json.member("perturbed_trials", run.perturbed_trials);
  json.member("non_answers", run.non_answers);
  json.member("left_out", run.left_out);
  json.line(2);
  json.key("overall").open('{');
  write_figures(json, run.analysis.all);
  json.member("flips", run.flips);
  json.member("unstable_cases", run.unstable_cases());
  json.member("undecided_cases", run.undecided_cases());
  json.member("bounded_cases", run.cases_too_costly_to_test());
  json.close('}');
  json.line(2);
  json.key("enough_repeats");
  run.enough_repeats ? json.value(std::uint64_t{*run.enough_repeats}) : json.null();
  write_gate(json, input.gate.stability);
  write_perturbations(json, run);
  write_categories(json, run);
  json.line(2);
  write_changes(json, run.score_changes);
  write_pass_curve(json, run);
  json.text() += "\n  ";
  json.close('}');
}

void write_json_case_stability(Json& json, const CaseResult& result, const RunStability& run,
                               std::size_t case_index) {
  json.key("repeats").open('{');
  json.member("planned", result.repeats.planned);
  json.member("judged", result.repeats.counted());
  json.member("passed", result.repeats.passed());
  json.member("failed", result.repeats.failed);
  if (result.repeats.non_answers > 0) json.member("non_answers", result.repeats.non_answers);
  json.member("errors", result.repeats.errors);
  json.close('}');
  const CaseStability& own = run.analysis.cases.at(case_index);
  json.key("stability").open('{');
  json.member("answers", own.answers);
  json.member("stability", own.stability);
  write_interval(json, "interval", known(own.interval(run.confidence), own.stability.has_value()));
  json.member("floor", own.floor);
  json.member("p", own.p);
  json.member("adjusted_p", own.adjusted_p);
  json.member("unstable", own.unstable);
  json.member("too_few_repeats", static_cast<bool>(run.too_few_repeats.at(case_index)));
  json.close('}');
  json.key("flips").open('[');
  for (const Flip& flip : flips_of(result)) write_flip(json, result.fixture, flip, run);
  json.close(']');
}

void write_json_stability_gate(Json& json, const std::optional<StabilityAssessment>& assessed) {
  json.line(1);
  json.key("stability");
  if (!assessed) return json.null();
  json.open('{');
  json.member("score", assessed->score);
  write_stability_limits(json, *assessed);
  json.close('}');
}

void write_json_statistics(Json& json, const BaselineComparison& gate, std::size_t depth) {
  json.line(depth);
  json.key("statistics");
  if (!gate.statistics) return json.null();
  const StatisticalAssessment& statistics = *gate.statistics;
  json.open('{');
  json.member("confidence", statistics.rules.confidence);
  json.member("min_effect", statistics.rules.min_effect);
  json.member("unit", statistics.by_category ? "category" : "case");
  json.member("seed", statistics.seed);
  json.member("aggregation", "mean_over_cases");
  json.key("verdict");
  statistics.decision ? json.value(to_string(*statistics.decision)) : json.null();
  json.key("metrics").open('[');
  for (const StatisticalMetric& one : statistics.metrics) {
    json.line(depth + 1);
    json.open('{');
    json.member("name", name_of(one.mean));
    if (!one.arm.empty()) json.member("arm", one.arm);
    write_test(json, one);
    if (one.fails_nothing) json.member("fails_nothing", true);
    json.close('}');
  }
  if (!statistics.metrics.empty()) json.text() += "\n" + std::string(2 * depth, ' ');
  json.close(']');
  json.close('}');
}

}  // namespace sluice

#include "coordinator/output/json_writer.hpp"
#include "coordinator/report/data/json_arms.hpp"
#include "coordinator/report/data/json_budgets.hpp"
#include "coordinator/report/data/json_case.hpp"
#include "coordinator/report/data/json_cases.hpp"
#include "coordinator/report/data/json_judge.hpp"
#include "coordinator/report/data/json_labels.hpp"
#include "coordinator/report/data/json_notices.hpp"
#include "coordinator/report/data/json_retrieval.hpp"
#include "coordinator/report/data/json_stability.hpp"
#include "coordinator/report/data/json_usage.hpp"
#include "coordinator/report/report.hpp"
#include "coordinator/report/wording/wording.hpp"
#include "coordinator/score_files/report_scores.hpp"

#include <algorithm>
#include <string_view>

namespace sluice {
namespace {

void write_totals(Json& json, const Totals& totals, std::size_t depth) {
  json.line(depth);
  write_json_scores(json, scores_of(totals.counts));
  json.line(depth);
  json.member("total_fixtures", totals.statuses.total());
  json.member("passed", totals.statuses.passed);
  json.member("warned", totals.statuses.warned);
  json.member("flaky", totals.statuses.flaky);
  json.member("failed", totals.statuses.failed);
  json.member("errors", totals.statuses.errors);
  json.member("excluded", totals.statuses.errors);
  json.member("regressed", totals.regressed);
  json.member("improved", totals.improved);
  if (totals.known_failures > 0) json.member("known_failures", totals.known_failures);
  json.line(depth);
  json.member("true_positives", totals.counts.true_positives);
  json.member("false_positives", totals.counts.false_positives);
  json.member("false_negatives", totals.counts.false_negatives);
  json.line(depth);
  json.key("weighted").open('{');
  write_json_scores(json, scores_of(totals.weighted));
  json.close('}');
}

/// A line for each; nothing without any.
void write_scores(Json& json, const std::map<ScoreId, ScoreTotal>& scores) {
  if (scores.empty()) return;
  json.line(2);
  json.key("scores").open('[');
  for (const auto& [score, total] : scores) {
    json.line(3);
    json.open('{');
    json.member("name", to_string(score));
    json.member("cases", total.cases);
    json.member("failed", total.failed);
    json.member("mean", total.mean());
    json.member("lowest", total.lowest);
    json.close('}');
  }
  json.text() += "\n    ";
  json.close(']');
}

void write_aggregates(Json& json, const Aggregates& aggregates) {
  json.line(1);
  json.key("metrics").open('{');
  write_totals(json, aggregates.all, 2);
  json.line(2);
  const auto usage = aggregates.known_usage();
  json.member("total_tokens", usage ? std::optional(usage->total()) : std::nullopt);
  write_usage(json, usage);
  json.line(2);
  json.member("estimated_cost", aggregates.estimated_cost);
  json.line(2);
  json.key("by_category").open('{');
  for (const auto& [category, totals] : aggregates.by_category) {
    json.line(3);
    json.key_of(category).open('{');
    write_totals(json, totals, 4);
    json.line(4);
    json.member("pass_rate", pass_rate(totals));
    json.text() += "\n      ";
    json.close('}');
  }
  json.text() += aggregates.by_category.empty() ? "" : "\n    ";
  json.close('}');
  write_scores(json, aggregates.scores);
  json.text() += "\n  ";
  json.close('}');
}

void write_deltas(Json& json, const BaselineComparison& gate) {
  for (const std::string_view name : {"precision", "recall", "f1"}) {
    std::optional<double> delta;
    if (gate.aggregates) {
      const auto found = std::ranges::find(gate.aggregates->metrics, name, &AggregateComparison::name);
      if (found != gate.aggregates->metrics.end()) delta = found->delta();
    }
    json.member(std::string(name) + "_delta", delta);
  }
}

void write_comparison(Json& json, const ReportInput& input) {
  const BaselineComparison& gate = input.gate;
  json.line(1);
  json.key("baseline_comparison");
  if (gate.kind == BaselineKind::none) {
    json.null();
    if (!gate.notices.empty()) write_json_notices(json, gate.notices, 1);
    return;
  }
  const bool of_scores = gate.kind == BaselineKind::scores;
  const Totals& all = input.aggregates.all;
  const bool beyond_limit = gate.aggregates && gate.aggregates->outcome == AggregateOutcome::beyond_limit;
  json.open('{');
  json.line(2);
  json.member("kind", of_scores ? "scores" : "aggregates");
  json.member("baseline", gate.baseline_file);
  json.line(2);
  write_deltas(json, gate);
  json.line(2);
  const bool of_run = (gate.statistics && gate.statistics->regressions() > 0) ||
                      (gate.stability && gate.stability->cause == MetricCause::dropped);
  json.member("has_regression", (of_scores ? all.regressed > 0 : beyond_limit) || of_run);
  json.member("regression_threshold",
              gate.aggregates ? gate.aggregates->threshold : input.results.gate.config().default_max_drop);
  json.line(2);
  json.member("regressed", all.regressed);
  json.member("improved", all.improved);
  json.member("missing", all.missing_entries);
  if (of_scores) {
    json.member("broke", all.broke);
    json.member("dropped", all.dropped);
    json.member("fixed", all.fixed);
    json.member("still_failing", all.still_failing);
  }
  if (gate.statistics) write_json_statistics(json, gate, 2);
  write_json_notices(json, gate.notices, 2);
  json.text() += "\n  ";
  json.close('}');
}

template <class T>
void write_line(Json& json, std::string_view name, const T& content) {
  json.line(1);
  json.member(name, content);
}

/// What is asked of all categories that have no rate of their own.
std::optional<double> min_pass_rate(const ReportInput& input) {
  const PassGroup* const group = input.pass_groups.empty() ? nullptr : &input.pass_groups.back();
  return group != nullptr ? group->min_pass_rate : std::nullopt;
}

void write_pass_group(Json& json, const PassGroup& group) {
  json.line(2);
  json.open('{');
  if (!group.arm_name.empty()) json.member("arm", group.arm_name);
  if (group.category) json.member("category", *group.category);
  json.member("rate", pass_rate(group));
  json.member("min_pass_rate", group.min_pass_rate);
  json.member("missed", misses_pass_rate(group));
  json.close('}');
}

/// REQUIRES: input.pass_groups.
void write_pass_rate(Json& json, const ReportInput& input) {
  const Totals& all = input.aggregates.all;
  json.line(1);
  json.key("pass_rate").open('{');
  json.member("rate", pass_rate(all));
  json.member("min_pass_rate", min_pass_rate(input));
  json.member("missed", !reach_pass_rates(input.pass_groups));
  if (input.pass_groups.size() > 1) {
    json.key("groups").open('[');
    for (const PassGroup& group : input.pass_groups) write_pass_group(json, group);
    json.close(']');
  }
  json.close('}');
}

/// Those of categories that have their own, if there are any.
void write_category_rates(Json& json, const ReportInput& input) {
  if (input.pass_groups.size() < 2 || !input.pass_groups.front().category) return;
  json.line(2);
  json.key("min_pass_rates").open('{');
  // Each arm has the same.
  for (const PassGroup& group : input.pass_groups) {
    if (!group.category) break;
    json.key_of(*group.category).value(*group.min_pass_rate);
  }
  json.close('}');
}

void write_head(Json& json, const ReportInput& input) {
  const RunIdentity& identity = input.identity;
  json.open('{');
  write_line(json, "schema_version", report_schema_version);
  write_line(json, "run_id", input.facts.run_id);
  write_line(json, "timestamp", wording::rfc3339(input.facts.completed_at_ms));
  write_line(json, "started_at", wording::rfc3339(input.facts.started_at_ms));
  write_line(json, "completed_at", wording::rfc3339(input.facts.completed_at_ms));
  write_line(json, "suite", input.results.suite.name);
  write_line(json, "prompt_version", identity.prompt_version);
  write_line(json, "prompt_hash", to_prefixed_hex(identity.prompt_hash));
  write_line(json, "ontology_version", identity.ontology_version);
  const bool has_arms = !identity.arms.empty();
  const auto write_model = [&](std::string_view name, std::string_view of_run) {
    json.line(1);
    json.key(name);
    has_arms ? json.null() : json.value(of_run);
  };
  write_model("provider", to_string(identity.provider));
  write_model("provider_name", identity.provider_name);
  write_model("model", identity.model);
  if (!identity.judge.provider.empty()) {
    json.line(1);
    json.key("judge").open('{');
    json.member("provider", identity.judge.provider);
    json.member("provider_name", identity.judge.shown_name());
    json.member("model", identity.judge.model);
    json.close('}');
  }
  write_line(json, "config_fingerprint", input.gate.config_fingerprint);
  if (!input.gate.fingerprint_parts.empty()) {
    json.line(1);
    json.texts("fingerprint_parts", input.gate.fingerprint_parts);
  }
  write_line(json, "verdict", to_string(input.verdict));
  if (!input.pass_groups.empty()) write_pass_rate(json, input);
  json.line(1);
  json.key("reason_code");
  input.facts.cut_short ? json.value(to_string(input.facts.cut_short->reason)) : json.null();
}

void write_run_facts(Json& json, const ReportInput& input) {
  const RunFacts& facts = input.facts;
  const auto member = [&](std::string_view name, const auto& content) {
    json.line(2);
    json.member(name, content);
  };
  member("sluice_version", SLUICE_VERSION);
  member("mode", input.mode);
  member("selection", input.is_selection);
  member("min_stability", input.min_stability);
  if (min_pass_rate(input)) member("min_pass_rate", *min_pass_rate(input));
  write_category_rates(json, input);
  if (const auto tests = ThresholdsInEffect(input.results).of_all_cases()) {
    json.line(2);
    json.key("statistical_gate").open('{');
    write_json_test_rules(json, *tests);
    json.close('}');
  }
  member("duration_seconds", facts.duration_seconds);
  member("requests", facts.requests);
  member("retries", facts.retries);
  member("rate_limited", facts.rate_limited);
  member("cache_hits", facts.cache_hits);
  for (const auto& column : paid_columns)
    member("paid_" + std::string(column.name) + "_tokens", column.in(facts.paid));
  member("paid_cost", input.paid_cost);
  if (input.facts.paid.of(CallKind::judge) != Usage{}) member("paid_judge_cost", input.paid_judge_cost);
  if (input.arms != nullptr) write_json_arm_latencies(json, input);
  write_json_budgets(json, facts, 2);
  member("duplicates_dropped", facts.duplicates_dropped);
  member("leases_lost", facts.leases_lost);
  member("frames_rejected", facts.frames_rejected);
  json.line(2);
  json.key("cut_short");
  facts.cut_short ? json.value(facts.cut_short->message) : json.null();
  json.line(2);
  json.key("workers").open('[');
  for (const WorkerFacts& worker : facts.workers) {
    json.line(3);
    json.open('{');
    json.member("name", worker.name);
    json.member("units", worker.units);
    json.member("lost", worker.lost);
    json.close('}');
  }
  json.text() += facts.workers.empty() ? "" : "\n    ";
  json.close(']');
}

// The errors' own words differ from run to run (addresses, request ids, times), so they stand in `run`, last.
Result<void> write_errors(Json& json, const ReportInput& input, BufferedWriter& writer) {
  json.line(2);
  json.key("errors").open('{');
  if (input.aggregates.all.statuses.errors > 0) {
    const auto visited = visit_cases(input.results, [&](const CaseResult& result) {
      if (result.error == nullptr) return;
      json.line(3);
      json.key_of(result.fixture.id).value(result.error->message);
      writer.passed();
    });
    if (!visited) return visited;
    json.text() += "\n    ";
  }
  json.close('}');
  return {};
}

Result<void> write_cases(const ReportInput& input, BufferedWriter& writer) {
  const JsonCases* const there = input.json_cases;
  if (there != nullptr) {
    auto written = there->write(writer);
    if (!written || there->are_whole()) return written;
  }
  JsonCaseWriter cases(input.results, writer.text(), input.stability, input.with_inputs ? &input : nullptr);
  std::size_t to_skip = there != nullptr ? there->kept() : 0;
  return visit_cases(input.results, [&](const CaseResult& result) {
    if (to_skip > 0) {
      --to_skip;
      return cases.skip();
    }
    cases.write(result);
    writer.passed();
  });
}

}  // namespace

Result<void> write_json_report(const ReportInput& input, Sink& sink) {
  BufferedWriter writer(sink);
  Json json(writer.text());
  write_head(json, input);
  write_aggregates(json, input.aggregates);
  write_comparison(json, input);
  if (input.stability != nullptr) write_json_stability(json, input);
  if (input.arms != nullptr) write_json_arms(json, input);
  if (input.judge_bias != nullptr) write_json_judge(json, input);
  if (input.calibrations != nullptr) write_json_calibrations(json, input);
  if (input.labels != nullptr) write_json_labels(json, input);
  if (input.retrieval != nullptr) write_json_retrieval(json, *input.retrieval);
  json.line(1);
  json.key("fixture_results").open('[');
  if (auto written = write_cases(input, writer); !written) return written;
  json.text() += input.results.trials > 0 ? "\n  " : "";
  json.close(']');
  json.line(1);
  json.key("run").open('{');
  write_run_facts(json, input);
  if (auto errors = write_errors(json, input, writer); !errors) return errors;
  json.text() += "\n  ";
  json.close('}');
  json.text() += "\n}\n";
  return {};
}

}  // namespace sluice

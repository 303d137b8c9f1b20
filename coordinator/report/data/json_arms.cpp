#include "coordinator/report/data/json_arms.hpp"

#include "coordinator/report/data/json_interval.hpp"
#include "coordinator/report/data/json_usage.hpp"

namespace sluice {
namespace {

void write_arm(Json& json, const ArmSummary& arm, const ArmIdentity& identity) {
  const StatusCounts& statuses = arm.totals.statuses;
  json.open('{');
  json.member("name", arm.name);
  json.member("provider", to_string(identity.provider));
  json.member("provider_name", identity.provider_name);
  json.member("model", identity.model);
  if (!identity.prompt.empty()) json.member("prompt", identity.prompt);
  json.member("cases", statuses.total());
  json.member("passed", statuses.passed);
  json.member("warned", statuses.warned);
  json.member("failed", statuses.failed);
  json.member("flaky", statuses.flaky);
  json.member("errors", statuses.errors);
  json.member("pass_rate", pass_rate(arm.totals));
  json.key("means").open('{');
  for (const auto& [metric, mean] : arm.means) json.member(name_of(metric), mean);
  json.close('}');
  write_usage(json, arm.known_usage());
  json.member("estimated_cost", arm.estimated_cost);
  json.close('}');
}

void write_metric(Json& json, const ArmMetricComparison& one) {
  const PairedComparison& comparison = one.comparison;
  json.open('{');
  json.member("metric", name_of(one.metric));
  json.member("tests", comparison.pairs);
  json.member("left_out", comparison.left_out);
  json.member("base", comparison.base);
  json.member("current", comparison.current);
  json.member("difference", one.gain());
  write_interval(json, "interval", one.gain_interval());
  json.member("p_worse", one.decision.adjusted_p.drop);
  json.member("p_better", one.decision.adjusted_p.improvement);
  json.member("method", to_string(comparison.test.method));
  json.member("tests_needed", one.decision.units_needed);
  json.member("verdict", to_string(one.verdict));
  json.close('}');
}

}  // namespace

void write_json_arms(Json& json, const ReportInput& input) {
  const RunArms& run = *input.arms;
  json.line(1);
  json.key("arms").open('[');
  for (std::size_t i = 0; i < run.arms.size(); ++i) {
    json.line(2);
    write_arm(json, run.arms[i], input.identity.arms.at(i));
  }
  json.text() += "\n  ";
  json.close(']');
  json.line(1);
  json.key("arm_comparisons").open('[');
  for (const ArmPair& pair : run.pairs) {
    json.line(2);
    json.open('{');
    json.member("base", run.arms[pair.first].name);
    json.member("current", run.arms[pair.second].name);
    json.member("confidence", run.confidence);
    json.member("min_effect", run.rules.min_effect);
    json.key("metrics").open('[');
    for (const ArmMetricComparison& one : pair.metrics) {
      json.line(3);
      write_metric(json, one);
    }
    json.close(']');
    json.close('}');
  }
  json.text() += run.pairs.empty() ? "" : "\n  ";
  json.close(']');
}

void write_json_arm_latencies(Json& json, const ReportInput& input) {
  json.line(2);
  json.key("arm_latencies").open('[');
  for (const ArmSummary& arm : input.arms->arms) {
    json.line(3);
    json.open('{');
    json.member("name", arm.name);
    json.member("called", arm.called);
    json.member("p50_ms", arm.latency_p50);
    json.member("p95_ms", arm.latency_p95);
    json.close('}');
  }
  json.text() += "\n    ";
  json.close(']');
}

}  // namespace sluice

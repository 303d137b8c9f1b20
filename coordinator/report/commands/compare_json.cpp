#include "coordinator/output/json_writer.hpp"
#include "coordinator/report/commands/compare_report.hpp"
#include "coordinator/report/data/json_notices.hpp"
#include "coordinator/report/data/json_stability.hpp"

#include <string_view>

namespace sluice {
namespace {

void write_side(Json& json, std::string_view name, const ComparedSide& side) {
  json.line(1);
  json.key(name).open('{');
  json.member("file", side.file);
  json.member("kind", side.kind);
  if (!side.run_id.empty()) json.member("run_id", side.run_id);
  json.member("suite", side.header.suite);
  json.member("sluice_version", side.header.assay_version);
  json.member("created_at", side.header.created_at);
  json.member("config_fingerprint", side.header.config_fingerprint);
  json.member("selection", side.is_selection);
  json.close('}');
}

void write_counts(Json& json, const CompareSummary& summary) {
  const StatusCounts& statuses = summary.verdict_input.statuses;
  json.line(1);
  json.key("cases").open('{');
  json.member("passed", statuses.passed);
  json.member("warned", statuses.warned);
  json.member("flaky", statuses.flaky);
  json.member("failed", statuses.failed);
  json.member("errors", statuses.errors);
  if (summary.not_started > 0) json.member("not_started", summary.not_started);
  json.member("regressed", summary.verdict_input.regressed);
  if (const auto known = summary.verdict_input.known_failures; known > 0)
    json.member("known_failures", known);
  json.close('}');
  json.line(1);
  json.key("scores").open('{');
  json.member("regressions", summary.regressions);
  json.member("drops", summary.drops);
  json.member("unchanged", summary.unchanged);
  json.member("improvements", summary.improvements);
  json.member("missing_in_baseline", summary.missing_in_baseline);
  json.member("missing_in_current", summary.missing_in_current);
  json.member("disagreements", summary.disagreements);
  json.close('}');
  json.line(1);
  json.key("checks").open('{');
  json.member("broke", summary.broke);
  json.member("fixed", summary.fixed);
  json.member("still_failing", summary.still_failing);
  json.member("missing_in_current", summary.missing_checks);
  if (summary.added_checks > 0) json.member("added", summary.added_checks);
  if (summary.changed_checks > 0) json.member("changed", summary.changed_checks);
  json.close('}');
}

void write_tests(Json& json, const std::optional<TestChanges>& tests) {
  json.line(1);
  json.key("tests");
  if (!tests) {
    json.null();
    return;
  }
  json.open('{');
  const auto write = [&](std::string_view name, const std::vector<std::string>& ids) {
    json.key(name).open('[');
    for (const std::string& id : ids) json.value(id);
    json.close(']');
  };
  write("added", tests->added);
  write("gone", tests->gone);
  write("not_judged", tests->lost);
  write("judged_otherwise", tests->judged_otherwise);
  json.close('}');
}

bool is_news(const ScoreComparison& row) {
  return row.status == MetricStatus::fail || row.status == MetricStatus::warn ||
         row.status == MetricStatus::flaky ||
         (row.change != RowChange::unchanged && row.change != RowChange::not_compared);
}

void write_change(Json& json, const ScoreComparison& row) {
  json.line(2);
  json.open('{');
  json.member("test_id", row.test_id);
  json.member("metric", row.metric);
  if (!row.expected.empty()) json.member("expected", row.expected);
  json.member("change", to_string(row.change));
  json.member("status", to_string(row.status));
  json.key("cause");
  row.cause == MetricCause::none ? json.null() : json.value(to_string(row.cause));
  if (row.further_cause != MetricCause::none) json.member("fails_also_by", to_string(row.further_cause));
  json.member("baseline", row.baseline);
  json.member("score", row.score);
  json.member("delta", row.delta());
  json.member("limit", row.limit);
  json.close('}');
}

}  // namespace

Result<void> write_compare_json(const CompareReportInput& input, Sink& sink) {
  BufferedWriter writer(sink);
  Json json(writer.text());
  const auto member = [&](std::string_view name, const auto& value) {
    json.line(1);
    json.member(name, value);
  };
  json.open('{');
  member("schema_version", compare_schema_version);
  member("verdict", to_string(input.summary.verdict));
  member("exit_code", input.exit_code);
  member("suite", input.current.header.suite);
  write_side(json, "base", input.base);
  write_side(json, "current", input.current);
  write_tests(json, input.tests);
  write_counts(json, input.summary);
  write_json_stability_gate(json, input.gate.stability);
  write_json_statistics(json, input.gate, 1);
  write_json_notices(json, input.gate.notices, 1);
  json.line(1);
  json.key("changes").open('[');
  bool any = false;
  const auto compared = input.visit([&](const ScoreComparison& row) {
    if (!is_news(row)) return;
    write_change(json, row);
    any = true;
    writer.passed();
  });
  if (!compared) return fail(compared.error());
  json.text() += any ? "\n  " : "";
  json.close(']');
  json.text() += "\n}\n";
  return {};
}

}  // namespace sluice

#include "coordinator/report/commands/quality_report.hpp"

#include "common/text/printable.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/display/text_table.hpp"
#include "coordinator/output/json_writer.hpp"
#include "coordinator/report/data/json_interval.hpp"

#include <string_view>
#include <vector>

namespace sluice {
namespace {

using wording::dash;

/// `  baseline   old (openai:gpt-5-mini): $0.02 and 1.2 s an answer`
std::string arm_line(std::string_view role, const GradedModel& arm, const AnswerPrices& prices) {
  const auto cost = mean_cost(prices);
  const auto latency = mean_latency_ms(prices);
  std::string taken = cost ? wording::dollars(*cost) : "";
  if (latency) taken += (taken.empty() ? "" : " and ") + wording::duration(*latency / 1000.0);
  return "  " + std::string(role) + printable(arm.arm) + " (" + printable(arm.provider) + ":" +
         printable(arm.model) +
         "): " + (taken.empty() ? "cost and latency of an answer not known" : taken + " an answer") + "\n";
}

std::string heading_of(const GroupQuality& group) {
  return printable(group.group.suite) + ", graded by " + printable(group.group.grader_id) + ", last " +
         wording::date(group.last_graded_ms) + "\n" +
         arm_line("baseline   ", group.group.baseline, group.all.baseline) +
         arm_line("candidate  ", group.group.candidate, group.all.candidate);
}

std::vector<std::string> row_of(const std::string& name, const QualityTotals& totals, double confidence) {
  const Interval interval = totals.quality.interval(confidence);
  return {name,
          wording::grouped(totals.tests),
          wording::grouped(totals.grades),
          wording::score(totals.quality.proportion()),
          wording::score(interval.low) + " to " + wording::score(interval.high),
          totals.compared_twice > 0 ? wording::grouped(totals.position_flips) : dash};
}

std::string table_of(const GroupQuality& group, double confidence, std::size_t columns) {
  TextTable table;
  table.columns = {{"category", false, false}, {"tests", true, true},     {"grades", true, false},
                   {"quality", true, false},   {"interval", true, false}, {"flips", true, true}};
  for (const auto& [category, totals] : group.by_category)
    table.rows.push_back(row_of(printable(category), totals, confidence));
  table.rows.push_back(row_of("all", group.all, confidence));
  return drawn(table, columns);
}

void write_arm(Json& json, std::string_view role, const GradedModel& arm, const AnswerPrices& prices) {
  json.line(2);
  json.key(role).open('{');
  json.member("arm", arm.arm);
  json.member("provider_name", arm.provider);
  json.member("model", arm.model);
  json.member("mean_cost", mean_cost(prices));
  json.member("mean_latency_ms", mean_latency_ms(prices));
  json.close('}');
}

void write_totals(Json& json, const QualityTotals& totals, double confidence) {
  json.member("tests", totals.tests);
  json.member("grades", totals.grades);
  json.member("quality_score", totals.quality.proportion());
  write_interval(json, "interval", totals.quality.interval(confidence));
  json.member("compared_in_both_orders", totals.compared_twice);
  json.member("position_flips", totals.position_flips);
}

void write_group(Json& json, const GroupQuality& group, double confidence) {
  json.line(1);
  json.open('{');
  json.member("suite", group.group.suite);
  json.member("judge", group.group.judge);
  json.member("grader_id", group.group.grader_id);
  json.member("confidence", confidence);
  json.member("last_graded_at", wording::rfc3339(group.last_graded_ms));
  write_arm(json, "baseline", group.group.baseline, group.all.baseline);
  write_arm(json, "candidate", group.group.candidate, group.all.candidate);
  json.line(2);
  json.key("all").open('{');
  write_totals(json, group.all, confidence);
  json.close('}');
  json.line(2);
  json.key("by_category").open('[');
  for (const auto& [category, totals] : group.by_category) {
    json.line(3);
    json.open('{');
    json.member("category", category);
    write_totals(json, totals, confidence);
    json.close('}');
  }
  json.close(']');
  json.close('}');
}

}  // namespace

std::string quality_text(std::span<const GroupQuality> groups, double confidence, std::size_t columns) {
  std::string text;
  for (const GroupQuality& group : groups) {
    if (!text.empty()) text += "\n";
    text += heading_of(group) + table_of(group, confidence, columns);
  }
  return text;
}

std::string quality_json(std::span<const GroupQuality> groups, double confidence) {
  std::string text;
  Json json(text);
  json.open('[');
  for (const GroupQuality& group : groups) write_group(json, group, confidence);
  json.close(']');
  return text + "\n";
}

}  // namespace sluice

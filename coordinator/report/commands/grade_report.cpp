#include "coordinator/report/commands/grade_report.hpp"

#include "common/text/printable.hpp"
#include "coordinator/display/display.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/display/text_table.hpp"
#include "coordinator/output/json_writer.hpp"
#include "coordinator/report/data/json_interval.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace sluice {
namespace {

using wording::dash;

constexpr std::size_t shown_tests = 20;  // A screenful; the JSON has all.
constexpr std::size_t least_notes = 20;  // In a row of the table, however narrow it is,
constexpr std::size_t most_notes = 120;  // and however wide.

std::optional<Interval> interval_of(const GradeTotals& totals, double confidence) {
  if (!totals.quality.proportion()) return std::nullopt;
  return totals.quality.interval(confidence);
}

// --- For people ---

std::string interval_text(const GradeTotals& totals, double confidence) {
  const auto interval = interval_of(totals, confidence);
  return interval ? wording::score(interval->low) + " to " + wording::score(interval->high) : dash;
}

std::string what_it_means(GradeJudge judge) {
  switch (judge) {
    case GradeJudge::exact:
      return "1.00: the same text as the baseline's; 0.00: another one.";
    case GradeJudge::embedding:
      return "1.00: the baseline's meaning; it does not say which answer is better.";
    case GradeJudge::llm:
      break;
  }
  return "0.50: as good as the baseline's answer; above: better; below: worse.";
}

std::vector<std::string> totals_row(const std::string& name, const GradeTotals& totals, double confidence) {
  return {name,
          wording::grouped(totals.tests),
          wording::grouped(totals.graded),
          wording::grouped(totals.errors),
          wording::score(totals.quality.proportion()),
          interval_text(totals, confidence),
          totals.compared_twice > 0 ? wording::grouped(totals.position_flips) : dash};
}

std::string categories_table(const GradeReportInput& input, std::size_t width) {
  TextTable table;
  table.columns = {{"category", false, false}, {"tests", true, true},    {"grades", true, false},
                   {"errors", true, false},    {"quality", true, false}, {"interval", true, false},
                   {"flips", true, true}};
  for (const auto& [category, totals] : input.grades.by_category)
    table.rows.push_back(totals_row(printable(category), totals, input.confidence));
  table.rows.push_back(totals_row("all", input.grades.all, input.confidence));
  return drawn(table, width);
}

std::vector<std::string> arm_row(std::string_view role, const GradedArmFacts& facts, const GradedArm& arm) {
  const auto latency = arm.mean_latency_ms();
  return {std::string(role),
          printable(facts.name),
          printable(facts.model),
          wording::grouped(arm.usage.total()),
          facts.estimated_cost ? wording::dollars(*facts.estimated_cost) : dash,
          latency ? wording::duration(*latency / 1000.0) : dash};
}

std::string arms_table(const GradeReportInput& input, std::size_t width) {
  TextTable table;
  table.columns = {{"", false, false},      {"arm", false, false}, {"model", false, true},
                   {"tokens", true, false}, {"cost", true, false}, {"mean latency", true, true}};
  table.rows = {arm_row("baseline", input.baseline, input.grades.all.baseline),
                arm_row("candidate", input.candidate, input.grades.all.candidate)};
  return drawn(table, width);
}

/// Those without a grade first, then the lowest.
std::vector<const GradedTest*> worst_first(const std::vector<GradedTest>& tests) {
  std::vector<const GradedTest*> order;
  for (const GradedTest& test : tests) order.push_back(&test);
  std::ranges::stable_sort(order, {}, [](const GradedTest* test) { return test->quality.value_or(-1.0); });
  if (order.size() > shown_tests) order.resize(shown_tests);
  return order;
}

/// What the other columns leave of the table's width.
std::size_t notes_width(const std::vector<const GradedTest*>& tests, std::size_t width) {
  std::size_t taken = 0;
  for (const GradedTest* test : tests) taken = std::max(taken, display_width(printable(test->id)));
  taken += std::string_view("quality").size() + 10;  // Lines and blanks of three columns.
  return std::clamp(width - std::min(width, taken), least_notes, most_notes);
}

std::string tests_table(const GradeReportInput& input, std::size_t width) {
  TextTable table;
  table.columns = {{"test", false, false}, {"quality", true, false}, {"notes", false, true}};
  const auto tests = worst_first(input.grades.tests);
  const std::size_t shown_notes = notes_width(tests, width);
  for (const GradedTest* test : tests) {
    const std::string notes =
        (test->reason ? std::string(to_string(*test->reason)) + ": " : std::string()) + test->notes;
    table.rows.push_back(
        {printable(test->id), wording::score(test->quality), truncated_to(printable(notes), shown_notes)});
  }
  return drawn(table, width);
}

std::string bias_line(const GradeReportInput& input, std::size_t width) {
  const auto& bias = input.grades.bias;
  if (!bias || !bias->bias) return "";
  std::string line = "Position: " + wording::counted_of(bias->flips, bias->pairs, "pair") +
                     " changed sides with the order and count as ties";
  const bool is_biased = bias->p < 1.0 - input.confidence;
  line += is_biased
              ? "; the judge favours the " + std::string(*bias->bias > 0 ? "first" : "second") + " place"
              : "; no bias";
  return paragraph(line + " beyond chance (p " + wording::p_value(bias->p) + ").", width);
}

// --- For programs ---

void write_arm(Json& json, std::string_view role, const GradedArmFacts& facts, const GradedArm& arm) {
  json.line(1);
  json.key(role).open('{');
  json.member("arm", facts.name);
  json.member("provider", to_string(facts.provider));
  json.member("provider_name", facts.provider_name);
  json.member("model", facts.model);
  json.member("input_tokens", arm.usage.input_tokens);
  json.member("output_tokens", arm.usage.output_tokens);
  json.member("estimated_cost", facts.estimated_cost);
  json.member("mean_latency_ms", arm.mean_latency_ms());
  json.close('}');
}

void write_totals(Json& json, const GradeTotals& totals, double confidence) {
  json.member("tests", totals.tests);
  json.member("grades", totals.graded);
  json.member("errors", totals.errors);
  json.member("quality_score", totals.quality.proportion());
  write_interval(json, "interval", interval_of(totals, confidence));
  json.member("compared_in_both_orders", totals.compared_twice);
  json.member("position_flips", totals.position_flips);
}

void write_bias(Json& json, const std::optional<PositionBias>& bias) {
  json.line(1);
  json.key("position_bias");
  if (!bias) return json.null();
  json.open('{');
  json.member("pairs", bias->pairs);
  json.member("flips", bias->flips);
  json.member("toward_first", bias->toward_first);
  json.member("toward_second", bias->toward_second);
  json.member("bias", bias->bias);
  write_interval(json, "interval", bias->interval);
  json.member("p", bias->p);
  json.close('}');
}

void write_test(Json& json, const GradedTest& test) {
  json.line(2);
  json.open('{');
  json.member("id", test.id);
  json.member("category", test.category);
  json.member("quality_score", test.quality);
  json.member("grades", test.graded);
  json.member("errors", test.errors);
  json.member("position_flips", test.position_flips);
  json.member("notes", test.notes);
  json.member("reason_code", test.reason ? std::optional(to_string(*test.reason)) : std::nullopt);
  json.close('}');
}

}  // namespace

void write_grade_table(const GradeReportInput& input, TableStyle style, Sink& sink) {
  const std::size_t width = within_reading_width(style).columns;
  const std::size_t table_width = std::max(style.columns, width);  // Columns stand on all that there is.
  std::string text = "Grades of " + printable(input.suite) + ": " + printable(input.candidate.name) +
                     " beside " + printable(input.baseline.name) + ", by " +
                     printable(input.grades.grader_id.empty() ? std::string(to_string(input.judge))
                                                              : input.grades.grader_id) +
                     "\n" + paragraph(what_it_means(input.judge), width) + "\n";
  text += categories_table(input, table_width) + bias_line(input, width) + "\n" +
          arms_table(input, table_width) + "\n";
  text += tests_table(input, table_width);
  const std::size_t tests = input.grades.tests.size();
  if (tests > shown_tests) {
    text += "The lowest " + std::to_string(shown_tests) + " of " + wording::grouped(tests) +
            " tests; --format json has all.\n";
  }
  if (input.paid_cost) text += "This run paid " + wording::dollars(*input.paid_cost) + ".\n";
  if (input.cut_short)
    text += "The run did not get to its end: " + printable(input.cut_short->message) + "\n";
  sink.write(text);
}

void write_grade_json(const GradeReportInput& input, Sink& sink) {
  BufferedWriter writer(sink);
  Json json(writer.text());
  json.open('{');
  json.line(1);
  json.member("suite", input.suite);
  json.member("run_id", input.run_id);
  json.member("judge", to_string(input.judge));
  json.member("grader_id", input.grades.grader_id);
  json.member("confidence", input.confidence);
  json.member("paid_cost", input.paid_cost);
  json.member("reason_code",
              input.cut_short ? std::optional(to_string(input.cut_short->reason)) : std::nullopt);
  write_arm(json, "baseline", input.baseline, input.grades.all.baseline);
  write_arm(json, "candidate", input.candidate, input.grades.all.candidate);
  json.line(1);
  json.key("all").open('{');
  write_totals(json, input.grades.all, input.confidence);
  json.close('}');
  json.line(1);
  json.key("by_category").open('[');
  for (const auto& [category, totals] : input.grades.by_category) {
    json.line(2);
    json.open('{');
    json.member("category", category);
    write_totals(json, totals, input.confidence);
    json.close('}');
  }
  json.close(']');
  write_bias(json, input.grades.bias);
  json.line(1);
  json.key("tests").open('[');
  for (const GradedTest& test : input.grades.tests) {
    write_test(json, test);
    writer.passed();
  }
  json.close(']');
  json.close('}');
  json.text() += "\n";
}

}  // namespace sluice

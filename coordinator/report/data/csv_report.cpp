#include "common/text/text.hpp"
#include "coordinator/merge/aggregate.hpp"
#include "coordinator/merge/shown_text.hpp"
#include "coordinator/output/csv.hpp"
#include "coordinator/report/case_texts.hpp"
#include "coordinator/report/report.hpp"
#include "coordinator/report/wording/assessment_wording.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {
namespace {

constexpr std::array<std::string_view, 14> first_columns{
    "id",     "name",   "category",      "arm",       "kind",     "source",  "line",
    "status", "change", "known_failure", "regressed", "improved", "repeats", "repeats_failed"};
constexpr std::array<std::string_view, 6> last_columns{"reason", "system_prompt", "prompt",
                                                       "answer", "input_tokens",  "output_tokens"};

/// A column for each metric, and for each of its scores.
std::vector<ScoreId> outcome_columns(const Suite& suite) {
  std::vector<ScoreId> columns = suite.scores;
  for (const MetricId metric : suite.metrics) {
    if (info(metric).kind == MetricKind::pass_fail) columns.push_back({metric});
  }
  std::ranges::sort(columns);
  return columns;
}

/// The score, `pass`, `flaky` or `fail`, or nothing where the case is not assessed by the metric. Of several
/// checks by one metric the worst is said.
std::string outcome_of(const CaseResult& result, const ScoreId& column) {
  std::string outcome;
  for (const AssessedMetric& one : result.metrics()) {
    if (one.id != column.metric || one.name != column.name) continue;
    if (one.is_scored()) return one.score ? shortest(*one.score) : "";
    if (!one.holds() || !one.passed) return "fail";
    if (one.status == MetricStatus::flaky) {
      outcome = to_string(one.status);
    } else if (outcome.empty()) {
      outcome = "pass";
    }
  }
  return outcome;
}

std::string yes(bool is_so) {
  return is_so ? "1" : "0";
}

std::string line_of(const CaseResult& result, std::span<const ScoreId> outcomes, const ReportInput& input) {
  const Case& test_case = result.fixture;
  const CaseTexts texts = texts_of(result, input);
  const CaseChange change = result.assessment.change();
  CsvLine line;
  line.text(test_case.id);
  line.text(test_case.name);
  line.text(test_case.category);
  line.text(arm_of(result, input));
  line.cell(test_case.kind == CaseKind::claims ? "claims" : "text");
  line.text(test_case.source);
  line.cell(test_case.line > 0 ? std::to_string(test_case.line) : "");
  line.cell(to_string(result.status));
  line.cell(change == CaseChange::none ? "" : to_string(change));
  line.text(test_case.known_failure ? (test_case.known_failure->empty() ? "true" : *test_case.known_failure)
                                    : "");
  line.cell(yes(result.assessment.regressed));
  line.cell(yes(result.assessment.improved));
  line.cell(std::to_string(result.repeats.planned));
  line.cell(std::to_string(result.repeats.failed));
  for (const ScoreId& column : outcomes) line.cell(outcome_of(result, column));
  line.text(texts.why);
  line.text(texts.system);
  line.text(texts.prompt);
  const bool goes_on = result.unit != nullptr && may_go_on(result.unit->shown_text.size());
  line.text(texts.answer + (goes_on ? "..." : ""));
  const auto usage = known_usage(result);
  line.cell(usage ? std::to_string(usage->input_tokens) : "");
  line.cell(usage ? std::to_string(usage->output_tokens) : "");
  return line.take();
}

}  // namespace

Result<void> write_csv_report(const ReportInput& input, Sink& sink) {
  BufferedWriter writer(sink);
  CsvLine head;
  for (const std::string_view name : first_columns) head.cell(name);
  const std::vector<ScoreId> outcomes = outcome_columns(input.results.suite);
  for (const ScoreId& column : outcomes) head.cell(to_string(column));
  for (const std::string_view name : last_columns) head.cell(name);
  writer.text() += head.take();
  return visit_cases(input.results, [&](const CaseResult& result) {
    writer.text() += line_of(result, outcomes, input);
    writer.passed();
  });
}

}  // namespace sluice

#include "coordinator/report/compare_report.hpp"

#include "coordinator/output/json_writer.hpp"
#include "coordinator/report/display.hpp"
#include "coordinator/report/json_notices.hpp"
#include "coordinator/report/json_stability.hpp"
#include "coordinator/report/judgement_wording.hpp"
#include "coordinator/report/markdown_text.hpp"
#include "coordinator/report/stability_wording.hpp"
#include "coordinator/report/statistics_wording.hpp"
#include "coordinator/report/text_table.hpp"
#include "coordinator/report/wording.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace sluice {
namespace {

/// The kinds of rows that people are shown, in this order.
enum class Part : std::uint8_t {
  regressions,
  other_failures,
  flaky,
  missing_in_baseline,
  missing_in_current,
  improvements
};

constexpr std::array<std::string_view, 6> part_titles{
    "Regressions", "Other failures", "Flaky", "Missing in the base", "Missing in the current side",
    "Improvements"};

std::optional<Part> part_of(const ScoreComparison& row) {
  if (row.status == MetricStatus::flaky) return Part::flaky;
  switch (row.change) {
    case RowChange::regression:
      return Part::regressions;
    case RowChange::missing_in_current:
      return Part::missing_in_current;
    case RowChange::missing_in_baseline:
      // One that misses a fixed limit has failed for more than that.
      return row.cause == MetricCause::missing_in_baseline || row.status != MetricStatus::fail
                 ? Part::missing_in_baseline
                 : Part::other_failures;
    default:
      break;
  }
  if (row.status == MetricStatus::fail) return Part::other_failures;
  if (row.change == RowChange::improvement) return Part::improvements;
  return std::nullopt;
}

struct Row {
  std::string test_id;
  std::string metric;
  wording::ScoreWords words;
  std::string cause;
};

/// The first rows of a part, and how many it has.
struct Rows {
  std::vector<Row> shown;
  std::uint64_t count = 0;
};
using Parts = std::array<Rows, part_titles.size()>;

Row row_of(const ScoreComparison& compared) {
  JudgedMetric numbers;
  numbers.score = compared.score;
  numbers.baseline = compared.baseline;
  numbers.limit = compared.limit;
  std::string cause(compared.cause == MetricCause::none ? "" : to_string(compared.cause));
  std::ranges::replace(cause, '_', ' ');
  return {std::string(compared.test_id), std::string(compared.metric), wording::words_for(numbers),
          std::move(cause)};
}

Result<Parts> parts_of(const CompareReportInput& input, std::size_t most_rows) {
  Parts parts;
  const auto compared = input.visit([&](const ScoreComparison& row) {
    const auto part = part_of(row);
    if (!part) return;
    Rows& rows = parts[static_cast<std::size_t>(*part)];
    if (rows.count++ < most_rows) rows.shown.push_back(row_of(row));
  });
  if (!compared) return fail(compared.error());
  return parts;
}

constexpr const char* compare_means =
    "Means over cases, each of which counts alike: not the precision, recall and F1 of a report's summary";

std::string verdict_words(const CompareReportInput& input) {
  const CompareSummary& summary = input.summary;
  const StatusCounts& statuses = summary.verdict_input.statuses;
  std::string text = summary.verdict_input.cut_short ? "the run was cut short" : "";
  const auto add = [&](std::uint64_t count, std::string_view one, std::string_view many) {
    if (count == 0) return;
    text += (text.empty() ? "" : ", ") + wording::grouped(count) + ' ' + std::string(count == 1 ? one : many);
  };
  add(summary.regressions, "regression", "regressions");
  add(statuses.failed, "failed case", "failed cases");
  add(statuses.flaky, "flaky case", "flaky cases");
  add(statuses.errors, "case error", "case errors");
  if (input.gate.stability) {
    const bool dropped = input.gate.stability->cause == MetricCause::dropped;
    const bool is_low = input.gate.stability->cause == MetricCause::below_min_score;
    if (dropped || is_low) text += std::string(text.empty() ? "" : ", ") + "the stability ";
    if (dropped) text += "dropped";
    if (is_low) text += "is below the least that is asked for";
  }
  if (input.gate.statistics) {
    add(input.gate.statistics->regressions(), "metric that fell over all cases",
        "metrics that fell over all cases");
  }
  add(summary.missing_in_baseline, "score missing in the base", "scores missing in the base");
  add(summary.missing_in_current, "score missing in the current side", "scores missing in the current side");
  add(summary.improvements, "improvement", "improvements");
  add(summary.drops, "drop that is no regression", "drops that are no regressions");
  add(summary.unchanged, "score unchanged", "scores unchanged");
  return text.empty() ? "nothing was compared" : text;
}

std::string side_words(const ComparedSide& side) {
  return side.file + " (" + std::string(side.kind) + " of " + side.header.created_at + ", sluice " +
         side.header.assay_version + (side.is_selection ? ", a part of the suite)" : ")");
}

std::string verdict_line(const CompareReportInput& input) {
  return wording::symbol(input.summary.verdict) + ' ' + wording::headline(input.summary.verdict) + ": " +
         verdict_words(input);
}

/// Stability and tests, a line on each; empty without either.
std::vector<wording::RunLine> run_lines(const GateSummary& gate) {
  std::vector<wording::RunLine> lines = wording::statistics_lines(gate);
  if (!lines.empty()) lines.push_back({std::string(compare_means)});
  if (const auto stability = wording::stability_gate(gate); !stability.empty()) lines.push_back({stability});
  return lines;
}

std::string more(const Rows& rows) {
  if (rows.count <= rows.shown.size()) return "";
  return "and " + wording::grouped(rows.count - rows.shown.size()) + " more; --format json has all\n";
}

void add_wrapped(std::string& text, const std::string& words, std::size_t columns, std::size_t indent = 0) {
  for (const auto& line : wrapped(printable(words), columns - indent)) {
    text += std::string(indent, ' ') + line + '\n';
  }
}

std::string drawn_rows(const Rows& rows, bool with_cause, std::size_t columns) {
  TextTable table;
  table.columns = {{.heading = "Case"},
                   {.heading = "Metric"},
                   {.heading = "Baseline", .numeric = true},
                   {.heading = "Score", .numeric = true},
                   {.heading = "Delta", .numeric = true},
                   {.heading = "Limit", .numeric = true}};
  if (with_cause) table.columns.push_back({.heading = "Cause", .droppable = true});
  for (const Row& row : rows.shown) {
    auto& cells =
        table.rows.emplace_back(std::vector{printable(row.test_id), printable(row.metric), row.words.baseline,
                                            row.words.score, row.words.delta, row.words.limit});
    if (with_cause) cells.push_back(row.cause);
  }
  return drawn(table, columns);
}

std::string markdown_rows(const Rows& rows, bool with_cause) {
  std::string text = "| Case | Metric | Baseline | Score | Delta | Limit |";
  text += with_cause ? " Cause |\n| --- | --- | --: | --: | --: | --: | --- |\n"
                     : "\n| --- | --- | --: | --: | --: | --: |\n";
  for (const Row& row : rows.shown) {
    text += "| " + markdown_words(row.test_id) + " | " + markdown_words(row.metric) + " | " +
            row.words.baseline + " | " + row.words.score + " | " + row.words.delta + " | " + row.words.limit +
            " |";
    text += with_cause ? " " + row.cause + " |\n" : "\n";
  }
  return text;
}

bool shows_cause(std::size_t part) {
  return part <= static_cast<std::size_t>(Part::flaky);
}

void write_side(Json& json, std::string_view name, const ComparedSide& side) {
  json.line(1);
  json.key(name).open('{');
  json.member("file", side.file);
  json.member("kind", side.kind);
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
  json.member("regressed", summary.verdict_input.regressed);
  json.close('}');
  json.line(1);
  json.key("scores").open('{');
  json.member("regressions", summary.regressions);
  json.member("drops", summary.drops);
  json.member("unchanged", summary.unchanged);
  json.member("improvements", summary.improvements);
  json.member("missing_in_baseline", summary.missing_in_baseline);
  json.member("missing_in_current", summary.missing_in_current);
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
  json.member("change", to_string(row.change));
  json.member("status", to_string(row.status));
  json.key("cause");
  row.cause == MetricCause::none ? json.null() : json.value(to_string(row.cause));
  json.member("baseline", row.baseline);
  json.member("score", row.score);
  json.member("delta", row.delta());
  json.member("limit", row.limit);
  json.close('}');
}

}  // namespace

Result<void> write_compare_table(const CompareReportInput& input, std::size_t columns, Sink& sink) {
  const auto parts = parts_of(input, compare_table_rows);
  if (!parts) return fail(parts.error());
  std::string text;
  add_wrapped(text, "Base:    " + side_words(input.base), columns);
  add_wrapped(text, "Current: " + side_words(input.current), columns);
  add_wrapped(text, "Suite:   " + input.current.header.suite, columns);
  for (const GateNotice& notice : input.gate.notices) {
    text += '\n';
    add_wrapped(text, std::string(wording::severity_word(notice.severity)) + ": " + notice.message, columns);
  }
  for (std::size_t part = 0; part < parts->size(); ++part) {
    const Rows& rows = (*parts)[part];
    if (rows.count == 0) continue;
    text += '\n' + std::string(part_titles[part]) + " (" + wording::grouped(rows.count) + ")\n" +
            drawn_rows(rows, shows_cause(part), columns) + more(rows);
  }
  text += '\n';
  for (const auto& line : run_lines(input.gate)) add_wrapped(text, line.words, columns, 2 * line.level);
  add_wrapped(text, verdict_line(input), columns);
  sink.write(text);
  return {};
}

Result<void> write_compare_markdown(const CompareReportInput& input, Sink& sink) {
  const auto parts = parts_of(input, compare_markdown_rows);
  if (!parts) return fail(parts.error());
  std::string text = "## " + wording::symbol(input.summary.verdict) + ' ' +
                     wording::headline(input.summary.verdict) + ": " +
                     markdown_words(input.current.header.suite) + "\n\n" + verdict_words(input) +
                     "\n\n- Base: " + markdown_words(side_words(input.base)) +
                     "\n- Current: " + markdown_words(side_words(input.current)) + '\n';
  for (const GateNotice& notice : input.gate.notices) {
    text += "- **" + std::string(wording::severity_word(notice.severity)) +
            "**: " + markdown_words(notice.message, 1000) + '\n';
  }
  for (const auto& line : run_lines(input.gate)) {
    text += std::string(2 * line.level, ' ') + "- " + markdown_words(line.words, 1000) + '\n';
  }
  for (std::size_t part = 0; part < parts->size(); ++part) {
    const Rows& rows = (*parts)[part];
    if (rows.count == 0) continue;
    const std::string title = std::string(part_titles[part]) + " (" + wording::grouped(rows.count) + ")";
    const bool folded = part != static_cast<std::size_t>(Part::regressions);
    text += folded ? "\n<details><summary>" + title + "</summary>\n\n" : "\n### " + title + "\n\n";
    text += markdown_rows(rows, shows_cause(part));
    if (const auto rest = more(rows); !rest.empty()) text += '\n' + rest;
    if (folded) text += "\n</details>\n";
  }
  sink.write(text);
  return {};
}

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

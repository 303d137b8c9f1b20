#include "coordinator/report/display.hpp"
#include "coordinator/report/report.hpp"
#include "coordinator/report/text_table.hpp"
#include "coordinator/report/wording.hpp"

#include <algorithm>
#include <string_view>

namespace sluice {
namespace {

constexpr std::size_t least_columns = 60;
constexpr std::size_t most_columns = 120;  // Longer lines are hard to read.

enum class Colour { none, green, yellow, red, bold, dim };

std::string_view code_of(Colour colour) {
  switch (colour) {
    case Colour::green:
      return "\x1b[32m";
    case Colour::yellow:
      return "\x1b[33m";
    case Colour::red:
      return "\x1b[31m";
    case Colour::bold:
      return "\x1b[1m";
    case Colour::dim:
      return "\x1b[2m";
    case Colour::none:
      break;
  }
  return "";
}

Colour colour_of(RunVerdict verdict) {
  switch (verdict) {
    case RunVerdict::pass:
      return Colour::green;
    case RunVerdict::review:
      return Colour::yellow;
    default:
      return Colour::red;
  }
}

class TableReport {
 public:
  TableReport(const ReportInput& input, const TableStyle& style, Sink& sink)
      : input_(input),
        width_(std::clamp(style.columns, least_columns, most_columns)),
        colour_(style.colour),
        writer_(sink) {}

  Result<void> write() {
    write_header();
    write_summary();
    write_verdict();
    write_categories();
    if (auto cases = write_cases(); !cases) return cases;
    text() += '\n';
    entry("Cost:", wording::cost(input_), 0, Colour::none);
    entry("Run:", wording::run_facts(input_), 0, Colour::none);
    // Once more where the eye is after a long list.
    const auto& statuses = input_.aggregates.all.statuses;
    const auto outcome = wording::symbol(input_.verdict) + ' ' + wording::headline(input_.verdict) + ": " +
                         wording::grouped(statuses.passed) + " passed, " + wording::grouped(statuses.failed) +
                         " failed, " + wording::grouped(statuses.errors) + " errors";
    text() += painted(outcome, colour_of(input_.verdict)) + '\n';
    return {};
  }

 private:
  std::string& text() { return writer_.text(); }

  std::string painted(std::string_view words, Colour colour) const {
    if (!colour_ || colour == Colour::none) return std::string(words);
    return std::string(code_of(colour)).append(words).append("\x1b[0m");
  }

  void heading(std::string_view words) { text() += '\n' + painted(words, Colour::bold) + '\n'; }

  // A label and a text beside it that is broken into as many lines as it needs, all under its first one.
  void entry(std::string_view label, std::string_view words, std::size_t indent, Colour colour) {
    const std::size_t column = label.empty() ? indent : indent == 0 ? label.size() + 1 : indent + label_width;
    std::string lead = std::string(indent, ' ') + padded_right(label, column - indent);
    for (const auto& line : wrapped(printable(words), width_ - column)) {
      text() += lead + painted(line, colour) + '\n';
      lead.assign(column, ' ');
    }
  }

  void write_header() {
    const RunIdentity& identity = input_.identity;
    std::string prompt = identity.prompt_version;
    if (!is_zero(identity.prompt_hash))
      prompt += " (" + to_prefixed_hex(identity.prompt_hash).substr(0, 19) + "…)";
    const std::vector<std::string> lines = {
        "Run ID: " + printable(input_.facts.run_id),
        "Date:   " + wording::date(input_.facts.completed_at_ms),
        "Suite:  " + printable(input_.results.suite.name),
        "Prompt: v" + printable(prompt),
        "Model:  " + printable(identity.model) + " (" + std::string(to_string(identity.provider)) + ", " +
            std::string(to_string(input_.mode)) + ")",
    };
    text() += drawn_box("LLM Prompt Evaluation Report", lines, width_);
  }

  void write_summary() {
    const Totals& all = input_.aggregates.all;
    const Scores plain = scores_of(all.counts);
    const Scores weighted = scores_of(all.weighted);
    TextTable table;
    table.columns = {{.heading = "Metric"},
                     {.heading = "Current", .numeric = true},
                     {.heading = "Weighted", .numeric = true}};
    const auto row = [&](const char* name, std::optional<double> Scores::*score) {
      table.rows.push_back({name, wording::score(plain.*score), wording::score(weighted.*score)});
    };
    row("Precision", &Scores::precision);
    row("Recall", &Scores::recall);
    row("F1", &Scores::f1);
    heading("Summary");
    text() += drawn(table, width_);
    text() += "True positives " + wording::grouped(all.counts.true_positives) + ", false positives " +
              wording::grouped(all.counts.false_positives) + ", false negatives " +
              wording::grouped(all.counts.false_negatives) + '\n';
    if (all.statuses.errors > 0) {
      entry("", wording::counted(all.statuses.errors, "fixture") + " with an error left out of the scores", 0,
            Colour::yellow);
    }
  }

  void write_verdict() {
    const std::string label =
        "Verdict: " + wording::symbol(input_.verdict) + ' ' + wording::headline(input_.verdict);
    const std::size_t column = display_width(label) + 3;
    std::string lead = painted(label, colour_of(input_.verdict)) + " - ";
    text() += '\n';
    for (const auto& line : wrapped(printable(wording::reason_for(input_)), width_ - column)) {
      text() += lead + line + '\n';
      lead.assign(column, ' ');
    }
  }

  void write_categories() {
    if (input_.aggregates.by_category.empty()) return;
    TextTable table;
    table.columns = {{.heading = "Category"},
                     {.heading = "Fixtures", .numeric = true},
                     {.heading = "Passed", .numeric = true},
                     {.heading = "Failed", .numeric = true},
                     {.heading = "Errors", .numeric = true},
                     {.heading = "Precision", .numeric = true, .droppable = true},
                     {.heading = "Recall", .numeric = true, .droppable = true},
                     {.heading = "F1", .numeric = true, .droppable = true}};
    for (const auto& [category, totals] : input_.aggregates.by_category) {
      const Scores scores = scores_of(totals.counts);
      const StatusCounts& statuses = totals.statuses;
      table.rows.push_back({printable(category), wording::grouped(statuses.total()),
                            wording::grouped(statuses.passed), wording::grouped(statuses.failed),
                            wording::grouped(statuses.errors), wording::score(scores.precision),
                            wording::score(scores.recall), wording::score(scores.f1)});
    }
    heading("Category Breakdown");
    text() += drawn(table, width_);
  }

  // One visit writes the failures and gathers the errors, which are few words however many there are.
  Result<void> write_cases() {
    const StatusCounts& statuses = input_.aggregates.all.statuses;
    if (statuses.failed == 0 && statuses.errors == 0) return {};
    if (statuses.failed > 0) heading("Failures (" + wording::grouped(statuses.failed) + ")");
    wording::ErrorGroups errors;
    CaseDetails details;
    const auto visited = visit_cases(input_.results, [&](const CaseResult& result) {
      errors.add(result);
      if (result.status != CaseStatus::fail) return;
      explain(result, details);
      write_failure(result, details);
      writer_.passed();
    });
    if (!visited) return visited;
    write_errors(errors);
    return {};
  }

  void title(std::string_view words) {
    std::string lead = "- ";
    for (const auto& line : wrapped(printable(words), width_ - lead.size())) {
      text() += lead + painted(line, Colour::bold) + '\n';
      lead = "  ";
    }
  }

  void write_failure(const CaseResult& result, const CaseDetails& details) {
    title(wording::title(result.fixture));
    for (const MissedClaim& missed : details.missing) {
      const ExpectedClaim& expected = *missed.expected;
      entry("Expected:", to_text(expected.subject, expected.predicate, expected.value), 4, Colour::green);
      if (expected.rationale) entry("Rationale:", *expected.rationale, 4, Colour::dim);
      entry("Got:", wording::got(missed, result.fixture), 4, Colour::red);
    }
    for (const ForbiddenClaim& forbidden : details.forbidden) {
      entry("Forbidden:", wording::extracted(*forbidden.got), 4, Colour::red);
      if (forbidden.forbidden->rationale)
        entry("Rationale:", *forbidden.forbidden->rationale, 4, Colour::dim);
    }
    for (const FinalClaim* claim : details.unexpected) {
      if (wording::is_shown_as_got(details, *claim)) continue;
      entry("Unexpected:", wording::extracted(*claim), 4, Colour::yellow);
    }
  }

  void write_errors(const wording::ErrorGroups& errors) {
    if (errors.by_reason().empty()) return;
    heading("Errors (" + wording::grouped(input_.aggregates.all.statuses.errors) + ")");
    for (const auto& [reason, group] : errors.by_reason()) {
      title(std::string(to_string(reason)) + " (" + wording::grouped(group.count) +
            "): " + wording::ids(group));
      entry("First:", group.first_message, 4, Colour::red);
    }
  }

  static constexpr std::size_t label_width = 12;  // "Unexpected: "

  const ReportInput& input_;
  const std::size_t width_;
  const bool colour_;
  BufferedWriter writer_;
};

}  // namespace

Result<void> write_table_report(const ReportInput& input, const TableStyle& style, Sink& sink) {
  return TableReport(input, style, sink).write();
}

}  // namespace sluice

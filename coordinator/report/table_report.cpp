#include "coordinator/report/budget_wording.hpp"
#include "coordinator/report/display.hpp"
#include "coordinator/report/judgement_wording.hpp"
#include "coordinator/report/report.hpp"
#include "coordinator/report/table_cases.hpp"
#include "coordinator/report/table_page.hpp"
#include "coordinator/report/table_stability.hpp"
#include "coordinator/report/text_table.hpp"
#include "coordinator/report/wording.hpp"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

Colour colour_of(GateNotice::Severity severity) {
  switch (severity) {
    case GateNotice::Severity::info:
      return Colour::dim;
    case GateNotice::Severity::warning:
      return Colour::yellow;
    case GateNotice::Severity::failure:
      return Colour::red;
  }
  return Colour::none;
}

std::string_view symbol(GateNotice::Severity severity) {
  switch (severity) {
    case GateNotice::Severity::info:
      return "· ";
    case GateNotice::Severity::warning:
      return "⚠ ";
    case GateNotice::Severity::failure:
      return "✗ ";
  }
  return "";
}

class TableReport {
 public:
  TableReport(const ReportInput& input, const TableStyle& style, Sink& sink)
      : input_(input), page_(style, sink) {}

  Result<void> write() {
    write_header();
    write_summary();
    write_verdict();
    write_categories();
    if (auto stability = write_table_stability(input_, page_); !stability) return stability;
    if (auto cases = write_table_cases(input_, page_); !cases) return cases;
    write_notices();
    text() += '\n';
    page_.entry("Cost:", wording::cost(input_), 0, Colour::none);
    page_.entry("Run:", wording::run_facts(input_), 0, Colour::none);
    const std::string waits = wording::waits(input_);
    if (!waits.empty()) page_.entry("Waited:", waits, 0, Colour::none);
    for (const BudgetFacts& budget : input_.facts.budgets) {
      const std::string summary = wording::budget_summary(budget);
      if (!summary.empty()) page_.entry("Budget:", budget.provider + ": " + summary, 0, Colour::none);
    }
    // Once more where the eye is after a long list.
    page_.entry("", last_words(), 0, colour_of(input_.verdict));
    if (is_tolerated()) {
      page_.entry("",
                  "Exit code 0: a regression of the aggregates fails with --fail-on-regression or --strict",
                  0, Colour::none);
    }
    return {};
  }

 private:
  std::string& text() { return page_.text(); }

  std::string last_words() const {
    const auto& statuses = input_.aggregates.all.statuses;
    std::string words = wording::symbol(input_.verdict) + ' ' + wording::headline(input_.verdict) + ": ";
    // Where no count says why.
    const bool told = input_.verdict == RunVerdict::pass || statuses.failed > 0 || statuses.errors > 0;
    if (!told) words += wording::reason_for(input_) + "; ";
    return words + wording::tally(input_);
  }

  bool is_tolerated() const {
    return input_.verdict == RunVerdict::regression && input_.gate.aggregates && !input_.gate.strict &&
           !input_.gate.fail_on_regression;
  }

  void write_header() {
    const RunIdentity& identity = input_.identity;
    std::string prompt = identity.prompt_version;
    if (!is_zero(identity.prompt_hash))
      prompt += " (" + to_prefixed_hex(identity.prompt_hash).substr(0, 19) + "…)";
    std::vector<std::pair<std::string_view, std::string>> facts = {
        {"Run ID:", input_.facts.run_id},
        {"Date:", wording::date(input_.facts.completed_at_ms)},
        {"Suite:", input_.results.suite.name}};
    // Texts bring prompts of their own.
    if (wording::has_claims_cases(input_)) facts.emplace_back("Prompt:", "v" + prompt);
    facts.emplace_back("Model:", identity.model + " (" + std::string(to_string(identity.provider)) + ", " +
                                     input_.mode + ")");
    const bool compared = input_.gate.kind != BaselineKind::none;
    if (compared) facts.emplace_back("Baseline:", input_.gate.baseline_file);
    if (const auto origin = wording::baseline_origin(input_); !origin.empty()) facts.emplace_back("", origin);
    std::vector<std::string> lines;
    for (const auto& [label, words] : facts)
      lines.push_back(padded_right(label, compared ? 10 : 8) + printable(words));
    text() += drawn_box("LLM Prompt Evaluation Report", lines, page_.width());
  }

  void write_summary() {
    const Totals& all = input_.aggregates.all;
    page_.heading("Summary");
    if (wording::has_claims_cases(input_)) {
      text() += drawn(score_table(), page_.width());
      page_.entry("",
                  "True positives " + wording::grouped(all.counts.true_positives) + ", false positives " +
                      wording::grouped(all.counts.false_positives) + ", false negatives " +
                      wording::grouped(all.counts.false_negatives),
                  0, Colour::none);
    }
    page_.entry(
        "",
        wording::counted(all.statuses.total(), wording::case_noun(input_)) + ": " + wording::tally(input_), 0,
        Colour::none);
    if (all.statuses.errors > 0) {
      page_.entry("",
                  wording::counted(all.statuses.errors, wording::case_noun(input_)) +
                      " with an error left out of the scores",
                  0, Colour::yellow);
    }
    if (input_.gate.aggregates) {
      page_.entry("",
                  "A drop of " + wording::points(input_.gate.aggregates->threshold) +
                      " is within the limit (1 point is 0.01)",
                  0, Colour::dim);
    }
  }

  TextTable score_table() const {
    const Totals& all = input_.aggregates.all;
    const Scores plain = scores_of(all.counts);
    const Scores weighted = scores_of(all.weighted);
    const bool compared = input_.gate.aggregates.has_value();
    TextTable table;
    table.columns = {{.heading = "Metric"}, {.heading = "Current", .numeric = true}};
    if (compared) {
      table.columns.push_back({.heading = "Baseline", .numeric = true});
      table.columns.push_back({.heading = "Delta", .numeric = true});
      table.columns.push_back({.heading = "Status"});
    }
    table.columns.push_back({.heading = "Weighted", .numeric = true, .droppable = compared});
    constexpr std::array<std::pair<const char*, std::optional<double> Scores::*>, 3> rows{
        {{"Precision", &Scores::precision}, {"Recall", &Scores::recall}, {"F1", &Scores::f1}}};
    for (const auto& [name, score] : rows) {
      std::vector<std::string> row = {name, wording::score(plain.*score)};
      if (compared) add_comparison(row);
      row.push_back(wording::score(weighted.*score));
      table.rows.push_back(std::move(row));
    }
    return table;
  }

  // Puts what the manifest says beside the metric that the row begins with.
  void add_comparison(std::vector<std::string>& row) const {
    for (const AggregateComparison& comparison : input_.gate.aggregates->metrics) {
      if (wording::aggregate_title(comparison) != row.front()) continue;
      const auto words = wording::words_for(comparison);
      row = {row.front(), words.score, words.baseline, words.delta,
             wording::aggregate_status(comparison.outcome)};
      return;
    }
    row.insert(row.end(), {"–", "–", wording::aggregate_status(AggregateOutcome::not_compared)});
  }

  void write_verdict() {
    const std::string label =
        "Verdict: " + wording::symbol(input_.verdict) + ' ' + wording::headline(input_.verdict);
    const std::size_t column = display_width(label) + 3;
    std::string lead = page_.painted(label, colour_of(input_.verdict)) + " - ";
    text() += '\n';
    for (const auto& line : wrapped(printable(wording::reason_for(input_)), page_.width() - column)) {
      text() += lead + line + '\n';
      lead.assign(column, ' ');
    }
  }

  void write_categories() {
    const auto& categories = input_.aggregates.by_category;
    if (categories.empty()) return;
    const StatusCounts& statuses = input_.aggregates.all.statuses;
    const bool claims = wording::has_claims_cases(input_);
    TextTable table;
    std::string noun(wording::case_noun(input_));
    noun[0] = static_cast<char>(noun[0] - 'a' + 'A');
    table.columns = {{.heading = "Category"},
                     {.heading = noun + "s", .numeric = true},
                     {.heading = "Passed", .numeric = true},
                     {.heading = "Failed", .numeric = true}};
    if (statuses.warned > 0) table.columns.push_back({.heading = "Warned", .numeric = true});
    if (statuses.flaky > 0) table.columns.push_back({.heading = "Flaky", .numeric = true});
    table.columns.push_back({.heading = "Errors", .numeric = true});
    if (claims) {
      for (const char* name : {"Precision", "Recall", "F1"})
        table.columns.push_back({.heading = name, .numeric = true, .droppable = true});
    }
    for (const auto& [category, totals] : categories) {
      const StatusCounts& counts = totals.statuses;
      std::vector<std::string> row = {printable(category.empty() ? "(none)" : category),
                                      wording::grouped(counts.total()), wording::grouped(counts.passed),
                                      wording::grouped(counts.failed)};
      if (statuses.warned > 0) row.push_back(wording::grouped(counts.warned));
      if (statuses.flaky > 0) row.push_back(wording::grouped(counts.flaky));
      row.push_back(wording::grouped(counts.errors));
      if (claims) {
        const Scores scores = scores_of(totals.counts);
        for (const auto& score : {scores.precision, scores.recall, scores.f1})
          row.push_back(wording::score(score));
      }
      table.rows.push_back(std::move(row));
    }
    page_.heading("Category Breakdown");
    text() += drawn(table, page_.width());
  }

  void write_notices() {
    const auto& notices = input_.gate.notices;
    if (notices.empty()) return;
    page_.heading("Notices (" + wording::grouped(notices.size()) + ")");
    for (const GateNotice& notice : notices) {
      page_.title(std::string(symbol(notice.severity)) +
                  std::string(wording::severity_word(notice.severity)) + ": " + notice.code);
      page_.entry("", notice.message, 4, colour_of(notice.severity));
    }
  }

  const ReportInput& input_;
  TablePage page_;
};

}  // namespace

Result<void> write_table_report(const ReportInput& input, const TableStyle& style, Sink& sink) {
  return TableReport(input, style, sink).write();
}

}  // namespace sluice

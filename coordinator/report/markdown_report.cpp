#include "coordinator/report/budget_wording.hpp"
#include "coordinator/report/judgement_wording.hpp"
#include "coordinator/report/markdown_cases.hpp"
#include "coordinator/report/markdown_stability.hpp"
#include "coordinator/report/markdown_text.hpp"
#include "coordinator/report/report.hpp"
#include "coordinator/report/wording.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

namespace sluice {
namespace {

// GitHub takes comments of up to 65,536 characters. Each part has its share (the lists on cases theirs in
// markdown_cases.hpp), which together leave room for the words between them.
constexpr std::size_t max_verdict_bytes = 1500;
constexpr std::size_t max_notice_bytes = 2 << 10;
constexpr std::size_t max_error_bytes = 5 << 10;
constexpr std::size_t max_category_bytes = 4 << 10;

class MarkdownReport {
 public:
  MarkdownReport(const ReportInput& input, Sink& sink) : input_(input), writer_(sink) {}

  Result<void> write() {
    if (auto gathered = gather_markdown_cases(input_, cases_); !gathered) return gathered;
    text() += "## " + wording::symbol(input_.verdict) + " " + wording::headline(input_.verdict) + ": " +
              markdown_words(wording::reason_for(input_), max_verdict_bytes) + "\n\n" + tally() + "\n";
    write_notices(GateNotice::Severity::failure);
    if (aggregates_dropped()) write_scores();
    write_regressions();
    write_failures();
    write_errors();
    const auto stability = markdown_stability(input_);
    if (!stability) return fail(stability.error());
    text() += *stability;
    write_rest();
    return {};
  }

 private:
  std::string& text() { return writer_.text(); }

  void heading(std::string_view words, std::uint64_t count) {
    text() += "\n### " + std::string(words) + " (" + wording::grouped(count) + ")\n\n";
  }

  void fold(std::string_view summary) {
    text() += "\n<details><summary>" + std::string(summary) + "</summary>\n\n";
  }
  void fold(std::string_view summary, std::uint64_t count) {
    fold(std::string(summary) + " (" + wording::grouped(count) + ")");
  }
  void unfold() { text() += "\n</details>\n"; }

  void say_left_out(std::uint64_t number, std::string_view words) {
    if (number > 0) text() += "\n_" + wording::grouped(number) + ' ' + std::string(words) + "._\n";
  }

  std::string tally() const {
    const StatusCounts& statuses = input_.aggregates.all.statuses;
    std::string words = wording::counted(statuses.total(), wording::case_noun(input_)) + ": " +
                        markdown_words(wording::tally(input_)) +
                        (statuses.errors > 0 ? " (errors are left out of the scores)" : "");
    if (input_.gate.kind != BaselineKind::none)
      words += "\n\nCompared with " + markdown_code(input_.gate.baseline_file);
    const std::string origin = wording::baseline_origin(input_);
    if (!origin.empty()) words += " (" + markdown_words(origin) + ")";
    return words;
  }

  bool aggregates_dropped() const {
    return input_.gate.aggregates && (input_.gate.aggregates->outcome == AggregateOutcome::within_limit ||
                                      input_.gate.aggregates->outcome == AggregateOutcome::beyond_limit);
  }

  void write_notices(GateNotice::Severity severity) {
    BoundedText list(max_notice_bytes);
    for (const GateNotice& notice : input_.gate.notices) {
      if (notice.severity != severity) continue;
      list.add("- **" + std::string(wording::severity_word(severity)) + "** " +
               markdown_code(notice.code, 80) + ": " + markdown_words(notice.message, 600) + "\n");
    }
    if (list.text().empty()) return;
    text() += (severity == GateNotice::Severity::failure ? "\n" : "") + list.text();
    say_left_out(list.left_out(), "more notices stand in the JSON report");
  }

  void write_regressions() {
    const std::uint64_t count = input_.aggregates.all.regressed;
    if (count == 0) return;
    heading("Regressions", count);
    text() +=
        "| Case | Metric | Baseline | Score | Delta | Limit |\n| --- | --- | ---: | ---: | ---: | ---: |\n" +
        cases_.regression_rows.text();
    say_left_out(cases_.regression_rows.left_out(), "more regressed; the JSON report has them all");
    fold("What was expected, and what came");
    text() += cases_.regression_stories.text();
    say_left_out(cases_.regression_stories.left_out(), "more stand in the JSON report");
    unfold();
  }

  void write_failures() {
    const Totals& all = input_.aggregates.all;
    const std::uint64_t count = all.statuses.failed - std::min(all.statuses.failed, all.regressed);
    if (count == 0) return;
    heading("Failures", count);
    text() += cases_.failures.text();
    say_left_out(cases_.failures.left_out(), "more failed; the table and the JSON report have them all");
  }

  void write_errors() {
    const auto& groups = cases_.errors.by_reason();
    if (groups.empty()) return;
    heading("Errors", input_.aggregates.all.statuses.errors);
    BoundedText list(max_error_bytes);
    for (const auto& [reason, group] : groups) {
      list.add("- `" + std::string(to_string(reason)) + "` (" + wording::grouped(group.count) +
               "): " + markdown_words(wording::ids(group)) +
               "\n  - First: " + markdown_words(group.first_message, 600) +
               (group.first_answer.empty() ? "" : "\n  - Answer: " + markdown_code(group.first_answer)) +
               "\n");
    }
    text() += list.text();
    say_left_out(list.left_out(), "more reasons stand in the JSON report");
  }

  void write_rest() {
    write_list("Improvements", input_.aggregates.all.improved, cases_.improvements);
    write_list("Warnings", input_.aggregates.all.statuses.warned + input_.aggregates.all.statuses.flaky,
               cases_.warnings);
    write_missing();
    write_other_notices();
    if (!aggregates_dropped() && wording::has_claims_cases(input_)) {
      fold("Scores");
      write_scores();
      unfold();
    }
    write_categories();
    write_run();
  }

  void write_list(std::string_view name, std::uint64_t count, const BoundedText& list) {
    if (list.text().empty() && list.left_out() == 0) return;
    fold(name, count);
    text() += list.text();
    say_left_out(list.left_out(), "more stand in the JSON report");
    unfold();
  }

  void write_missing() {
    const std::uint64_t count = input_.aggregates.all.missing_entries;
    if (count == 0) return;
    fold("Scores that the baseline does not have", count);
    text() +=
        "To pin them, where the results are known to be good: " + markdown_code(wording::how_to_pin(input_)) +
        "\n\n" + cases_.missing.text();
    say_left_out(cases_.missing.left_out(), "more cases stand in the JSON report");
    unfold();
  }

  void write_other_notices() {
    const auto count = std::ranges::count_if(input_.gate.notices, [](const GateNotice& notice) {
      return notice.severity != GateNotice::Severity::failure;
    });
    if (count == 0) return;
    fold("Notices about the comparison", static_cast<std::uint64_t>(count));
    write_notices(GateNotice::Severity::warning);
    write_notices(GateNotice::Severity::info);
    unfold();
  }

  void write_scores() {
    const Totals& all = input_.aggregates.all;
    if (input_.gate.aggregates) {
      text() += "\n| Metric | Current | Baseline | Delta | Status |\n| --- | ---: | ---: | ---: | --- |\n";
      for (const AggregateComparison& comparison : input_.gate.aggregates->metrics) {
        const auto words = wording::words_for(comparison);
        text() += "| " + wording::aggregate_title(comparison) + " | " + words.score + " | " + words.baseline +
                  " | " + words.delta + " | " + wording::aggregate_status(comparison.outcome) + " |\n";
      }
      text() +=
          "\nA drop of " + wording::points(input_.gate.aggregates->threshold) + " is within the limit.\n";
      return;
    }
    const Scores plain = scores_of(all.counts);
    const Scores weighted = scores_of(all.weighted);
    const auto row = [&](std::string_view name, std::optional<double> Scores::*score) {
      text() += "| " + std::string(name) + " | " + wording::score(plain.*score) + " | " +
                wording::score(weighted.*score) + " |\n";
    };
    text() += "| Metric | Current | Weighted |\n| --- | ---: | ---: |\n";
    row("Precision", &Scores::precision);
    row("Recall", &Scores::recall);
    row("F1", &Scores::f1);
  }

  void write_categories() {
    const bool claims = wording::has_claims_cases(input_);
    fold("Categories");
    text() += "| Category | Cases | Passed | Warned | Failed | Errors |";
    text() += claims ? " Precision | Recall | F1 |\n" : "\n";
    text() += "| --- | ---: | ---: | ---: | ---: | ---: |";
    text() += claims ? " ---: | ---: | ---: |\n" : "\n";
    BoundedText rows(max_category_bytes);
    for (const auto& [category, totals] : input_.aggregates.by_category) {
      std::string row = "| " + markdown_words(category, 200);
      const StatusCounts& statuses = totals.statuses;
      for (const auto number : {statuses.total(), statuses.passed, statuses.warned + statuses.flaky,
                                statuses.failed, statuses.errors}) {
        row += " | " + wording::grouped(number);
      }
      const Scores scores = scores_of(totals.counts);
      for (const auto& score : {scores.precision, scores.recall, scores.f1}) {
        if (claims) row += " | " + wording::score(score);
      }
      rows.add(row + " |\n");
    }
    text() += rows.text();
    say_left_out(rows.left_out(), "more in the JSON report");
    unfold();
  }

  void write_run() {
    const RunIdentity& identity = input_.identity;
    const auto item = [&](std::string_view label, const std::string& words) {
      text() += "- " + std::string(label) + ": " + markdown_words(words) + "\n";
    };
    fold("Run");
    item("Run", input_.facts.run_id + ", " + wording::date(input_.facts.completed_at_ms));
    item("Suite", input_.results.suite.name);
    if (wording::has_claims_cases(input_))
      item("Prompt", "v" + identity.prompt_version + ", ontology v" + identity.ontology_version);
    item("Model",
         identity.model + " (" + std::string(to_string(identity.provider)) + ", " + input_.mode + ")");
    item("Cost", wording::cost(input_));
    item("Effort", wording::run_facts(input_));
    const std::string waits = wording::waits(input_);
    if (!waits.empty()) item("Waited", waits);
    for (const BudgetFacts& budget : input_.facts.budgets) {
      const std::string summary = wording::budget_summary(budget);
      if (!summary.empty()) item("Budget", budget.provider + ": " + summary);
    }
    unfold();
  }

  const ReportInput& input_;
  BufferedWriter writer_;
  MarkdownCases cases_;
};

}  // namespace

Result<void> write_markdown_report(const ReportInput& input, Sink& sink) {
  return MarkdownReport(input, sink).write();
}

}  // namespace sluice

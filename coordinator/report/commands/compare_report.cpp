#include "coordinator/report/commands/compare_report.hpp"

#include "coordinator/defaults.hpp"
#include "coordinator/report/document.hpp"
#include "coordinator/report/html/html_writer.hpp"
#include "coordinator/report/wording/assessment_wording.hpp"
#include "coordinator/report/wording/pass_rate_wording.hpp"
#include "coordinator/report/wording/stability_wording.hpp"
#include "coordinator/report/wording/statistics_wording.hpp"
#include "coordinator/report/wording/tones.hpp"
#include "coordinator/report/wording/wording.hpp"
#include "coordinator/report/writers/markdown_writer.hpp"
#include "coordinator/report/writers/table_writer.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>

namespace sluice {
namespace {

using namespace document;

/// The kinds of rows that people see, in this order.
enum class Part : std::uint8_t {
  regressions,
  broke,
  other_failures,
  flaky,
  disagreements,
  uncalibrated,
  known_passed,
  missing_in_baseline,
  missing_in_current,
  added,
  changed,
  improvements,
  fixed,
  still_failing,
  known_failures
};

constexpr std::array<std::string_view, 15> part_titles{"Regressions",
                                                       "Broke",
                                                       "Other failures",
                                                       "Flaky",
                                                       "Votes that disagree",
                                                       "Failures by a judge without calibration",
                                                       "Known failures that passed",
                                                       "Missing in the base",
                                                       "Missing in the current side",
                                                       "New checks",
                                                       "Changed checks",
                                                       "Improvements",
                                                       "Fixed",
                                                       "Still failing",
                                                       "Known failures"};

bool shows_cause(Part part) {
  return part <= Part::uncalibrated;
}

Tone tone_of(Part part) {
  if (part <= Part::other_failures) return Tone::bad;
  if (part == Part::added || part == Part::changed) return Tone::plain;
  return part == Part::improvements || part == Part::fixed ? Tone::good : Tone::warning;
}

std::optional<Part> part_of(const ScoreComparison& row) {
  if (row.status == MetricStatus::flaky) return Part::flaky;
  if (row.status == MetricStatus::warn && row.cause == MetricCause::judge_disagrees) {
    return Part::disagreements;
  }
  const bool is_spared =
      row.cause == MetricCause::judge_uncalibrated || row.cause == MetricCause::judge_kappa_low;
  if (row.status == MetricStatus::warn && is_spared) return Part::uncalibrated;
  if (row.cause == MetricCause::known_failure_passed) return Part::known_passed;
  switch (row.change) {
    case RowChange::regression:
      return Part::regressions;
    case RowChange::broke:
      return Part::broke;
    case RowChange::fixed:
      return Part::fixed;
    case RowChange::still_failing:
      return Part::still_failing;
    case RowChange::known_failure:
      return Part::known_failures;
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
  if (row.change == RowChange::added) return Part::added;
  if (row.change == RowChange::changed) return Part::changed;
  return std::nullopt;
}

/// The first rows of a part, and how many it has.
struct Rows {
  std::vector<Row> shown;
  std::uint64_t count = 0;
  std::uint64_t cases = 0;  ///< That these are of.
  std::string last_case{};
};
using Parts = std::array<Rows, part_titles.size()>;

/// `dropped, no majority`, `not passed, new check`.
std::string cause_of(const ScoreComparison& compared) {
  std::string cause(compared.cause == MetricCause::none ? "" : to_string(compared.cause));
  if (compared.further_cause != MetricCause::none)
    cause.append(", ").append(to_string(compared.further_cause));
  std::ranges::replace(cause, '_', ' ');
  const bool is_new = compared.change == RowChange::added;
  if (is_new || compared.change == RowChange::changed)
    cause.append(cause.empty() ? "" : ", ").append(is_new ? "new check" : "changed check");
  return cause;
}

Row row_of(const ScoreComparison& compared, Part part) {
  AssessedMetric numbers;
  numbers.score = compared.score;
  numbers.baseline = compared.baseline;
  numbers.limit = compared.limit;
  numbers.cause = compared.cause;
  numbers.votes = compared.votes;
  numbers.repeat_scores.assign(compared.repeat_scores.begin(), compared.repeat_scores.end());
  if (part == Part::broke || part == Part::fixed || part == Part::still_failing) {
    numbers.baseline_passed = part == Part::broke;
    if (part != Part::fixed) numbers.status = MetricStatus::fail;
  }
  auto cell = wording::words_for(numbers);
  // Not beside the base.
  const bool stands_alone =
      part == Part::other_failures || part == Part::known_failures || part == Part::known_passed;
  if (compared.is_check && compared.baseline_passed)
    cell.baseline = *compared.baseline_passed ? "passed" : "failed";
  const bool is_new = part == Part::added || part == Part::changed;
  if (is_new && compared.status == MetricStatus::pass) cell.score = "passed";
  if (stands_alone && compared.is_check) cell.score = part == Part::known_passed ? "passed" : "failed";
  Row row{{std::string(compared.test_id),
           std::string(compared.expected.empty() ? compared.metric : compared.expected),
           cell.baseline,
           {cell.score, tone_of(part)},
           cell.delta,
           cell.limit}};
  if (shows_cause(part)) row.cells.emplace_back(cause_of(compared));
  return row;
}

Result<Parts> parts_of(const CompareReportInput& input, std::size_t most_rows) {
  Parts parts;
  const auto compared = input.visit([&](const ScoreComparison& row) {
    const auto part = part_of(row);
    if (!part) return;
    Rows& rows = parts[static_cast<std::size_t>(*part)];
    if (rows.count == 0 || rows.last_case != row.test_id) {
      ++rows.cases;
      rows.last_case = row.test_id;
    }
    if (rows.count++ < most_rows) rows.shown.push_back(row_of(row, *part));
  });
  if (!compared) return fail(compared.error());
  return parts;
}

/// Of a metric that a report's summary has as well, by claims and not by cases.
constexpr const char* compare_means =
    "Means over cases, each of which counts alike: not the precision, recall and F1 of a report's summary";

/// "2 regressions, 1 flaky case": counts in words, those that are 0 left out.
class CountedWords {
 public:
  explicit CountedWords(std::string text) : text_(std::move(text)) {}

  void add(std::string_view words) { text_ += (text_.empty() ? "" : ", ") + std::string(words); }
  void add(std::uint64_t count, std::string_view one, std::string_view many) {
    if (count > 0) add(wording::grouped(count) + ' ' + std::string(count == 1 ? one : many));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// `2 of 4 cases regressed (3 scores, 1 check that broke)`, as a run counts them, and of what.
void add_regressed(const CompareSummary& summary, CountedWords& words) {
  const VerdictInput& gated = summary.verdict_input;
  if (gated.regressed == 0) {
    words.add(summary.regressions, "score that regressed", "scores that regressed");
    words.add(summary.broke, "check that broke", "checks that broke");
    return;
  }
  CountedWords by("");
  by.add(summary.regressions, "score", "scores");
  by.add(summary.broke, "check that broke", "checks that broke");
  words.add(wording::counted_of(gated.regressed, gated.statuses.total(), "case") + " regressed" +
            (by.text().empty() ? "" : " (" + by.text() + ")"));
}

/// The notices that decide, as a run words them.
void add_notices(const BaselineComparison& gate, CountedWords& words) {
  BaselineComparison deciding;
  deciding.strict = gate.strict;
  std::ranges::copy_if(gate.notices, std::back_inserter(deciding.notices), &GateNotice::decides);
  for (const auto severity : {GateNotice::Severity::failure, GateNotice::Severity::warning}) {
    if (const auto notices = wording::notices_reason(deciding, severity); !notices.empty())
      words.add(notices);
  }
}

/// What the verdict comes from, with so many of the scores that one side lacks.
CountedWords reasons(const CompareReportInput& input, std::uint64_t missing_in_baseline,
                     std::uint64_t missing_in_current) {
  const CompareSummary& summary = input.summary;
  const VerdictInput& gated = summary.verdict_input;
  CountedWords words(gated.cut_short ? "the run was cut short" : "");
  if (summary.verdict == RunVerdict::fail) {
    if (const auto rates = wording::missed_pass_rates(gated.pass_groups); !rates.empty()) words.add(rates);
  }
  add_regressed(summary, words);
  const std::uint64_t failed = gated.statuses.failed - std::min(gated.statuses.failed, gated.regressed);
  words.add(failed, gated.regressed > 0 ? "other failed case" : "failed case",
            gated.regressed > 0 ? "other failed cases" : "failed cases");
  words.add(gated.statuses.flaky, "flaky case", "flaky cases");
  words.add(summary.errors(), "case error", "case errors");
  words.add(summary.not_started, "case not started", "cases not started");
  words.add(summary.known_failures_passed, "known failure that passed", "known failures that passed");
  words.add(summary.disagreements, "score by votes that disagree", "scores by votes that disagree");
  words.add(summary.uncalibrated, "score by a judge without calibration",
            "scores by a judge without calibration");
  if (input.gate.stability) {
    if (input.gate.stability->cause == MetricCause::dropped) words.add("the stability dropped");
    if (input.gate.stability->cause == MetricCause::below_min_score)
      words.add("the stability is below the least that is asked for");
  }
  if (const auto& statistics = input.gate.statistics) {
    words.add(statistics->regressions(), "metric that fell over all cases",
              "metrics that fell over all cases");
    if (statistics->decision == ChangeDecision::underpowered)
      words.add("the statistical gate is underpowered");
  }
  words.add(missing_in_baseline, "score missing in the base", "scores missing in the base");
  words.add(missing_in_current, "score missing in the current side", "scores missing in the current side");
  words.add(input.summary.missing_checks, "check missing in the current side",
            "checks missing in the current side");
  add_notices(input.gate, words);
  return words;
}

/// It would pass without --strict, which makes a failure of each warning about the comparison.
bool is_by_strict(const CompareReportInput& input) {
  if (input.exit_code == 0) return false;
  VerdictInput lenient = input.summary.verdict_input;
  if (input.gate.strict) {
    const auto notices =
        std::ranges::count(input.gate.notices, GateNotice::Severity::failure, &GateNotice::severity);
    lenient.failures -=
        std::min(lenient.failures, static_cast<std::uint64_t>(notices) + input.summary.missing_in_current -
                                       input.summary.left_out + input.summary.missing_checks);
  }
  return exit_code(run_verdict(lenient), lenient, {}) == 0;
}

std::string verdict_words(const CompareReportInput& input) {
  const CompareSummary& summary = input.summary;
  CountedWords words = reasons(input, summary.missing_in_baseline, summary.missing_in_current);
  words.add(summary.still_failing, "check still failing", "checks still failing");
  words.add(summary.known_failures, "known failure", "known failures");
  words.add(summary.fixed, "check fixed", "checks fixed");
  words.add(summary.added_checks, "new check", "new checks");
  words.add(summary.changed_checks, "changed check", "changed checks");
  words.add(summary.improvements, "score improved", "scores improved");
  words.add(summary.drops, "score fell without regressing", "scores fell without regressing");
  words.add(summary.unchanged, "unchanged", "unchanged");
  if (words.text().empty()) return "nothing was compared";
  return words.text() + (is_by_strict(input) ? "; " + std::string(wording::because_of_strict) : "");
}

std::string side_words(const ComparedSide& side) {
  const std::string run =
      side.run_id.empty() ? "" : "run " + side.run_id.substr(0, defaults::run_id_digits) + ", ";
  return side.file + " (" + run + std::string(side.kind) + " of " + side.header.created_at + ", sluice " +
         side.header.assay_version + (side.is_selection ? ", a part of the suite)" : ")");
}

Table table_of(Rows&& rows, Part part) {
  Table table{.columns = {column("Case"), column("Metric"), number("Baseline"), number("Score"),
                          number("Delta"), number("Limit")},
              .rows = std::move(rows.shown),
              .whole_names = true,
              .keys = 2};
  if (shows_cause(part)) table.columns.push_back({.heading = "Cause", .droppable = true});
  return table;
}

/// A section for each part that has rows; in a comment only the regressions are unfolded.
Result<std::vector<Section>> part_sections(const CompareReportInput& input, std::size_t most_rows) {
  auto parts = parts_of(input, most_rows);
  if (!parts) return fail(parts.error());
  std::vector<Section> sections;
  for (std::size_t part = 0; part < parts->size(); ++part) {
    Rows& rows = (*parts)[part];
    if (rows.count == 0) continue;
    const bool is_urgent = part <= static_cast<std::size_t>(Part::broke);
    const std::uint64_t more = rows.count - rows.shown.size();
    Section section{.heading = std::string(part_titles[part]),
                    // As the verdict counts them: a known failure is a case.
                    .count = part == static_cast<std::size_t>(Part::known_passed) ? rows.cases : rows.count,
                    .rank = is_urgent ? Rank::cases : Rank::further,
                    .tone = tone_of(static_cast<Part>(part))};
    section.blocks.emplace_back(table_of(std::move(rows), static_cast<Part>(part)));
    if (more > 0)
      section.blocks.emplace_back(
          Paragraph{"and " + wording::grouped(more) + " more; --format json has all"});
    sections.push_back(std::move(section));
  }
  return sections;
}

bool is_of_claims(const StatisticalMetric& metric) {
  return metric.mean && is_claims_metric(metric.mean->metric);
}

/// Stability and tests, a line on each; empty without either.
Notes run_notes(const BaselineComparison& gate) {
  Notes notes;
  for (const auto& line : wording::statistics_lines(gate))
    notes.items.push_back({.text = words(line.words, 1000), .level = line.level});
  if (gate.statistics && std::ranges::any_of(gate.statistics->metrics, is_of_claims))
    notes.items.push_back({compare_means});
  if (const auto stability = wording::stability_gate(gate); !stability.empty())
    notes.items.push_back({words(stability, 1000)});
  return notes;
}

}  // namespace

std::string verdict_reasons(const CompareReportInput& input) {
  const CompareSummary& summary = input.summary;
  return reasons(input, summary.unpinned, summary.missing_in_current - summary.left_out).text();
}

Result<void> write_compare_table(const CompareReportInput& input, const TableStyle& style, Sink& sink) {
  auto parts = part_sections(input, defaults::compare_table_rows);
  if (!parts) return fail(parts.error());
  Document document;
  const auto add = [&](Notes notes) { document.sections.push_back({.blocks = {std::move(notes)}}); };
  add({.items = {{"Base:    " + side_words(input.base)},
                 {"Current: " + side_words(input.current)},
                 {"Suite:   " + input.current.header.suite}}});
  for (const GateNotice& notice : input.gate.notices)
    add({.items = {{std::string(wording::severity_word(notice.severity)) + ": " + notice.message,
                    tone_of(notice.severity)}}});
  std::ranges::move(*parts, std::back_inserter(document.sections));
  Notes last = run_notes(input.gate);
  last.items.push_back({.text = wording::verdict_word(input.summary.verdict) + ": " + verdict_words(input),
                        .tone = tone_of(input.summary.verdict),
                        .is_outcome = true});
  add(std::move(last));
  write_table(document, style, sink);
  return {};
}

Result<void> write_compare_html(const CompareReportInput& input, BufferedWriter& writer) {
  auto parts = part_sections(input, defaults::compare_table_rows);
  if (!parts) return fail(parts.error());
  Document document{.title = "Comparison of two runs",
                    .facts = {{.text = side_words(input.base), .label = "Base"},
                              {.text = side_words(input.current), .label = "Current"},
                              {.text = input.current.header.suite, .label = "Suite"}},
                    .verdict = {wording::verdict_word(input.summary.verdict), words(verdict_words(input)),
                                tone_of(input.summary.verdict)}};
  std::ranges::move(*parts, std::back_inserter(document.sections));
  Notes notes = run_notes(input.gate);
  for (const GateNotice& notice : input.gate.notices)
    notes.items.push_back(
        {.text = sentence(notice.message), .label = std::string(wording::severity_word(notice.severity))});
  if (!notes.items.empty())
    document.sections.push_back({.heading = "Of the comparison as a whole", .blocks = {std::move(notes)}});
  write_html(document, writer);
  return {};
}

Result<void> write_compare_markdown(const CompareReportInput& input, Sink& sink) {
  auto parts = part_sections(input, defaults::compare_markdown_rows);
  if (!parts) return fail(parts.error());
  Document document{.verdict = {wording::verdict_word(input.summary.verdict),
                                words(input.current.header.suite, defaults::compare_reason_bytes)}};
  Notes notes{.items = {{.text = side_words(input.base), .label = "Base"},
                        {.text = side_words(input.current), .label = "Current"}}};
  for (const GateNotice& notice : input.gate.notices) {
    notes.items.push_back({Text{strong(std::string(wording::severity_word(notice.severity))), words(": "),
                                sentence(notice.message, 1000)}});
  }
  std::ranges::move(run_notes(input.gate).items, std::back_inserter(notes.items));
  document.sections.push_back(
      {.rank = Rank::outcome, .blocks = {Paragraph{words(verdict_words(input), 1000)}, std::move(notes)}});
  std::ranges::move(*parts, std::back_inserter(document.sections));
  write_markdown(document, {.numeric_column = "--:"}, sink);
  return {};
}

}  // namespace sluice

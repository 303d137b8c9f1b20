#include "coordinator/cli/past_runs/past_runs.hpp"

#include "common/files.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/defaults.hpp"
#include "coordinator/cli/run_flags.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/display/display.hpp"
#include "coordinator/output/json_writer.hpp"
#include "coordinator/report/wording/tones.hpp"
#include "coordinator/report/wording/wording.hpp"
#include "coordinator/report/writers/table_writer.hpp"
#include "coordinator/session/resume_run.hpp"
#include "coordinator/session/run_record.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <numeric>
#include <span>
#include <system_error>
#include <utility>

namespace sluice {
namespace {

constexpr std::size_t least_table_columns = 80;
constexpr std::size_t year_characters = 5;
constexpr std::size_t wide_gap = 2;
constexpr std::size_t indent = 2;  ///< Of a model that stands below its run.

enum Column : std::size_t { run, date, suite, mode, verdict, result, cases, model, column_count };
using Row = std::array<std::string, column_count>;
using Widths = std::array<std::size_t, column_count>;

Row row_of(const PastRun& past) {
  Row row;
  row[run] = short_id(past.run.run_id);
  row[date] = minute_of_start(past);
  row[suite] = past.run.suite;
  row[mode] = past.run.mode;
  row[model] = past.run.model;
  row[verdict] = verdict_of(past);
  row[result] = result_words(past);
  row[cases] = std::to_string(past.summary ? past.summary->statuses.total() : past.run.trials);
  for (auto& cell : row) cell = printable(cell);
  return row;
}

/// Of all but the model.
Widths widths_of(const std::vector<Row>& rows) {
  Widths widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < model; ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  return widths;
}

/// Where the last column begins.
std::size_t model_column(const Widths& widths, std::size_t gap) {
  return std::accumulate(widths.begin(), widths.begin() + model, gap * model);
}

std::size_t widest_model(const std::vector<Row>& rows) {
  std::size_t width = 0;
  for (const Row& row : rows) width = std::max(width, display_width(row[model]));
  return width;
}

/// The model, which tells runs apart, is whole: behind the rest, or below it where that has no room.
std::string model_words(const std::string& name, std::size_t column, std::size_t gap, std::size_t columns) {
  if (name.empty()) return "\n";
  if (column + display_width(name) <= columns) return std::string(gap, ' ') + name + '\n';
  std::string text = "\n";
  for (const std::string& line : wrapped(name, columns - indent))
    text += std::string(indent, ' ') + line + '\n';
  return text;
}

/// Texts bring prompts of their own, and have no such scores.
bool asked_for_claims(const RunRecord& run) {
  return !run.prompt_version.empty();
}

document::Tone tone_of_verdict(const std::string& verdict) {
  const auto known = std::ranges::find(run_verdicts, verdict, [](RunVerdict one) { return to_string(one); });
  return known == run_verdicts.end() ? document::Tone::plain : document::tone_of(*known);
}

/// A run that passed had no other warnings than failures that were known (run_verdict).
bool warns_of_known_failures_alone(const PastRun& past) {
  return command_of(past.run) == run_command && past.summary->verdict == to_string(RunVerdict::pass);
}

/// As a report counts them. Of a run that did not pass the ledger does not tell the two apart.
std::string warned_in_words(const PastRun& past) {
  const std::uint64_t warned = past.summary->statuses.warned;
  if (warned == 0) return "0 warned";
  return warns_of_known_failures_alone(past) ? wording::counted(warned, "known failure")
                                             : wording::grouped(warned) + " warned or known to fail";
}

/// How many cases of texts came to what says most of the run: `20 failed`, `3 errors`, `4 flaky`, `64
/// passed`. What other commands ask is no test that fails or passes: `40 answered`.
std::string cases_in_words(const PastRun& past) {
  const RunSummary& summary = *past.summary;
  const StatusCounts& statuses = summary.statuses;
  const std::uint64_t not_started = std::min(summary.not_started, statuses.errors);
  const bool is_tested = command_of(past.run) == run_command;
  if (is_tested && statuses.failed > 0) return wording::grouped(statuses.failed) + " failed";
  if (statuses.errors > not_started) return wording::counted(statuses.errors - not_started, "error");
  if (not_started > 0) return wording::grouped(not_started) + " not started";
  if (!is_tested) return wording::grouped(statuses.total()) + " answered";
  if (statuses.flaky > 0) return wording::grouped(statuses.flaky) + " flaky";
  const bool warns = summary.verdict == to_string(RunVerdict::review);
  if (warns && statuses.warned > 0) return wording::grouped(statuses.warned) + " warned";
  const bool is_known = statuses.passed == 0 && statuses.warned > 0 && warns_of_known_failures_alone(past);
  if (is_known) return wording::grouped(statuses.warned) + " known to fail";
  return wording::grouped(statuses.passed) + " passed";
}

/// What of the suite was asked.
std::string selection_words(const RunRecord& run) {
  if (command_of(run) == generate_command) return "the files that are worth asking about";
  if (!run.selection) return "all cases";
  if (!only_cases_of(run.flags).empty()) return "the cases that `sluice rerun` took";
  return "some of the cases (--categories, --filter or --max-fixtures)";
}

void add_summary(std::vector<RunFact>& lines, const PastRun& past) {
  const RunSummary& summary = *past.summary;
  const StatusCounts& statuses = summary.statuses;
  const std::uint64_t not_started = std::min(summary.not_started, statuses.errors);
  lines.emplace_back("completed", wording::date(summary.completed_at_ms));
  lines.emplace_back("verdict", verdict_of(past) + " (exit code " + std::to_string(summary.exit_code) + ")");
  if (!summary.reason_code.empty()) lines.emplace_back("cut short", summary.reason_code);
  if (asked_for_claims(past.run)) {
    lines.emplace_back("precision", wording::score(summary.scores.precision));
    lines.emplace_back("recall", wording::score(summary.scores.recall));
    lines.emplace_back("f1", wording::score(summary.scores.f1));
  }
  lines.emplace_back(
      "cases", wording::grouped(statuses.total()) + ": " + wording::grouped(statuses.passed) + " passed, " +
                   warned_in_words(past) + ", " + wording::grouped(statuses.flaky) + " flaky, " +
                   wording::grouped(statuses.failed) + " failed, " +
                   wording::counted(statuses.errors - not_started, "error") +
                   (not_started > 0 ? ", " + wording::grouped(not_started) + " not started" : ""));
  const auto& paid = summary.paid;
  const auto& answers = paid.of(CallKind::answer);
  const auto embedding = paid.of(CallKind::embedding).input_tokens;
  const auto& judged = paid.of(CallKind::judge);
  lines.emplace_back("paid tokens",
                     wording::grouped(answers.input_tokens) + " in, " +
                         wording::grouped(answers.output_tokens) + " out" +
                         (embedding > 0 ? ", " + wording::grouped(embedding) + " embedded" : "") +
                         (judged == Usage{} ? ""
                                            : "; for the judge " + wording::grouped(judged.input_tokens) +
                                                  " in, " + wording::grouped(judged.output_tokens) + " out"));
  lines.emplace_back("cost",
                     summary.estimated_cost
                         ? wording::dollars(*summary.estimated_cost) + " for all answers"
                         : std::string("unknown: the price table does not have the model, or nobody said "
                                       "what its answers took"));
}

void write_summary(Json& json, const PastRun& past) {
  const auto& summary = past.summary;
  const auto member = [&](std::string_view name, const auto& value_of) {
    json.key(name);
    summary ? json.value(value_of(*summary)) : json.null();
  };
  using S = RunSummary;
  member("completed_at", [](const S& s) { return wording::rfc3339(s.completed_at_ms); });
  member("verdict", [&](const S&) { return verdict_of(past); });
  member("exit_code", [](const S& s) { return s.exit_code; });
  json.key("reason_code");
  summary && !summary->reason_code.empty() ? json.value(summary->reason_code) : json.null();
  member("precision", [](const S& s) { return s.scores.precision; });
  member("recall", [](const S& s) { return s.scores.recall; });
  member("f1", [](const S& s) { return s.scores.f1; });
  member("passed", [](const S& s) { return s.statuses.passed; });
  member("warned", [](const S& s) { return s.statuses.warned; });
  member("flaky", [](const S& s) { return s.statuses.flaky; });
  member("failed", [](const S& s) { return s.statuses.failed; });
  member("errors", [](const S& s) { return s.statuses.errors; });
  for (const auto& column : paid_columns) {
    member("paid_" + std::string(column.name) + "_tokens", [&](const S& s) { return column.in(s.paid); });
  }
  member("estimated_cost", [](const S& s) { return s.estimated_cost; });
}

void write_run(Json& json, const PastRun& past) {
  json.open('{');
  json.member("run_id", past.run.run_id);
  json.member("command", command_of(past.run));
  json.member("suite", past.run.suite);
  json.member("suite_path", past.run.suite_path);
  json.member("selection", past.run.selection);
  json.member("mode", past.run.mode);
  json.member("provider", past.run.provider);
  json.member("model", past.run.model);
  const auto member_if_known = [&](std::string_view name, const std::string& text) {
    json.key(name);
    text.empty() ? json.null() : json.value(text);
  };
  member_if_known("prompt_version", past.run.prompt_version);
  member_if_known("prompt_hash", past.run.prompt_hash);
  member_if_known("config_fingerprint", past.run.config_fingerprint);
  member_if_known("plan_identity", past.run.plan_identity);
  json.member("total", past.run.trials);
  json.member("started_at", wording::rfc3339(past.run.started_at_ms));
  write_summary(json, past);
  json.member("under_way", past.under_way);
  member_if_known("resume", is_unfinished(past) ? resume_command(past.run) : std::string());
  json.close('}');
}

/// Which of them can be gone on with, and how; empty if none can.
std::string unfinished_line(const std::vector<PastRun>& runs) {
  const auto first = std::ranges::find_if(runs, is_unfinished);
  if (first == runs.end()) return "";
  const auto count = static_cast<std::size_t>(std::ranges::count_if(runs, is_unfinished));
  const std::string others =
      count == 1 ? "" : " (" + wording::counted(count - 1, "other") + " stopped before the end too)";
  return "\n" + short_id(first->run.run_id) + " stopped before its end: `" + resume_command(first->run) +
         "` goes on with it" + others + "\n";
}

}  // namespace

Result<Ledger> open_ledger(const std::filesystem::path& file, Outlives outlives) {
  if (is_read_only_folder(file.parent_path())) return Ledger::open_read_only(file);
  auto ledger = Ledger::open(file, outlives);
  if (!ledger || !ledger->upgrade()) return ledger;
  const LedgerUpgrade& upgrade = *ledger->upgrade();
  report_warning("the run ledger " + file.string() + " was brought from version " +
                 std::to_string(upgrade.from) + " to " + std::to_string(upgrade.to) + ", with its " +
                 wording::counted(upgrade.runs, "run") + " and " + wording::counted(upgrade.pins, "pin") +
                 "; an earlier sluice does not open it any more");
  return ledger;
}

Result<std::optional<Ledger>> open_past_runs(const Settings& settings) {
  const auto file = std::filesystem::path(settings.home.value) / "ledger.db";
  std::error_code error;
  const bool exists = std::filesystem::exists(file, error);
  if (!exists && !error) return std::nullopt;
  auto ledger = open_ledger(file);
  if (!ledger) return fail(ledger.error());
  return std::move(*ledger);
}

std::string verdict_of(const PastRun& past) {
  if (!past.summary) return past.under_way ? "running" : "unfinished";
  const std::string command = command_of(past.run);
  if (command == run_command) return past.summary->verdict;
  if (past.summary->exit_code != 0) return "error";
  if (command == embed_command) return "embedded";
  if (command == generate_command) return "generated";
  return command == "grade" ? "graded" : "calibrated";
}

std::string minute_of_start(const PastRun& past) {
  constexpr std::size_t minute_characters = 16;
  return wording::date(past.run.started_at_ms).substr(0, minute_characters);
}

std::string result_words(const PastRun& past) {
  if (!past.summary) return "";
  const Scores& shown = past.summary->scores;
  if (!asked_for_claims(past.run) || command_of(past.run) != run_command) return cases_in_words(past);
  const auto score = [](const std::optional<double>& one) { return padded_left(wording::score(one), 4); };
  return score(shown.precision) + ' ' + score(shown.recall) + ' ' + score(shown.f1);
}

std::string short_id(const std::string& run_id) {
  return printable(run_id.substr(0, defaults::run_id_digits));
}

std::string run_table(const std::vector<PastRun>& runs, std::size_t columns, bool colour) {
  columns = std::max(columns, least_table_columns);
  std::vector<Row> rows{{"RUN", "STARTED", "SUITE", "MODE", "VERDICT", "RESULT", "CASES", "MODEL"}};
  for (const PastRun& past : runs) rows.push_back(row_of(past));
  Widths widths = widths_of(rows);
  if (model_column(widths, wide_gap) + widest_model(rows) > columns) {
    for (Row& row : std::span(rows).subspan(1)) row[date].erase(0, year_characters);
    widths = widths_of(rows);
  }
  const std::size_t gap = model_column(widths, wide_gap) + widest_model(rows) <= columns ? wide_gap : 1;
  constexpr std::size_t least_suite = 5;
  const std::size_t wanted = display_width(rows.front()[model]);
  while (model_column(widths, gap) + wanted > columns && widths[suite] > least_suite) --widths[suite];
  std::string text;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < cases; ++i) {
      const std::string cell = padded_right(truncated_to(row[i], widths[i]), widths[i] + gap);
      text += colour && i == verdict ? painted(cell, tone_of_verdict(row[i])) : cell;
    }
    text += padded_left(row[cases], widths[cases]) +
            model_words(row[model], model_column(widths, gap), gap, columns);
  }
  return text + unfinished_line(runs);
}

std::vector<RunFact> facts_of_run(const PastRun& past) {
  const RunRecord& record = past.run;
  std::vector<RunFact> lines{
      {"run", record.run_id},
      {"command", "sluice " + command_of(record)},
      {"suite", record.suite + " (" + record.suite_path + ")"},
      {"selection", selection_words(record)},
      {"mode", record.mode},
      {"model",
       record.model + (record.model == defaults::recorded_model ? "" : " (" + record.provider + ")")}};
  if (asked_for_claims(record))
    lines.emplace_back("prompt", "v" + record.prompt_version + " (" + record.prompt_hash + ")");
  lines.emplace_back("started", wording::date(record.started_at_ms));
  if (past.summary) {
    add_summary(lines, past);
  } else {
    lines.emplace_back(
        "verdict", past.under_way ? "running: a process works on it" : "unfinished: its process was ended");
    lines.emplace_back("cases", wording::grouped(record.trials) + " planned");
  }
  if (is_unfinished(past)) lines.emplace_back("go on with", resume_command(record));
  return lines;
}

std::string run_details(const PastRun& past, bool colour) {
  std::string text;
  for (const auto& [label, words] : facts_of_run(past)) {
    const bool is_coloured = colour && label == "verdict";
    text += padded_right(label, 13) +
            (is_coloured ? painted(printable(words), tone_of_verdict(verdict_of(past))) : printable(words)) +
            '\n';
  }
  return text;
}

std::string pruned_runs(const PrunedRuns& done, bool dry_run) {
  const auto staying = [](std::uint64_t runs) { return runs == 1 ? " stays, being " : " stay, being "; };
  std::string text =
      std::string(dry_run ? "would remove " : "removed ") + wording::counted(done.runs, "run") + " with " +
      wording::counted(done.results, "result") + ", " + wording::counted(done.left, "run") + " left";
  if (done.unfinished > 0) {
    text += "; " + wording::grouped(done.unfinished) + staying(done.unfinished) +
            "without an end: it may still be going on";
  }
  if (done.needed > 0) {
    text += "; " + wording::grouped(done.needed) + staying(done.needed) +
            "the newest of their suites or what a [baseline] is from";
  }
  if (dry_run) return text + "\n";
  text += "; " + wording::counted(done.bytes_before, "byte") + " before, " +
          wording::counted(done.bytes_after, "byte") + " after";
  if (!done.compacted) text += " (another process is at work: later runs use the room)";
  return text + "\n";
}

std::string runs_as_json(const std::vector<PastRun>& runs) {
  std::string text;
  Json json(text);
  json.open('[');
  for (const PastRun& past : runs) {
    json.line(1);
    write_run(json, past);
  }
  if (!runs.empty()) text += '\n';
  json.close(']');
  return text + '\n';
}

std::string run_as_json(const PastRun& past) {
  std::string text;
  Json json(text);
  write_run(json, past);
  return text + '\n';
}

}  // namespace sluice

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
#include <filesystem>
#include <system_error>
#include <utility>

namespace sluice {
namespace {

/// Texts bring prompts of their own, and have no such scores.
bool asked_for_claims(const RunRecord& run) {
  return !run.prompt_version.empty();
}

/// A run that passed had no other warnings than failures that were known (run_verdict).
bool warns_of_known_failures_alone(const PastRun& past) {
  return command_of(past.run) == run_command && past.summary->verdict == to_string(RunVerdict::pass);
}

/// Nothing where nobody knows it.
std::optional<std::uint64_t> known_failures_of(const PastRun& past) {
  const RunSummary& summary = *past.summary;
  if (summary.known_failures) return summary.known_failures;
  const bool is_said = summary.statuses.warned == 0 || warns_of_known_failures_alone(past);
  return is_said ? std::optional(summary.statuses.warned) : std::nullopt;
}

/// As a report counts them.
std::string warned_in_words(const PastRun& past) {
  const std::uint64_t warned = past.summary->statuses.warned;
  const auto known = known_failures_of(past);
  if (!known) return wording::grouped(warned) + " warned or known to fail";
  const std::string others = wording::grouped(warned - *known) + " warned";
  if (*known == 0) return others;
  return wording::counted(*known, "known failure") + (warned > *known ? ", " + others : "");
}

/// What the answers cost, whoever paid for them, and of that what the run paid.
std::string cost_in_words(const RunSummary& summary) {
  const std::string words =
      summary.estimated_cost
          ? wording::dollars(*summary.estimated_cost) + " for all answers"
          : "unknown: the price table does not have the model, or nobody said what its answers took";
  return words + (summary.paid_cost ? "; paid in this run: " + wording::dollars(*summary.paid_cost) : "");
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
  const std::uint64_t known = known_failures_of(past).value_or(0);
  const bool warns = summary.verdict == to_string(RunVerdict::review);
  if (warns && statuses.warned > known) return wording::grouped(statuses.warned - known) + " warned";
  if (statuses.passed == 0 && known > 0) return wording::grouped(known) + " known to fail";
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
  lines.emplace_back("cost", cost_in_words(summary));
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
  member("known_failures", [&](const S&) { return known_failures_of(past); });
  member("flaky", [](const S& s) { return s.statuses.flaky; });
  member("failed", [](const S& s) { return s.statuses.failed; });
  member("errors", [](const S& s) { return s.statuses.errors; });
  for (const auto& column : paid_columns) {
    member("paid_" + std::string(column.name) + "_tokens", [&](const S& s) { return column.in(s.paid); });
  }
  member("paid_cost", [](const S& s) { return s.paid_cost; });
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

std::string painted_as(const std::string& verdict, const std::string& words) {
  const auto known = std::ranges::find(run_verdicts, verdict, [](RunVerdict one) { return to_string(one); });
  return painted(words, known == run_verdicts.end() ? document::Tone::plain : document::tone_of(*known));
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

std::string cost_words(const PastRun& past) {
  return past.summary && past.summary->paid_cost ? wording::dollars(*past.summary->paid_cost) : "";
}

std::string short_id(const std::string& run_id) {
  return printable(run_id.substr(0, defaults::run_id_digits));
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
            (is_coloured ? painted_as(verdict_of(past), printable(words)) : printable(words)) + '\n';
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

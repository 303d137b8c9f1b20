#include "common/clock.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/manifest_file.hpp"
#include "coordinator/cli/past_runs/past_runs.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/display/display.hpp"
#include "coordinator/output/output_file.hpp"
#include "coordinator/report/wording/wording.hpp"
#include "coordinator/session/baseline_run.hpp"
#include "coordinator/session/run_record.hpp"
#include "coordinator/session/suite_path.hpp"
#include "coordinator/suite/fixtures/manifest_edit.hpp"

#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

namespace sluice {
namespace {

/// Why a run's scores cannot become the baseline of a suite, and what to do; nothing if they can.
std::optional<std::string> objection_to(const PastRun& past, const std::string& suite_path,
                                        bool allow_errors) {
  const std::string name = "run " + short_id(past.run.run_id);
  if (past.run.suite_path != suite_path) {
    return name + " was of " + past.run.suite_path + ", not of " + suite_path +
           "; name that suite with --fixtures, or give a run of this one";
  }
  if (const auto command = command_of(past.run); command != run_command) {
    return name + " was made by `sluice " + command +
           "`, which judges no answers as a run does; give another with --run-id";
  }
  if (past.run.mode == to_string(Mode::mock)) {
    return name +
           " was in mode mock, whose answers no model gave; run the suite with --mode live, or give another "
           "with --run-id";
  }
  if (!past.summary) {
    return name +
           " has not finished: it is still going on, or its process was ended; give another with --run-id";
  }
  if (!past.summary->reason_code.empty()) {
    return name + " was cut short (" + past.summary->reason_code +
           "), so that its scores are those of some cases; run the suite again, or give another with "
           "--run-id";
  }
  if (past.run.selection) {
    return name +
           " was of some cases alone (--categories, --filter or --max-fixtures); run the whole suite, or "
           "give another "
           "with --run-id";
  }
  if (had_arms(past.run)) {
    return name +
           " had several arms, so that its scores are those of no one of them; run the suite again without "
           "--arm, or give another with --run-id";
  }
  const StatusCounts& statuses = past.summary->statuses;
  if (statuses.errors > 0 && !allow_errors) {
    return name + " has " + wording::counted(statuses.errors, "case error") +
           ", which its scores leave out; run the suite again, or say --allow-errors";
  }
  const Scores& scores = past.summary->scores;
  if (!scores.precision && !scores.recall && !scores.f1) {
    return name + " has neither precision nor recall nor F1: no case of it has claims that were judged";
  }
  return std::nullopt;
}

AggregateBaseline baseline_of(const PastRun& past) {
  AggregateBaseline baseline;
  baseline.precision = past.summary->scores.precision;
  baseline.recall = past.summary->scores.recall;
  baseline.f1 = past.summary->scores.f1;
  baseline.prompt_version = past.run.prompt_version;
  baseline.model = past.run.model;
  baseline.measured_at = measured_at(*past.summary);
  return baseline;
}

/// What would change, a line a key.
std::string changes(const AggregateBaseline& from, const AggregateBaseline& to) {
  std::string text;
  const auto line = [&](std::string_view key, const std::string& change) {
    text += "  " + padded_right(key, 16) + printable(change) + '\n';
  };
  const auto score = [&](std::string_view key, std::optional<double> AggregateBaseline::*value) {
    std::string change = precise_score(from.*value) + " -> " + precise_score(to.*value);
    if (from.*value && to.*value) change += " (" + signed_difference(*(to.*value) - *(from.*value)) + ")";
    line(key, change);
  };
  const auto word = [&](std::string_view key, std::string AggregateBaseline::*value) {
    const auto shown = [](const std::string& content) { return content.empty() ? "none" : content; };
    line(key, from.*value == to.*value ? shown(to.*value) + " (unchanged)"
                                       : shown(from.*value) + " -> " + shown(to.*value));
  };
  score("precision", &AggregateBaseline::precision);
  score("recall", &AggregateBaseline::recall);
  score("f1", &AggregateBaseline::f1);
  word("prompt_version", &AggregateBaseline::prompt_version);
  word("model", &AggregateBaseline::model);
  word("measured_at", &AggregateBaseline::measured_at);
  return text;
}

std::string described(const PastRun& past) {
  return "run " + short_id(past.run.run_id) + " of " + wording::date(past.run.started_at_ms) + " (" +
         past.run.mode + ", " + past.run.model + ", " +
         wording::counted(past.summary->statuses.total(), "case") + ")";
}

struct UpdateBaseline {
  SettingFlags settings;
  std::optional<std::string> run_id;
  bool force = false;
  bool allow_errors = false;

  int run() const {
    const auto effective = settings.load();
    if (!effective) return report_findings(effective.error());
    const auto file = load_manifest_file(effective->fixtures_dir.value);
    if (!file) return report_findings(file.error());
    const auto suite_path = suite_path_of(effective->fixtures_dir.value);
    const auto past = chosen_run(*effective, suite_path);
    if (!past) return report_error(past.error());
    if (const auto objection = objection_to(*past, suite_path, allow_errors)) return report_error(*objection);
    return apply(*effective, *file, *past);
  }

 private:
  Result<PastRun> chosen_run(const Settings& effective, const std::string& suite_path) const {
    const auto ledger = open_past_runs(effective);
    if (!ledger) return fail(ledger.error());
    if (*ledger && run_id) return (*ledger)->find_run(*run_id);
    if (*ledger) {
      const auto is_run = [](const PastRun& past) { return command_of(past.run) == run_command; };
      auto latest = (*ledger)->latest_run(suite_path, [&](const PastRun& past) {
        return is_run(past) && past.run.mode != to_string(Mode::mock);
      });
      // Where all were mocks, the objection to the newest says more than that there is none.
      if (latest && !*latest) latest = (*ledger)->latest_run(suite_path, is_run);
      if (!latest) return fail(latest.error());
      if (*latest) return std::move(**latest);
    }
    return fail(Reason::usage_invalid, "the run ledger of " + effective.home.value +
                                           " has no finished run of " + suite_path +
                                           "; run the suite first (`sluice run`)");
  }

  /// The run stays in the ledger for as long as its scores are the baseline's. That the manifest is written
  /// counts: a ledger that fails now is a warning.
  static void note_source(const Settings& effective, const std::string& source) {
    auto ledger = open_past_runs(effective);
    if (ledger && !*ledger) return;
    const auto noted =
        ledger ? (*ledger)->note_baseline(source, unix_now_ms()) : tl::unexpected(ledger.error());
    if (!noted) report_warning("`sluice runs prune` may remove run " + source + ": " + noted.error().message);
  }

  int apply(const Settings& effective, const ManifestFile& file, const PastRun& past) const {
    const AggregateBaseline baseline = baseline_of(past);
    // Also without --force: what could not be written is reported now.
    const auto text = with_baseline(file.text.value_or(""), baseline, file.path);
    if (!text) return report_error(text.error());
    const auto& current = file.manifest.baseline;
    const std::string before = "Current baseline: " + printable(baseline_in_words(current)) + '\n';
    const std::string delta = changes(current.value_or(AggregateBaseline{}), baseline);
    if (!force) {
      std::cout << before << "From " + printable(described(past)) + ":\n"
                << delta << "To update, re-run with --force\n";
      return exit_error;
    }
    if (const auto written = write_whole_file("manifest", file.path, *text); !written)
      return report_error(written.error());
    note_source(effective, past.run.run_id);
    std::cout << before << "Updated in " << printable(file.path) << " from " << printable(described(past))
              << ":\n"
              << delta;
    return exit_ok;
  }
};

}  // namespace

Command add_update_baseline_command(CLI::App& program) {
  auto command = std::make_shared<UpdateBaseline>();
  CLI::App* app = program.add_subcommand(
      "update-baseline", "Write a run's scores into the [baseline] of the fixtures' manifest.toml");
  app->add_option("--run-id", command->run_id, "This run, or its first digits, instead of the newest")
      ->type_name("ID");
  app->add_flag("--force", command->force, "Write the table; without it, only show the changes");
  app->add_flag("--allow-errors", command->allow_errors, "Accept a run with case errors");
  command->settings.add_to(*app, {"fixtures_dir", "home"});
  app->footer(
      "Changes only the [baseline] table; comments and everything else stay the same.\n"
      "Exit code 0: written; 2: not written, without --force, or because the run does\n"
      "not fit (cut short, case errors, some cases, arms, another suite, mode mock).\n"
      "Examples:\n"
      "  sluice update-baseline\n"
      "  sluice update-baseline --force\n"
      "  sluice update-baseline --run-id 1b4e28ba --force");
  return {app, [command] { return command->run(); }};
}

}  // namespace sluice

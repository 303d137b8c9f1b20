#include "coordinator/cli/command.hpp"
#include "coordinator/cli/defaults.hpp"
#include "coordinator/cli/past_runs/asked_again.hpp"
#include "coordinator/cli/past_runs/baseline_of_run.hpp"
#include "coordinator/cli/past_runs/named_runs.hpp"
#include "coordinator/cli/past_runs/past_answers.hpp"
#include "coordinator/cli/past_runs/past_runs.hpp"
#include "coordinator/cli/run_flags.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/display/terminal.hpp"
#include "coordinator/observations/observe.hpp"
#include "coordinator/observations/run_diff_text.hpp"
#include "coordinator/session/flag_values.hpp"
#include "coordinator/session/run_record.hpp"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace sluice {
namespace {

constexpr const char* diff_examples =
    "Shows which cases changed in status, scores or answers, with changed answers\n"
    "side by side: `|` marks lines that differ, `<` and `>` mark lines that only one\n"
    "side has. Each run is read as by `sluice show`; flags given here apply to both.\n"
    "Examples:\n"
    "  sluice diff                           # the last two runs of a suite\n"
    "  sluice diff 1b4e28ba                  # that run, and the last of its suite\n"
    "  sluice diff --status worse            # only what got worse\n"
    "  sluice diff last~2 last --filter 'tls-*' --filter category!=slow\n"
    "  sluice diff 1b4e28ba 9c3d11aa --json --all\n"
    "Exit code 0: compared, whether or not anything changed; 2: usage, runs of\n"
    "different suites, or a run that cannot be read. `sluice compare` is the gate.";

struct DiffRuns {
  SettingFlags settings;
  RunFlags flags;
  std::optional<std::string> before;
  std::optional<std::string> after;
  std::optional<std::string> status;
  bool with_unchanged = false;
  bool saved_alone = false;
  bool as_json = false;

  int run(const CacheTools& tools, const CLI::App& app) const {
    auto filters = filters_of(flags.filters);
    if (!filters) return report_error(filters.error());
    const auto effective = settings.load();
    if (!effective) return report_findings(effective.error());
    RunDiffReport report;
    report.with_unchanged = with_unchanged;
    if (status) {
      const auto change = choice_of("--status", *status, {"changed", "worse", "better"});
      if (!change) return report_error(change.error());
      report.status = static_cast<StatusChange>(*change);
    }
    std::string passed_over;
    auto named = find_runs(*effective, passed_over);
    if (!named) return report_error(named.error());
    if (!passed_over.empty()) report.notes.push_back(std::move(passed_over));
    report.runs = std::move(*named);
    report.verdicts = {verdict_of(report.runs.before), verdict_of(report.runs.after)};
    if (const auto why = not_comparable(report.runs); !why.empty()) return report_error(why);
    const WantedCases wanted{
        .filters = std::move(*filters), .allowed_paths = flags.allowed_paths, .with_judging = true};
    if (const auto why = too_many(report.runs); !why.empty() && wanted.filters.empty())
      return report_error(why);
    BeforeAndAfter<ReadRun> read;
    for (const auto& [past, to] :
         {std::pair(&report.runs.before, &read.before), std::pair(&report.runs.after, &read.after)}) {
      auto one = read_run(*past, wanted, app, *effective, tools);
      if (!one) return one.error();
      std::ranges::move(one->notes, std::back_inserter(report.notes));
      *to = std::move(*one);
    }
    if (read.before.answers.observations.empty() && read.after.answers.observations.empty())
      return report_no_result("runs " + short_id(report.runs.before.run.run_id) + " and " +
                                  short_id(report.runs.after.run.run_id) + " have",
                              wanted);
    redact_alike(read);
    std::optional<std::vector<ChangedMetric>> otherwise;
    if (read.before.judged && read.after.judged)
      otherwise = changed_metrics(*read.before.judged, *read.after.judged);
    const GateChange gate = gate_change(report.runs, *effective);
    report.diff = diff_runs(read.before.answers, read.after.answers, otherwise, gate);
    add_notes(report, gate, otherwise.has_value());
    std::cout << (as_json ? run_diff_as_json(report) : run_diff_page(report, output_columns()));
    return exit_ok;
  }

 private:
  /// One of the two runs.
  struct ReadRun {
    RunAnswers answers;
    Redactor redactor;
    std::optional<std::vector<JudgedCase>> judged;
    std::vector<std::string> notes;  ///< What limits the comparison with it.
  };

  /// Error: the exit code, after what is wrong was reported.
  tl::expected<ReadRun, int> read_run(const PastRun& past, const WantedCases& wanted, const CLI::App& app,
                                      const Settings& effective, const CacheTools& tools) const {
    const auto source = saved_alone ? TrialSource::saved : TrialSource::any;
    auto trials = trials_of(past, wanted, source, app, effective, tools);
    if (!trials) return tl::unexpected(trials.error());
    auto statuses = noted_statuses(effective, past);
    if (!statuses) return tl::unexpected(report_error(statuses.error()));
    const std::string name = "run " + short_id(past.run.run_id);
    if (trials->saved_alone == 0u)
      return tl::unexpected(report_error(name + " has nothing among the observations; leave out --saved"));
    ReadRun read;
    if (trials->prompts_are_lost)
      read.notes.push_back("what " + name +
                           " asked is not known: the suite, its prompt or what else is asked has changed "
                           "since; runs with --save-observations keep it");
    if (trials->saved_alone) read.notes.push_back(saved_note(past, *trials->saved_alone));
    read.redactor = std::move(trials->redactor);
    read.judged = std::move(trials->judged);
    read.answers = {std::move(trials->observations), std::move(*statuses), std::move(trials->lost_answers)};
    return read;
  }

  /// What is judged otherwise, or not at all any more: either may be why a status differs.
  static std::vector<ChangedMetric> changed_metrics(const std::vector<JudgedCase>& before,
                                                    const std::vector<JudgedCase>& after) {
    std::vector<ChangedMetric> changed;
    std::ranges::merge(judged_otherwise(before, after), not_judged_any_more(before, after),
                       std::back_inserter(changed));
    return changed;
  }

  /// What one run redacts is not to be shown of the other, nor to pass for a change.
  static void redact_alike(BeforeAndAfter<ReadRun>& read) {
    for (RunAnswers* one : {&read.before.answers, &read.after.answers}) {
      for (Observation& trial : one->observations) {
        redact(trial, read.before.redactor);
        redact(trial, read.after.redactor);
      }
    }
  }

  /// Those that are named, and in place of the others the last of the same suite: for `before` as
  /// fitting_run. `passed_over` says which newer ones are not it.
  Result<BeforeAndAfter<PastRun>> find_runs(const Settings& effective, std::string& passed_over) const {
    const auto ledger = open_past_runs(effective);
    if (!ledger) return fail(ledger.error());
    if (!*ledger) return fail(Reason::usage_invalid, no_run_yet);
    BeforeAndAfter<PastRun> runs;
    if (before) {
      auto found = find_run_by_any_name(**ledger, *before);
      if (!found) return fail(found.error());
      runs.before = std::move(*found);
    }
    const auto newest = (*ledger)->list_runs(defaults::max_runs_named);
    if (!newest) return fail(newest.error());
    const auto is_like = [](const PastRun& one, const PastRun& other) {
      return one.run.suite == other.run.suite && command_of(one.run) == command_of(other.run);
    };
    auto at = newest->begin();
    if (after) {
      auto found = find_run_by_any_name(**ledger, *after);
      if (!found) return fail(found.error());
      runs.after = std::move(*found);
      at = std::ranges::find(*newest, runs.after.run.run_id,
                             [](const PastRun& one) { return one.run.run_id; });
    } else {
      if (before)
        at = std::ranges::find_if(*newest, [&](const PastRun& one) { return is_like(one, runs.before); });
      if (at == newest->end()) return fail(Reason::usage_invalid, no_run_yet);
      runs.after = *at;
    }
    if (before) return runs;
    if (at != newest->end()) ++at;
    std::vector<const PastRun*> earlier;
    for (; at != newest->end(); ++at) {
      if (is_like(*at, runs.after)) earlier.push_back(&*at);
    }
    if (earlier.empty()) {
      return fail(Reason::usage_invalid,
                  "run " + short_id(runs.after.run.run_id) + " is the first of the suite \"" +
                      runs.after.run.suite +
                      "\": run it again, or name two runs of one suite (`sluice runs list`)");
    }
    const PastRun& fitting = fitting_run(runs.after, earlier);
    if (const auto newer = std::ranges::find(earlier, &fitting) - earlier.begin(); newer > 0)
      passed_over = passed_over_words(*earlier.front(), runs.after, static_cast<std::size_t>(newer));
    runs.before = fitting;
    return runs;
  }

  static std::string not_comparable(const BeforeAndAfter<PastRun>& runs) {
    const RunRecord& left = runs.before.run;
    const RunRecord& right = runs.after.run;
    if (left.run_id == right.run_id)
      return "both names are those of run " + short_id(left.run_id) + ": name two runs (`sluice runs list`)";
    if (left.suite == right.suite) return "";
    return "run " + short_id(left.run_id) + " is of the suite \"" + left.suite + "\" and run " +
           short_id(right.run_id) + " of \"" + right.suite +
           "\": their cases have nothing to do with each other; name two runs of one suite (`sluice runs "
           "list`)";
  }

  static std::string too_many(const BeforeAndAfter<PastRun>& runs) {
    const auto trials = std::max(runs.before.run.trials, runs.after.run.trials);
    if (trials <= defaults::max_diffed_trials) return "";
    return "the runs have " + wording::grouped(trials) + " trials, more than the " +
           wording::grouped(defaults::max_diffed_trials) +
           " that are compared at a time: name some with --filter";
  }

  static std::string saved_note(const PastRun& past, std::uint64_t saved) {
    return "of run " + short_id(past.run.run_id) + " " +
           wording::counted_of(saved, past.run.trials, "trial") + " " + (saved == 1 ? "is" : "are") +
           " among the observations: what it lacks may not be saved, or not any more";
  }

  static GateChange gate_change(const BeforeAndAfter<PastRun>& runs, const Settings& settings) {
    const RunRecord& left = runs.before.run;
    const RunRecord& right = runs.after.run;
    const bool are_flags_known = !left.flags.empty() && !right.flags.empty();
    const auto held_against = [&](const PastRun& past) {
      return baseline_of(past.run, copy_of_suite(settings, past));
    };
    return {.baseline =
                are_flags_known && !are_same_baseline(held_against(runs.before), held_against(runs.after)),
            .config = left.config_fingerprint.empty() || left.config_fingerprint != right.config_fingerprint};
  }

  static std::string baseline_note(std::size_t by_it_alone, bool are_listed) {
    std::string note =
        "the runs were held against different baselines, or one of them against none: what fails as it did "
        "in a baseline warns, so that a status may differ where answers do not";
    if (by_it_alone == 0) return note;
    note += "; " + wording::counted(by_it_alone, "case") + (by_it_alone == 1 ? " differs" : " differ") +
            " in nothing else";
    return note + (are_listed ? "" : by_it_alone == 1 ? " and is not listed" : " and are not listed");
  }

  static void add_notes(RunDiffReport& report, const GateChange& gate, bool knows_judging) {
    const RunRecord& left = report.runs.before.run;
    const RunRecord& right = report.runs.after.run;
    const bool are_known = !left.config_fingerprint.empty() && !right.config_fingerprint.empty();
    if (are_known && left.config_fingerprint != right.config_fingerprint)
      report.notes.push_back(
          std::string("what asks or assesses changed between the runs (suite, metrics, prompt, ontology, "
                      "model or its settings): equal answers may have other scores") +
          (knows_judging ? ""
                         : "; which metrics are judged otherwise is not known, since a run is read from the "
                           "observations or has no copy of its suite"));
    if (gate.baseline)
      report.notes.push_back(baseline_note(report.diff.by_baseline_alone(), report.with_unchanged));
    for (const PastRun* past : {&report.runs.before, &report.runs.after}) {
      const std::string name = "run " + short_id(past->run.run_id);
      if (!past->summary) report.notes.push_back(name + " has no end: what it has not answered is missing");
      if (past->run.selection) report.notes.push_back(name + " was of some of the suite's cases");
    }
    if (const auto unknown = report.diff.unknown_answers(); unknown > 0) {
      report.notes.push_back("of " + wording::counted(unknown, "trial") +
                             " an answer is in no cache any more: whether it changed is not known");
    }
  }
};

}  // namespace

Command add_diff_command(CLI::App& program, const CacheTools& tools) {
  auto command = std::make_shared<DiffRuns>();
  CLI::App* app = program.add_subcommand("diff", "Show what changed between two runs, answers side by side");
  app->add_option(
         "BEFORE", command->before,
         "A run's id, its first digits, last, or last~N (default: the last before AFTER of its suite and "
         "mode, of the same cases)")
      ->type_name("");
  app->add_option("AFTER", command->after,
                  "The same for another run (default: the last run of BEFORE's suite)")
      ->type_name("");
  auto* all = app->add_flag("--all", command->with_unchanged, "Also show unchanged cases");
  app->add_option("--status", command->status, "Only cases whose status changed, got worse or got better")
      ->excludes(all)
      ->type_name("changed|worse|better");
  app->add_flag("--json", command->as_json, "One JSON object");
  app->add_flag("--saved", command->saved_alone, "Only read the observations, not the caches");
  add_filter(*app, command->flags.filters);
  add_allow_path(*app, command->flags.allowed_paths);
  add_answer_flags(*app, command->flags);
  add_asked_settings(*app, command->settings);
  app->footer(diff_examples);
  return {app, [command, tools, app] { return command->run(tools, *app); }};
}

}  // namespace sluice

#include "common/text/printable.hpp"
#include "common/text/stderr_line.hpp"
#include "common/text/text.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/defaults.hpp"
#include "coordinator/cli/past_runs/past_runs.hpp"
#include "coordinator/cli/run/plan_estimate.hpp"
#include "coordinator/cli/run/watch_run.hpp"
#include "coordinator/cli/run_flags.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/session/flag_values.hpp"
#include "coordinator/session/resume_run.hpp"
#include "coordinator/session/run_options.hpp"
#include "coordinator/session/run_record.hpp"
#include "coordinator/session/suite_path.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <tl/expected.hpp>
#include <unistd.h>

namespace sluice {
namespace {

constexpr const char* run_examples =
    "Examples:\n"
    "  sluice run --mode live --provider openai --model gpt-4o-mini\n"
    "  sluice run --mode cached --format json --output report.json\n"
    "  sluice run --mode live --categories tls,jwt --max-fixtures 10\n"
    "  sluice run suite.yaml --mode live --export-baseline baseline.json\n"
    "  sluice run suite.yaml --baseline baseline.json --fail-on-mismatch\n"
    "  sluice run --mode robust --repeat 3 --max-fixtures 5\n"
    "  sluice run --mode cached --perturb crlf,blank-lines --min-stability 0.9\n"
    "  sluice run suite.yaml --mode live --judge openai --judge-model gpt-4o-mini\n"
    "  sluice run suite.yaml --mode live --arm mini=openai:gpt-5-mini\n"
    "    --arm haiku=anthropic:claude-haiku-4-5 --baseline-arm mini\n"
    "  sluice run suite.yaml --judge fake      # judge metrics without a model\n"
    "  sluice run --resume                     # continue the last unfinished run\n"
    "  sluice run suite.yaml --mode live --watch   # asks only what has changed\n"
    "  sluice run --mode live --listen tcp://127.0.0.1:5555\n"
    "    and on each worker's terminal: sluice-worker --connect tcp://127.0.0.1:5555\n"
    "Exit code 0: passed; 1: failures, case errors or a spent budget; 2: usage,\n"
    "settings, fixtures, set-up, or a run that was interrupted or could not go on.";

/// Whoever runs it is asked where they can answer.
bool is_confirmed(const std::string& question) {
  say(question + " Run it? [y/N]");
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

/// Two amounts below the least that reports tell apart are told apart here.
std::string bound_of(double dollars) {
  return dollars == 0 || dollars >= 0.0001 ? wording::dollars(dollars) : "$" + wording::fixed(dollars, 8);
}

/// What keeps a live run from starting that may cost more than `limit` dollars. In a dry run, in which
/// nothing is to be confirmed, a question is announced in place of asked.
std::vector<Finding> confirm_cost(const RunOptions& options, const RunInputs& inputs,
                                  const CacheTools& caches, double limit, bool dry_run) {
  const auto refuse = [](std::string message) {
    return std::vector<Finding>{{"--confirm-above", 0, std::move(message)}};
  };
  const auto estimated = estimate(options, inputs, caches);
  if (!estimated) return refuse(estimated.error().message);
  const auto cost = estimated->bill();
  if (cost && *cost <= limit) return {};
  const std::string may_cost =
      cost ? "the run may cost up to " + bound_of(*cost) + ", which is above " + bound_of(limit)
           : std::string("nobody knows what the run costs: a model has no price in the price table");
  const bool can_ask = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
  if (!can_ask) {
    return refuse(may_cost +
                  (cost ? "; raise it, or bound what is paid with --max-cost"
                        : "; name a table that has it with --prices") +
                  " (`sluice plan` shows what the run would take)");
  }
  if (dry_run) say(may_cost + ": the run asks before it begins");
  if (dry_run || is_confirmed(may_cost + ".")) return {};
  return refuse("not confirmed: nothing was called");
}

constexpr const char* rerun_examples =
    "Uses the run's own flags, except those for output files; flags given here\n"
    "override them. Without --failed, --errors or --flaky it takes all three. Answers\n"
    "come from the caches; --refresh asks again.\n"
    "Examples:\n"
    "  sluice rerun                          # of the newest that can be run again\n"
    "  sluice rerun 1b4e28ba --errors\n"
    "  sluice rerun last --flaky --refresh --repeat 5\n"
    "  sluice rerun --dry-run\n"
    "Exit codes are those of `sluice run`; 0 where nothing is to be run.";

using CheckRun = decltype(RunUse::check);

struct RunCommand {
  SettingFlags settings;
  RunFlags flags;
  std::optional<std::string> confirm_above;
  bool resumes = false;
  std::string resumed;  ///< Words for the run that goes on; empty: the last unfinished one.
  bool watches = false;

  int run(const PrepareWorkers& prepare_workers, const CacheTools& caches, CLI::App& app) {
    if (watches) {
      if (const auto code = watch()) return *code;
    }
    if (resumes) {
      if (const auto taken = take_up(app); !taken) return taken.error();
    }
    flags.given = given_flags(app, flags.only_cases);
    RunUse use;
    use.caches = &caches;
    const auto check = check_of_cost(caches, false);
    if (!check) return report_error(check.error());
    use.check = *check;
    return run_suite(settings, flags, prepare_workers, &use);
  }

  /// Empty without --confirm-above.
  Result<CheckRun> check_of_cost(const CacheTools& caches, bool dry_run) const {
    if (!confirm_above) return CheckRun();
    const auto limit = dollars_of("--confirm-above", *confirm_above);
    if (!limit) return fail(limit.error());
    return [&caches, limit = *limit, dry_run](const RunOptions& options, const RunInputs& inputs) {
      return confirm_cost(options, inputs, caches, limit, dry_run);
    };
  }

  void add_flags(CLI::App& app) {
    add_suite_flags(app, flags);
    add_answer_flags(app, flags);
    add_gate_flags(app);
    app.add_option("--confirm-above", confirm_above,
                   "Ask before a run that may cost more; refuse it without a terminal")
        ->type_name("DOLLARS");
    add_distribution_flags(app, flags);
    add_report_flags(app, flags, "table|json|markdown|junit|github|html|csv");
    app.add_flag("--report-inputs", flags.report.inputs, report_inputs_words);
    add_log_flags(app, flags);
    settings.add_to(app);
  }

  void add_watch_flag(CLI::App& app) {
    app.add_flag("--watch", watches, "Run again whenever a file of the suite changes, until Ctrl-C");
  }

  void add_resume_flag(CLI::App& app) {
    app.add_option_function<std::vector<std::string>>(
           "--resume",
           [this](const std::vector<std::string>& words) {
             resumes = true;
             if (!words.empty()) resumed = words.front();
           },
           "Continue a stopped run (default: the suite's last unfinished run)")
        ->expected(0, 1)
        ->type_name("RUN");
  }

 private:
  /// The exit code; nothing where there is no suite whose change could be awaited, as the run says.
  std::optional<int> watch() const {
    if (resumes || flags.listen)
      return report_error(
          "--watch goes with neither --resume nor --listen: it begins a run with each change");
    const auto effective = settings.load(Warnings::left_out);
    if (!effective) return report_findings(effective.error());
    const auto watched = watched_run(flags, settings.config_file(), *effective);
    if (!watched) return std::nullopt;
    return watch_run(*watched);
  }

  /// Makes the flags those of the run that goes on; what is given beside it goes before them. Error: the exit
  /// code, after it was reported.
  tl::expected<void, int> take_up(CLI::App& app) {
    const auto effective = settings.load(Warnings::left_out);
    if (!effective) return tl::unexpected(report_findings(effective.error()));
    const auto ledger = open_past_runs(*effective);
    if (!ledger) return tl::unexpected(report_error(ledger.error()));
    if (!*ledger) return tl::unexpected(report_error(no_run_yet));
    // `--resume suite.yaml` reads like a flag without a value before a suite, and is meant so.
    if (!flags.suite && !resumed.empty() && std::filesystem::exists(resumed))
      flags.suite = std::exchange(resumed, "");
    const auto past = find_unfinished(**ledger, *effective);
    if (!past) return tl::unexpected(report_error(past.error()));
    if (const auto possible = check_unfinished(*past); !possible)
      return tl::unexpected(report_error(possible.error()));
    const bool listens_elsewhere = flags.listen.has_value();
    if (const auto taken = take_flags(app, past->run.flags); !taken)
      return tl::unexpected(report_error(taken.error()));
    if (!flags.suite && effective->fixtures_dir.origin != Origin::flag) {
      flags.suite = past->run.suite_path;
      flags.suite_is_of_past_run = true;
    }
    flags.only_cases = only_cases_of(past->run.flags);
    flags.resumed_run = past->run.run_id;
    // Its workers look for it there, whatever port was free then.
    if (!listens_elsewhere && flags.listen && flags.listen->ends_with(":0") && !past->run.endpoint.empty())
      flags.listen = past->run.endpoint;
    return {};
  }

  Result<PastRun> find_unfinished(const Ledger& ledger, const Settings& effective) const {
    if (!resumed.empty()) return ledger.find_run(resumed);
    std::optional<std::string> suite;
    if (effective.fixtures_dir.origin == Origin::flag) suite = suite_path_of(effective.fixtures_dir.value);
    if (flags.suite) suite = suite_path_of(*flags.suite);
    const auto runs = ledger.list_runs(defaults::max_runs_named);
    if (!runs) return fail(runs.error());
    const auto is_of_suite = [&](const PastRun& past) { return !suite || past.run.suite_path == *suite; };
    const auto latest = std::ranges::find_if(
        *runs, [&](const PastRun& past) { return is_of_suite(past) && check_unfinished(past).has_value(); });
    if (latest != runs->end() && is_unfinished(*latest)) return *latest;
    if (latest != runs->end()) {
      const std::string id = short_id(latest->run.run_id);
      return fail(Reason::usage_invalid,
                  "run " + id + ", the last one that is unfinished, ended by " +
                      latest->summary->reason_code +
                      ", and would end so again: begin anew with other settings, or try "
                      "it all the same by `sluice run --resume " +
                      id + "`");
    }
    const std::string of_suite =
        suite ? "of " + excerpt(*suite, defaults::quoted_flag_bytes) + " " : std::string();
    return fail(Reason::usage_invalid,
                "no run " + of_suite + "is unfinished" + but_for(*runs, is_of_suite) +
                    "; `sluice runs list` shows the runs, and `sluice run` begins one");
  }

  /// What looks unfinished and cannot be gone on with: `, but run 1b4e28ba, which ...`; empty if nothing
  /// does.
  static std::string but_for(const std::vector<PastRun>& runs,
                             const std::function<bool(const PastRun&)>& is_of_suite) {
    const auto find = [&](const auto& is_so) {
      return std::ranges::find_if(runs,
                                  [&](const PastRun& past) { return is_of_suite(past) && is_so(past); });
    };
    const auto named = [](const PastRun& past) { return ", but run " + short_id(past.run.run_id) + ", "; };
    if (const auto going = find([](const PastRun& past) { return past.under_way; }); going != runs.end())
      return named(*going) + "which another process works on right now";
    const auto stopped =
        find([](const PastRun& past) { return !past.summary && command_of(past.run) != run_command; });
    if (stopped == runs.end()) return "";
    const std::string command = command_of(stopped->run);
    if (command == embed_command) return "";  // The run that it was for never began.
    return named(*stopped) + "which was made by `sluice " + printable(command) +
           "`: that command, given anew, finds in the caches what was answered";
  }

  void add_gate_flags(CLI::App& app) {
    app.add_option("--baseline", flags.baseline, "Gate against a baseline file, or a manifest.toml")
        ->type_name("FILE");
    app.add_option("--baseline-arm", flags.baseline_arm, "Gate the other arms against this arm")
        ->type_name("NAME");
    app.add_option("--export-baseline", flags.export_baseline, "Pin this run's scores in a baseline file")
        ->type_name("FILE");
    app.add_option("--harvest", flags.harvest,
                   "Add the answers of passed cases to this file of solved examples")
        ->type_name("FILE");
    app.add_flag("--allow-errors", flags.allow_errors, "Export a baseline even if cases ended in errors");
    app.add_flag("--fail-on-regression", flags.fail_on_regression,
                 "Exit with 1 if the manifest's aggregates dropped by more than --threshold");
    app.add_flag("--fail-on-mismatch", flags.fail_on_mismatch,
                 "Exit with 1 if the baseline is of another suite, settings or judge, or lacks scores");
    app.add_flag("--strict", flags.strict, "Exit with 1 for warnings too");
  }
};

/// A run as it was, of some of its cases.
struct RerunCommand {
  RunCommand run;
  std::optional<std::string> id;
  bool failed = false;
  bool errors = false;
  bool flaky = false;
  bool dry_run = false;

  int rerun(const PrepareWorkers& prepare_workers, const CacheTools& caches, CLI::App& app) {
    const auto effective = run.settings.load(Warnings::left_out);
    if (!effective) return report_findings(effective.error());
    const auto ledger = open_past_runs(*effective);
    if (!ledger) return report_error(ledger.error());
    if (!*ledger) return report_error(no_run_yet);
    const auto past = find(**ledger);
    if (!past) return report_error(past.error());
    auto cases = (*ledger)->cases_of(past->run.run_id);
    if (!cases) return report_error(cases.error());
    std::erase_if(*cases, [&](const CaseOutcome& one) { return !is_wanted(one.status); });
    if (cases->empty()) {
      say("nothing to do: " + shown(*past, *cases) + " " + wanted_words() +
          "; `sluice runs list` shows other runs to name, and `sluice run` tries every case");
      return exit_ok;
    }
    if (const auto taken = take_flags(app, past->run.flags, TakenFlags::all_but_selection); !taken)
      return report_error(taken.error());
    forget_aggregates();
    run.flags.suite = past->run.suite_path;
    run.flags.suite_is_of_past_run = true;
    for (const CaseOutcome& one : *cases) run.flags.only_cases.push_back(one.id);
    std::ranges::sort(run.flags.only_cases);
    if (dry_run) return print(*cases, *past, caches);
    if (!run.flags.quiet) say("again " + shown(*past, *cases));
    return run.run(prepare_workers, caches, app);
  }

 private:
  bool is_wanted(CaseStatus status) const {
    const bool all = !failed && !errors && !flaky;
    return (status == CaseStatus::fail && (all || failed)) ||
           (status == CaseStatus::error && (all || errors)) ||
           (status == CaseStatus::flaky && (all || flaky));
  }

  std::string wanted_words() const {
    if (!failed && !errors && !flaky) return "failed, ended in an error or are flaky";
    std::string words;
    for (const auto& [is, word] : {std::pair(failed, "failed"), std::pair(errors, "ended in an error"),
                                   std::pair(flaky, "are flaky")}) {
      if (is) words += (words.empty() ? "" : " or ") + std::string(word);
    }
    return words;
  }

  /// Without a name the newest of those that can be run again: one that has not ended may be newer.
  Result<PastRun> find(const Ledger& ledger) const {
    if (id) {
      auto past = ledger.find_run(*id);
      if (!past || can_run_again(*past)) return past;
      return fail(Reason::usage_invalid,
                  "run " + short_id(past->run.run_id) + " cannot be run again: " + why_not(*past) +
                      "; run its suite, or leave out \"" + excerpt(*id, defaults::quoted_flag_bytes) +
                      "\" for the newest that can be");
    }
    const auto runs = ledger.list_runs(defaults::max_runs_named);
    if (!runs) return fail(runs.error());
    const auto latest = std::ranges::find_if(*runs, can_run_again);
    if (latest == runs->end())
      return fail(Reason::usage_invalid, "no run has ended that can be run again; `sluice run` makes one");
    return *latest;
  }

  static bool can_run_again(const PastRun& past) {
    return past.summary && !past.run.flags.empty() && command_of(past.run) == run_command;
  }

  static std::string why_not(const PastRun& past) {
    if (!past.summary) return "it did not end";
    const std::string made_by = command_of(past.run);
    return made_by != run_command ? "it was made by `sluice " + made_by + "`" : "its flags are not recorded";
  }

  /// `2 cases of run 1b4e28ba (1 failed, 1 error)`
  static std::string shown(const PastRun& past, const std::vector<CaseOutcome>& cases) {
    StatusCounts counts;
    std::uint64_t not_started = 0;
    for (const CaseOutcome& one : cases) one.not_started ? void(++not_started) : counts.add(one.status);
    std::string kinds;
    const auto add = [&](std::uint64_t count, const std::string& text) {
      if (count > 0) kinds += (kinds.empty() ? "" : ", ") + text;
    };
    add(counts.failed, wording::grouped(counts.failed) + " failed");
    add(counts.errors, wording::counted(counts.errors, "error"));
    add(counts.flaky, wording::grouped(counts.flaky) + " flaky");
    add(not_started, wording::grouped(not_started) + " not started");
    return wording::counted(cases.size(), "case") + " of run " + short_id(past.run.run_id) +
           (kinds.empty() ? "" : " (" + kinds + ")");
  }

  /// What would run, under the flags that select, and what would keep it from starting.
  int print(const std::vector<CaseOutcome>& cases, const PastRun& past, const CacheTools& caches) const {
    const auto check = run.check_of_cost(caches, true);
    if (!check) return report_error(check.error());
    const auto loaded = load_run(run.settings, run.flags);
    if (!loaded) return loaded.error();
    const CaseList& selected = loaded->inputs.suite.cases;
    std::set<std::string_view> ids;
    for (std::size_t i = 0; i < selected.size(); ++i) ids.insert(selected.id(i));
    std::string text = "Of run " + short_id(past.run.run_id) + " (" + printable(past.run.suite_path) + "):\n";
    for (const CaseOutcome& one : cases) {
      if (ids.contains(one.id))
        text += std::string(shown_status(one.status, one.not_started)) + "  " + printable(one.id) + "\n";
    }
    std::cout << text << std::flush;
    const auto findings = *check ? (*check)(loaded->options, loaded->inputs) : std::vector<Finding>();
    return findings.empty() ? exit_ok : report_findings(findings);
  }

  /// A manifest's aggregates are those of the whole suite.
  void forget_aggregates() {
    if (!run.flags.baseline || !run.flags.baseline->ends_with(".toml")) return;
    run.flags.baseline.reset();
    run.flags.fail_on_regression = run.flags.fail_on_mismatch = false;
  }
};

}  // namespace

Command add_run_command(CLI::App& program, const PrepareWorkers& prepare_workers, const CacheTools& caches) {
  auto command = std::make_shared<RunCommand>();
  CLI::App* app = program.add_subcommand("run", "Evaluate a suite or a folder of fixtures, gate and report");
  add_suite_argument(*app, command->flags);
  command->add_resume_flag(*app);
  command->add_watch_flag(*app);
  command->add_flags(*app);
  app->footer(run_examples);
  return {app,
          [command, prepare_workers, caches, app] { return command->run(prepare_workers, caches, *app); }};
}

Command add_rerun_command(CLI::App& program, const PrepareWorkers& prepare_workers,
                          const CacheTools& caches) {
  auto command = std::make_shared<RerunCommand>();
  CLI::App* app = program.add_subcommand("rerun", "Repeat the cases of a past run that did not pass");
  app->add_option(
         "RUN", command->id,
         "The run's id, its first digits, last, or last~N (default: the newest that can be run again)")
      ->type_name("");
  app->add_flag("--failed", command->failed, "Cases that failed");
  app->add_flag("--errors", command->errors, "Cases that ended in an error or never began");
  app->add_flag("--flaky", command->flaky, "Cases whose repeats disagreed");
  app->add_flag("--dry-run", command->dry_run, "Only list the cases");
  command->run.add_flags(*app);
  app->footer(rerun_examples);
  return {app,
          [command, prepare_workers, caches, app] { return command->rerun(prepare_workers, caches, *app); }};
}

}  // namespace sluice

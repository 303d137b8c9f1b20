#include "common/clock.hpp"
#include "common/files.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/defaults.hpp"
#include "coordinator/cli/past_runs/named_runs.hpp"
#include "coordinator/cli/past_runs/past_runs.hpp"
#include "coordinator/cli/past_runs/run_table.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/display/terminal.hpp"
#include "coordinator/session/flag_values.hpp"

#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <CLI/CLI.hpp>
#include <unistd.h>

namespace sluice {
namespace {

struct ListRuns {
  SettingFlags settings;
  std::string limit = "20";
  std::string format = "table";

  int run() const {
    const auto as = choice_of("--format", format, {"table", "json"});
    if (!as) return report_error(as.error());
    const auto most = count_of("--limit", limit, defaults::max_runs_named);
    if (!most) return report_error(most.error());
    const auto effective = settings.load();
    if (!effective) return report_findings(effective.error());
    const auto ledger = open_past_runs(*effective);
    if (!ledger) return report_error(ledger.error());
    std::vector<PastRun> runs;
    if (*ledger) {
      auto listed = (*ledger)->list_runs(*most);
      if (!listed) return report_error(listed.error());
      runs = std::move(*listed);
    }
    // An empty list is none of a home that is not there: its name may be misspelt.
    const auto& home = effective->home;
    std::error_code unknown;
    if (home.origin == Origin::flag && !std::filesystem::exists(home.value, unknown))
      report_warning("there is no home " + home.value);
    if (*as == 1) {
      std::cout << runs_as_json(runs);
    } else if (runs.empty()) {
      std::cout << "No run is recorded yet; `sluice run` records one.\n";
    } else {
      std::cout << run_table(runs, output_columns(), detect_terminal(STDOUT_FILENO).colour);
    }
    return exit_ok;
  }
};

struct ShowRun {
  SettingFlags settings;
  std::string id;
  std::string format = "table";

  int run() const {
    const auto as = choice_of("--format", format, {"table", "json"});
    if (!as) return report_error(as.error());
    const auto effective = settings.load();
    if (!effective) return report_findings(effective.error());
    const auto found = find_past_run(*effective, id);
    if (!found) return report_error(found.error());
    if (!*found) return report_error(no_run_yet);
    std::cout << (*as == 1 ? run_as_json(**found)
                           : run_details(**found, detect_terminal(STDOUT_FILENO).colour));
    return exit_ok;
  }
};

struct PruneRuns {
  SettingFlags settings;
  std::optional<std::string> older_than;
  std::optional<std::string> keep;
  bool dry_run = false;

  int run() const {
    if (!older_than && !keep) {
      return report_error(
          "`sluice runs prune` needs --older-than AGE, --keep N or both; --dry-run shows what would go");
    }
    RunPrune which;
    const std::int64_t now = unix_now_ms();
    if (older_than) {
      const auto age = age_of("--older-than", *older_than);
      if (!age) return report_error(age.error());
      which.begun_before_ms = now - age->count();
    }
    if (keep) {
      const auto newest = count_of("--keep", *keep, defaults::max_runs_named);
      if (!newest) return report_error(newest.error());
      which.keep = *newest;
    }
    which.unfinished_before_ms = now - std::chrono::milliseconds(defaults::unfinished_run_age).count();
    which.dry_run = dry_run;
    const auto effective = settings.load();
    if (!effective) return report_findings(effective.error());
    if (!dry_run && is_read_only_folder(effective->home.value))
      return report_error("the home " + effective->home.value +
                          " is read-only, so that no run can be removed; --dry-run shows what would go");
    auto ledger = open_past_runs(*effective);
    if (!ledger) return report_error(ledger.error());
    PrunedRuns done;
    if (*ledger) {
      const auto pruned = (*ledger)->prune(which);
      if (!pruned) return report_error(pruned.error());
      done = *pruned;
    }
    std::cout << pruned_runs(done, dry_run);
    return exit_ok;
  }
};

void add_list_options(CLI::App& app, ListRuns& list) {
  app.add_option("--limit", list.limit, "How many to list at most (default 20)")->type_name("N");
  app.add_option("--format", list.format, "Format of the output (default table)")->type_name("table|json");
  list.settings.add_to(app, {"home"});
}

CLI::App* add_list(CLI::App& runs, ListRuns& list) {
  CLI::App* app = runs.add_subcommand("list", "List the latest runs, newest first");
  add_list_options(*app, list);
  app->footer(
      "RESULT is P, R and F1 for a suite of claims: precision, recall and F1, a dash if\n"
      "undefined. For a suite of texts it is how many cases failed, or if none did, how\n"
      "many ended in errors, were flaky, warned, or passed. COST is what the run paid,\n"
      "in dollars, where any did and the line has room. A model that does not fit into\n"
      "the line stands below it.\n"
      "Examples:\n"
      "  sluice runs list --limit 5\n"
      "  sluice runs list --format json");
  return app;
}

CLI::App* add_show(CLI::App& runs, ShowRun& show) {
  CLI::App* app = runs.add_subcommand("show", "Show everything that is recorded about a run");
  app->add_option("ID", show.id, run_or_suite_words)->required()->type_name("");
  app->add_option("--format", show.format, "Format of the output (default table)")->type_name("table|json");
  show.settings.add_to(*app, {"home"});
  app->footer(
      "Examples:\n"
      "  sluice runs show last\n"
      "  sluice runs show 1b4e28ba --format json");
  return app;
}

CLI::App* add_prune(CLI::App& runs, PruneRuns& prune) {
  CLI::App* app = runs.add_subcommand("prune", "Remove old runs from the run ledger");
  app->add_option("--older-than", prune.older_than,
                  "Remove runs that began longer ago: days (30d) or hours (12h)")
      ->type_name("AGE");
  app->add_option("--keep", prune.keep, "How many of the newest runs to keep")->type_name("N");
  app->add_flag("--dry-run", prune.dry_run, "Only say what would be removed");
  prune.settings.add_to(*app, {"home"});
  app->footer(
      "With both flags, runs that meet both conditions are removed. The newest run of\n"
      "each suite and the run of its [baseline] stay, and so does a run without an end\n"
      "for a week. Answers stay in the caches (`sluice cache prune`), and so do their\n"
      "pins.\n"
      "Examples:\n"
      "  sluice runs prune --older-than 30d --dry-run\n"
      "  sluice runs prune --keep 100\n"
      "  sluice runs prune --older-than 30d --keep 1000");
  return app;
}

}  // namespace

Command add_runs_command(CLI::App& program) {
  CLI::App* app = program.add_subcommand("runs", "List past runs, show one, or remove old ones");
  auto list = std::make_shared<ListRuns>();
  auto list_without_word = std::make_shared<ListRuns>();
  auto show = std::make_shared<ShowRun>();
  auto prune = std::make_shared<PruneRuns>();
  CLI::App* list_app = add_list(*app, *list);
  add_list_options(*app, *list_without_word);
  CLI::App* show_app = add_show(*app, *show);
  CLI::App* prune_app = add_prune(*app, *prune);
  app->require_subcommand(0, 1);
  app->footer(
      "Without a command it lists the latest runs.\n"
      "Examples:\n"
      "  sluice runs\n"
      "  sluice runs list --limit 5\n"
      "  sluice runs show 1b4e28ba\n"
      "  sluice runs prune --older-than 30d");
  return {app, [=] {
            if (show_app->parsed()) return show->run();
            if (prune_app->parsed()) return prune->run();
            return list_app->parsed() ? list->run() : list_without_word->run();
          }};
}

}  // namespace sluice

#include "coordinator/cli/command.hpp"
#include "coordinator/cli/past_runs/past_runs.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/display/terminal.hpp"
#include "coordinator/merge/quality_fold.hpp"
#include "coordinator/report/commands/quality_report.hpp"
#include "coordinator/session/flag_values.hpp"

#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace sluice {
namespace {

constexpr const char* quality_examples =
    "Examples:\n"
    "  sluice quality                       # every pair of arms that was graded\n"
    "  sluice quality --suite capitals --arm haiku --judge llm\n"
    "  sluice quality --run 4f2a --format json\n"
    "Exit code 0: printed, even if nothing fits; 2: usage, or a ledger that fails.";

struct Quality {
  SettingFlags settings;
  QualityFilter filter;
  std::string format = "table";

  int run() const {
    const auto as = choice_of("--format", format, {"table", "json"});
    if (!as) return report_error(as.error());
    if (filter.judge) {
      const auto judge = choice_of("--judge", *filter.judge, {"exact", "embedding", "llm"});
      if (!judge) return report_error(judge.error());
    }
    const auto effective = settings.load();
    if (!effective) return report_findings(effective.error());
    const auto ledger = open_past_runs(*effective);
    if (!ledger) return report_error(ledger.error());
    std::vector<QualityOfTest> tests;
    if (*ledger) {
      auto found = find(**ledger);
      if (!found) return report_error(found.error());
      tests = std::move(*found);
    } else if (filter.run_id) {
      return report_error("no run is recorded yet; `sluice grade` records one");
    }
    const auto groups = quality_by_group(tests);
    if (*as == 1) {
      std::cout << quality_json(groups, defaults::statistics::confidence);
    } else if (groups.empty()) {
      std::cout << nothing_found();
    } else {
      std::cout << quality_text(groups, defaults::statistics::confidence, output_columns());
    }
    return exit_ok;
  }

 private:
  Result<std::vector<QualityOfTest>> find(const Ledger& ledger) const {
    QualityFilter which = filter;
    if (which.run_id) {
      auto past = ledger.find_run(*which.run_id);
      if (!past) return fail(std::move(past.error()));
      which.run_id = std::move(past->run.run_id);
    }
    return ledger.quality(which);
  }

  std::string nothing_found() const {
    const bool is_filtered = filter.run_id || filter.suite || filter.arm || filter.category || filter.judge;
    return is_filtered ? "No grade fits; `sluice quality` without flags shows all.\n"
                       : "Nothing is graded yet; `sluice grade` compares two arms.\n";
  }
};

}  // namespace

Command add_quality_command(CLI::App& program) {
  auto command = std::make_shared<Quality>();
  CLI::App* app = program.add_subcommand("quality", "Show past grades of arms, by category");
  app->add_option("--run", command->filter.run_id,
                  "Only the grades of this run: its id, its first digits, last, or last~N")
      ->type_name("ID");
  app->add_option("--suite", command->filter.suite, "Only grades of this suite")->type_name("NAME");
  app->add_option("--arm", command->filter.arm, "Only pairs with this arm")->type_name("NAME");
  app->add_option("--category", command->filter.category, "Only this category")->type_name("NAME");
  app->add_option("--judge", command->filter.judge, "Only grades by this judge")
      ->type_name("exact|embedding|llm");
  app->add_option("--format", command->format, "Format of the output (default table)")
      ->type_name("table|json");
  command->settings.add_to(*app, {"home"});
  app->footer(quality_examples);
  return {app, [command] { return command->run(); }};
}

}  // namespace sluice

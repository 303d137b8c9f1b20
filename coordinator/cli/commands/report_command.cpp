#include "coordinator/cli/command.hpp"
#include "coordinator/cli/past_runs/named_runs.hpp"
#include "coordinator/cli/past_runs/past_report.hpp"
#include "coordinator/cli/past_runs/past_runs.hpp"
#include "coordinator/cli/past_runs/whole_answers.hpp"
#include "coordinator/cli/run/resumed_run.hpp"
#include "coordinator/cli/run_flags.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/session/report_options.hpp"
#include "coordinator/session/report_output.hpp"

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

namespace sluice {
namespace {

struct ReportRun {
  SettingFlags settings;
  ReportFlags report;
  std::string run_id;

  int run(const CacheTools& tools, const CLI::App& app) const {
    const auto targets = make_report_targets(report, {});
    if (!targets) return report_error(targets.error());
    const auto effective = settings.load();
    if (!effective) return report_findings(effective.error());
    const auto ledger = open_past_runs(*effective);
    if (!ledger) return report_error(ledger.error());
    if (!*ledger) return report_error(no_run_yet);
    const auto past = find_run_or_suite(**ledger, run_id);
    if (!past) return report_error(past.error());
    const auto written =
        report_past_run(*past, {app, *effective, **ledger}, *targets, [&](ReportInput input) {
          input.whole_answers = whole_answers(tools, *effective, past->run.run_id, input.redactor);
          input.with_inputs = report.inputs;
          input.home_flag = home_flag(*effective);
          return write_reports(*targets, input);
        });
    return written ? exit_ok : written.error();
  }
};

}  // namespace

Command add_report_command(CLI::App& program, const CacheTools& tools) {
  auto command = std::make_shared<ReportRun>();
  CLI::App* app = program.add_subcommand("report", "Write the report of a past run, in any format");
  app->add_option("RUN", command->run_id, run_or_suite_words)->required()->type_name("");
  app->add_option("--format", command->report.format,
                  "Format of the report (default: by the ending of --output, else table)")
      ->type_name("table|json|markdown|junit|github|html|csv");
  app->add_option("--output", command->report.output, "Write to this file instead of stdout")
      ->type_name("FILE");
  app->add_option("--report", command->report.reports, "Write a further report; may be repeated")
      ->type_name("FORMAT=FILE");
  app->add_flag("--report-inputs", command->report.inputs, report_inputs_words);
  command->settings.add_to(*app);
  app->footer(
      "Makes the report from the results in the ledger and its copy of the suite, with\n"
      "the run's own flags; the settings must still be those of the run. It makes no\n"
      "calls, changes nothing in the ledger, and overwrites no file that the run reads\n"
      "or keeps.\n"
      "Exit code 0: written, whatever the run's verdict; 2: not written.\n"
      "Examples:\n"
      "  sluice report last --output report.html\n"
      "  sluice report capitals --format markdown\n"
      "  sluice report last~1 --output cases.csv\n"
      "  sluice report 1b4e28ba --format junit --output report.xml");
  return {app, [command, tools, app] { return command->run(tools, *app); }};
}

}  // namespace sluice

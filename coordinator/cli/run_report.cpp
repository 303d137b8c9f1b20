#include "coordinator/cli/run_report.hpp"

#include "coordinator/actors/progress_actor.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/merge/aggregate.hpp"
#include "coordinator/report/output_file.hpp"
#include "coordinator/report/report.hpp"

#include <cstdlib>
#include <string>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

namespace sluice {
namespace {

/// How the table fits where it goes: the terminal's width, or 100 columns in a file or a pipe.
TableStyle table_style(bool to_terminal) {
  TableStyle style;
  style.columns = 100;
  if (!to_terminal) return style;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) style.columns = size.ws_col;
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal && std::string_view(terminal) == "dumb";
  style.colour = !dumb && (!no_colour || *no_colour == '\0');
  return style;
}

Result<void> write_report(const RunOptions& options, const ReportInput& input) {
  const bool to_terminal = !options.output && ::isatty(STDOUT_FILENO) == 1;
  const ReportWriter writer = [&](Sink& sink) {
    switch (options.format) {
      case ReportFormat::json:
        return write_json_report(input, sink);
      case ReportFormat::markdown:
        return write_markdown_report(input, sink);
      case ReportFormat::table:
        break;
    }
    return write_table_report(input, table_style(to_terminal), sink);
  };
  return options.output ? write_whole_file(*options.output, writer) : write_stdout(writer);
}

/// Why a trial has no committed result.
Error unfinished(const RunFacts& facts) {
  if (facts.cut_short) return *facts.cut_short;
  return {Reason::worker_lost, "every worker that began this trial was lost"};
}

}  // namespace

int report_run(const RunOptions& options, const RunInputs& inputs, const Plan& plan, Ledger& ledger,
               const RunFacts& facts) {
  const auto source = ledger.results_of(facts.run_id);
  const RunResults results{inputs.suite, *source, plan.trial_count(),
                           [&](TrialId trial) { return plan.case_of(trial); },
                           [&](TrialId) { return unfinished(facts); }};
  const Price price = [&](const Usage& usage) {
    return inputs.prices.cost(options.provider.provider.kind, options.provider.model, usage);
  };
  const auto aggregates = aggregate(results, price);
  if (!aggregates) return report_error(aggregates.error());
  const bool cut_short = facts.cut_short.has_value();
  const auto verdict = run_verdict(aggregates->all.statuses, cut_short);
  const int code = exit_code(verdict, cut_short);
  // After the report, which is what was paid for; a ledger that fails now does not take it away.
  const auto note_end = [&](int final_code) {
    const auto noted =
        ledger.finish_run(facts.run_id, facts.completed_at_ms, std::string(to_string(verdict)), final_code);
    return noted ? final_code : report_error(noted.error());
  };
  // A run that was stopped before it had anything to show is told in one sentence; otherwise what it has is
  // shown.
  const auto& statuses = aggregates->all.statuses;
  const bool has_results = statuses.total() > statuses.errors;
  if (!cut_short || has_results || facts.cut_short->reason == Reason::interrupted) {
    const RunIdentity identity{inputs.prompt.version, inputs.prompt.hash, inputs.ontology.version(),
                               options.provider.provider.kind, options.provider.model};
    const ReportInput input{results,
                            *aggregates,
                            verdict,
                            identity,
                            facts,
                            options.settings.mode.value,
                            price({facts.paid_input_tokens, facts.paid_output_tokens})};
    if (const auto written = write_report(options, input); !written)
      return note_end(report_error(written.error()));
  }
  if (cut_short) report_error(*facts.cut_short);
  return note_end(code);
}

}  // namespace sluice

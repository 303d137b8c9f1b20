#include "coordinator/cli/run/execute_run.hpp"

#include "common/process/logging.hpp"
#include "common/process/signals.hpp"
#include "common/text/printable.hpp"
#include "common/text/stderr_line.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/run/conduct_run.hpp"
#include "coordinator/cli/run/recorded_run.hpp"
#include "coordinator/cli/run/resumed_run.hpp"
#include "coordinator/cli/run/run_report.hpp"
#include "coordinator/cli/run_flags.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/output/output_file.hpp"
#include "coordinator/session/embedding_run.hpp"
#include "coordinator/session/harvest.hpp"
#include "coordinator/session/run_commands.hpp"
#include "coordinator/session/run_gate.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_outputs.hpp"
#include "coordinator/suite/answers/recorded_answers.hpp"
#include "coordinator/suite/fixtures/expectation_check.hpp"
#include "coordinator/suite/suite_remarks.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sluice {
namespace {

/// Which part of the suite runs, where that is not what its flags spell out.
void note_selection(const RunOptions& options, std::size_t cases) {
  if (const auto& seed = options.selection.sample_seed; seed && options.progress) {
    say(wording::counted(cases, "case") + ", sampled by category (--sample " + std::to_string(*seed) + ")");
  }
  if (cases < options.only_cases.size()) {
    const std::size_t missing = options.only_cases.size() - cases;
    report_warning(wording::counted(missing, "case") + " of the run before " + (missing == 1 ? "is" : "are") +
                   " no longer in the suite");
  }
}

/// What is probably not meant so.
void warn_of_slips(const RunOptions& options, const RunInputs& inputs) {
  if (options.log_level == LogLevel::error) return;
  for (const auto& remarks : {suite_remarks(inputs.suite), command_remarks(options, inputs.suite)}) {
    for (const std::string& remark : remarks) report_warning(options.suite_path + ": " + remark);
  }
  // A mock run passes recorded answers over as a whole.
  if (!options.answers || options.settings.mode.value == Mode::mock) return;
  if (const auto remark = passed_over_judgements(inputs.suite.cases, inputs.suite.rubrics, *options.answers))
    report_warning(*remark);
}

/// What `sluice validate-fixtures` says of the claims that cases expect, before anybody is paid for them.
std::vector<Finding> check_claims(const RunOptions& options, const RunInputs& inputs) {
  auto checked = check_expectations(inputs.suite, inputs.ontology, inputs.redactor);
  if (!checked) return {{options.suite_path, 0, checked.error().message}};
  for (Finding& finding : checked->findings) inputs.redactor.apply(finding.message);
  if (checked->warning && options.log_level != LogLevel::error) {
    inputs.redactor.apply(*checked->warning);
    report_warning(*checked->warning);
  }
  return std::move(checked->findings);
}

/// Once, before workers with such keys are refused.
void note_unused_key(const RunOptions& options) {
  if (!options.unused_key || !options.progress) return;
  say("--listen is on loopback, where workers come in without a key, and those with one are refused; to use "
      "the keys of `sluice keys new`, add --fleet-key " +
      printable(*options.unused_key));
}

/// What an embedding run left for the run that follows.
struct EmbeddedBefore {
  RunFacts facts;
  std::string endpoint;  ///< Workers that wait for the run that follows look for it there.
};

/// Has workers embed what the solved examples are found by, and finds them. Error: the exit code, after what
/// went wrong was reported. `reported`: the gate of the run that follows, for its report's files where it
/// does not come to that; null for one without a report.
tl::expected<EmbeddedBefore, int> embed_before(const RunOptions& options, RunInputs& inputs,
                                               const RunGate* reported, const Surroundings& around_run) {
  const auto run = embedding_run(options, inputs);
  if (!run) return tl::unexpected(report_error(run.error()));
  auto gate = load_gate(run->options, run->inputs);
  if (!gate) return tl::unexpected(report_error(gate.error()));
  if (options.progress) {
    say("finding solved examples by " + wording::counted(run->names.size(), "embedding"));
  }
  Surroundings around = around_run;
  around.style.is_assessed = false;
  EmbeddedBefore embedded;
  RunUse use;
  use.command = embed_command;
  use.is_kept = false;
  use.is_assessed = false;
  use.conclude = [&](const ConcludedRun& concluded) {
    EmbeddingFold fold(*run);
    const auto visited = visit_cases(concluded.results, [&](const CaseResult& result) {
      fold.add(concluded.results.case_of(result.trial), result);
    });
    if (!visited) return report_error(visited.error());
    auto retrieval = fold.retrieve(inputs, concluded.facts.cut_short);
    embedded.facts = concluded.facts;
    if (!retrieval) {
      embedded.facts.cut_short = retrieval.error();
      const int code = report_error(retrieval.error());
      if (reported == nullptr) return code;
      const auto written = report_unasked(options, inputs, *reported, embedded.facts);
      return written ? code : report_error(written.error());
    }
    inputs.retrieval = std::move(*retrieval);
    return exit_ok;
  };
  const FinishedRun end = RecordedRun(run->options, run->inputs, *gate, around, &use).run();
  if (!inputs.retrieval) return tl::unexpected(end.exit_code);
  // One that came when the run was over has stopped nothing.
  if (around.signals.has_come()) return tl::unexpected(report_error("interrupted before any test was asked"));
  embedded.endpoint = end.endpoint;
  return embedded;
}

}  // namespace

int execute_run(const RunOptions& options, Suite suite, const PrepareWorkers& prepare_workers,
                const RunUse* use) {
  SignalWatch signals(exit_error);
  signals.clean_up_with(remove_unfinished_output);
  set_log_format(options.settings.log_format.value);
  ProgressStyle style = detect_progress_style();
  style.is_assessed = use == nullptr || use->is_assessed;
  Surroundings around{prepare_workers, signals, style};
  set_up_logging(to_string(options.log_level), around.style.live && options.progress);
  if (const auto possible = check_run_outputs(options, suite); !possible)
    return report_error(possible.error());
  auto inputs = load_run_inputs(options, std::move(suite));
  if (!inputs) return report_findings(inputs.error());
  if (const auto allowed = check_commands(options, inputs->suite); !allowed)
    return report_error(allowed.error());
  warn_of_default_provider(options);
  warn_of_slips(options, *inputs);
  note_unused_key(options);
  note_selection(options, inputs->suite.cases.size());
  if (use != nullptr && use->check) {
    if (const auto findings = use->check(options, *inputs); !findings.empty())
      return report_findings(findings);
  }
  if (options.harvest) {
    if (const auto possible = check_harvest(options); !possible) return report_error(possible.error());
  }
  auto gate = load_gate(options, *inputs);
  if (!gate) return report_error(gate.error());
  if (const auto findings = check_claims(options, *inputs); !findings.empty())
    return report_findings(findings);
  const bool is_report = makes_report(use);
  around.style.is_gated = is_report && decides_beyond_checks(options, inputs->suite);
  std::optional<EmbeddedBefore> before;
  if (!options.resumed_run.empty() && awaits_embeddings(*inputs)) {
    if (const auto known = retrieve_as_before(options, *inputs); !known) return report_error(known.error());
  }
  if (awaits_embeddings(*inputs)) {
    auto embedded = embed_before(options, *inputs, is_report ? &*gate : nullptr, around);
    if (!embedded) return embedded.error();
    before = std::move(*embedded);
  }
  if (options.harvest) {
    if (const auto possible = check_harvest_without_help(*inputs); !possible)
      return report_error(possible.error());
  }
  if (!before) return RecordedRun(options, *inputs, *gate, around, use).run().exit_code;
  RunOptions following = options;
  if (following.listen) following.listen = before->endpoint;
  return RecordedRun(following, *inputs, *gate, around, use, &before->facts).run().exit_code;
}

}  // namespace sluice

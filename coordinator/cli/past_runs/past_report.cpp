#include "coordinator/cli/past_runs/past_report.hpp"

#include "common/clock.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/defaults.hpp"
#include "coordinator/cli/past_runs/asked_again.hpp"
#include "coordinator/cli/past_runs/past_details.hpp"
#include "coordinator/cli/past_runs/past_runs.hpp"
#include "coordinator/cli/run_flags.hpp"
#include "coordinator/ledger/ledger.hpp"
#include "coordinator/merge/held_results.hpp"
#include "coordinator/merge/renumbered_results.hpp"
#include "coordinator/run/recording.hpp"
#include "coordinator/run/run_tally.hpp"
#include "coordinator/session/run_gate.hpp"
#include "coordinator/session/run_outputs.hpp"
#include "coordinator/session/run_record.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>

namespace sluice {
namespace {

/// The flags of `sluice run` that say how it was gated.
struct GateFlags {
  CLI::App app;
  std::optional<std::string> baseline;
  std::optional<std::string> baseline_arm;
  bool strict = false;
  bool fail_on_regression = false;
  bool fail_on_mismatch = false;

  GateFlags() {
    app.add_option("--baseline", baseline);
    app.add_option("--baseline-arm", baseline_arm);
    app.add_flag("--strict", strict);
    app.add_flag("--fail-on-regression", fail_on_regression);
    app.add_flag("--fail-on-mismatch", fail_on_mismatch);
  }
};

Result<void> take_gate(const PastRun& past, RunOptions& options) {
  GateFlags flags;
  if (!past.run.flags.empty()) {
    if (auto taken = take_flags(flags.app, past.run.flags); !taken) return taken;
  }
  options.baseline = flags.baseline;
  options.has_pinned_scores = has_pinned_scores(past.run.flags);
  options.strict = flags.strict;
  options.fail_on_regression = flags.fail_on_regression;
  options.fail_on_mismatch = flags.fail_on_mismatch;
  if (!flags.baseline_arm) return {};
  const auto arm =
      std::ranges::find(options.arms, *flags.baseline_arm, [](const RunArm& one) { return one.arm.name; });
  if (arm != options.arms.end())
    options.baseline_arm = static_cast<std::uint32_t>(arm - options.arms.begin());
  return {};
}

/// The one that the ledger has by its name.
Reason reason_of(std::string_view name) {
  for (std::uint16_t number = 0; number <= std::numeric_limits<std::uint8_t>::max(); ++number) {
    if (const auto reason = reason_from_number(number); reason && to_string(*reason) == name) return *reason;
  }
  return Reason::interrupted;  // Of a later sluice.
}

/// What the ledger knows of it: nothing of limits, leases and workers.
Result<RunFacts> facts_of(const PastRun& past, const Plan& plan, const ResultSource& results,
                          std::optional<std::chrono::milliseconds> noted_time) {
  RunTally tally(past.run.run_id, TimePoint{});
  std::optional<UnitId> last_unit;
  const auto visited = results.visit([&](const CommittedTrial& one) {
    if (last_unit && one.unit.unit <= *last_unit) return;
    last_unit = one.unit.unit;
    // Units are numbered by the requests of then; trials are as they were.
    tally.on_spend(one.unit.spend, plan.arm_of_trial(one.trial));
  });
  if (!visited) return fail(visited.error());
  RunFacts facts = tally.facts();
  facts.started_at_ms = past.run.started_at_ms;
  facts.completed_at_ms = past.summary ? past.summary->completed_at_ms : unix_now_ms();
  // Of a run that an earlier sluice began it is not known in which hours nothing ran.
  const auto whole = std::chrono::milliseconds(facts.completed_at_ms - facts.started_at_ms);
  facts.duration_seconds = std::chrono::duration<double>(noted_time.value_or(whole)).count();
  if (!past.summary) {
    facts.cut_short =
        Error{Reason::interrupted, "run " + short_id(past.run.run_id) + " has not come to its end"};
  } else if (!past.summary->reason_code.empty()) {
    facts.cut_short =
        Error{reason_of(past.summary->reason_code),
              "run " + short_id(past.run.run_id) + " was cut short (" + past.summary->reason_code + ")"};
  }
  return facts;
}

/// Whether the results are of the requests that the plan has. Of tests among which there are others no digest
/// says it.
Result<bool> asks_as_then(const Asked& asked, const ResultSource& results) {
  if (!asked.shared) return asked.is_as_it_was;
  bool is_same = true;
  const auto visited = results.visit([&](const CommittedTrial& one) {
    is_same = is_same && one.unit.key == asked.plan->key(asked.plan->unit_of(one.trial));
  });
  if (!visited) return fail(visited.error());
  return is_same;
}

GateNotice asked_otherwise_notice() {
  return {GateNotice::Severity::info, "asked_otherwise",
          "the suite, the model or the prompts are not what this run had: prompts are left out, and its "
          "answers are gated by the limits of now.",
          false, past_run_subject};
}

/// Outcomes of then, judged by other checks, would be those of no run at all.
Result<void> check_judged_alike(const PastRun& past, const Asked& asked) {
  if (asked.shared || was_judged_alike(past.run, asked.inputs)) return {};
  const std::string id = short_id(past.run.run_id);
  if (asked.options.copy) {
    return fail(Reason::settings_invalid,
                "the settings are not those of run " + id +
                    " any more, as models, the judge or the embedder (the environment, sluice.toml or flags "
                    "given here): `sluice runs show " +
                    id + "` shows what they were");
  }
  const std::string what = notes_judging(past.run)
                               ? "the checks or settings of " + asked.options.suite_path
                               : "the tests, prompts or settings of " + asked.options.suite_path;
  return fail(
      Reason::usage_invalid,
      what + " are not those of run " + id +
          " any more: check out what they were, or run it again; `sluice diff " + id +
          " LATER` shows how the answers of a later run differ all the same, and `sluice compare` takes a "
          "baseline (--export-baseline) or JSON report that was kept of it");
}

/// What the run was asked by, where that has changed since.
void take_identity(const PastRun& past, RunInputs& inputs) {
  const std::string& then = past.run.config_fingerprint;
  if (!then.empty() && then != inputs.fingerprint) {
    inputs.fingerprint = then;
    inputs.fingerprint_parts.clear();
  }
  if (past.run.prompt_version.empty()) return;
  inputs.prompt.version = past.run.prompt_version;
  const std::string_view hex =
      std::string_view(past.run.prompt_hash).substr(past.run.prompt_hash.find(':') + 1);
  if (const auto hash = digest_from_hex(hex)) inputs.prompt.hash = *hash;
}

int not_finished(const PastRun& past) {
  return report_error("run " + short_id(past.run.run_id) +
                      " has not come to an end, so that there is nothing to report yet; go on with it by "
                      "`sluice run --resume " +
                      short_id(past.run.run_id) + "`");
}

/// It judges no tests, and its flags name arms where those of a run name files.
int is_a_grade(const PastRun& past) {
  const std::string id = short_id(past.run.run_id);
  return report_error("run " + id +
                      " was made by `sluice grade`, which compares answers and judges no tests: `sluice "
                      "quality --run " +
                      id + "` shows its grades, and `sluice show " + id + "` its answers");
}

/// Cases that failed by what was known when they ran: without their tests nothing else judges them.
Result<std::size_t> count_failed(const SharedCases& shared, const ResultSource& recorded) {
  std::size_t failed_cases = 0;
  const auto& trials = shared.trials;
  std::optional<TrialId> counted;  // The first trial of the last case that failed.
  const auto visited = recorded.visit([&](const CommittedTrial& one) {
    const auto next = std::ranges::upper_bound(trials, one.trial, {}, &RenumberedTrials::then);
    if (next != trials.begin() && one.trial < std::prev(next)->then + std::prev(next)->count) return;
    const bool failed = !one.unit.scores.empty() && has_failed(one.unit.scores.front());
    const bool is_error = one.unit.error && one.unit.scores.empty();
    if (!failed && !is_error) return;
    const auto first = *std::prev(std::ranges::upper_bound(shared.first_of_lost, one.trial));
    if (counted != first) ++failed_cases;
    counted = first;
  });
  if (!visited) return fail(visited.error());
  return failed_cases;
}

Result<ComparedCases> compared_cases(const Asked& asked, const ResultSource& recorded) {
  ComparedCases cases;
  auto judged = judged_cases(asked);
  if (!judged) return fail(judged.error());
  cases.judged = std::move(*judged);
  if (!asked.shared || asked.shared->lost.empty()) return cases;
  cases.lost = asked.shared->lost;
  const auto failed = count_failed(*asked.shared, recorded);
  if (!failed) return fail(failed.error());
  cases.lost_failed = *failed;
  return cases;
}

/// `known_failure` of a test and the baseline are in no fingerprint: the verdict alone shows that they
/// changed.
std::optional<GateNotice> other_verdict(const PastRun& past, const Asked& asked, RunVerdict now) {
  // Of some of its tests it may well be another.
  if (!past.summary || asked.shared) return std::nullopt;
  const std::string& then = past.summary->verdict;
  if (then.empty() || then == to_string(now)) return std::nullopt;
  return GateNotice{GateNotice::Severity::info, "verdict_otherwise",
                    "this run ended as `" + then + "`, and what gates it now makes it `" +
                        std::string(to_string(now)) +
                        "`: known_failure of a test, the baseline or a calibration has changed since.",
                    false, past_run_subject};
}

/// The cases without an answer that a worker had begun with when the run was cut short, by their ids.
Result<std::set<std::string, std::less<>>> begun_cases(const Ledger& ledger, const PastRun& past) {
  const auto noted = ledger.cases_of(past.run.run_id);
  if (!noted) return fail(noted.error());
  std::set<std::string, std::less<>> begun;
  for (const CaseOutcome& one : *noted) {
    if (one.status == CaseStatus::error && !one.not_started) begun.insert(one.id);
  }
  return begun;
}

/// That of the run: a judge whose calibration its ledger does not know fails nothing, as it did then.
Result<RunGate> gate_of(const Asked& asked, const Ledger& ledger) {
  auto gate = load_gate(asked.options, asked.inputs);
  if (!gate || !asked.options.settings.judge_min_kappa.value) return gate;
  auto calibrations = ledger.calibrations_of(asked.inputs.suite.name);
  if (!calibrations) return fail(std::move(calibrations.error()));
  require_calibrations(asked.options, std::move(*calibrations), *gate);
  return gate;
}

/// Makes the report of a run again, gated as its options say. Notes nothing.
Result<void> report_again(const PastRun& past, const Asked& asked, const RunFacts& facts,
                          const ResultSource& results, const Ledger& ledger, const UseReport& use) {
  const auto begun = begun_cases(ledger, past);
  if (!begun) return fail(begun.error());
  const auto gate = gate_of(asked, ledger);
  if (!gate) return fail(gate.error());
  const auto is_as_it_was = asks_as_then(asked, results);
  if (!is_as_it_was) return fail(is_as_it_was.error());
  auto run = AssessedRun::under(
      *gate, {asked.options, asked.inputs, *asked.plan, facts, results, [&](TrialId trial) {
                return facts.cut_short && !begun->contains(asked.plan->case_id(trial));
              }});
  if (!run) return fail(std::move(run.error()));
  if (auto assessed = run->assess(); !assessed) return assessed;
  std::vector<GateNotice>& notices = run->assessment().gate.notices;
  if (!*is_as_it_was) notices.push_back(asked_otherwise_notice());
  if (auto other = other_verdict(past, asked, run->assessment().verdict))
    notices.push_back(std::move(*other));
  const auto retrieval = retrieval_of(asked.inputs, run->results());
  if (!retrieval) return fail(retrieval.error());
  const AssessedRun::Beside beside{
      .retrieval = *retrieval ? &(*retrieval)->summary : nullptr,
      .is_redacted = was_redacted_by(past.run, redaction_of(asked.options.settings)),
      .prompts_are_lost = !*is_as_it_was};
  auto failures = run->report(beside, use);
  if (!failures.empty()) return fail(std::move(failures.front()));
  return {};
}

tl::expected<ComparedCases, int> report(const PastRun& past, const Asked& asked, const RunPlace& place,
                                        const UseReport& use) {
  const Ledger& ledger = place.ledger;
  const auto recorded = ledger.results_of(past.run.run_id);
  const RenumberedResults renumbered(*recorded,
                                     asked.shared ? asked.shared->trials : std::vector<RenumberedTrials>());
  // Read once: a run that goes on has more of them each time.
  const HeldResults results(asked.shared ? static_cast<const ResultSource&>(renumbered) : *recorded,
                            defaults::max_held_result_bytes);
  const auto time = ledger.time_of(past.run.run_id);
  if (!time) return tl::unexpected(report_error(time.error()));
  const auto facts = facts_of(past, *asked.plan, results, *time);
  if (!facts) return tl::unexpected(report_error(facts.error()));
  if (const auto reported = report_again(past, asked, *facts, results, ledger, use); !reported)
    return tl::unexpected(report_error(reported.error()));
  if (place.tests != Tests::shared) return ComparedCases{};
  auto cases = compared_cases(asked, *recorded);
  if (!cases) return tl::unexpected(report_error(cases.error()));
  return std::move(*cases);
}

}  // namespace

tl::expected<ComparedCases, int> report_past_run(const PastRun& past, const RunPlace& place,
                                                 const std::vector<ReportTarget>& targets,
                                                 const UseReport& use, Ends ends) {
  if (graded_arms(past.run)) return tl::unexpected(is_a_grade(past));
  if (!past.summary && ends == Ends::reached) return tl::unexpected(not_finished(past));
  RunPlace written = place;
  written.writes_files =
      std::ranges::any_of(targets, [](const ReportTarget& one) { return one.file.has_value(); });
  auto asked = plan_again(past, written);
  if (!asked) return tl::unexpected(asked.error());
  if (const auto taken = take_gate(past, (*asked)->options); !taken)
    return tl::unexpected(report_error(taken.error()));
  if (const auto alike = check_judged_alike(past, **asked); !alike)
    return tl::unexpected(report_error(alike.error()));
  take_identity(past, (*asked)->inputs);
  (*asked)->options.reports = targets;
  if (const auto possible = check_run_outputs((*asked)->options, (*asked)->inputs.suite); !possible)
    return tl::unexpected(report_error(possible.error()));
  return report(past, **asked, place, use);
}

}  // namespace sluice

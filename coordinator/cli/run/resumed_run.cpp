#include "coordinator/cli/run/resumed_run.hpp"

#include "common/clock.hpp"
#include "coordinator/cli/past_runs/asked_again.hpp"
#include "coordinator/cli/past_runs/named_runs.hpp"
#include "coordinator/cli/past_runs/past_runs.hpp"
#include "coordinator/gate/quoted.hpp"
#include "coordinator/session/report_options.hpp"
#include "coordinator/session/resume_run.hpp"
#include "coordinator/session/run_retrieval.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>

namespace sluice {
namespace {

/// What the ledger does not keep of a run: where it writes.
std::string files_again(const RunOptions& options) {
  std::string flags;
  const auto add = [&](const char* flag, const std::string& word) {
    flags += std::string(" ") + flag + " " + shell_word(word);
  };
  if (options.export_baseline) add("--export-baseline", *options.export_baseline);
  if (options.allow_errors) flags += " --allow-errors";
  if (options.report_inputs) flags += " --report-inputs";
  if (options.call_log) add("--call-log", *options.call_log);
  if (options.harvest) add("--harvest", *options.harvest);
  for (std::size_t i = 0; i < options.reports.size(); ++i) {
    const ReportTarget& report = options.reports[i];
    if (!report.file) continue;
    const std::string format(to_string(report.format));
    if (i > 0) {
      add("--report", format + "=" + *report.file);
    } else {
      add("--output", *report.file);
      if (format_of_file(*report.file) != report.format) add("--format", format);
    }
  }
  return flags;
}

Result<std::shared_ptr<EarlierPart>> earlier_part(const Plan& plan, const std::string& run_id,
                                                  Ledger& ledger) {
  auto earlier = std::make_shared<EarlierPart>(plan, run_id);
  Result<void> fits;
  const auto visited =
      ledger.visit_committed(run_id, [&](const CommittedTrial& trial, const std::string& worker) {
        if (fits) fits = earlier->add(trial, worker);
      });
  if (!visited) return fail(visited.error());
  if (!fits) return fail(std::move(fits.error()));
  const auto spends = ledger.spends_of(run_id);
  if (!spends) return fail(spends.error());
  for (const UnitSpend& one : *spends) earlier->add(one);
  return earlier;
}

/// These units are asked again.
Result<void> give_up(const std::vector<UnitSpend>& torn, const Plan& plan, const std::string& run_id,
                     Ledger& ledger) {
  std::vector<TrialId> trials;
  for (const UnitSpend& one : torn) std::ranges::copy(plan.trials_of(one.unit), std::back_inserter(trials));
  return ledger.give_up_results(run_id, trials, torn);
}

}  // namespace

std::string home_flag(const Settings& settings) {
  const auto& home = settings.home;
  return home.origin == Origin::flag ? " --home " + shell_word(home.value) : "";
}

Result<void> retrieve_as_before(const RunOptions& options, RunInputs& inputs) {
  const auto past = find_past_run(options.settings, options.resumed_run);
  if (!past) return fail(past.error());
  if (!*past) return fail(Reason::usage_invalid, no_run_yet);
  const auto events = retrievals_of(options.settings, **past);
  if (!events) return fail(events.error());
  if (!events->empty()) inputs.retrieval = retrieval_again(inputs.suite, *events);
  return {};
}

Result<RunRecord> take_up(const RunRecord& now, const Plan& plan, SuiteCopier* suite, Ledger& ledger,
                          RunController::Config& controller) {
  auto past = ledger.find_run(now.run_id);
  if (!past) return fail(std::move(past.error()));
  past->under_way = false;  // By others.
  if (auto possible = check_unfinished(*past); !possible) return fail(std::move(possible.error()));
  const auto files = [&]() -> std::string {
    const auto before = ledger.suite_of(now.run_id);
    const auto read_now = suite != nullptr ? suite->take() : nullptr;
    return before && *before && read_now ? changed_files(**before, *read_now) : "";
  };
  if (auto same = check_same_run(past->run, now, files); !same) return fail(std::move(same.error()));
  auto earlier = earlier_part(plan, now.run_id, ledger);
  if (!earlier) return fail(std::move(earlier.error()));
  if (const auto torn = (*earlier)->torn(); !torn.empty()) {
    if (auto given_up = give_up(torn, plan, now.run_id, ledger); !given_up)
      return fail(std::move(given_up.error()));
    earlier = earlier_part(plan, now.run_id, ledger);
    if (!earlier) return fail(std::move(earlier.error()));
  }
  const auto time = ledger.time_of(now.run_id);
  if (!time) return fail(time.error());
  // Of a run that an earlier sluice began it is not known in which hours nothing ran.
  (*earlier)->took(time->value_or(std::chrono::milliseconds(unix_now_ms() - past->run.started_at_ms)));
  const auto leases = ledger.leases_of(now.run_id);
  if (!leases) return fail(leases.error());
  add_noted_leases(*leases, controller);
  past->run.flags = now.flags;
  controller.earlier = std::move(*earlier);
  return std::move(past->run);
}

Result<void> reopen(const RunRecord& taken_up, Ledger& ledger) {
  // Reports, and parts after this one, are gated as this one is.
  if (auto noted = ledger.note_flags(taken_up.run_id, taken_up.flags); !noted) return noted;
  return ledger.reopen_run(taken_up.run_id);
}

Result<void> note_spent_before(const RunFacts& before, const std::string& run_id, Ledger& ledger) {
  UnitSpend spent;  // Of its first unit: the run before has one arm.
  spent.spend.calls = static_cast<std::uint32_t>(before.requests);
  spent.spend.retries = static_cast<std::uint32_t>(before.retries);
  spent.spend.rate_limited = static_cast<std::uint32_t>(before.rate_limited);
  spent.spend.paid = before.paid;
  spent.spend.unmetered = before.unmetered;
  return ledger.note_spends(run_id, {&spent, 1});
}

std::string how_to_report(const RunOptions& options, const std::string& run_id) {
  return "the run is complete: `sluice report " + short_id(run_id) + " --output FILE" +
         home_flag(options.settings) + "` writes its report to another place";
}

std::string how_to_go_on(const RunOptions& options, const Suite& suite, const std::string& run_id,
                         const std::optional<Error>& why) {
  // The answers of other machines may be gone with them, and a run that was resumed goes on by its own
  // command.
  const bool is_here = !options.listen && options.resumed_run.empty();
  // Of a home that cannot be written to nobody knows what its caches have.
  const bool is_kept = !why || (why->reason != Reason::ledger_failed && why->reason != Reason::cache_failed);
  const bool is_cached = is_here && is_kept && options.settings.mode.value == Mode::live &&
                         !options.refresh && !options.no_cache;
  // What is spent is spent: the same budget would end it at once.
  const bool needs_cost = why && why->reason == Reason::cost_budget_spent;
  const bool needs_tokens = why && why->reason == Reason::token_budget_spent;
  const std::string budget = needs_cost ? " --max-cost MORE" : needs_tokens ? " --max-tokens MORE" : "";
  // A deadline is that of each part.
  const bool reached_deadline = why && why->reason == Reason::deadline_reached;
  const std::string again = reached_deadline ? " for as long again, or until another --deadline" : "";
  return "continue with `" + resume_command(run_id, !suite.runs_command.empty()) + budget +
         files_again(options) + home_flag(options.settings) + "`" + again +
         (is_cached ? "; the same command starts a new run, and pays for no answer twice" : "");
}

}  // namespace sluice

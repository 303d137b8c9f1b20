#include "coordinator/cli/past_runs/run_entries.hpp"

#include "coordinator/cli/command.hpp"
#include "coordinator/cli/past_runs/asked_again.hpp"
#include "coordinator/cli/past_runs/past_runs.hpp"
#include "coordinator/report/wording/wording.hpp"
#include "coordinator/session/embedding_run.hpp"
#include "coordinator/session/resume_run.hpp"
#include "coordinator/session/run_plan.hpp"
#include "coordinator/session/run_record.hpp"
#include "coordinator/session/run_retrieval.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

namespace sluice {
namespace {

/// Takes what of the run was recorded out of `used`, and adds what its results were scored by.
class RunReplay {
 public:
  RunReplay(const Asked& asked, const CacheTools& tools, UsedEntries& used)
      : asked_(asked), tools_(tools), home_(asked.options.settings.home.value), used_(used) {}

  Result<void> add_results(const ResultSource& results) {
    const Plan& plan = *asked_.plan;
    struct Answered {
      Digest answer{};
      bool is_scored = false;
    };
    std::map<UnitId, Answered> units;
    const auto visited = results.visit([&](const CommittedTrial& one) {
      if (is_zero(one.unit.answer)) return;
      Answered& answered =
          units.try_emplace(plan.unit_of(one.trial), Answered{one.unit.answer}).first->second;
      answered.is_scored = answered.is_scored || !one.unit.scores.empty();
    });
    if (!visited) return fail(visited.error());
    RunSettings settings = run_settings(asked_.options, asked_.inputs, "");
    fit_judge(plan, settings);
    std::set<Digest> recorded;
    auto unit = units.begin();
    const auto next = [&]() -> Result<std::optional<WorkUnit>> {
      for (; unit != units.end(); ++unit) {
        auto work = plan.render(unit->first);
        if (!work) return fail(std::move(work.error()));
        if (work->recorded) recorded.insert(work->key);
        if (!unit->second.is_scored) continue;
        work->pinned_answer = unit->second.answer;
        ++unit;
        return std::optional(std::move(*work));
      }
      return std::optional<WorkUnit>();
    };
    if (auto added = add({home_, settings, next}); !added) return added;
    std::erase_if(used_.answers, [&](const UsedAnswer& one) { return recorded.contains(one.key); });
    return {};
  }

  /// What solved examples were found by.
  Result<void> add_examples() {
    const RunInputs& inputs = asked_.inputs;
    if (!inputs.suite.examples || embeds_here(asked_.options.settings, inputs.embedding)) return {};
    const auto before = embedding_run(asked_.options, inputs);
    if (!before) return fail(before.error());
    const auto plan = make_plan(before->options, before->inputs);
    if (!plan) return fail(plan.error());
    RunSettings settings = run_settings(before->options, before->inputs, "");
    fit_judge(**plan, settings);
    UnitId unit = 0;
    const auto next = [&]() -> Result<std::optional<WorkUnit>> {
      if (unit == (*plan)->unit_count()) return std::optional<WorkUnit>();
      auto work = (*plan)->render(unit++);
      if (!work) return fail(std::move(work.error()));
      return std::optional(std::move(*work));
    };
    return add({home_, settings, next});
  }

 private:
  Result<void> add(const ReplayedUnits& units) {
    auto found = tools_.find_used(units);
    if (!found) return fail(std::move(found.error()));
    const auto merge = [](auto& to, const auto& more) {
      to.insert(to.end(), more.begin(), more.end());
      std::ranges::sort(to);
      to.erase(std::unique(to.begin(), to.end()), to.end());
    };
    merge(used_.answers, found->answers);
    merge(used_.leased, found->leased);
    return {};
  }

  const Asked& asked_;
  const CacheTools& tools_;
  const std::filesystem::path home_;
  UsedEntries& used_;
};

/// A replay ends for want of what the cassette cannot have.
void warn_of_missing(const PastRun& past, std::uint64_t answered) {
  if (answered >= past.run.trials) return;
  report_warning(
      "run " + short_id(past.run.run_id) + " has no answer for " +
      wording::grouped(past.run.trials - answered) + " of its " + wording::counted(past.run.trials, "trial") +
      ": the cassette lacks them, and a run in cached mode ends with exit code 2 for want of them; " +
      (is_unfinished(past) ? "`" + resume_command(past.run) + "`" : "another run of the suite") +
      " asks for them");
}

/// What `sluice grade` and `calibrate-judge` ask beside the suite is no flag of a run.
int report_other_command(const PastRun& past) {
  return report_error("run " + short_id(past.run.run_id) + " was made by `sluice " + command_of(past.run) +
                      "`, and what its answers were compared with cannot be found again; leave out --run");
}

int report_changed(const PastRun& past) {
  return report_error(
      "what the answers of run " + short_id(past.run.run_id) +
      " were scored by is not known: its suite, or what asks for the answers, is not as it was; "
      "name a later run, or leave out --run");
}

}  // namespace

tl::expected<UsedEntries, int> entries_of_run(const PastRun& past, const CLI::App& command,
                                              const Settings& settings, Ledger& ledger,
                                              const CacheTools& tools) {
  auto answers = ledger.answers_of(past.run.run_id);
  if (!answers) return tl::unexpected(report_error(answers.error()));
  if (answers->empty()) {
    return tl::unexpected(report_error("run " + past.run.run_id +
                                       " has no answers to export; name one that has, or leave out --run"));
  }
  warn_of_missing(past, answers->size());
  UsedEntries used{std::move(*answers), {}};
  std::ranges::sort(used.answers);
  used.answers.erase(std::unique(used.answers.begin(), used.answers.end()), used.answers.end());
  if (!reads_beside_answers(past.run)) return used;
  if (command_of(past.run) != run_command) return tl::unexpected(report_other_command(past));
  const auto asked = plan_again(past, {command, settings, ledger});
  if (!asked) return tl::unexpected(asked.error());
  if (!(*asked)->is_as_it_was) return tl::unexpected(report_changed(past));
  RunReplay replay(**asked, tools, used);
  if (auto added = replay.add_results(*ledger.results_of(past.run.run_id)); !added)
    return tl::unexpected(report_error(added.error()));
  if (auto added = replay.add_examples(); !added) return tl::unexpected(report_error(added.error()));
  return used;
}

}  // namespace sluice

#include "coordinator/cli/run/plan_estimate.hpp"

#include "coordinator/cli/command.hpp"
#include "coordinator/cli/past_runs/past_runs.hpp"
#include "coordinator/cli/run/command_progress.hpp"
#include "coordinator/session/embedding_run.hpp"
#include "coordinator/session/run_estimate.hpp"
#include "coordinator/session/run_plan.hpp"

namespace sluice {
namespace {

/// What the latest run of each test was shown, as far as the home's ledger knows.
Result<std::vector<RetrievalEvent>> latest_retrievals(const RunOptions& options, const RunInputs& inputs) {
  const auto ledger = open_past_runs(options.settings);
  if (!ledger) return fail(ledger.error());
  if (!*ledger) return std::vector<RetrievalEvent>();
  return (*ledger)->retrievals(
      {inputs.suite.examples->plugin.name, inputs.embedding.embedding.model, inputs.suite.name});
}

/// Where nobody knows yet which examples are shown: with those that the tests were shown last, else with the
/// longest that there is.
Result<std::shared_ptr<const Plan>> plan_to_estimate(const RunOptions& options, const RunInputs& inputs) {
  if (!awaits_embeddings(inputs)) return make_plan(options, inputs, command_progress(options));
  auto few_shots = longest_few_shots(inputs.suite);
  if (!few_shots) return fail(std::move(few_shots.error()));
  const auto events = latest_retrievals(options, inputs);
  if (!events) return fail(events.error());
  const RunRetrieval latest = retrieval_again(inputs.suite, *events);
  for (const RetrievedExample& one : latest.of_cases)
    few_shots->at(one.event.case_index) = one.shown.empty() ? nullptr : share(one.shown);
  return make_plan(options, inputs, std::move(*few_shots), command_progress(options));
}

}  // namespace

Result<RunEstimate> estimate(const RunOptions& options, const RunInputs& inputs, const CacheTools& caches) {
  const auto plan = plan_to_estimate(options, inputs);
  if (!plan) return fail(plan.error());
  const Mode mode = options.settings.mode.value;
  std::vector<bool> held((*plan)->unit_count());
  if (mode != Mode::mock && !options.no_cache) {
    auto found = caches.find({options.settings.home.value, (*plan)->keys(), mode == Mode::cached});
    if (!found) return fail(std::move(found.error()));
    held = std::move(found->held);
    for (const auto& directory : found->in_use) {
      report_warning("the cache " + directory.string() +
                     " is in use by another process; what it holds is not counted");
    }
  }
  return estimate_run(options, inputs, **plan, held);
}

}  // namespace sluice

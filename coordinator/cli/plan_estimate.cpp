#include "coordinator/cli/plan_estimate.hpp"

#include "coordinator/cli/command.hpp"
#include "coordinator/session/run_estimate.hpp"
#include "coordinator/session/run_plan.hpp"

namespace sluice {

Result<RunEstimate> estimate(const RunOptions& options, const RunInputs& inputs, const CacheTools& caches) {
  const auto plan = make_plan(options, inputs);
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

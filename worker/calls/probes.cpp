#include "worker/calls/model_calls.hpp"

#include <algorithm>
#include <utility>

/// ModelCalls: calls that find out whether an outage is over, and outages that are none.
namespace sluice {

/// Whether an outage may be the fault of those who probe it: then one more may try.
bool ModelCalls::all_probes_failed() const {
  return std::ranges::any_of(providers_, [this](const auto& named) {
    if (!named.second.budget.in_outage()) return false;
    bool any = false;
    for (const auto& [id, job] : jobs_) {
      if (job.provider != &named.second) continue;
      if (job.failed_probes == 0) return false;
      any = true;
    }
    return any;
  });
}

/// Who is to probe an outage: those first whose probes failed least. A call that fails whatever its provider
/// does must not be the only one that tries.
std::vector<ModelCalls::Id> ModelCalls::probe_order(const CalledProvider& provider) const {
  std::vector<Id> ids(provider.ready.begin(), provider.ready.end());
  std::ranges::stable_sort(ids, {}, [this](Id id) { return jobs_.at(id).failed_probes; });
  return ids;
}

/// The time of an outage is not the job's, unless the outage is its own doing.
void ModelCalls::extend_deadline(Job& job) const {
  if (!job.provider) return;
  const auto out = job.provider->budget.out(at_.now);
  const auto more = out - std::exchange(job.outage_mark, out);
  if (is_own_fault(job)) return;
  job.retry.extend(more);
  job.extended += more;
}

/// After so many probes of its own, what fails is rather the call than its provider.
bool ModelCalls::is_own_fault(const Job& job) const {
  return job.failed_probes > 2 * (config_.settings.max_retries + 1);
}

}  // namespace sluice

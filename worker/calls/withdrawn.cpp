#include "worker/calls/model_calls.hpp"

#include <algorithm>
#include <set>

/// ModelCalls: units that are dropped, since somebody else has their answers or the worker leaves.
namespace sluice {

template <class Wanted>
void ModelCalls::drop_uncalled(Wanted wanted) {
  std::erase_if(queue_, [&](const SharedUnit& unit) {
    if (!wanted(unit->unit)) return false;
    returned_.push_back(unit->unit);
    return true;
  });
  std::vector<Id> ids;
  for (auto& [id, job] : jobs_) {
    const bool uncalled = job.state == Job::State::ready || job.state == Job::State::backing_off ||
                          job.state == Job::State::seeks_answer;
    if (uncalled && !job.batch() && wanted(job.unit()->unit)) ids.push_back(id);
  }
  std::ranges::sort(ids);
  for (const auto id : ids) {
    const auto job = extract(id);
    --active_units_;
    returned_.push_back(job.unit()->unit);
  }
}

void ModelCalls::drop_all_uncalled() {
  drop_uncalled([](UnitId) { return true; });
}

void ModelCalls::withdraw(const std::vector<UnitId>& units, const Moment& moment) {
  at_ = moment;
  const std::set<UnitId> wanted(units.begin(), units.end());
  drop_uncalled([&](UnitId unit) { return wanted.contains(unit); });
}

}  // namespace sluice

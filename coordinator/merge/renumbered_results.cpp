#include "coordinator/merge/renumbered_results.hpp"

#include <unordered_map>

namespace sluice {

Result<void> RenumberedResults::visit_from(TrialId first, const VisitTrial& visit) const {
  std::unordered_map<UnitId, UnitId> units;
  auto at = trials_.begin();
  // From the beginning: a unit has its number from trials that come before.
  return source_.visit([&](const CommittedTrial& one) {
    while (at != trials_.end() && one.trial >= at->then + at->count) ++at;
    if (at == trials_.end() || one.trial < at->then) return;
    const TrialId now = at->now + (one.trial - at->then);
    const UnitId unit = units.try_emplace(one.unit.unit, UnitId{now}).first->second;
    if (now < first) return;
    CommittedTrial renumbered = one;
    renumbered.trial = now;
    renumbered.unit.unit = unit;
    for (TrialScore& score : renumbered.unit.scores) score.trial = now;
    visit(renumbered);
  });
}

}  // namespace sluice

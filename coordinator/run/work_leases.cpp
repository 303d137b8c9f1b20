#include "coordinator/run/work_leases.hpp"

#include "common/defaults.hpp"
#include "coordinator/run/work_batch.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

void WorkLeases::release_returned() {
  for (const auto& [worker, unit] : dispatcher_.take_returned()) {
    if (dispatcher_.holder_of(unit) != std::optional(worker)) budget_.give_back(worker, unit);
  }
  waits_for_budget_ = false;
}

std::optional<Error> WorkLeases::hand_out(WorkerRoster& roster, TimePoint now, RunTally& tally,
                                          std::vector<ToPeer>& messages, std::vector<NotedLease>* noted) {
  const auto& with_room = dispatcher_.with_room();
  // A copy: whoever is leased enough has no room any more.
  for (const WorkerId id : std::vector(with_room.begin(), with_room.end())) {
    const auto& worker = roster.connected(id);
    for (;;) {
      const auto units = dispatcher_.lease(id, defaults::max_units_per_work, now);
      if (units.empty()) break;
      tally.on_lease(now);
      roster.mark_leased(id, units.size());
      const auto& cache = roster.cache_of(id);
      const auto too_much = send({id, worker.peer, cache}, units, messages);
      if (!too_much) return too_much.error();
      if (noted != nullptr && !cache.empty()) {
        for (const UnitId unit : units) {
          if (dispatcher_.holder_of(unit) == std::optional(id)) noted->push_back({unit, cache});
        }
      }
      if (!*too_much) continue;
      waits_for_budget_ = may_be_freed(roster);
      return waits_for_budget_ ? std::nullopt
                               : std::optional(budget_.spent((*too_much)->unit, (*too_much)->most));
    }
  }
  return std::nullopt;
}

/// What is under way, or on its way into the ledger, may yet take less than is reserved for it, also at
/// workers that get no more work.
bool WorkLeases::may_be_freed(const WorkerRoster& roster) const {
  if (dispatcher_.leased_count() + dispatcher_.recording_count() > 0) return true;
  return std::ranges::any_of(roster.connected(), [this](const auto& entry) {
    return entry.second.problem && budget_.has_reserved(entry.first);
  });
}

/// An answer that a cache holds which is there costs nothing. Nobody is sure that it is still there: where
/// the budget has no room for it, one such unit at a time is under way, and nothing else.
bool WorkLeases::reserve(const Holder& holder, UnitId id, const WorkUnit& unit, const PaidTokens& most) {
  if (budget_.reserve(holder.worker, id, most)) return true;
  PaidTokens rest = most;
  rest.of(CallKind::answer) = {};
  if (!run_.read_cache || is_zero(unit.pinned_answer)) return false;
  if (budget_.has_reservations() || !budget_.has_room(id, rest)) return false;
  const std::string& cache = dispatcher_.cache_of(id);
  const bool is_here = !holder.cache.empty() && cache == holder.cache;
  if (!is_here && !lending_.held_elsewhere(holder.worker, unit.key, cache)) return false;
  budget_.reserve_held(holder.worker, id, most);
  return true;
}

/// Sends as many of the units as the run's budget allows; the others wait again. What the first of those may
/// take, if there are any. An error: a case cannot be read.
Result<std::optional<WorkLeases::TooMuch>> WorkLeases::send(const Holder& holder,
                                                            const std::vector<UnitId>& units,
                                                            std::vector<ToPeer>& messages) {
  const WorkerId worker = holder.worker;
  WorkBatch batch(run_.run_id, holder.peer, messages);
  std::optional<TooMuch> too_much;
  for (auto at = units.begin(); at != units.end() && !too_much; ++at) {
    auto unit = plan_.render(*at);
    if (!unit) return fail(std::move(unit.error()));
    if (!pinned_answers_.empty()) unit->pinned_answer = pinned_answers_[*at];
    const auto most = budget_.limited() ? most_of(*unit, run_.judge, run_.grading) : PaidTokens();
    if (budget_.limited() && !reserve(holder, *at, *unit, most)) {
      // In reverse: each goes to the front of its queue.
      for (auto rest = units.end(); rest != at;) dispatcher_.release(worker, *--rest);
      // None of them was reserved now; what is reserved for an earlier lease there stays.
      static_cast<void>(dispatcher_.take_returned());
      too_much = TooMuch{*at, most};
      continue;
    }
    unit->lease = lease_numbers_.number(worker, *at);
    unit->held_elsewhere = lending_.held_elsewhere(worker, unit->key, dispatcher_.cache_of(*at));
    batch.add(std::move(*unit));
  }
  batch.finish();
  return too_much;
}

void WorkLeases::reserve_held(WorkerId worker, const std::vector<UnitId>& held) {
  if (!budget_.limited()) return;
  budget_.give_back_all_but(worker, held);
  for (const auto id : held) {
    if (dispatcher_.holder_of(id) != std::optional(worker)) continue;
    if (const auto unit = plan_.render(id))
      budget_.reserve_held(worker, id, most_of(*unit, run_.judge, run_.grading));
  }
}

}  // namespace sluice

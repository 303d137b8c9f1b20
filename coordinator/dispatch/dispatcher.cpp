#include "coordinator/dispatch/dispatcher.hpp"

#include "common/defaults.hpp"
#include "coordinator/dispatch/defaults.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sluice {

Dispatcher::Dispatcher(Config config, const std::vector<UnitAffinity>& units,
                       std::vector<std::string> holders)
    : config_(config), units_(units.size()), queue_(units, std::move(holders)) {}

// --- the roster ---

void Dispatcher::join(WorkerId worker, const std::string& cache_id, const std::vector<UnitId>& held,
                      TimePoint now) {
  drop_worker(worker, Ending::given_back);
  workers_[worker].last_message_at = now;
  queue_.add_worker(worker, cache_id);
  // Somebody new may hold what all the others lack.
  for (const auto unit : std::exchange(finally_missed_, {})) requeue(unit);
  for (const auto unit : held) {
    if (unit >= units_.size() || is_answered(unit) || holder_of(unit)) continue;
    if (lost_units_.erase(unit) == 0 && !queue_.remove(unit)) continue;
    add_lease(worker, unit, now);
  }
}

void Dispatcher::leave(WorkerId worker) {
  drop_worker(worker, Ending::given_back);
}

std::vector<UnitId> Dispatcher::suspect_unread(WorkerId worker) {
  std::vector<UnitId> given_up;
  const auto found = workers_.find(worker);
  if (found == workers_.end()) return given_up;
  std::vector<UnitId> unbegun;
  std::ranges::copy_if(found->second.held, std::back_inserter(unbegun),
                       [&](UnitId unit) { return is_unbegun(worker, unit); });
  for (const auto unit : unbegun) {
    auto& unread_by = unread_[unit];
    const bool is_again = !unread_by.insert(worker).second;
    const bool is_it = is_again && unbegun.size() == 1 && !others_may_read(unit);
    if (is_it || unread_by.size() >= defaults::max_unread) given_up.push_back(unit);
  }
  return given_up;
}

bool Dispatcher::others_may_read(UnitId unit) const {
  const auto& unread_by = unread_.at(unit);
  return std::ranges::any_of(workers_, [&](const auto& entry) {
    return !unread_by.contains(entry.first) && !queue_.has_missed(entry.first, unit);
  });
}

bool Dispatcher::is_for_others(WorkerId worker, UnitId unit) const {
  const auto found = unread_.find(unit);
  return found != unread_.end() && found->second.contains(worker) && others_may_read(unit);
}

std::size_t Dispatcher::drop_worker(WorkerId worker, Ending ending) {
  const auto found = workers_.find(worker);
  if (found == workers_.end()) return 0;
  std::size_t ended = 0;
  const auto held = std::move(found->second.held);
  workers_.erase(found);
  with_room_.erase(worker);
  // A unit that only this worker had yet to look for may now have been missed by everyone.
  for (const auto unit : queue_.remove_worker(worker)) finally_missed_.insert(unit);
  for (const auto unit : held) {
    const Lease* const lease = lease_of(unit, worker);
    if (lease == nullptr) continue;
    if (!is_answered(unit)) ++ended;
    if (lease->started) cut_off_.insert(unit);
    end_lease(unit, ending);
  }
  return ended;
}

void Dispatcher::on_message(WorkerId worker, TimePoint now) {
  if (const auto found = workers_.find(worker); found != workers_.end()) found->second.last_message_at = now;
}

// --- leases ---

void Dispatcher::set_window(WorkerId worker, std::uint32_t window) {
  const auto found = workers_.find(worker);
  if (found == workers_.end()) return;
  found->second.window = std::min(window, defaults::max_window);
  note_room(worker, found->second);
}

void Dispatcher::note_room(WorkerId worker, const Worker& state) {
  if (state.held.size() < state.window) {
    with_room_.insert(worker);
  } else {
    with_room_.erase(worker);
  }
}

std::uint32_t Dispatcher::place_of_lease(UnitId unit) const {
  return unit < units_.size() ? units_[unit].lease : no_lease;
}

Dispatcher::Lease* Dispatcher::lease_of(UnitId unit, WorkerId worker) {
  const auto place = place_of_lease(unit);
  return place != no_lease && leases_[place].worker == worker ? &leases_[place] : nullptr;
}

void Dispatcher::add_lease(WorkerId worker, UnitId unit, TimePoint now) {
  const auto deadline = now + config_.lease_time;
  units_[unit].lease = static_cast<std::uint32_t>(leases_.size());
  leases_.push_back({unit, worker, false, deadline});
  first_deadline_ = std::min(first_deadline_.value_or(deadline), deadline);
  auto& state = workers_.at(worker);
  state.held.insert(unit);
  note_room(worker, state);
}

bool Dispatcher::is_unbegun(WorkerId worker, UnitId unit) {
  const Lease* const lease = lease_of(unit, worker);
  return lease != nullptr && !lease->started && !is_answered(unit);
}

bool Dispatcher::erase_lease(UnitId unit) {
  const auto place = std::exchange(units_[unit].lease, no_lease);
  if (place == no_lease) return false;
  if (leases_[place].started) --started_;
  if (units_[unit].recording) --recording_leases_;
  if (place + 1 < leases_.size()) {
    leases_[place] = leases_.back();
    units_[leases_[place].unit].lease = place;
  }
  leases_.pop_back();
  return true;
}

std::vector<UnitId> Dispatcher::lease(WorkerId worker, std::size_t limit, TimePoint now) {
  std::vector<UnitId> leased;
  const auto found = workers_.find(worker);
  if (found == workers_.end()) return leased;
  const auto& state = found->second;
  if (!unread_.empty()) {
    const auto waits = [&](UnitId unit) { return is_unbegun(worker, unit); };
    limit = std::ranges::any_of(state.held, waits) ? 0 : std::min<std::size_t>(limit, 1);
  }
  std::vector<UnitId> for_others;
  while (leased.size() < limit && state.held.size() < state.window) {
    const auto unit = queue_.pop(worker);
    if (!unit) break;
    if (is_for_others(worker, *unit)) {
      for_others.push_back(*unit);
      continue;
    }
    add_lease(worker, *unit, now);
    leased.push_back(*unit);
  }
  // In reverse: each goes to the front of its queue.
  for (auto rest = for_others.size(); rest > 0;) requeue(for_others[--rest]);
  return leased;
}

void Dispatcher::started(WorkerId worker, UnitId unit, TimePoint now) {
  Lease* const lease = lease_of(unit, worker);
  if (lease == nullptr) return;
  units_[unit].begun = true;
  unread_.erase(unit);
  lease->deadline = now + config_.lease_time;
  if (is_answered(unit) || std::exchange(lease->started, true)) return;
  ++started_;
  // Who begins with one unit after the other comes to those that wait behind them.
  extend(worker, &Worker::began, Extended::not_started, now);
}

bool Dispatcher::begin_recording(UnitId unit) {
  if (unit >= units_.size() || is_answered(unit)) return false;
  units_[unit].recording = true;
  ++recording_;
  unread_.erase(unit);
  if (const auto place = place_of_lease(unit); place != no_lease) {
    ++recording_leases_;
    if (std::exchange(leases_[place].started, false)) --started_;
  }
  // A late result: it waited again, or was given up.
  if (!queue_.remove(unit) && finally_missed_.erase(unit) == 0) lost_units_.erase(unit);
  return true;
}

bool Dispatcher::settle(UnitId unit) {
  if (unit >= units_.size() || units_[unit].settled) return false;
  units_[unit].settled = true;
  cut_off_.erase(unit);
  if (units_[unit].recording) --recording_;
  ++settled_;
  queue_.forget_misses(unit);
  if (erase_lease(unit) || finally_missed_.erase(unit) > 0 || lost_units_.erase(unit) > 0) return true;
  // Committed while it waited (a lost worker's result came after all): it must not run again.
  queue_.remove(unit);
  return true;
}

void Dispatcher::release(WorkerId worker, UnitId unit) {
  if (const auto found = workers_.find(worker); found != workers_.end()) {
    found->second.held.erase(unit);
    note_room(worker, found->second);
  }
  if (lease_of(unit, worker) != nullptr) end_lease(unit, Ending::given_back);
}

void Dispatcher::give_back(WorkerId worker, UnitId unit) {
  if (holder_of(unit) == worker) units_[unit].begun = false;
  release(worker, unit);
}

void Dispatcher::missed(WorkerId worker, UnitId unit) {
  if (unit >= units_.size() || is_answered(unit)) return release(worker, unit);
  units_[unit].begun = true;
  unread_.erase(unit);
  queue_.add_miss(worker, unit);
  const bool held_here = lease_of(unit, worker) != nullptr;
  release(worker, unit);
  // It waits again, since its lease was lost meanwhile: there may be nobody left to look for it.
  if (!held_here && queue_.remove(unit)) requeue(unit);
}

void Dispatcher::end_lease(UnitId unit, Ending ending) {
  const Lease lease = leases_[units_[unit].lease];
  erase_lease(unit);
  if (is_answered(unit)) return;
  // What a silent worker did with it is not known: it may have begun, and its report was lost.
  if (!lease.started && ending == Ending::given_back) returned_.push_back({lease.worker, unit});
  // A live worker that does not bring a unit back in all that time counts, whether it reported that it began
  // or not: otherwise a unit that nobody can take would go round for ever.
  const bool counts = ending == Ending::expired || (ending == Ending::worker_lost && lease.started);
  if (counts && ++units_[unit].losses >= config_.max_losses) {
    lost_units_.insert(unit);
    unread_.erase(unit);
    return;
  }
  requeue(unit);
}

void Dispatcher::requeue(UnitId unit) {
  if (!queue_.push(unit)) finally_missed_.insert(unit);
}

void Dispatcher::excuse(WorkerId worker, TimePoint now) {
  extend(worker, &Worker::excused, Extended::all, now);
}

void Dispatcher::extend(WorkerId worker, TimePoint Worker::*last, Extended which, TimePoint now) {
  const auto found = workers_.find(worker);
  // Demands come many times a second, and so do starts; once an interval is enough.
  if (found == workers_.end() || now - found->second.*last < config_.heartbeat_interval) return;
  found->second.*last = now;
  for (const auto unit : found->second.held) {
    Lease* const lease = lease_of(unit, worker);
    if (lease == nullptr || (which == Extended::not_started && lease->started)) continue;
    lease->deadline = now + config_.lease_time;
  }
}

std::optional<WorkerId> Dispatcher::holder_of(UnitId unit) const {
  const auto place = place_of_lease(unit);
  return place == no_lease ? std::nullopt : std::optional(leases_[place].worker);
}

std::vector<Dispatcher::ReturnedLease> Dispatcher::take_returned() {
  return std::exchange(returned_, {});
}

// --- time ---

Dispatcher::Tick Dispatcher::tick(TimePoint now) {
  Tick outcome;
  const auto previous = std::exchange(last_tick_, now);
  if (previous && now - *previous > 2 * config_.heartbeat_interval) {
    outcome.clocks_restarted = true;
    for (auto& [worker, state] : workers_) state.last_message_at = now;
    for (Lease& lease : leases_) lease.deadline += now - *previous;
    return outcome;
  }
  for (const auto& [worker, state] : workers_) {
    if (now - state.last_message_at > config_.liveness * config_.heartbeat_interval)
      outcome.lost.push_back(worker);
  }
  std::ranges::sort(outcome.lost);
  for (const auto worker : outcome.lost) outcome.leases_lost += drop_worker(worker, Ending::worker_lost);

  outcome.expired = overdue(now);
  for (const auto unit : outcome.expired) {
    // No longer the worker's, so that a lone worker is offered it again until its losses are spent.
    const auto worker = *holder_of(unit);
    auto& state = workers_.at(worker);
    state.held.erase(unit);
    note_room(worker, state);
    end_lease(unit, Ending::expired);
    ++outcome.leases_lost;
  }
  return outcome;
}

/// Leases end so rarely by their deadlines that all of them are looked at only when one may have.
std::vector<UnitId> Dispatcher::overdue(TimePoint now) {
  std::vector<UnitId> units;
  if (!first_deadline_ || now <= *first_deadline_) return units;
  first_deadline_.reset();
  for (const Lease& lease : leases_) {
    if (now > lease.deadline && !is_answered(lease.unit)) {
      units.push_back(lease.unit);
    } else {
      first_deadline_ = std::min(first_deadline_.value_or(lease.deadline), lease.deadline);
    }
  }
  std::ranges::sort(units);
  return units;
}

// --- what is left ---

bool Dispatcher::finished() const {
  return settled_ + lost_units_.size() + finally_missed_.size() == units_.size();
}

bool Dispatcher::all_answered() const {
  return settled_ + recording_ + lost_units_.size() + finally_missed_.size() == units_.size();
}

std::vector<UnitId> Dispatcher::begun_units() const {
  std::vector<UnitId> begun;
  for (std::size_t unit = 0; unit < units_.size(); ++unit) {
    if (units_[unit].begun && !units_[unit].settled) begun.push_back(static_cast<UnitId>(unit));
  }
  return begun;
}

std::vector<UnitId> Dispatcher::missed_units() const {
  return {finally_missed_.begin(), finally_missed_.end()};
}

}  // namespace sluice

#include "coordinator/dispatch/work_queue.hpp"

#include "common/defaults.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace sluice {

namespace {

/// A finaliser in the manner of splitmix64: every bit of the input reaches every bit of the output.
std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ull;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

std::uint64_t hash_text(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (const char c : text) hash = mix(hash ^ static_cast<unsigned char>(c));
  return hash;
}

}  // namespace

WorkQueue::WorkQueue(std::vector<UnitAffinity> units, std::vector<std::string> holders)
    : affinities_(std::move(units)), holders_(std::move(holders)), nodes_(affinities_.size()) {
  for (UnitId unit = 0; unit < nodes_.size(); ++unit) insert(homeless_, unit, false);
}

// --- lists ---

void WorkQueue::insert(List& list, UnitId unit, bool in_front) {
  auto& node = nodes_[unit];
  node.list = &list;
  node.before = in_front ? none : list.last;
  node.after = in_front ? list.first : none;
  (node.before == none ? list.first : nodes_[node.before].after) = unit;
  (node.after == none ? list.last : nodes_[node.after].before) = unit;
  ++list.size;
  ++size_;
}

UnitId WorkQueue::take(UnitId unit) {
  const auto node = std::exchange(nodes_[unit], Node());
  (node.before == none ? node.list->first : nodes_[node.before].after) = node.after;
  (node.after == none ? node.list->last : nodes_[node.after].before) = node.before;
  --node.list->size;
  --size_;
  return unit;
}

bool WorkQueue::remove(UnitId unit) {
  if (!nodes_[unit].list) return false;
  take(unit);
  return true;
}

// --- workers ---

void WorkQueue::add_worker(WorkerId worker, const std::string& cache_id) {
  const auto waiting = take_all();
  queues_[worker] = Queue{cache_id, hash_text(cache_id), {}, {}};
  caches_seen_.insert(cache_id);
  deal(waiting);
}

std::vector<UnitId> WorkQueue::remove_worker(WorkerId worker) {
  const auto waiting = take_all();
  queues_.erase(worker);
  for (auto entry = misses_.begin(); entry != misses_.end();) {
    entry->second.erase(worker);
    entry = entry->second.empty() ? misses_.erase(entry) : std::next(entry);
  }
  return deal(waiting);
}

void WorkQueue::wait_for_holders() {
  wait_for_holders_ = true;
  deal(take_all());
}

void WorkQueue::add_lender(const std::string& cache_id) {
  if (caches_seen_.insert(cache_id).second && absent_.size > 0) deal(take_all());
}

void WorkQueue::end_wait_for_holders() {
  if (!std::exchange(wait_for_holders_, false) || absent_.size == 0) return;
  deal(take_all());
}

const std::string& WorkQueue::cache_of(UnitId unit) const {
  static const std::string nobody;
  const auto holder = affinities_[unit].holder;
  return holder > 0 ? holders_[holder - 1] : nobody;
}

bool WorkQueue::has_missed(WorkerId worker, UnitId unit) const {
  if (misses_.empty()) return false;
  const auto found = misses_.find(unit);
  return found != misses_.end() && found->second.contains(worker);
}

bool WorkQueue::awaits_holder(UnitId unit) const {
  return wait_for_holders_ && affinities_[unit].holder > 0 && !caches_seen_.contains(cache_of(unit));
}

WorkQueue::Queue* WorkQueue::best_queue(UnitId unit) {
  const auto& affinity = affinities_[unit];
  const auto& holder = cache_of(unit);
  Queue* best = nullptr;
  std::pair<bool, std::uint64_t> best_rank;
  WorkerId best_worker = 0;
  for (auto& [worker, queue] : queues_) {
    if (has_missed(worker, unit)) continue;
    const bool holds = affinity.holder > 0 && holder == queue.cache_id;
    const std::pair rank{holds, mix(affinity.key_hash ^ queue.cache_hash)};
    // Workers of one process share a cache and so a rank: the instance id decides, spread by the key.
    const auto tie = mix(affinity.key_hash ^ worker);
    if (!best || rank > best_rank || (rank == best_rank && tie > mix(affinity.key_hash ^ best_worker))) {
      best = &queue;
      best_rank = rank;
      best_worker = worker;
    }
  }
  return best;
}

std::vector<UnitId> WorkQueue::take_all() {
  std::vector<UnitId> units;
  units.reserve(size_);
  for (UnitId unit = 0; unit < nodes_.size(); ++unit) {
    if (nodes_[unit].list) units.push_back(take(unit));
  }
  return units;
}

/// Returns those that everybody has missed.
std::vector<UnitId> WorkQueue::deal(const std::vector<UnitId>& units) {
  std::vector<UnitId> unplaced;
  for (const auto unit : units) {
    if (!put(unit, false)) unplaced.push_back(unit);
  }
  return unplaced;
}

bool WorkQueue::put(UnitId unit, bool in_front) {
  if (queues_.empty()) {
    insert(homeless_, unit, in_front);
  } else if (awaits_holder(unit)) {
    insert(absent_, unit, in_front);
  } else if (auto* queue = best_queue(unit)) {
    insert(misses_.contains(unit) ? queue->missed : queue->fresh, unit, in_front);
  } else {
    return false;
  }
  return true;
}

// --- units ---

bool WorkQueue::push(UnitId unit) {
  return put(unit, true);
}

std::optional<UnitId> WorkQueue::pop(WorkerId worker) {
  const auto own = queues_.find(worker);
  if (own == queues_.end() || size_ == 0) return std::nullopt;
  // What is in the own queue was not missed here; what others have missed has waited before.
  for (const auto* list : {&own->second.missed, &own->second.fresh}) {
    if (list->size == 0) continue;
    ++looked_at_;
    return take(list->first);
  }
  std::vector<Queue*> others;
  for (auto& [other, queue] : queues_) {
    if (other != worker && queue.size() > 0) others.push_back(&queue);
  }
  std::ranges::sort(others, [](const Queue* a, const Queue* b) {
    return std::pair(b->size(), a->cache_id) < std::pair(a->size(), b->cache_id);
  });
  for (auto* queue : others) {
    if (const auto unit = pop_from(worker, *queue)) return unit;
  }
  return std::nullopt;
}

/// From the back: what its owner would reach last.
std::optional<UnitId> WorkQueue::pop_from(WorkerId worker, Queue& other) {
  if (other.fresh.size > 0) {
    ++looked_at_;
    return take(other.fresh.last);
  }
  auto unit = other.missed.last;
  for (std::size_t look = 0; look < defaults::missed_units_looked_at && unit != none; ++look) {
    ++looked_at_;
    if (!has_missed(worker, unit)) return take(unit);
    unit = nodes_[unit].before;
  }
  return std::nullopt;
}

}  // namespace sluice

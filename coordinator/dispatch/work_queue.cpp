#include "coordinator/dispatch/work_queue.hpp"

#include <algorithm>
#include <numeric>
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
    : affinities_(std::move(units)), holders_(std::move(holders)), homeless_(affinities_.size()) {
  std::iota(homeless_.begin(), homeless_.end(), UnitId{0});
  size_ = homeless_.size();
}

void WorkQueue::add_worker(WorkerId worker, const std::string& cache_id) {
  auto waiting = take_all();
  queues_[worker] = Queue{cache_id, hash_text(cache_id), {}};
  deal(std::move(waiting));
}

void WorkQueue::remove_worker(WorkerId worker) {
  auto waiting = take_all();
  queues_.erase(worker);
  deal(std::move(waiting));
}

const std::string& WorkQueue::cache_of(UnitId unit) const {
  static const std::string nobody;
  const auto holder = affinities_[unit].holder;
  return holder > 0 ? holders_[holder - 1] : nobody;
}

WorkQueue::Queue* WorkQueue::best_queue(UnitId unit, const std::function<bool(WorkerId)>& allowed) {
  const auto& affinity = affinities_[unit];
  Queue* best = nullptr;
  std::pair<bool, std::uint64_t> best_rank;
  WorkerId best_worker = 0;
  for (auto& [worker, queue] : queues_) {
    if (!allowed(worker)) continue;
    const bool holds = affinity.holder > 0 && holders_[affinity.holder - 1] == queue.cache_id;
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

void WorkQueue::deal(std::vector<UnitId> units) {
  const auto anyone = [](WorkerId) { return true; };
  for (const auto unit : units) {
    if (auto* queue = best_queue(unit, anyone)) {
      queue->units.push_back(unit);
    } else {
      homeless_.push_back(unit);
    }
  }
  size_ += units.size();
}

std::vector<UnitId> WorkQueue::take_all() {
  std::vector<UnitId> units(homeless_.begin(), homeless_.end());
  homeless_.clear();
  for (auto& [worker, queue] : queues_) {
    units.insert(units.end(), queue.units.begin(), queue.units.end());
    queue.units.clear();
  }
  std::ranges::sort(units);
  size_ = 0;
  return units;
}

bool WorkQueue::push(UnitId unit, const std::function<bool(WorkerId)>& allowed) {
  if (queues_.empty()) {
    homeless_.push_front(unit);
    ++size_;
    return true;
  }
  auto* queue = best_queue(unit, allowed);
  if (!queue) return false;
  queue->units.push_front(unit);
  ++size_;
  return true;
}

bool WorkQueue::remove(UnitId unit) {
  const auto remove_from = [&](std::deque<UnitId>& units) {
    const auto found = std::ranges::find(units, unit);
    if (found == units.end()) return false;
    units.erase(found);
    --size_;
    return true;
  };
  if (remove_from(homeless_)) return true;
  return std::ranges::any_of(queues_, [&](auto& entry) { return remove_from(entry.second.units); });
}

std::optional<UnitId> WorkQueue::pop(WorkerId worker, const std::function<bool(UnitId)>& allowed) {
  const auto own = queues_.find(worker);
  if (own == queues_.end() || size_ == 0) return std::nullopt;
  const auto take = [&](std::deque<UnitId>& units, auto position) {
    const auto unit = *position;
    units.erase(position);
    --size_;
    return unit;
  };
  auto& units = own->second.units;
  if (const auto first = std::ranges::find_if(units, allowed); first != units.end())
    return take(units, first);

  std::vector<Queue*> others;
  for (auto& [other, queue] : queues_) {
    if (other != worker && !queue.units.empty()) others.push_back(&queue);
  }
  std::ranges::sort(others, [](const Queue* a, const Queue* b) {
    return std::pair(b->units.size(), a->cache_id) < std::pair(a->units.size(), b->cache_id);
  });
  for (auto* queue : others) {
    // From the back: what its owner would reach last.
    const auto last = std::find_if(queue->units.rbegin(), queue->units.rend(), allowed);
    if (last != queue->units.rend()) return take(queue->units, std::next(last).base());
  }
  return std::nullopt;
}

}  // namespace sluice

#include "coordinator/dispatch/work_queue.hpp"

#include "coordinator/dispatch/defaults.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <string_view>
#include <tuple>

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

/// Without all but its four leading bits: whoever is put in order by it keeps its place for long.
std::size_t in_short(std::size_t size) {
  const auto dropped = std::max<std::size_t>(std::bit_width(size), 4) - 4;
  return size >> dropped << dropped;
}

/// As many as units, so that few share one, up to the bound over all holders.
std::uint32_t cells_for(std::size_t units, std::size_t holders) {
  const auto most = std::max<std::size_t>(1, defaults::dispatch_cells / (holders + 1));
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(units, 1, most));
}

}  // namespace

WorkQueue::WorkQueue(const std::vector<UnitAffinity>& units, std::vector<std::string> holders)
    : holders_(std::move(holders)),
      cells_a_holder_(cells_for(units.size(), holders_.size())),
      cells_((holders_.size() + 1) * cells_a_holder_),
      cell_of_(units.size()),
      places_(cells_.size()),
      nodes_(units.size()),
      holder_seen_(holders_.size() + 1) {
  for (std::uint32_t i = 0; i < holders_.size(); ++i) holder_numbers_.emplace(holders_[i], i + 1);
  for (CellId cell = 0; cell < cells_.size(); ++cell) {
    cells_[cell].units.cell = cell;
    cells_[cell].hash = mix(cell % cells_a_holder_ + 1);
  }
  for (UnitId unit = 0; unit < units.size(); ++unit) {
    const auto by_key = static_cast<CellId>(mix(units[unit].key_hash) % cells_a_holder_);
    cell_of_[unit] = units[unit].holder * cells_a_holder_ + by_key;
    insert(cells_[cell_of_[unit]].units, unit, false);
  }
}

// --- lists ---

bool WorkQueue::IsLonger::operator()(const Queue* a, const Queue* b) const {
  return std::tie(b->size_in_short, a->cache_id, a->worker) <
         std::tie(a->size_in_short, b->cache_id, b->worker);
}

void WorkQueue::set_size(Queue& queue, std::size_t size) {
  queue.size = size;
  if (in_short(size) == queue.size_in_short) return;
  auto entry = longest_.extract(&queue);
  queue.size_in_short = in_short(size);
  longest_.insert(std::move(entry));
}

/// A list's first unit has its place in the queue, and the queue's size its place among all.
void WorkQueue::on_change(List& list, UnitId first_before, std::ptrdiff_t more) {
  size_ += static_cast<std::size_t>(more);
  if (list.cell != no_cell && cells_[list.cell].awaits_holder) absent_ += static_cast<std::size_t>(more);
  if (list.queue == nullptr) return;
  auto& queue = *list.queue;
  set_size(queue, queue.size + static_cast<std::size_t>(more));
  if (list.cell == no_cell || first_before == list.first) return;
  if (first_before == none) {
    queue.cells.add(list.cell, list.first);
  } else if (list.first == none) {
    queue.cells.erase(list.cell);
  } else {
    queue.cells.set_first(list.cell, list.first);
  }
}

void WorkQueue::insert(List& list, UnitId unit, bool in_front) {
  const auto first = list.first;
  auto& node = nodes_[unit];
  node.list = &list;
  node.before = in_front ? none : list.last;
  node.after = in_front ? list.first : none;
  (node.before == none ? list.first : nodes_[node.before].after) = unit;
  (node.after == none ? list.last : nodes_[node.after].before) = unit;
  ++list.size;
  on_change(list, first, 1);
}

UnitId WorkQueue::take(UnitId unit) {
  const auto node = std::exchange(nodes_[unit], Node());
  auto& list = *node.list;
  const auto first = list.first;
  (node.before == none ? list.first : nodes_[node.before].after) = node.after;
  (node.after == none ? list.last : nodes_[node.after].before) = node.before;
  --list.size;
  on_change(list, first, -1);
  return unit;
}

bool WorkQueue::remove(UnitId unit) {
  if (!nodes_[unit].list) return false;
  take(unit);
  return true;
}

// --- cells ---

const std::string& WorkQueue::cache_of(UnitId unit) const {
  static const std::string nobody;
  const auto holder = cell_of_[unit] / cells_a_holder_;
  return holder > 0 ? holders_[holder - 1] : nobody;
}

WorkQueue::Rank WorkQueue::rank_of(CellId cell, const Queue& queue) const {
  const auto hash = cells_[cell].hash;
  const bool holds = queue.holder > 0 && queue.holder == cell / cells_a_holder_;
  return {holds, mix(hash ^ queue.cache_hash), mix(hash ^ queue.worker)};
}

void WorkQueue::hand_over(CellId cell, Queue* queue, const Rank& rank) {
  auto& [units, hash, old_rank, awaits_holder] = cells_[cell];
  old_rank = rank;
  if (units.queue == queue) return;
  if (units.queue != nullptr && units.size > 0) {
    units.queue->cells.erase(cell);
    set_size(*units.queue, units.queue->size - units.size);
  }
  units.queue = queue;
  if (queue == nullptr || units.size == 0) return;
  queue->cells.add(cell, units.first);
  set_size(*queue, queue->size + units.size);
}

/// Finds its worker among all.
void WorkQueue::deal(CellId cell) {
  Queue* best = nullptr;
  Rank best_rank;
  if (!cells_[cell].awaits_holder) {
    for (auto& [worker, queue] : queues_) {
      const auto rank = rank_of(cell, queue);
      if (best != nullptr && rank <= best_rank) continue;
      best = &queue;
      best_rank = rank;
    }
  }
  hand_over(cell, best, best_rank);
}

void WorkQueue::set_awaits_holder(CellId cell, bool awaits) {
  auto& one = cells_[cell];
  if (awaits == std::exchange(one.awaits_holder, awaits)) return;
  awaits ? absent_ += one.units.size : absent_ -= one.units.size;
  if (awaits || one.units.size > 0) deal(cell);  // An empty one is dealt when a unit comes back into it.
}

void WorkQueue::deal_what_waits_for_holders() {
  for (CellId holder = 1; holder <= holders_.size(); ++holder) {
    const bool awaits = wait_for_holders_ && !holder_seen_[holder];
    const auto first = holder * cells_a_holder_;
    for (CellId cell = first; cell < first + cells_a_holder_; ++cell) set_awaits_holder(cell, awaits);
  }
}

/// 0: it held no answer.
std::uint32_t WorkQueue::holder_number(const std::string& cache_id) const {
  const auto found = holder_numbers_.find(cache_id);
  return found == holder_numbers_.end() ? 0 : found->second;
}

// --- workers ---

void WorkQueue::add_worker(WorkerId worker, const std::string& cache_id) {
  const auto holder = holder_number(cache_id);
  auto& queue =
      queues_.emplace(worker, Queue{worker, cache_id, hash_text(cache_id), holder, CellOrder(places_)})
          .first->second;
  queue.missed.queue = queue.returned.queue = &queue;
  longest_.insert(&queue);
  for (CellId cell = 0; cell < cells_.size(); ++cell) {
    const auto& [units, hash, best, awaits_holder] = cells_[cell];
    if (awaits_holder || (units.queue == nullptr && units.size == 0)) continue;
    const auto rank = rank_of(cell, queue);
    if (units.queue == nullptr || rank > best) hand_over(cell, &queue, rank);
  }
  add_lender(cache_id);
}

std::vector<UnitId> WorkQueue::remove_worker(WorkerId worker) {
  std::vector<UnitId> missed_by_all;
  const auto found = queues_.find(worker);
  if (found == queues_.end()) return missed_by_all;
  std::vector<UnitId> missed;
  std::vector<UnitId> returned;
  while (found->second.missed.size > 0) missed.push_back(take(found->second.missed.first));
  while (found->second.returned.size > 0) returned.push_back(take(found->second.returned.last));
  auto gone = queues_.extract(found);  // It stays where it is until all its cells are dealt anew.
  for (CellId cell = 0; cell < cells_.size(); ++cell) {
    if (cells_[cell].units.queue != &gone.mapped()) continue;
    cells_[cell].units.size > 0 ? deal(cell) : hand_over(cell, nullptr, {});
  }
  longest_.erase(&gone.mapped());
  for (auto entry = misses_.begin(); entry != misses_.end();) {
    entry->second.erase(worker);
    entry = entry->second.empty() ? misses_.erase(entry) : std::next(entry);
  }
  for (const auto unit : returned) place(unit);
  std::ranges::sort(missed);
  for (const auto unit : missed) {
    if (!push(unit)) missed_by_all.push_back(unit);
  }
  return missed_by_all;
}

void WorkQueue::wait_for_holders() {
  wait_for_holders_ = true;
  deal_what_waits_for_holders();
}

void WorkQueue::add_lender(const std::string& cache_id) {
  const auto holder = holder_number(cache_id);
  if (holder == 0 || holder_seen_[holder]) return;
  holder_seen_[holder] = true;
  if (wait_for_holders_) deal_what_waits_for_holders();
}

void WorkQueue::end_wait_for_holders() {
  if (std::exchange(wait_for_holders_, false)) deal_what_waits_for_holders();
}

// --- units ---

bool WorkQueue::has_missed(WorkerId worker, UnitId unit) const {
  if (misses_.empty()) return false;
  const auto found = misses_.find(unit);
  return found != misses_.end() && found->second.contains(worker);
}

WorkQueue::Queue* WorkQueue::best_queue_for_missed(UnitId unit) {
  Queue* best = nullptr;
  Rank best_rank;
  for (auto& [worker, queue] : queues_) {
    if (has_missed(worker, unit)) continue;
    const auto rank = rank_of(cell_of_[unit], queue);
    if (best != nullptr && rank <= best_rank) continue;
    best = &queue;
    best_rank = rank;
  }
  return best;
}

/// One that nobody has missed.
void WorkQueue::place(UnitId unit) {
  auto& cell = cells_[cell_of_[unit]];
  if (cell.units.queue == nullptr && !cell.awaits_holder) deal(cell_of_[unit]);
  insert(cell.units.queue != nullptr ? cell.units.queue->returned : cell.units, unit, true);
}

bool WorkQueue::push(UnitId unit) {
  if (cells_[cell_of_[unit]].awaits_holder || queues_.empty() || !misses_.contains(unit)) {
    place(unit);
    return true;
  }
  auto* queue = best_queue_for_missed(unit);
  if (queue != nullptr) insert(queue->missed, unit, true);
  return queue != nullptr;
}

std::optional<UnitId> WorkQueue::pop(WorkerId worker) {
  const auto found = queues_.find(worker);
  if (found == queues_.end() || size_ == 0) return std::nullopt;
  const auto& own = found->second;
  if (own.size > 0) {
    ++looked_at_;
    // What is in the own queue was not missed here; what others have missed has waited before.
    if (own.missed.size > 0) return take(own.missed.first);
    if (own.returned.size > 0) return take(own.returned.first);
    return take(cells_[own.cells.front()].units.first);
  }
  for (auto* queue : longest_) {
    if (queue->size == 0) break;
    if (const auto unit = pop_from(worker, *queue)) return unit;
  }
  return std::nullopt;
}

/// From the back: what its owner would reach late.
std::optional<UnitId> WorkQueue::pop_from(WorkerId worker, Queue& other) {
  if (!other.cells.empty() || other.returned.size > 0) {
    ++looked_at_;
    return take(other.cells.empty() ? other.returned.last : cells_[other.cells.late()].units.last);
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

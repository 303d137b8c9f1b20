#include "tests/provider_sim/timer_queue.hpp"

#include <algorithm>

namespace sluice::sim {

namespace {

bool later(const TimerQueue::Timer& a, const TimerQueue::Timer& b) {
  return a.due_us > b.due_us;
}

}  // namespace

void TimerQueue::add(const Timer& timer) {
  heap_.push_back(timer);
  std::push_heap(heap_.begin(), heap_.end(), later);
}

std::optional<TimerQueue::Timer> TimerQueue::take_due(std::int64_t now_us) {
  if (heap_.empty() || heap_.front().due_us > now_us) return std::nullopt;
  std::pop_heap(heap_.begin(), heap_.end(), later);
  const Timer timer = heap_.back();
  heap_.pop_back();
  return timer;
}

std::optional<std::int64_t> TimerQueue::next_due_us() const {
  if (heap_.empty()) return std::nullopt;
  return heap_.front().due_us;
}

}  // namespace sluice::sim

#pragma once

#include "common/clock.hpp"

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace sluice::testing {

/// Simulated time: what was put off is done in the order of its time, equal times in the order of asking.
class EventQueue {
 public:
  static constexpr BootTime beginning = std::chrono::hours(1);

  BootTime now() const { return now_; }
  void at(BootTime time, std::function<void()> what) {
    events_.push({std::max(time, now_), next_++, std::move(what)});
  }
  void after(BootTime time, std::function<void()> what) { at(now_ + time, std::move(what)); }
  /// False when there is nothing left to do before `end`.
  bool step(BootTime end) {
    if (events_.empty() || events_.top().time > end) return false;
    // A priority queue hands out its top as a constant; it is popped right away.
    auto event = std::move(const_cast<Event&>(events_.top()));
    events_.pop();
    now_ = event.time;
    event.what();
    return true;
  }

 private:
  struct Event {
    BootTime time{};
    std::uint64_t order = 0;
    std::function<void()> what;
    friend bool operator<(const Event& a, const Event& b) {
      return std::pair(a.time, a.order) > std::pair(b.time, b.order);
    }
  };

  std::priority_queue<Event> events_;
  BootTime now_ = beginning;
  std::uint64_t next_ = 0;
};

}  // namespace sluice::testing

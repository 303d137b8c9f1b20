#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace sluice::sim {

/// Deadlines in order. A deadline is never taken back: whoever set it knows by `generation` whether it still
/// means something. Pure.
class TimerQueue {
 public:
  struct Timer {
    std::int64_t due_us = 0;
    std::uint32_t index = 0;
    std::uint64_t generation = 0;
  };

  void add(const Timer& timer);
  /// The earliest timer if it is due.
  std::optional<Timer> take_due(std::int64_t now_us);
  /// When the earliest is due; nothing if there is none.
  std::optional<std::int64_t> next_due_us() const;

 private:
  std::vector<Timer> heap_;
};

}  // namespace sluice::sim

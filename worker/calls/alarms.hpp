#pragma once

#include "common/clock.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

namespace sluice {

/// At most one alarm for each number, in the order of time. Pure; not thread-safe.
class Alarms {
 public:
  /// Sets the number's alarm, or moves it.
  void set(std::uint64_t id, TimePoint when) {
    clear(id);
    times_.emplace(id, when);
    order_.emplace(when, id);
  }
  void clear(std::uint64_t id) {
    const auto found = times_.find(id);
    if (found == times_.end()) return;
    order_.erase({found->second, id});
    times_.erase(found);
  }
  void clear_all() {
    times_.clear();
    order_.clear();
  }
  std::optional<TimePoint> next() const {
    return order_.empty() ? std::nullopt : std::optional<TimePoint>(order_.begin()->first);
  }
  /// Takes one that is due; nothing if none is.
  std::optional<std::uint64_t> take_due(TimePoint now) {
    if (order_.empty() || order_.begin()->first > now) return std::nullopt;
    const auto id = order_.begin()->second;
    clear(id);
    return id;
  }

 private:
  std::unordered_map<std::uint64_t, TimePoint> times_;
  std::set<std::pair<TimePoint, std::uint64_t>> order_;
};

}  // namespace sluice

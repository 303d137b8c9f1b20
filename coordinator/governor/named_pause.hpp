#pragma once

#include "common/clock.hpp"
#include "coordinator/facts/worker_id.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>

namespace sluice {

/// The pause that a provider named: what any of the workers that are there was told, or another run.
/// Lengthened by each, and shortened only when a worker goes whose word alone it was. Pure; not thread-safe.
class NamedPause {
 public:
  /// A worker is to wait for so many milliseconds; 0: it is not. It repeats what is left of its pause:
  /// rounding and the way here may add a little each time, which costs a message and no more.
  void extend(WorkerId worker, std::uint32_t pause_ms, BootTime now) {
    if (pause_ms == 0) return;
    auto& named = named_[worker];
    named = std::max(named, now + std::chrono::milliseconds(pause_ms));
    set(std::max(until_, named), now);
  }
  /// Another run was told so.
  void extend_to(BootTime until, BootTime now) {
    elsewhere_ = std::max(elsewhere_, until);
    set(std::max(until_, until), now);
  }
  /// What this worker was told ends with it. One whose provider means it comes to hear it again.
  void forget(WorkerId worker, BootTime now) {
    if (named_.erase(worker) == 0) return;
    auto until = elsewhere_;
    for (const auto& [other, named] : named_) until = std::max(until, named);
    set(until, now);
  }
  BootTime until() const { return until_; }
  bool is_on(BootTime now) const { return until_ > now; }
  BootTime left(BootTime now) const { return std::max(until_ - now, BootTime::zero()); }
  /// Of all pauses up to now.
  BootTime time(BootTime now) const { return total_ - left(now); }

 private:
  void set(BootTime until, BootTime now) {
    total_ += std::max(until, now) - std::max(until_, now);
    until_ = until;
  }

  std::map<WorkerId, BootTime> named_;
  BootTime elsewhere_{};
  BootTime until_{};
  BootTime total_{};
};

}  // namespace sluice

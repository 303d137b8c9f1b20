#pragma once

#include "common/clock.hpp"

#include <cstdint>
#include <optional>

namespace sluice {

/// Finds the pace that a provider takes where a refusal costs little: its delay is short, or is the refused
/// call's own. A refusal says that the bucket is empty at that instant, so what is answered from one to the
/// next is what came in meanwhile. Each lowers the pace, the more the fewer calls were answered before it; a
/// pace that is not refused for a while goes up towards the least one that was. Where nothing is answered
/// after a refusal a window is closed, which says nothing of the pace: the next hold is twice as long. Pure;
/// not thread-safe.
class PaceSearch {
 public:
  /// Begins at `pace` calls a second, after the first refusal.
  PaceSearch(double pace, BootTime now);

  /// `started` calls began, of which some may be refused later.
  void on_started(std::uint32_t started, BootTime now);
  /// Calls were refused, of which `late` may have begun before the newest hold; none may start for `delay`,
  /// which is taken in. True if it is a new refusal, and not one of those that began beside it.
  bool on_refused(std::uint32_t refused, std::uint32_t late, BootTime delay, BootTime now);
  /// Lets the pace go up, by `passed` seconds in which calls waited for it.
  void grow(double passed, BootTime now);

  /// Calls a second.
  double pace() const { return pace_; }
  /// What is held for a while; nothing while it is still searched for.
  std::optional<double> found() const { return found_; }
  /// No call starts before.
  BootTime hold_until() const { return hold_until_; }

 private:
  void lower(BootTime now);
  double next_step() const;

  double pace_;
  std::optional<double> refused_at_;  ///< The least pace that was refused of late.
  std::optional<double> measured_;    ///< Answered a second up to the last refusal; nothing if it was soon.
  std::optional<double> found_;       ///< Where growth began.
  double answered_ = 0;               ///< Since `refused_time_`, as far as is known,
  double fresh_ = 0;                  ///< and those that began so late that they may yet be refused.
  BootTime fresh_since_{};
  BootTime refused_time_;  ///< When it was last refused after some answers:
  BootTime last_refused_;  ///< and ever.
  BootTime hold_until_;
  BootTime hold_{};
  std::uint32_t in_vain_ = 0;  ///< Refusals in a row without an answer between.
  BootTime changed_;           ///< The pace, by a step.
  double hold_factor_ = 1;
};

}  // namespace sluice

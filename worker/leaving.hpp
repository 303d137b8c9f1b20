#pragma once

#include "common/clock.hpp"
#include "common/error.hpp"
#include "worker/held_units.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace sluice {

/// A worker's way out of a run: nothing new is begun, calls under way end, and what was paid for gets into
/// the ledger. Pure.
struct Leaving {
  std::string why;             ///< For GOODBYE.
  std::optional<Error> error;  ///< Why the worker ends, if that is no good reason.
  bool ends = true;            ///< With the run; else it waits for the next one.
  TimePoint until{};           ///< What is not done by then is given up.

  /// It was told to leave once more: the first reason stays, the earlier time counts.
  void hasten(const Leaving& again) {
    until = std::min(until, again.until);
    ends = ends || again.ends;
  }
  /// Nothing is worth waiting for: results that are not acknowledged are, but only of a coordinator that is
  /// there.
  bool is_over(const HeldUnits& held, bool connected, TimePoint now) const {
    const bool worked = held.waiting() == 0 && held.running() == 0;
    return now >= until || (worked && (held.done() == 0 || !connected));
  }
};

}  // namespace sluice

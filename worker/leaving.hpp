#pragma once

#include "common/clock.hpp"
#include "common/error.hpp"
#include "worker/held_units.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace sluice {

/// With what a worker leaves a run.
struct Farewell {
  std::string why;             ///< For GOODBYE.
  std::optional<Error> error;  ///< Why the worker ends, if that is no good reason.
  bool ends = true;            ///< The worker ends with the run; else it waits for the next one.
  bool unread = false;  ///< It could not read what it was leased: unless it ends, it comes back to this run.
};

/// What follows where a worker cannot read what it was leased. Pure; not thread-safe.
class UnreadWork {
 public:
  void on_read() { in_a_row_ = 0; }
  /// `protocol`: the coordinator's version, 0 before its WELCOME. The worker ends if it has read nothing in
  /// between for too often, or if GOODBYE does not tell that version why: the coordinator would lease it the
  /// same unit again.
  Farewell on_unread(Error why, std::uint8_t protocol);

 private:
  std::uint32_t in_a_row_ = 0;
};

/// What a worker that is told to stop does, as a sentence. `begun`: units that it has begun with.
std::string leaving_in_words(std::size_t begun, std::chrono::milliseconds patience);

/// A worker's way out of a run: nothing new is begun, calls under way end, and what was paid for gets into
/// the ledger. Pure: time is an argument. Not thread-safe.
class Leaving {
 public:
  /// From now on it leaves; what is not done by `until` is given up. Once more: the first reason stays, the
  /// earlier time counts.
  void begin(Farewell farewell, TimePoint until);
  bool begun() const { return farewell_.has_value(); }
  /// It has begun, and the worker ends with the run.
  bool ends() const { return farewell_ && farewell_->ends; }

  /// It leaves right now: `farewell`, or the one that it began with, which ends the worker if either does.
  Farewell at_once(Farewell farewell) const;
  /// Its farewell once nothing is worth waiting for: results that are not acknowledged are, but only of a
  /// coordinator that is there.
  std::optional<Farewell> when_done(const HeldUnits& held, bool connected, TimePoint now) const;
  /// It has left.
  void end() { farewell_.reset(); }

 private:
  std::optional<Farewell> farewell_;
  TimePoint until_{};
};

}  // namespace sluice

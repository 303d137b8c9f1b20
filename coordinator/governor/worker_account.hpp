#pragma once

#include "coordinator/governor/permit_slots.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

namespace sluice {

/// How many calls a worker makes at a time.
struct WorkerConcurrency {
  std::uint32_t calls = 0;  ///< 0: it cannot call the run's providers.
  bool named = false;  ///< Somebody set the number: a bound. Else it is a default, which a search may exceed.
};

/// A permit that a worker holds: granted, and not reported as spent.
struct HeldPermit {
  Slot slot;
  bool probe = false;
  bool used = false;  ///< Of one that was taken out: what was reported.
};

/// Calls that were under way at an event, and end after it: the first to end are taken for theirs.
class CallsFromBefore {
 public:
  void mark(std::uint32_t under_way) { left_ = under_way; }
  /// How many of `some` are theirs, if `ended` calls ended.
  std::uint32_t among(std::uint32_t some, std::uint32_t ended) {
    const auto theirs = std::min(left_, some);
    left_ -= std::min(left_, ended);
    return theirs;
  }

 private:
  std::uint32_t left_ = 0;
};

/// What one worker wants of a provider, and the permits that it holds. Pure; not thread-safe.
class WorkerAccount {
 public:
  explicit WorkerAccount(WorkerConcurrency concurrency) : concurrency_(concurrency) {}

  std::uint32_t max_concurrent() const { return std::max(1u, concurrency_.calls); }
  bool max_concurrent_named() const { return concurrency_.named; }
  /// The most calls that a search may give it; 0: it cannot call.
  std::uint32_t most_places() const;
  std::uint32_t ready() const { return ready_; }
  std::uint32_t in_flight() const { return in_flight_; }
  std::uint32_t backing_off() const { return backing_off_; }
  /// For how long its oldest call in flight was out when it said so.
  BootTime oldest_call() const { return oldest_call_; }
  std::uint64_t wanted() const { return std::uint64_t{ready_} + in_flight_; }
  std::size_t held_count() const { return held_.size(); }

  /// Takes out the permit if it is held.
  std::optional<HeldPermit> spend(const wire::SpentPermit& spent);
  /// What it wants now, from its newest HEARTBEAT. With `slots` by tokens, calls that can never start are
  /// left out.
  void want(const wire::Demand& demand, const PermitSlots& slots);
  /// Other limits are in force. What it wants counts only as far as they can admit it; of sizes that
  /// were not needed until now nothing is known before its next HEARTBEAT.
  void limits_changed(const PermitSlots& slots);
  void hold(std::uint64_t id, const HeldPermit& permit);
  /// Permits whose windows ended before `before`: their reports are lost. Takes them out.
  std::vector<HeldPermit> drop_unreported(BootTime before);
  /// Takes out all.
  std::vector<HeldPermit> drop_all();

  /// True if a permit's window has passed for a while without a report of it: it gets no more.
  bool blocked(BootTime now) const;
  /// The size of the next call that no permit is held for; nothing if there is none.
  std::optional<wire::CallSize> next_wanted() const;
  /// Calls that wait for a permit.
  std::size_t lacking() const;

  /// Calls that were on their way when the rate was cut.
  CallsFromBefore& before_cut() { return before_cut_; }
  /// Calls that began before the end of an outage was noticed.
  CallsFromBefore& before_return() { return before_return_; }
  void rate_was_cut() { before_cut_.mark(in_flight_ + static_cast<std::uint32_t>(held_.size())); }
  void provider_returned() { before_return_.mark(in_flight_); }

 private:
  void cover_by_held_permits();

  WorkerConcurrency concurrency_;
  std::uint32_t ready_ = 0;
  std::uint32_t in_flight_ = 0;
  std::uint32_t backing_off_ = 0;
  BootTime oldest_call_{};
  CallsFromBefore before_cut_;
  CallsFromBefore before_return_;
  bool by_tokens_ = false;
  std::deque<wire::CallSize> sizes_;  ///< By tokens: of the calls that no permit is held for.
  std::map<std::uint64_t, HeldPermit> held_;
};

}  // namespace sluice

#pragma once

#include "common/model/result.hpp"
#include "common/model/trial.hpp"
#include "common/wire/messages.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace sluice {

using SharedUnit = std::shared_ptr<const WorkUnit>;

/// What a worker holds of a run: units that wait, units that run, and results that the coordinator has not
/// acknowledged yet. A unit is in exactly one of these. Pure; not thread-safe.
class HeldUnits {
 public:
  /// Takes a unit, to be shared with whoever works on it. Null if it is held already (a lease that was given
  /// back to us): it is not taken twice.
  SharedUnit add(WorkUnit unit);
  bool holds(UnitId unit) const {
    return waiting_.contains(unit) || running_.contains(unit) || unacknowledged_.contains(unit);
  }
  bool runs(UnitId unit) const { return running_.contains(unit); }
  /// The result that the coordinator has not acknowledged; null if there is none.
  const UnitResult* unacknowledged(UnitId unit) const;
  /// A waiting unit runs now. False if it does not wait.
  bool begin(UnitId unit);
  /// A unit has its result, which gets the number of its lease, whether it was reported as begun or not.
  /// False if it neither runs nor waits (its run was dropped meanwhile).
  bool finish(UnitResult result);
  /// The unit is not worked on any more. False if it neither runs nor waits.
  bool give_back(UnitId unit);
  /// The coordinator has taken or refused the result: forget it, unless the ACK names another key than the
  /// result's. Returns the key of an answer of ours that lost against another one.
  std::optional<Digest> acknowledge(const wire::Acknowledged& item);

  std::size_t running() const { return running_.size(); }
  std::size_t waiting() const { return waiting_.size(); }
  std::size_t done() const { return unacknowledged_.size(); }
  bool empty() const { return running_.empty() && waiting_.empty() && unacknowledged_.empty(); }
  /// Everything that is held, ascending.
  std::vector<wire::HeldUnit> all() const;
  /// Units that run, ascending.
  std::vector<UnitId> running_units() const;
  /// Results to be sent again after a reconnect.
  std::vector<UnitResult> unacknowledged() const;

 private:
  using Leases = std::map<UnitId, std::uint64_t>;

  Leases waiting_;
  Leases running_;
  std::map<UnitId, UnitResult> unacknowledged_;
};

}  // namespace sluice

#pragma once

#include "common/hash.hpp"
#include "common/model/trial.hpp"
#include "coordinator/facts/worker_id.hpp"

#include <cstdint>
#include <string_view>

namespace sluice {

/// The number that a lease carries (docs/delivery.md): who holds a unit proves it by the number, and only who
/// was leased the unit can know it, since it is made from a secret of the coordinator's. The same for each
/// lease of one unit to one worker, also after the coordinator was started anew with the same secret. Pure;
/// not thread-safe.
class LeaseNumbers {
 public:
  LeaseNumbers(const Digest& secret, std::string_view run_id);
  /// Never 0.
  std::uint64_t number(WorkerId worker, UnitId unit);
  bool is_held(WorkerId worker, UnitId unit, std::uint64_t lease) { return lease == number(worker, unit); }

 private:
  FieldHasher run_;  ///< Fed with what all numbers have in common.
  FieldHasher hasher_;
};

}  // namespace sluice

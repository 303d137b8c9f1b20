#pragma once

#include "common/hash.hpp"
#include "common/model/trial.hpp"

#include <string>
#include <string_view>

namespace sluice {

/// The ids of one run's observations: UUIDs of RFC 9562, version 8, out of the run's id and the trial's
/// number. They are neighbours in the table's index, and found again without an index of runs and trials.
class ObservationIds {
 public:
  explicit ObservationIds(std::string_view run_id) {
    const std::string hash = to_hex(sha256(run_id));
    first_ = hash.substr(0, 8) + "-" + hash.substr(8, 4) + "-8" + hash.substr(13, 3) + "-a" +
             hash.substr(17, 3) + "-" + hash.substr(20, 4);
  }

  std::string of(TrialId trial) const {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string id;
    id.reserve(first_.size() + 8);
    id += first_;
    for (int shift = 28; shift >= 0; shift -= 4) id += digits[trial >> shift & 0xf];
    return id;
  }

 private:
  std::string first_;  ///< All but the trial's eight digits.
};

}  // namespace sluice

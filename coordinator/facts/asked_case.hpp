#pragma once

#include <cstdint>
#include <string>

namespace sluice {

/// A case as a run had it, in the ledger: by these a later suite finds its tests again among the results.
struct AskedCase {
  std::string id;              ///< With its arm.
  std::uint32_t trials = 0;    ///< How many numbers it has among those of the run.
  std::int64_t judged_by = 0;  ///< Of what judges its answers, and of whom.
  friend bool operator==(const AskedCase&, const AskedCase&) = default;
};

}  // namespace sluice

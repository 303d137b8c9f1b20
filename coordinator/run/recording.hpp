#pragma once

#include "coordinator/dispatch/work_queue.hpp"
#include "coordinator/ledger/ledger.hpp"

#include <cstdint>
#include <vector>

namespace sluice {

/// A result that fits the run, to be committed.
struct RecordResult {
  WorkerId worker = 0;
  ResultToCommit item;
};

/// Results that are in the ledger, in the order in which they came.
struct ResultsRecorded {
  struct Item {
    WorkerId worker = 0;
    UnitId unit = 0;
    Digest key{};
    CommitOutcome outcome;
    bool error = false;
    std::uint32_t passed = 0;  ///< Trials of the unit that passed.
    std::uint32_t failed = 0;
    Spend spend;
  };
  std::vector<Item> items;
};

}  // namespace sluice

#pragma once

#include "common/model/result.hpp"
#include "coordinator/facts/worker_id.hpp"
#include "coordinator/run/defaults.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace sluice {

/// Whose results of which units are on their way into the ledger, perhaps by way of commands that check their
/// answers. Pure; not thread-safe.
class PendingResults {
 public:
  /// False if the worker's result of this unit is among them.
  bool add(WorkerId worker, const UnitResult& result) {
    const std::size_t bytes = result.observed ? result.observed->text.size() : 0;
    if (!answer_bytes_.try_emplace({worker, result.unit}, bytes).second) return false;
    all_bytes_ += bytes;
    return true;
  }
  bool contains(WorkerId worker, UnitId unit) const { return answer_bytes_.contains({worker, unit}); }
  void remove(WorkerId worker, UnitId unit) {
    const auto found = answer_bytes_.find({worker, unit});
    if (found == answer_bytes_.end()) return;
    all_bytes_ -= found->second;
    answer_bytes_.erase(found);
  }
  std::size_t size() const { return answer_bytes_.size(); }

  /// Whether they come faster than commands check them, with their answers in memory: `most` wait, and no
  /// fewer than are `awaited` of calls under way, so that checks which are slow for a while do not stop all
  /// calls; or the answers take as much memory as they may.
  bool are_too_many(std::size_t most, std::size_t awaited) const {
    return size() >= std::max(most, awaited) || all_bytes_ >= defaults::max_bytes_to_check;
  }

 private:
  std::map<std::pair<WorkerId, UnitId>, std::size_t> answer_bytes_;
  std::size_t all_bytes_ = 0;
};

}  // namespace sluice

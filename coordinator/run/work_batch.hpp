#pragma once

#include "common/model/trial.hpp"
#include "common/transport/envelopes.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace sluice {

/// Gathers units for one worker into WORK messages of bounded size.
class WorkBatch {
 public:
  /// What is referred to must outlive it.
  WorkBatch(const std::string& run_id, const Peer& peer, std::vector<ToPeer>& messages);
  void add(WorkUnit unit);
  /// Sends what is left.
  void finish();

 private:
  const std::string& run_id_;
  const Peer& peer_;
  std::vector<ToPeer>& messages_;
  wire::Work work_;
  std::size_t bytes_ = 0;
};

}  // namespace sluice

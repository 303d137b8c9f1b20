#include "coordinator/run/work_batch.hpp"

#include "common/defaults.hpp"
#include "coordinator/plan/message_size.hpp"

#include <utility>

namespace sluice {

WorkBatch::WorkBatch(const std::string& run_id, const Peer& peer, std::vector<ToPeer>& messages)
    : run_id_(run_id), peer_(peer), messages_(messages) {}

void WorkBatch::add(WorkUnit unit) {
  bytes_ += message_bytes(unit, work_.units.empty() ? nullptr : &work_.units.back());
  work_.units.push_back(std::move(unit));
  if (bytes_ >= defaults::max_bytes_per_work) finish();
}

void WorkBatch::finish() {
  if (work_.units.empty()) return;
  work_.run_id = run_id_;
  messages_.push_back({peer_, std::exchange(work_, {})});
  bytes_ = 0;
}

}  // namespace sluice

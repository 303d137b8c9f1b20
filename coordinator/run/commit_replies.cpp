#include "coordinator/run/commit_replies.hpp"

#include <utility>

namespace sluice {

void CommitReplies::acknowledge(const ResultsRecorded::Item& item) {
  const auto code = item.outcome.first ? wire::AckCode::committed : wire::AckCode::duplicate;
  acknowledged_[item.worker].push_back({item.unit, code, item.key, item.outcome.winner});
}

void CommitReplies::refuse(const ResultsDropped::Item& item) {
  acknowledged_[item.worker].push_back({item.unit, wire::AckCode::retry, item.key, {}});
}

void CommitReplies::send(const std::string& run_id, const WorkerRoster& roster,
                         std::vector<ToPeer>& messages) {
  for (auto& [worker, items] : std::exchange(acknowledged_, {})) {
    if (!roster.is_connected(worker)) continue;
    messages.push_back({roster.connected(worker).peer, wire::Ack{run_id, std::move(items)}});
  }
  for (auto& [worker, units] : std::exchange(withdrawn_, {})) {
    if (!roster.is_connected(worker)) continue;
    messages.push_back({roster.connected(worker).peer, wire::Withdraw{run_id, std::move(units)}});
  }
}

}  // namespace sluice

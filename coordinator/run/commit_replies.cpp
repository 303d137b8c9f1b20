#include "coordinator/run/commit_replies.hpp"

#include <utility>

namespace sluice {

void CommitReplies::acknowledge(const ResultsRecorded::Item& item) {
  const auto verdict = item.outcome.first ? wire::Verdict::committed : wire::Verdict::duplicate;
  acknowledged_[item.worker].push_back({item.unit, verdict, item.key, item.outcome.winner});
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

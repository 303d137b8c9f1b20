#pragma once

#include "coordinator/run/recording.hpp"
#include "coordinator/run/worker_roster.hpp"

#include <map>
#include <string>
#include <vector>

namespace sluice {

/// What workers get once results are in the ledger: those that sent them one ACK each, and those that hold
/// the same units one WITHDRAW each. Pure; not thread-safe.
class CommitReplies {
 public:
  void acknowledge(const ResultsRecorded::Item& item);
  /// The worker need not keep the result.
  void refuse(const ResultsDropped::Item& item);
  /// The worker need not call for the unit any more.
  void withdraw(WorkerId holder, UnitId unit) { withdrawn_[holder].push_back(unit); }
  /// Appends the messages to those that are connected, ACKs first, and begins anew.
  void send(const std::string& run_id, const WorkerRoster& roster, std::vector<ToPeer>& messages);

 private:
  std::map<WorkerId, std::vector<wire::Acknowledged>> acknowledged_;
  std::map<WorkerId, std::vector<UnitId>> withdrawn_;
};

}  // namespace sluice

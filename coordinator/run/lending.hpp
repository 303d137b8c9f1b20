#pragma once

#include "common/model/run_settings.hpp"
#include "common/transport/envelopes.hpp"
#include "coordinator/dispatch/entry_broker.hpp"
#include "coordinator/run/effects.hpp"

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace sluice {

/// A run's entries of other caches (docs/protocol.md): what workers send of them becomes decisions of
/// EntryBroker, and those become messages within the wire's limits. Pure: time is an argument. Not
/// thread-safe.
class Lending {
 public:
  /// Nothing is lent but in live runs that read and write the workers' caches.
  Lending(const RunSettings& settings, std::chrono::milliseconds lease_time);

  /// The worker is READY at this peer, be it to work or only to lend.
  void join(WorkerId worker, const Peer& peer, const std::string& cache_id, TimePoint now);
  void leave(WorkerId worker, TimePoint now, Effects& effects);

  /// A unit is leased to the worker, and the ledger says which cache holds its answer (empty: none). True if
  /// another worker that is there can lend it: WorkUnit::held_elsewhere.
  bool held_elsewhere(WorkerId worker, const Digest& key, const std::string& cache_id);
  /// The unit of this key has its result.
  void settled(const Digest& key) { broker_.forget_answer(key); }

  void on_message(WorkerId worker, const wire::Seek& seek, TimePoint now, Effects& effects);
  void on_message(WorkerId worker, wire::Lent& lent, TimePoint now, Effects& effects);
  void on_message(WorkerId worker, const wire::Stored& stored, TimePoint now, Effects& effects);
  /// What the ledger knows of each of `to_look_up`.
  void looked_up(const std::vector<EntryHolder>& holders, TimePoint now, Effects& effects);
  /// Once a heartbeat.
  void tick(TimePoint now, Effects& effects);

 private:
  void append_messages(EntryBroker::Actions actions, Effects& effects) const;

  std::string run_id_;
  bool lends_ = false;
  bool lends_answers_ = false;  ///< Not of a run that renews them.
  EntryBroker broker_;
  std::map<WorkerId, Peer> peers_;
};

}  // namespace sluice

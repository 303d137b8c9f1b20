#pragma once

#include "common/text/stderr_line.hpp"
#include "common/transport/envelopes.hpp"
#include "coordinator/facts/cache_holders.hpp"
#include "coordinator/facts/worker_id.hpp"
#include "coordinator/run/recording.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

/// A connected worker, as the governor of shared budgets needs to know it.
struct GovernedPeer {
  Peer peer;
  WorkerId worker = 0;
  std::uint32_t max_concurrent = 0;   ///< 0: it cannot call the run's providers.
  bool max_concurrent_named = false;  ///< As in Hello.
  bool is_outside = true;             ///< In another process: its calls go on when this one is dead.
  friend bool operator==(const GovernedPeer&, const GovernedPeer&) = default;
};

/// A worker that is gone, or begins anew: what it was granted is void.
struct GoneWorker {
  WorkerId worker = 0;
  bool lost = false;     ///< Without a GOODBYE: its calls may still be under way.
  bool again = false;    ///< It has said HELLO again: what providers asked of it stands.
  bool removed = false;  ///< Its key was: limits that nobody else reads are none.
  friend bool operator==(const GoneWorker&, const GoneWorker&) = default;
};

/// A line of the log. `about`: without the run, which the whole process is about.
struct LogNote {
  std::string text;  ///< One sentence.
  LogFields about{};
};

/// A sentence that begins with a worker.
inline LogNote about_worker(const std::string& name, const std::string& words) {
  return {"worker " + name + " " + words, {.worker = name}};
}

/// What a RunController wants done; the coordinator actor does it. Appended to, never read, by the
/// controller.
struct Effects {
  std::vector<ToPeer> to_workers;
  std::vector<RecordResult> to_record;
  std::vector<std::pair<Peer, wire::Heartbeat>> demands;  ///< To be answered with GRANTS.
  /// Those that began, or take part in another way than before; some may be gone again.
  std::vector<WorkerId> changed_peers;
  std::vector<GoneWorker> gone;        ///< Come before whoever is there now.
  std::vector<EntryKey> to_look_up;    ///< Leased entries: who holds them? answered by `on_looked_up`.
  std::vector<EntryHolder> to_note;    ///< For the ledger.
  std::vector<UnitSpend> spent;        ///< For the ledger: what is in no result.
  std::vector<NotedLease> leased;      ///< For the ledger, in a run that notes its leases.
  std::vector<LogNote> warnings;       ///< For the log, also where notes are left out.
  std::vector<LogNote> notes;          ///< For the log.
  std::vector<LogNote> details;        ///< For the log where somebody looks closer.
  std::vector<std::string> announced;  ///< For whoever watches, whatever the log leaves out: sentences.
  bool drop_checks = false;            ///< Nobody waits for commands that check answers any more.
};

}  // namespace sluice

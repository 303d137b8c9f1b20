#pragma once

#include "coordinator/actors/observer.hpp"
#include "coordinator/ledger/ledger.hpp"

#include <string>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

namespace sluice {

/// Starts the actor that owns the ledger while a run goes on. It blocks on SQLite and so has a thread of its
/// own. Results that are waiting together are committed together; each batch is reported to `coordinator` as
/// ResultsRecorded after its commit, or as RecordingFailed. A ledger whose commits wait for the disk gets
/// them in groups of `defaults::sync_group_time`. While another process keeps the ledger locked, results
/// wait, for up to `defaults::locked_ledger_patience`. It also notes and looks up who holds embeddings and
/// votes. What is committed goes to the observer, if there is one; the ledger keeps no whole answers. Without
/// `own_thread` it runs on the system's scheduler (a test's).
caf::actor spawn_recorder(caf::actor_system& system, Ledger ledger, const std::string& run_id, bool move_pins,
                          const caf::actor& coordinator, Observing observing = {}, bool own_thread = true);

}  // namespace sluice

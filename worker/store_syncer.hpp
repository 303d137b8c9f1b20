#pragma once

#include "worker/answer_store.hpp"

#include <memory>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

namespace sluice {

/// Starts the actor that waits for the disk in the model client's place, on a thread of its own: it answers
/// each SyncStore with a StoreSynced. When it is told to end, what is still unsynced goes to the disk.
caf::actor spawn_store_syncer(caf::actor_system& system, std::shared_ptr<AnswerStore> store);

}  // namespace sluice

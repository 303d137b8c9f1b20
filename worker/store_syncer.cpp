#include "worker/store_syncer.hpp"

#include "common/process/supervision.hpp"
#include "worker/messages.hpp"

#include <utility>

#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>
#include <spdlog/spdlog.h>

namespace sluice {

namespace {

struct StoreSyncerState {
  StoreSyncerState() = default;
  static inline const char* name = "store_syncer";

  std::shared_ptr<AnswerStore> store;
};

using StoreSyncer = caf::stateful_actor<StoreSyncerState>;

caf::behavior store_syncer_behavior(StoreSyncer* self, std::shared_ptr<AnswerStore> store) {
  self->state.store = std::move(store);
  end_on_exception(self);
  // Answers of calls that ended with the run are kept, too.
  self->set_exit_handler([self](const caf::exit_msg& exit) {
    if (const auto synced = self->state.store->sync(); !synced) spdlog::warn("{}", synced.error().message);
    self->quit(exit.reason);
  });
  return {
      [self](SyncStore) { return StoreSynced{self->state.store->sync()}; },
  };
}

}  // namespace

caf::actor spawn_store_syncer(caf::actor_system& system, std::shared_ptr<AnswerStore> store) {
  return system.spawn<caf::detached>(store_syncer_behavior, std::move(store));
}

}  // namespace sluice

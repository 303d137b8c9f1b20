#include "coordinator/actors/observer.hpp"

#include "common/process/supervision.hpp"
#include "coordinator/actors/messages.hpp"
#include "coordinator/defaults.hpp"

#include <utility>
#include <vector>

#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>
#include <spdlog/spdlog.h>

namespace sluice {

bool UnsavedObservations::add(std::size_t bytes) {
  // One alone is always taken, however large it is.
  const std::size_t before = bytes_.fetch_add(bytes);
  if (before == 0 || before + bytes <= defaults::max_unsaved_observation_bytes) return true;
  bytes_ -= bytes;
  ++left_out_;
  return false;
}

namespace {

struct ObserverState {
  ObserverState() = default;
  static inline const char* name = "observer";

  std::shared_ptr<ObserverConfig> config;
  std::shared_ptr<UnsavedObservations> unsaved;
  struct Waiting {
    UnitResult result;
    std::int64_t since_ms = 0;
  };
  std::vector<Waiting> waiting;
  std::size_t waiting_bytes = 0;  ///< As they came, and counted as unsaved.
  bool save_is_due = false;       ///< A SaveObservations is on its way.
  bool broken = false;
};

using ObserverActor = caf::stateful_actor<ObserverState>;

void note_failure(ObserverState& state, const Error& error) {
  if (std::exchange(state.broken, true)) return;
  spdlog::warn("{}; this run saves no more of them", error.message);
}

/// Saves units from `next` on, as many as go into one transaction. Observations are made as they are
/// inserted: prompts are rendered, and a unit's texts stand in each of its trials, so that they take many
/// times the memory of the results.
Result<void> save_some(ObserverState& state, std::size_t& next) {
  std::size_t bytes = 0;
  return state.config->store.insert_each([&](const ObservationStore::Put& put) -> Result<void> {
    const auto count_and_put = [&](Observation one) {
      bytes += one.prompt.size() + one.raw_response.size();
      put(std::move(one));
    };
    for (; next < state.waiting.size() && bytes < defaults::observation_bytes_per_transaction; ++next) {
      const auto& [result, since_ms] = state.waiting[next];
      if (auto made = state.config->maker.make(result, since_ms, count_and_put); !made) return made;
    }
    return {};
  });
}

void save(ObserverState& state) {
  for (std::size_t next = 0; !state.broken && next < state.waiting.size();) {
    if (const auto saved = save_some(state, next); !saved) note_failure(state, saved.error());
  }
  state.waiting.clear();
  state.unsaved->remove(std::exchange(state.waiting_bytes, 0));
}

/// What comes in a while is saved together: a transaction for each few would cost more than what is in it.
void add(ObserverActor* self, ObserveUnits units) {
  auto& state = self->state;
  state.waiting_bytes += units.bytes;
  const auto now = state.config->now_ms();
  for (UnitResult& result : units.results) state.waiting.push_back({std::move(result), now});
  if (state.broken || state.waiting.size() >= defaults::observed_units_per_transaction ||
      state.waiting_bytes >= defaults::observation_bytes_per_transaction) {
    return save(state);
  }
  if (!std::exchange(state.save_is_due, true))
    self->delayed_send(self, defaults::observation_delay, SaveObservations{});
}

caf::behavior observer_behavior(ObserverActor* self, std::shared_ptr<ObserverConfig> config,
                                std::shared_ptr<UnsavedObservations> unsaved) {
  self->state.config = std::move(config);
  self->state.unsaved = std::move(unsaved);
  end_on_exception(self);
  return {
      [self](ObserveUnits& units) { add(self, std::move(units)); },
      [self](SaveObservations) {
        self->state.save_is_due = false;
        save(self->state);
      },
      [self](FinishObserving) {
        save(self->state);
        if (const auto count = self->state.unsaved->left_out(); count > 0 && !self->state.broken)
          spdlog::warn("the observations of {} units were not saved: the disk was too slow", count);
        self->quit();
      },
  };
}

}  // namespace

Observing spawn_observer(caf::actor_system& system, ObserverConfig config, bool own_thread) {
  auto owned = std::make_shared<ObserverConfig>(std::move(config));
  auto unsaved = std::make_shared<UnsavedObservations>();
  if (!own_thread) return {system.spawn(observer_behavior, std::move(owned), unsaved), unsaved};
  return {system.spawn<caf::detached>(observer_behavior, std::move(owned), unsaved), unsaved};
}

}  // namespace sluice

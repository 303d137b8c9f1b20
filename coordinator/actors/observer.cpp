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
  std::vector<Observation> waiting;
  std::size_t waiting_bytes = 0;  ///< As they came, and counted as unsaved.
  std::size_t made_bytes = 0;     ///< Of the texts of those that wait.
  bool save_is_due = false;       ///< A SaveObservations is on its way.
  bool broken = false;
};

using ObserverActor = caf::stateful_actor<ObserverState>;

void note_failure(ObserverState& state, const Error& error) {
  if (std::exchange(state.broken, true)) return;
  spdlog::warn("{}; this run saves no more of them", error.message);
}

void save(ObserverState& state) {
  if (!state.broken && !state.waiting.empty()) {
    if (const auto saved = state.config->store.insert(state.waiting); !saved)
      note_failure(state, saved.error());
  }
  state.waiting.clear();
  state.made_bytes = 0;
  state.unsaved->remove(std::exchange(state.waiting_bytes, 0));
}

/// What comes in a while is saved together: a transaction for each few would cost more than what is in it.
void add(ObserverActor* self, const ObserveUnits& units) {
  auto& state = self->state;
  const auto now = state.config->now_ms();
  for (const UnitResult& result : units.results) {
    if (state.broken) break;
    const std::size_t first = state.waiting.size();
    if (const auto added = state.config->maker.add(result, now, state.waiting); !added)
      note_failure(state, added.error());
    // Prompts are rendered here, and a unit's texts stand in each of its trials.
    for (std::size_t i = first; i < state.waiting.size(); ++i)
      state.made_bytes += state.waiting[i].prompt.size() + state.waiting[i].raw_response.size();
    if (state.made_bytes >= defaults::observation_bytes_per_transaction) save(state);
  }
  state.waiting_bytes += units.bytes;
  if (state.broken || state.waiting.size() >= defaults::observations_per_transaction ||
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
      [self](const ObserveUnits& units) { add(self, units); },
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

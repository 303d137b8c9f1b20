#pragma once

#include "coordinator/ledger/observation_store.hpp"
#include "coordinator/observations/observe.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

namespace sluice {

/// How much waits to be saved. Thread-safe.
class UnsavedObservations {
 public:
  /// False, and nothing is added, if there is no room for so much more.
  bool add(std::size_t bytes);
  void remove(std::size_t bytes) { bytes_ -= bytes; }
  /// Of how many units nothing was kept.
  std::uint64_t left_out() const { return left_out_; }

 private:
  std::atomic<std::size_t> bytes_ = 0;
  std::atomic<std::uint64_t> left_out_ = 0;
};

/// Who saves a run's observations; nobody if there is no actor.
struct Observing {
  caf::actor observer{};  ///< Takes ObserveUnits and FinishObserving.
  std::shared_ptr<UnsavedObservations> unsaved{};
};

struct ObserverConfig {
  ObservationStore store;
  ObservationMaker maker;
  std::function<std::int64_t()> now_ms;  ///< Unix time.
};

/// Starts the actor that saves observations while a run goes on. It blocks on SQLite, and so has a thread of
/// its own: whoever waits for a disk, it is not the run. What fails costs the observations from there on, and
/// one warning. Without `own_thread` it runs on the system's scheduler (a test's).
Observing spawn_observer(caf::actor_system& system, ObserverConfig config, bool own_thread = true);

}  // namespace sluice

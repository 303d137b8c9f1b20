#include "coordinator/actors/governor_actor.hpp"

#include "common/process/supervision.hpp"
#include "common/text/stderr_line.hpp"
#include "coordinator/actors/messages.hpp"
#include "coordinator/display/budget_wording.hpp"
#include "coordinator/governor/turn_pace.hpp"
#include "coordinator/shared_budget/defaults.hpp"

#include <map>
#include <optional>
#include <utility>

#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>
#include <spdlog/spdlog.h>

namespace sluice {

namespace {

struct GovernorState {
  GovernorState() = default;
  static inline const char* name = "governor";

  caf::actor router;
  caf::actor coordinator;
  std::function<BootTime()> clock;
  std::optional<Governor> governor;
  std::shared_ptr<SharedBudgets> shared;  ///< Null: with nobody.
  std::string run_id;
  std::map<Peer, WorkerId> workers;
  std::map<WorkerId, Peer> peers;
  wording::BudgetNews news;
  bool run_is_over = false;
  TurnPace pace;
  bool turn_due = false;
  std::optional<BootTime> wakes_at;
};

using GovernorActor = caf::stateful_actor<GovernorState>;

void request_turn(GovernorActor* self) {
  auto& state = self->state;
  if (std::exchange(state.turn_due, true)) return;
  const auto now = state.clock();
  const auto due = state.pace.due(now);
  if (due > now) {
    self->delayed_send(self, due - now, GovernorTurn{});
  } else {
    self->send(self, GovernorTurn{});
  }
}

void wake_at(GovernorActor* self, std::optional<BootTime> time, BootTime now) {
  auto& wakes_at = self->state.wakes_at;
  if (!time || (wakes_at && *wakes_at <= *time)) return;
  wakes_at = time;
  self->delayed_send(self, *time - now, GovernorWake{*time});
}

/// False if it is another run's turn: this one's comes later.
bool begin_turn(GovernorActor* self, BootTime now) {
  auto& state = self->state;
  if (!state.shared) return true;
  const bool begun = state.shared->begin_turn(*state.governor, now);
  for (const auto& problem : state.shared->take_problems()) spdlog::warn("{}", problem);
  if (!begun) wake_at(self, now + defaults::key_lock_retry, now);
  return begun;
}

/// Before a worker can use what was granted: a process that dies has told what it took.
void end_turn(GovernorActor* self, BootTime now) {
  auto& state = self->state;
  if (!state.shared) return;
  state.shared->end_turn(*state.governor, now);
  for (const auto& problem : state.shared->take_problems()) spdlog::warn("{}", problem);
}

void log_notices(GovernorActor* self, BootTime now) {
  auto& state = self->state;
  auto notices = state.governor->take_notices();
  // The error that a run ends with says it, and no call is made any more.
  if (notices.empty() || state.run_is_over) return;
  for (const auto& notice : state.news.take(std::move(notices), state.governor->facts(now), now)) {
    const LogScope scope({.provider = notice.provider});
    spdlog::warn("{}", wording::notice(notice));
  }
}

void turn(GovernorActor* self) {
  auto& state = self->state;
  const auto now = state.clock();
  if (!begin_turn(self, now)) return;
  state.pace.on_turn(state.workers.size(), now);
  auto answers = state.governor->turn(now);
  end_turn(self, now);
  for (auto& [worker, grants] : answers) {
    grants.run_id = state.run_id;
    self->send(state.router, ToPeer{state.peers.at(worker), std::move(grants)});
  }
  log_notices(self, now);
  wake_at(self, state.governor->next_wake(now), now);
}

void take_peers(GovernorActor* self, PeersChanged& changed) {
  auto& state = self->state;
  const auto now = state.clock();
  state.run_id = std::move(changed.run_id);
  for (const auto& gone : changed.gone) {
    const auto known = state.peers.find(gone.worker);
    if (known == state.peers.end()) continue;
    state.workers.erase(known->second);
    if (gone.again) {
      known->second.clear();  // It joins anew below, unless it is gone again.
      continue;
    }
    if (gone.removed) state.governor->distrust(gone.worker, now);
    state.governor->leave(gone.worker, gone.lost, now);
    state.peers.erase(known);
  }
  for (const auto& [peer, worker, max_concurrent, named, is_outside] : changed.peers) {
    if (is_outside && state.shared) state.shared->add_outside_worker();
    auto& known = state.peers[worker];
    if (known == peer) continue;
    if (!known.empty()) state.workers.erase(known);
    known = peer;
    state.workers[peer] = worker;
    state.governor->join(worker, {max_concurrent, named}, now);
  }
}

caf::behavior governor_behavior(GovernorActor* self, const GovernorConfig& config, caf::actor router,
                                caf::actor coordinator, std::shared_ptr<SharedBudgets> shared,
                                std::function<BootTime()> clock) {
  auto& state = self->state;
  state.router = std::move(router);
  state.coordinator = std::move(coordinator);
  state.shared = std::move(shared);
  state.clock = std::move(clock);
  state.governor.emplace(config, state.clock());
  end_on_exception(self);
  return {
      [self](PeersChanged& changed) {
        take_peers(self, changed);
        request_turn(self);
      },
      [self](const HeartbeatReceived& received) {
        auto& known = self->state;
        known.run_is_over = known.run_is_over || received.run_is_over;
        const auto worker = known.workers.find(received.peer);
        if (worker == known.workers.end()) return;
        known.governor->on_heartbeat(worker->second, received.heartbeat, known.clock());
        request_turn(self);
      },
      [self](GovernorTurn) {
        self->state.turn_due = false;
        turn(self);
      },
      [self](const GovernorWake& timer) {
        // An earlier timer has overtaken it.
        if (self->state.wakes_at != timer.time) return;
        self->state.wakes_at.reset();
        turn(self);
      },
      [self](BudgetRequest) {
        const auto& own = self->state;
        self->send(own.coordinator, BudgetReport{own.governor->facts(own.clock())});
      },
  };
}

}  // namespace

caf::actor spawn_governor(caf::actor_system& system, const GovernorConfig& config, const caf::actor& router,
                          const caf::actor& coordinator, std::shared_ptr<SharedBudgets> shared,
                          std::function<BootTime()> clock) {
  return system.spawn(governor_behavior, config, router, coordinator, std::move(shared), std::move(clock));
}

}  // namespace sluice

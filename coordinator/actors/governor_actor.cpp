#include "coordinator/actors/governor_actor.hpp"

#include "coordinator/actors/messages.hpp"
#include "coordinator/governor/governor.hpp"

#include <algorithm>
#include <utility>

#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

namespace sluice {

namespace {

struct GovernorState {
  GovernorState() = default;
  static inline const char* name = "governor";

  caf::actor router;
  Governor governor;
  PeersChanged known;
};

using GovernorActor = caf::stateful_actor<GovernorState>;

void send_grants(GovernorActor* self, const Peer& peer, const std::string& run_id, std::uint64_t echo_us) {
  auto& state = self->state;
  const auto now = self->clock().now();
  wire::Grants grants;
  grants.run_id = run_id;
  grants.echo_us = echo_us;
  grants.now_us = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count());
  grants.grants = state.governor.grants(now);
  self->send(state.router, ToPeer{peer, std::move(grants)});
}

/// Who joins during a pause hears of it before any work comes: the next heartbeat would be too late.
void tell_newcomers(GovernorActor* self, const PeersChanged& before) {
  const auto& state = self->state;
  const auto grants = state.governor.grants(self->clock().now());
  if (std::ranges::none_of(grants, [](const wire::Grant& grant) { return grant.pause_ms > 0; })) return;
  for (const auto& peer : state.known.peers) {
    const bool known = std::ranges::find(before.peers, peer) != before.peers.end();
    if (!known) send_grants(self, peer, state.known.run_id, 0);
  }
}

caf::behavior governor_behavior(GovernorActor* self, caf::actor router) {
  self->state.router = std::move(router);
  return {
      [self](PeersChanged& known) {
        const auto before = std::exchange(self->state.known, std::move(known));
        tell_newcomers(self, before);
      },
      [self](const DemandHeard& heard) {
        auto& state = self->state;
        const bool new_pause = state.governor.hear(heard.heartbeat.demands, self->clock().now());
        send_grants(self, heard.peer, heard.heartbeat.run_id, heard.heartbeat.sent_at_us);
        if (!new_pause) return;
        for (const auto& peer : state.known.peers) {
          if (peer != heard.peer) send_grants(self, peer, state.known.run_id, 0);
        }
      },
  };
}

}  // namespace

caf::actor spawn_governor(caf::actor_system& system, const caf::actor& router) {
  return system.spawn(governor_behavior, router);
}

}  // namespace sluice

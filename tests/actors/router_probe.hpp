#pragma once

#include "common/transport/envelopes.hpp"
#include "tests/actors/actor_fixture.hpp"

#include <variant>
#include <vector>

namespace sluice {

/// Stands for the router: keeps what is sent to workers.
using Router = Probe<ToPeer, DrainSocket, CloseSocket>;

template <class Message>
std::vector<Message> sent_to(Router& router, const Peer& peer) {
  std::vector<Message> found;
  for (const auto& [to, message, in_hand] : router.got<ToPeer>()) {
    if (const auto* wanted = std::get_if<Message>(&message); wanted && to == peer) found.push_back(*wanted);
  }
  return found;
}

}  // namespace sluice

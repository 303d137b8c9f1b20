#pragma once

#include "common/error.hpp"
#include "common/wire/messages.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// What the socket-owning actors exchange with the actors of their process, free of CAF so that pure code can
/// make and read it. These never leave the process: what crosses the wire is common/wire.
namespace sluice {

/// A ZeroMQ routing id: one socket of a worker, not the worker (it gets a new one when it reconnects).
using Peer = std::string;

/// As long as it is held, messages of peers count as not done with, and only so many bytes more of them are
/// read. Whoever hands on something that they brought about hands it on too.
using InHand = std::shared_ptr<const void>;

/// Router -> coordinator: what workers sent, in the order in which it arrived.
struct FromWorkers {
  struct Item {
    Peer peer;
    wire::ToCoordinator message;
  };
  std::vector<Item> items;
  std::uint64_t frames_rejected =
      0;  ///< Malformed ones since the router began; already answered with REJECT.
  std::uint64_t connections_refused = 0;  ///< Since it began: by their keys, or for having none.
  std::vector<Peer> removed;              ///< Their keys are admitted no more: they are gone.
  std::vector<Peer> deaf;                 ///< They do not read what they are sent: they are gone.
  InHand in_hand{};
};

/// Coordinator -> router: send this to a worker. To a peer that is gone it is dropped.
struct ToPeer {
  Peer peer;
  wire::ToWorker message;
  InHand in_hand{};
};

/// Dealer -> worker: what the coordinator sent, in order.
struct FromCoordinator {
  std::vector<wire::ToWorker> messages;
  bool says_hello_again = false;           ///< The connection goes on in another version of the protocol.
  std::optional<Error> unreadable_work{};  ///< Whose units nobody else would get.
};

/// Worker -> dealer: send this to the coordinator.
struct ToCoordinatorNow {
  wire::ToCoordinator message;
};

/// Coordinator -> router: answered with SocketDrained when every frame that had arrived before has been
/// forwarded (docs/delivery.md: silence counts only once the socket is drained).
struct DrainSocket {};
struct SocketDrained {};

/// Worker -> dealer: drop this connection, with all that waits in it, and make another.
struct ReopenSocket {};

/// Dealer -> worker: a connection did not come about, for a reason that lasts until somebody changes
/// something.
struct ConnectionRefused {
  std::string why;  ///< For people; empty: that one has passed.
};

/// Ends a socket actor once what was sent before has been handed to ZeroMQ.
struct CloseSocket {};

}  // namespace sluice

#pragma once

#include "common/wire/codec.hpp"
#include "tests/support/wait.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <zmq.hpp>

namespace sluice::support {

/// A result for a unit as a worker would send it whose model found nothing.
UnitResult result_of(const WorkUnit& unit);

/// A DEALER in the test itself: sends a coordinator whatever the test wants, well-formed or not.
class RawWorker {
 public:
  explicit RawWorker(const std::string& endpoint);

  void send(const wire::ToCoordinator& message);
  void send_frames(const std::vector<std::string>& frames);
  /// The next message of the coordinator; nothing if none comes, or if it cannot be read.
  std::optional<wire::ToWorker> receive(std::chrono::milliseconds deadline = patience);

  /// The next message of one type; others are passed over.
  template <class Message>
  std::optional<Message> receive_only() {
    while (auto message = receive()) {
      if (auto* wanted = std::get_if<Message>(&*message)) return std::move(*wanted);
    }
    return std::nullopt;
  }

 private:
  zmq::context_t context_;
  zmq::socket_t socket_;
};

}  // namespace sluice::support

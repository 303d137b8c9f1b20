#include "common/transport/router.hpp"

#include "common/defaults.hpp"
#include "common/text/text.hpp"
#include "common/transport/messages.hpp"
#include "common/transport/reject_quota.hpp"
#include "common/transport/socket_actor.hpp"
#include "common/transport/socket_options.hpp"
#include "common/wire/codec.hpp"

#include <chrono>
#include <variant>

#include <caf/all.hpp>
#include <spdlog/spdlog.h>

namespace sluice {

namespace {

class RouterActor final : public SocketActor {
 public:
  RouterActor(caf::actor_config& config, zmq::socket_t socket, caf::actor coordinator)
      : SocketActor(config, std::move(socket)), coordinator_(std::move(coordinator)) {}

  const char* name() const override { return "router"; }

 protected:
  caf::message_handler handlers() override {
    return {
        [this](const ToPeer& outgoing) { send_to(outgoing.peer, outgoing.message); },
        [this](DrainSocket) {
          drain_socket();
          send(coordinator_, SocketDrained{});
        },
        [this](CloseSocket) { stop(); },
        [this](const caf::exit_msg& exit) { on_exit_message(exit); },
    };
  }

  void on_frames(std::vector<zmq::message_t>& frames) override {
    const Peer peer = frames.front().to_string();
    if (frames.size() != 3) return reject(peer, wire::RejectCode::malformed, "a message has two frames");
    if (frames[2].size() > defaults::max_frame_bytes) {
      return reject(peer, wire::RejectCode::too_large,
                    "a frame has at most " + std::to_string(defaults::max_frame_bytes) + " bytes");
    }
    auto message = wire::decode_to_coordinator(frames[1].to_string_view(), frames[2].to_string_view());
    if (!message) {
      return reject(peer, wire::reject_code(message.error()), message.error().message);
    }
    batch_.items.push_back({peer, std::move(*message)});
  }

  void flush() override {
    if (batch_.items.empty() && !rejected_since_flush_) return;
    batch_.frames_rejected = frames_rejected_;
    rejected_since_flush_ = false;
    send(coordinator_, std::move(batch_));
    batch_ = FromWorkers{};
  }

 private:
  void send_to(const Peer& peer, const wire::ToWorker& message) {
    // Whoever floods the port does not read what it is answered, and nothing bounds ZeroMQ's queues to it.
    const bool refusal = std::holds_alternative<wire::Reject>(message);
    if (refusal && !reject_quota_.take(peer, std::chrono::steady_clock::now())) {
      ++rejects_withheld_;
      spdlog::debug("{} frames were rejected without an answer", rejects_withheld_);
      return;
    }
    const auto frames = wire::encode(message);
    if (!send_frames({peer, frames.header, frames.body}))
      spdlog::debug("a worker has gone; a message is dropped");
  }

  void reject(const Peer& peer, wire::RejectCode code, const std::string& why) {
    ++frames_rejected_;
    rejected_since_flush_ = true;
    spdlog::debug("frame {} rejected: {}", frames_rejected_, why);
    send_to(peer, wire::Reject{code, excerpt(to_valid_utf8(why), 300)});
  }

  caf::actor coordinator_;
  FromWorkers batch_;
  std::uint64_t frames_rejected_ = 0;
  bool rejected_since_flush_ = false;
  RejectQuota reject_quota_;
  std::uint64_t rejects_withheld_ = 0;
};

/// ZeroMQ binds to addresses and interfaces, not to names; this is the one name that everybody has.
std::string bindable(const std::string& endpoint) {
  constexpr std::string_view by_name = "tcp://localhost:";
  if (!endpoint.starts_with(by_name)) return endpoint;
  return "tcp://127.0.0.1:" + endpoint.substr(by_name.size());
}

}  // namespace

Result<BoundRouter> bind_router(zmq::context_t& context, const std::vector<std::string>& endpoints) {
  BoundRouter router{zmq::socket_t(context, zmq::socket_type::router), {}};
  set_common_options(router.socket);
  router.socket.set(zmq::sockopt::router_mandatory, true);
  for (const auto& endpoint : endpoints) {
    try {
      set_ip_version(router.socket, endpoint);
      router.socket.bind(bindable(endpoint));
    } catch (const zmq::error_t& error) {
      return fail(Reason::listen_failed,
                  "cannot listen on " + endpoint + ": " + error.what() +
                      "; give --listen an address of this machine and a free port (0 picks one)");
    }
  }
  router.endpoint = router.socket.get(zmq::sockopt::last_endpoint);
  return router;
}

caf::actor spawn_router(caf::actor_system& system, BoundRouter router, const caf::actor& coordinator) {
  return system.spawn<RouterActor, caf::detached>(std::move(router.socket), coordinator);
}

}  // namespace sluice

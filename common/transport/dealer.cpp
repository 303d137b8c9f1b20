#include "common/transport/dealer.hpp"

#include "common/transport/messages.hpp"
#include "common/transport/socket_actor.hpp"
#include "common/transport/socket_options.hpp"
#include "common/wire/codec.hpp"

#include <caf/all.hpp>
#include <spdlog/spdlog.h>

namespace sluice {

namespace {

class DealerActor final : public SocketActor {
 public:
  DealerActor(caf::actor_config& config, zmq::socket_t socket, zmq::context_t* context, std::string endpoint,
              caf::actor worker)
      : SocketActor(config, std::move(socket)),
        context_(context),
        endpoint_(std::move(endpoint)),
        worker_(std::move(worker)) {}

  const char* name() const override { return "dealer"; }

 protected:
  caf::message_handler handlers() override {
    return {
        [this](const ToCoordinatorNow& outgoing) {
          const auto frames = wire::encode(outgoing.message);
          if (!send_frames({frames.header, frames.body}))
            spdlog::warn("a message to the coordinator was not sent");
        },
        [this](ReopenSocket) { reopen(); },
        [this](CloseSocket) { stop(); },
        [this](const caf::exit_msg& exit) { on_exit_message(exit); },
    };
  }

  void on_frames(std::vector<zmq::message_t>& frames) override {
    if (frames.size() != 2) {
      spdlog::warn("a message of {} frames from the coordinator is ignored; a message has two",
                   frames.size());
      return;
    }
    auto message = wire::decode_to_worker(frames[0].to_string_view(), frames[1].to_string_view());
    if (!message) {
      // Without WELCOME nothing would ever come; of what follows it something else does.
      const bool is_welcome = wire::type_of(frames[0].to_string_view()) == wire::MessageType::welcome;
      if (is_welcome || message.error().reason == Reason::protocol_mismatch) {
        batch_.messages.emplace_back(
            wire::Reject{wire::RejectCode::protocol_mismatch, message.error().message});
      } else {
        spdlog::warn("a malformed message from the coordinator is ignored: {}", message.error().message);
      }
      return;
    }
    batch_.messages.push_back(std::move(*message));
  }

  void flush() override {
    if (batch_.messages.empty()) return;
    send(worker_, std::move(batch_));
    batch_ = FromCoordinator{};
  }

 private:
  void reopen() {
    auto fresh = connect_dealer(*context_, endpoint_);
    if (!fresh) return spdlog::warn("{}", fresh.error().message);
    replace_socket(std::move(fresh->socket));
  }

  zmq::context_t* context_;
  std::string endpoint_;
  caf::actor worker_;
  FromCoordinator batch_;
};

}  // namespace

Result<ConnectedDealer> connect_dealer(zmq::context_t& context, const std::string& endpoint) {
  try {
    zmq::socket_t socket(context, zmq::socket_type::dealer);
    set_common_options(socket);
    set_ip_version(socket, endpoint);
    socket.connect(endpoint);
    return ConnectedDealer{std::move(socket), context, endpoint};
  } catch (const zmq::error_t& error) {
    return fail(Reason::usage_invalid, "cannot connect to \"" + endpoint + "\": " + error.what() +
                                           "; an endpoint looks like tcp://HOST:PORT");
  }
}

caf::actor spawn_dealer(caf::actor_system& system, ConnectedDealer dealer, const caf::actor& worker) {
  return system.spawn<DealerActor, caf::detached>(std::move(dealer.socket), &dealer.context,
                                                  std::move(dealer.endpoint), worker);
}

}  // namespace sluice

#include "common/transport/dealer.hpp"

#include "common/transport/curve.hpp"
#include "common/transport/messages.hpp"
#include "common/transport/refusals.hpp"
#include "common/transport/socket_actor.hpp"
#include "common/transport/socket_options.hpp"
#include "common/wire/codec.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <caf/all.hpp>
#include <netdb.h>
#include <spdlog/spdlog.h>

namespace sluice {

namespace {

/// ZeroMQ tries a name again and again that nobody knows, and does not say so. Nothing where it is known, or
/// is no name.
std::optional<std::string> problem_with_host(std::string_view endpoint) {
  constexpr std::string_view scheme = "tcp://";
  const auto colon = endpoint.rfind(':');
  if (!endpoint.starts_with(scheme) || colon <= scheme.size()) return std::nullopt;
  const std::string host(endpoint.substr(scheme.size(), colon - scheme.size()));
  if (host.starts_with('[')) return std::nullopt;
  addrinfo wanted{};
  wanted.ai_family = AF_INET;  // As set_ip_version has it.
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int problem = ::getaddrinfo(host.c_str(), nullptr, &wanted, &found);
  if (problem != 0)
    return "the host name " + host + " cannot be resolved (" + ::gai_strerror(problem) +
           "): check --connect, and the name service of this machine";
  ::freeaddrinfo(found);
  return std::nullopt;
}

class DealerActor final : public SocketActor {
 public:
  DealerActor(caf::actor_config& config, ConnectedDealer dealer, caf::actor worker)
      : SocketActor(config, std::move(dealer.socket), std::move(dealer.monitor)),
        context_(&dealer.context),
        endpoint_(std::move(dealer.endpoint)),
        key_(std::move(dealer.key)),
        connections_(dealer.connections),
        worker_(std::move(worker)) {}

  const char* name() const override { return "dealer"; }

 protected:
  caf::message_handler handlers() override {
    return {
        [this](const ToCoordinatorNow& outgoing) {
          const auto frames = wire::encode(outgoing.message, version_);
          if (send_frames({frames.header, frames.body}) != Sent::yes) return on_unsent();
          ++sent_in_version_;
        },
        [this](ReopenSocket) { reopen(); },
        [this](CloseSocket) { stop(); },
        [this](const caf::exit_msg& exit) { on_exit_message(exit); },
    };
  }

  void on_frames(std::vector<zmq::message_t>& frames) override {
    was_refused_ = false;
    refusals_.clear();
    unsent_ = 0;
    was_heard_ = true;
    if (frames.size() != 2) {
      spdlog::warn("a message of {} frames from the coordinator is ignored; a message has two",
                   frames.size());
      return;
    }
    if (is_about_version(frames)) return;
    auto message = wire::decode_to_worker(frames[0].to_string_view(), frames[1].to_string_view());
    if (!message) return on_unreadable(wire::type_of(frames[0].to_string_view()), std::move(message.error()));
    if (std::holds_alternative<wire::Welcome>(*message)) {
      was_welcome_ = true;
      refusals_to_come_ = 0;
    }
    batch_.messages.push_back(std::move(*message));
  }

  /// ZeroMQ goes on trying: whoever runs the coordinator may list the key meanwhile.
  void on_side_frames(std::vector<zmq::message_t>& frames) override {
    std::uint16_t event = 0;
    std::uint32_t value = 0;
    if (frames.front().size() != sizeof event + sizeof value) return;
    std::memcpy(&event, frames.front().data(), sizeof event);
    std::memcpy(&value, frames.front().data<char>() + sizeof event, sizeof value);
    if (const auto stage = stage_of(event); stage != ConnectionStage::none) {
      stage_ = std::max(stage_, stage);
      return;
    }
    was_refused_ = true;
    const auto refusal = handshake_problem(event, value, endpoint_, key_);
    if (!refusal) return;
    // A coordinator that ends, or a tunnel to it, hangs up as well.
    if (was_heard_ && !key_ && refusal->cause == Refusal::Cause::hang_up) return;
    const auto news = refusals_.on_refusal(*refusal);
    if (news.is_to_log) spdlog::warn("{}", refusal->why);
    if (news.is_another) send(worker_, ConnectionRefused{refusal->why});
  }

  void flush() override {
    if (batch_.messages.empty() && !batch_.says_hello_again && !batch_.unreadable_work) return;
    send(worker_, std::move(batch_));
    batch_ = FromCoordinator{};
  }

 private:
  /// Without WELCOME nothing would ever come, and nobody else gets the units of WORK. Of what is in other
  /// messages something comes again.
  void on_unreadable(std::optional<wire::MessageType> type, Error error) {
    if (type == wire::MessageType::welcome || error.reason == Reason::protocol_mismatch) {
      batch_.messages.emplace_back(
          wire::Reject{wire::RejectCode::protocol_mismatch, std::move(error.message)});
    } else if (type == wire::MessageType::work) {
      batch_.unreadable_work = std::move(error);
    } else {
      spdlog::warn("a malformed message from the coordinator is ignored: {}", error.message);
    }
  }

  /// Something goes out each second. Why a connection is refused is known by the second time.
  void on_unsent() {
    if (++unsent_ != 2 || !refusals_.why().empty()) return;
    spdlog::warn("a message to the coordinator was not sent");
  }

  /// Whether it is a REJECT of the version that this worker speaks: where both sides speak the coordinator's,
  /// the worker says HELLO again in that one. What it had sent in its own until then is refused as well; what
  /// is refused beyond that is what it said in the coordinator's version.
  bool is_about_version(const std::vector<zmq::message_t>& frames) {
    const auto version = wire::version_of(frames[0].to_string_view());
    auto reject = wire::reject_of_any_version(frames[0].to_string_view(), frames[1].to_string_view());
    if (!reject || reject->code != wire::RejectCode::protocol_mismatch) return false;
    const bool is_older = wire::is_spoken(*version) && *version < wire::protocol_version;
    if (is_older && refusals_to_come_ > 0) {
      --refusals_to_come_;
    } else if (is_older && *version != version_) {
      speak(*version);
    } else if (is_older && was_welcome_) {
      speak(wire::protocol_version);  // Another coordinator, whose run needs more than that version has.
    } else {
      batch_.messages.emplace_back(std::move(*reject));
    }
    return true;
  }

  /// Goes on in this version; a refusal of the last message of another has just come.
  void speak(std::uint8_t version) {
    refusals_to_come_ = sent_in_version_ > 0 ? sent_in_version_ - 1 : 0;
    set_version(version);
    batch_.says_hello_again = true;
  }

  void set_version(std::uint8_t version) {
    version_ = version;
    was_welcome_ = false;
    sent_in_version_ = 0;
  }

  void reopen() {
    set_version(wire::protocol_version);  // Somebody else may be there by now.
    refusals_to_come_ = 0;
    // Another of the coordinator's keys, unless the last one was not refused.
    auto fresh = connect_dealer(*context_, endpoint_, key_, was_refused_ ? connections_ : connections_ - 1);
    if (!fresh) return spdlog::warn("{}", fresh.error().message);
    connections_ = fresh->connections;
    was_refused_ = false;
    const auto stage = std::exchange(stage_, ConnectionStage::none);
    replace_sockets(std::move(fresh->socket), std::move(fresh->monitor));
    const auto now = std::chrono::steady_clock::now();
    if (was_heard_ || now < next_look_up_) return;
    tell_problem(problem_with_connection(stage));
    // A look-up that takes long holds up what waits for this thread.
    const auto end = std::chrono::steady_clock::now();
    next_look_up_ = end + 10 * (end - now);
  }

  /// Of a coordinator that was never there, whose last connection has come so far. To look the host up may
  /// take its time, as it takes ZeroMQ's own.
  std::optional<std::string> problem_with_connection(ConnectionStage stage) const {
    if (auto problem = problem_with_host(endpoint_)) return problem;
    const bool is_told = stage == ConnectionStage::open && !refusals_.why().empty();
    return is_told ? std::nullopt : unanswered(stage, endpoint_);
  }

  void tell_problem(std::optional<std::string> problem) {
    if (problem == problem_) return;
    problem_ = std::move(problem);
    if (problem_) spdlog::warn("{}", *problem_);
    send(worker_, ConnectionRefused{problem_.value_or(refusals_.why())});
  }

  zmq::context_t* context_;
  std::string endpoint_;
  std::optional<FleetKey> key_;
  std::size_t connections_;
  bool was_refused_ = false;  ///< The last connection did not come about.
  Refusals refusals_;
  bool was_heard_ = false;                                ///< The coordinator, once.
  ConnectionStage stage_ = ConnectionStage::none;         ///< Of this socket.
  std::optional<std::string> problem_;                    ///< As last told.
  std::chrono::steady_clock::time_point next_look_up_{};  ///< No earlier.
  std::uint32_t unsent_ = 0;                              ///< Messages, since the coordinator's last one.
  std::uint8_t version_ = wire::protocol_version;         ///< That this connection is spoken in,
  bool was_welcome_ = false;                              ///< with a WELCOME that came in it,
  std::size_t sent_in_version_ = 0;                       ///< and the messages that were sent in it.
  std::size_t refusals_to_come_ = 0;  ///< At most: to messages that were sent in another version before.
  caf::actor worker_;
  FromCoordinator batch_;
};

/// How far the socket's connections come, and what they fail for before they can carry a message.
zmq::socket_t monitor_of(zmq::context_t& context, zmq::socket_t& socket) {
  static std::atomic<std::uint64_t> count{0};
  const std::string address = "inproc://handshakes-" + std::to_string(++count);
  constexpr int events = ZMQ_EVENT_CONNECT_DELAYED | ZMQ_EVENT_CLOSED | ZMQ_EVENT_CONNECTED |
                         ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                         ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
  if (zmq_socket_monitor(socket.handle(), address.c_str(), events) != 0) throw zmq::error_t();
  zmq::socket_t monitor(context, zmq::socket_type::pair);
  monitor.set(zmq::sockopt::linger, 0);
  monitor.connect(address);
  return monitor;
}

}  // namespace

Result<ConnectedDealer> connect_dealer(zmq::context_t& context, const std::string& endpoint,
                                       const std::optional<FleetKey>& key, std::size_t connections) {
  if (key) {
    if (auto checked = check_pair(*key); !checked) return fail(std::move(checked.error()));
  }
  try {
    zmq::socket_t socket(context, zmq::socket_type::dealer);
    set_common_options(socket);
    set_ip_version(socket, endpoint);
    const bool is_inproc = endpoint.starts_with("inproc://");
    if (key && !is_inproc)
      use_curve(socket, *key, key->coordinator_keys[connections % key->coordinator_keys.size()]);
    zmq::socket_t monitor = is_inproc ? zmq::socket_t() : monitor_of(context, socket);
    socket.connect(endpoint);
    return ConnectedDealer{std::move(socket), std::move(monitor), context, endpoint, key, connections + 1};
  } catch (const zmq::error_t& error) {
    return fail(Reason::usage_invalid, "cannot connect to \"" + endpoint + "\": " + error.what() +
                                           "; an endpoint looks like tcp://HOST:PORT");
  }
}

caf::actor spawn_dealer(caf::actor_system& system, ConnectedDealer dealer, const caf::actor& worker) {
  return system.spawn<DealerActor, caf::detached>(std::move(dealer), worker);
}

}  // namespace sluice

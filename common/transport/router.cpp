#include "common/transport/router.hpp"

#include "common/defaults.hpp"
#include "common/text/text.hpp"
#include "common/transport/connection_watch.hpp"
#include "common/transport/defaults.hpp"
#include "common/transport/messages.hpp"
#include "common/transport/peer_quota.hpp"
#include "common/transport/socket_actor.hpp"
#include "common/transport/socket_options.hpp"
#include "common/wire/codec.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <unordered_map>
#include <variant>

#include <caf/all.hpp>
#include <spdlog/spdlog.h>

namespace sluice {

namespace {

class RouterActor final : public SocketActor {
 public:
  RouterActor(caf::actor_config& config, BoundRouter router, caf::actor coordinator)
      : SocketActor(config, std::move(router.socket), std::move(router.zap)),
        watch_(std::move(router.connections)),
        security_(std::move(router.security)),
        coordinator_(std::move(coordinator)) {}

  const char* name() const override { return "router"; }

 protected:
  caf::message_handler handlers() override {
    return {
        [this](const ToPeer& outgoing) { send_to(outgoing.peer, outgoing.message); },
        [this](DrainSocket) {
          refresh_allow_list();
          drain_is_due_ = true;
          drain_if_due();
        },
        [this](CloseSocket) { stop(); },
        [this](const caf::exit_msg& exit) { on_exit_message(exit); },
    };
  }

  void on_frames(std::vector<zmq::message_t>& frames) override {
    const Peer peer = frames.front().to_string();
    watch_.on_read(peer, frames);
    check_if_due();  // A batch of large ones takes seconds.
    if (frames.size() != 3) return reject(peer, wire::RejectCode::malformed, "a message has two frames");
    if (!note_version(peer, frames[1].to_string_view())) {
      return reject(peer, wire::RejectCode::not_taken,
                    "this coordinator serves as many workers of an earlier version as it can");
    }
    if (frames[2].size() > defaults::max_frame_bytes) {
      return reject(peer, wire::RejectCode::too_large,
                    "a frame has at most " + std::to_string(defaults::max_frame_bytes) + " bytes");
    }
    auto message = wire::decode_to_coordinator(frames[1].to_string_view(), frames[2].to_string_view());
    if (!message) {
      const auto& [reason, why] = message.error();
      if (reason == Reason::protocol_mismatch && refusal_quota_.take(peer, std::chrono::steady_clock::now()))
        spdlog::warn("refused: {}", why);
      return reject(peer, wire::reject_code(message.error()), why);
    }
    if (security_ && !is_admitted(peer, frames[2], *message)) return;
    if (auto* hello = std::get_if<wire::Hello>(&*message)) {
      // Each is answered by the run's settings, of many kilobytes.
      if (!hello_quota_.take(peer, std::chrono::steady_clock::now())) return;
      hello->from_this_process = is_from_this_process(frames[2]);
    }
    batch_.items.push_back({peer, std::move(*message)});
    batch_bytes_ += frames[2].size();
  }

  bool may_read() const override { return *in_hand_ + batch_bytes_ < defaults::max_bytes_in_hand; }

  std::chrono::milliseconds patience() const override {
    return watch_.watches() ? defaults::waiting_bytes_interval : std::chrono::milliseconds(-1);
  }

  void on_turn() override {
    check_if_due();
    if (drain_is_due_) drain_if_due();
  }

  void on_closed() override { watch_.close(); }

  void flush() override {
    const bool are_some_gone = !batch_.removed.empty() || !batch_.deaf.empty();
    if (batch_.items.empty() && !are_some_gone && !rejected_since_flush_) return;
    batch_.frames_rejected = frames_rejected_;
    batch_.connections_refused = connections_refused_;
    batch_.in_hand = hold(std::exchange(batch_bytes_, 0));
    rejected_since_flush_ = false;
    send(coordinator_, std::move(batch_));
    batch_ = FromWorkers{};
  }

  /// ZeroMQ asks whether a key may come in.
  void on_side_frames(std::vector<zmq::message_t>& frames) override {
    refresh_allow_list();
    std::vector<std::string> request;
    for (const auto& frame : frames) request.push_back(frame.to_string());
    const auto answer = answer_zap(request, security_->allowed.list());
    if (!answer) return;
    if (!answer->is_admitted) note_refused(request[3], *answer);
    const std::vector<std::string_view> parts(answer->frames.begin(), answer->frames.end());
    send_side_frames(parts);
  }

 private:
  /// Silence counts once everything was read: not while nothing may be.
  void drain_if_due() {
    drain_socket();
    if (!may_read()) return;
    drain_is_due_ = false;
    send(coordinator_, SocketDrained{});
  }

  void check_if_due() {
    if (const auto now = std::chrono::steady_clock::now(); now >= next_check_) check_connections(now);
  }

  void check_connections(TimePoint now) {
    next_check_ = now + defaults::waiting_bytes_interval;
    for (const auto& sentence : watch_.check(now)) {
      if (refusal_quota_.take("", now)) spdlog::warn("{}", sentence);
    }
    for (const std::uint32_t problem : watch_.take_failed_handshakes()) {
      const auto why = refused_worker(problem, security_.has_value());
      if (!why) continue;
      count_refused();
      if (misfit_quota_.take(*why, now)) spdlog::warn("a connection was refused: {}", *why);
    }
  }

  void note_refused(const std::string& address, const ZapAnswer& answer) {
    count_refused();
    const auto& key = answer.public_key;
    const auto now = std::chrono::steady_clock::now();
    // Its worker tries again every few seconds, and others may come from the same address.
    if (!key.empty() && !unlisted_quota_.take(key, now)) return;
    if (!refusal_quota_.take(address, now)) return;
    const auto why = key.empty() ? answer.frames[3] : unlisted_key(key, security_->allow_flags);
    spdlog::warn("a connection from {} was refused: {}", address, why);
  }

  void count_refused() {
    ++connections_refused_;
    rejected_since_flush_ = true;
  }

  /// Counts so many bytes as long as it is held.
  InHand hold(std::size_t bytes) {
    *in_hand_ += bytes;
    return {nullptr, [count = in_hand_, bytes](const void*) { *count -= bytes; }};
  }

  /// Remembers in which version a peer is to be answered, where that is not this sluice's own. False if there
  /// are too many of them.
  bool note_version(const Peer& peer, std::string_view header) {
    const auto version = wire::version_of(header);
    if (!version || !wire::is_spoken(*version)) return true;
    if (*version == wire::protocol_version) {
      if (!older_peers_.empty()) older_peers_.erase(peer);
      return true;
    }
    const auto now = std::chrono::steady_clock::now();
    if (older_peers_.size() >= defaults::max_admitted_peers && !older_peers_.contains(peer)) {
      std::erase_if(older_peers_, [&](const auto& entry) {
        return now - entry.second.heard_at > defaults::older_peer_silence;
      });
      if (older_peers_.size() >= defaults::max_admitted_peers) return false;
    }
    older_peers_.insert_or_assign(peer, OlderPeer{*version, now});
    return true;
  }

  static bool is_from_this_process(zmq::message_t& frame) {
    return zmq_msg_gets(frame.handle(), "Peer-Address") == nullptr;
  }

  /// Whether the sender's key is still listed; its HELLO then gets the key's name. What comes from this
  /// process has no key.
  bool is_admitted(const Peer& peer, zmq::message_t& frame, wire::ToCoordinator& message) {
    const char* key = zmq_msg_gets(frame.handle(), "User-Id");
    if (key == nullptr) return is_from_this_process(frame);
    const auto name = security_->allowed.list().name_of(key);
    if (!name) return false;
    if (auto* hello = std::get_if<wire::Hello>(&message)) {
      hello->name = fleet_worker_name(*name, hello->name);
      if (admitted_.size() >= defaults::max_admitted_peers) admitted_.clear();
      admitted_.insert_or_assign(peer, key);
    } else if (std::holds_alternative<wire::Goodbye>(message)) {
      admitted_.erase(peer);
    }
    return true;
  }

  /// Those whose keys are listed no more leave.
  void refresh_allow_list() {
    if (!security_) return;
    const auto changed = security_->allowed.refresh();
    if (!changed) return spdlog::error("the list of workers stays as it was: {}", changed.error().message);
    if (!*changed) return;
    std::erase_if(admitted_, [&](const auto& entry) {
      if (security_->allowed.list().name_of(entry.second)) return false;
      batch_.removed.push_back(entry.first);
      return true;
    });
    flush();
  }

  void send_to(const Peer& peer, const wire::ToWorker& message) {
    // Whoever floods the port does not read what it is answered, and nothing bounds ZeroMQ's queues to it.
    const bool refusal = std::holds_alternative<wire::Reject>(message);
    if (refusal && !reject_quota_.take(peer, std::chrono::steady_clock::now())) {
      ++rejects_withheld_;
      spdlog::debug("{} frames were rejected without an answer", rejects_withheld_);
      return;
    }
    const auto older = older_peers_.find(peer);
    const auto frames =
        wire::encode(message, older == older_peers_.end() ? wire::protocol_version : older->second.version);
    switch (send_frames({peer, frames.header, frames.body})) {
      case Sent::yes:
        watch_.on_sent(peer, frames.header.size() + frames.body.size());
        if (watch_.is_overdue()) check_connections(std::chrono::steady_clock::now());
        return;
      case Sent::gone:
        return spdlog::debug("a worker has gone; a message is dropped");
      case Sent::full:
        // What it misses would have it wait, and others for it.
        batch_.deaf.push_back(peer);
    }
  }

  void reject(const Peer& peer, wire::RejectCode code, const std::string& why) {
    ++frames_rejected_;
    rejected_since_flush_ = true;
    spdlog::debug("frame {} rejected: {}", frames_rejected_, why);
    send_to(peer, wire::Reject{code, excerpt(to_valid_utf8(why), 300)});
  }

  struct OlderPeer {
    std::uint8_t version = wire::oldest_protocol_version;
    std::chrono::steady_clock::time_point heard_at;
  };

  ConnectionWatch watch_;
  TimePoint next_check_{};
  std::optional<FleetSecurity> security_;
  std::unordered_map<Peer, OlderPeer> older_peers_;
  std::unordered_map<Peer, std::string> admitted_;  ///< The keys of those that said HELLO by one.
  caf::actor coordinator_;
  FromWorkers batch_;
  std::size_t batch_bytes_ = 0;  ///< On the wire.
  std::shared_ptr<std::atomic<std::size_t>> in_hand_ = std::make_shared<std::atomic<std::size_t>>(0);
  bool drain_is_due_ = false;
  std::uint64_t frames_rejected_ = 0;
  std::uint64_t connections_refused_ = 0;
  bool rejected_since_flush_ = false;  ///< A frame or a connection.
  PeerQuota reject_quota_{{defaults::max_rejects_to_one, defaults::rejects_to_one_per_second},
                          {defaults::max_rejects, defaults::rejects_per_second}};
  PeerQuota refusal_quota_{{defaults::refusals_logged, defaults::refusals_logged_per_second},
                           {10 * defaults::refusals_logged, 10 * defaults::refusals_logged_per_second}};
  /// By key. Of all keys together it bounds nothing, or one stranger with many would silence the others.
  PeerQuota unlisted_quota_{{1, defaults::misfits_logged_per_second},
                            {defaults::max_counted_peers, defaults::max_counted_peers}};
  PeerQuota misfit_quota_{{1, defaults::misfits_logged_per_second},
                          {10, 10 * defaults::misfits_logged_per_second}};
  PeerQuota hello_quota_{{defaults::max_hellos_of_one, defaults::hellos_of_one_per_second},
                         {defaults::max_hellos, defaults::hellos_per_second}};
  std::uint64_t rejects_withheld_ = 0;
};

/// ZeroMQ binds to addresses and interfaces, not to names; this is the one name that everybody has.
std::string bindable(const std::string& endpoint) {
  constexpr std::string_view by_name = "tcp://localhost:";
  if (!endpoint.starts_with(by_name)) return endpoint;
  return "tcp://127.0.0.1:" + endpoint.substr(by_name.size());
}

}  // namespace

Result<BoundRouter> bind_router(zmq::context_t& context, const std::vector<std::string>& endpoints,
                                std::optional<FleetSecurity> security) {
  if (security) {
    if (auto checked = check_pair(security->key); !checked) return fail(std::move(checked.error()));
  }
  BoundRouter router{{}, zmq::socket_t(context, zmq::socket_type::router), {}, std::move(security), {}};
  set_common_options(router.socket);
  const auto is_tcp = [](const std::string& endpoint) { return endpoint.starts_with("tcp://"); };
  if (std::ranges::any_of(endpoints, is_tcp)) router.connections = watch_connections(context, router.socket);
  if (router.security) {
    router.zap = zmq::socket_t(context, zmq::socket_type::rep);
    router.zap.set(zmq::sockopt::linger, 0);
    router.zap.bind(zap_endpoint);
    require_curve(router.socket, router.security->key);
  }
  router.socket.set(zmq::sockopt::router_mandatory, true);
  router.socket.set(zmq::sockopt::sndhwm, defaults::max_unread_messages);
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
  return system.spawn<RouterActor, caf::detached>(std::move(router), coordinator);
}

}  // namespace sluice

#pragma once

#include "common/fleet/fleet_security.hpp"
#include "common/transport/refusals.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <zmq.hpp>

/// CURVE, ZeroMQ's encryption, and ZAP, by which it asks who may come in (docs/security.md).
namespace sluice {

/// A new pair of keys in Z85.
struct KeyPair {
  std::string public_key;
  std::string secret_key;
};
KeyPair new_key_pair();
/// Whether public and secret key belong together: settings_invalid, naming the key, where they do not.
Result<void> check_pair(const FleetKey& key);

/// From the next bind on, TCP connections to the socket are encrypted, and whoever comes is asked about by
/// ZAP. `inproc` connections are not concerned.
void require_curve(zmq::socket_t& socket, const FleetKey& key);
/// From the next connect on, the socket shows itself as `key`, to a coordinator with `coordinator_key` alone.
void use_curve(zmq::socket_t& socket, const FleetKey& key, const std::string& coordinator_key);

/// What a worker's connection failed for before a message could cross; nothing where that says nothing.
/// `event` and `value` are those of ZeroMQ's monitor.
std::optional<Refusal> handshake_problem(std::uint16_t event, std::uint32_t value,
                                         const std::string& endpoint, const std::optional<FleetKey>& key);

/// The same for the coordinator's log, of a connection that was made to it; nothing where strangers knock.
/// `problem`: what ZeroMQ's monitor says of a handshake that failed; `has_keys`: workers come in by theirs.
std::optional<std::string> refused_worker(std::uint32_t problem, bool has_keys);

/// The endpoint at which ZeroMQ asks, within the context of the socket.
inline constexpr const char* zap_endpoint = "inproc://zeromq.zap.01";

/// What ZAP is answered.
struct ZapAnswer {
  std::vector<std::string> frames;
  bool is_admitted = false;
  std::string public_key{};  ///< That was shown, in Z85; empty: none.
};
/// By ZAP 1.0 (RFC 27), to the frames of a request without its envelope. A listed key comes in with itself as
/// the user's id. Nothing for what is no request.
std::optional<ZapAnswer> answer_zap(const std::vector<std::string>& request, const AllowList& allowed);

/// For the coordinator's log, of a key that it does not admit: how to admit it. `flags`: as
/// FleetSecurity::allow_flags.
std::string unlisted_key(const std::string& public_key, const std::string& flags);

}  // namespace sluice

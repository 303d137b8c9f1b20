#include "common/transport/curve.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>

namespace sluice {
namespace {

constexpr std::size_t key_bytes = 32;
/// With the zero at the end that ZeroMQ's functions write.
using Z85 = std::array<char, fleet_key_chars + 1>;

}  // namespace

KeyPair new_key_pair() {
  Z85 public_key{};
  Z85 secret_key{};
  do {
    // It fails only where ZeroMQ was built without CURVE.
    if (zmq_curve_keypair(public_key.data(), secret_key.data()) != 0) std::abort();
  } while (public_key.front() == '-');  // `sluice keys allow` would take it for a flag.
  return {public_key.data(), secret_key.data()};
}

Result<void> check_pair(const FleetKey& key) {
  Z85 public_key{};
  const bool is_read = zmq_curve_public(public_key.data(), key.secret_key.c_str()) == 0;
  if (is_read && key.public_key == public_key.data()) return {};
  return fail(Reason::settings_invalid,
              "public_key and secret_key of the fleet key \"" + key.name +
                  "\" do not belong together: make a new one with `sluice keys new`");
}

void require_curve(zmq::socket_t& socket, const FleetKey& key) {
  socket.set(zmq::sockopt::curve_server, true);
  socket.set(zmq::sockopt::curve_secretkey, key.secret_key);
  socket.set(zmq::sockopt::zap_domain, "sluice");
}

void use_curve(zmq::socket_t& socket, const FleetKey& key, const std::string& coordinator_key) {
  socket.set(zmq::sockopt::curve_serverkey, coordinator_key);
  socket.set(zmq::sockopt::curve_publickey, key.public_key);
  socket.set(zmq::sockopt::curve_secretkey, key.secret_key);
}

std::optional<Refusal> handshake_problem(std::uint16_t event, std::uint32_t value,
                                         const std::string& endpoint, const std::optional<FleetKey>& key) {
  using Cause = Refusal::Cause;
  const std::string at = "the coordinator at " + endpoint;
  if (event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH)
    return Refusal{
        Cause::not_listed,
        at + " does not list this worker's key" +
            (key ? ": run `sluice keys allow " + key->name + " '" + key->public_key + "'` there" : "")};
  const bool speaks_otherwise =
      event == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL && value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH;
  if (speaks_otherwise && !key)
    return Refusal{Cause::no_agreement,
                   at + " admits workers by their keys: give this one's with --fleet-key FILE (`sluice keys "
                        "new` makes it)"};
  if (speaks_otherwise)
    return Refusal{Cause::no_agreement,
                   at + " does not encrypt, and this worker has a key and joins no such one: start the run "
                        "with --fleet-key HOME/fleet/coordinator.key, without which a run on loopback uses "
                        "no keys, and not with --insecure; or start this worker without a key"};
  if (event != ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL) return std::nullopt;
  if (!key)
    return Refusal{Cause::hang_up,
                   "whoever listens at " + endpoint +
                       " hangs up at once: it is no coordinator, one that admits workers by their keys alone "
                       "(--fleet-key), or a tunnel or proxy behind which nobody listens; check host and port "
                       "of --connect, which `sluice run --listen` prints"};
  return Refusal{Cause::hang_up,
                 at + " is not one whose public key this worker's key file names, does not encrypt, or "
                      "nobody listens there behind a tunnel or proxy: compare coordinator_keys with what "
                      "`sluice keys list` prints there, and start the run with --fleet-key where it is on "
                      "loopback, and without --insecure"};
}

std::optional<std::string> refused_worker(std::uint32_t problem, bool has_keys) {
  if (problem == ZMQ_PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC)
    return "its worker's key file names the public key of another coordinator: compare coordinator_keys "
           "there "
           "with what `sluice keys list` prints here";
  if (problem != ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH) return std::nullopt;
  if (has_keys)
    return "its worker shows no key: start it with --fleet-key FILE (`sluice keys new` makes it), and "
           "without --insecure";
  return "its worker has a key and joins no coordinator without: start the run with --fleet-key "
         "HOME/fleet/coordinator.key, without which it uses no keys on loopback, and without --insecure; or "
         "start the worker without a key";
}

std::optional<ZapAnswer> answer_zap(const std::vector<std::string>& request, const AllowList& allowed) {
  // Version, request id, domain, address, routing id, mechanism, credentials.
  constexpr std::size_t frames_before_credentials = 6;
  constexpr std::string_view version = "1.0";
  if (request.size() < frames_before_credentials || request[0] != version) return std::nullopt;
  const auto answer = [&](const char* code, const char* text, const std::string& user) {
    return std::vector<std::string>{std::string(version), request[1], code, text, user, ""};
  };
  const bool is_curve = request[5] == "CURVE" && request.size() == frames_before_credentials + 1 &&
                        request[6].size() == key_bytes;
  if (!is_curve) return ZapAnswer{answer("400", "CURVE is required", "")};
  Z85 shown{};
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(request[6].data());
  if (zmq_z85_encode(shown.data(), bytes, key_bytes) == nullptr)
    return ZapAnswer{answer("400", "no key", "")};
  if (!allowed.name_of(shown.data()))
    return ZapAnswer{answer("400", "this key is not listed", ""), false, shown.data()};
  return ZapAnswer{answer("200", "OK", shown.data()), true, shown.data()};
}

std::string unlisted_key(const std::string& public_key, const std::string& flags) {
  return "this key is not listed; if it is that of a worker of yours, run `sluice keys allow NAME '" +
         public_key + "'" + flags + "` here";
}

}  // namespace sluice

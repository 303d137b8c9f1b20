#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

/// The parts of `tcp://HOST:PORT`.
struct TcpEndpoint {
  std::string host;  ///< As given: a name, an IPv4 address, or an IPv6 address in brackets. Never empty.
  std::uint16_t port = 0;
};

/// Whether the host is this machine's own, by its name or address alone.
bool is_loopback(const TcpEndpoint& endpoint);

/// Nothing for what is no such endpoint. Port 0 is one: where to listen on any free port.
std::optional<TcpEndpoint> parse_tcp_endpoint(std::string_view endpoint);

/// What is wrong with the endpoint that a worker is to connect to, naming `--connect`; nothing if all is
/// well.
std::optional<std::string> problem_with_connect(std::string_view endpoint);

}  // namespace sluice

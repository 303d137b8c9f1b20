#include "common/settings/tcp_endpoint.hpp"

#include "common/settings/base_url.hpp"
#include "common/text/number.hpp"
#include "common/text/text.hpp"

#include <cstdint>

namespace sluice {

bool is_loopback(const TcpEndpoint& endpoint) {
  const std::string_view host = endpoint.host;
  return is_loopback_host(host.starts_with('[') ? host.substr(1, host.size() - 2) : host);
}

std::optional<TcpEndpoint> parse_tcp_endpoint(std::string_view endpoint) {
  constexpr std::string_view scheme = "tcp://";
  if (!endpoint.starts_with(scheme)) return std::nullopt;
  const std::string_view address = endpoint.substr(scheme.size());
  const auto colon = address.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  TcpEndpoint parts;
  parts.host = address.substr(0, colon);
  // Without brackets the last part of an IPv6 address would be read as the port.
  const bool bracketed = parts.host.starts_with('[') && parts.host.ends_with(']');
  if (!bracketed && parts.host.find(':') != std::string::npos) return std::nullopt;
  const auto port = number_from<std::uint16_t>(address.substr(colon + 1));
  if (!port) return std::nullopt;
  parts.port = *port;
  return parts;
}

std::optional<std::string> problem_with_connect(std::string_view endpoint) {
  const std::string shown = "\"" + excerpt(endpoint, 80) + "\"";
  const auto parts = parse_tcp_endpoint(endpoint);
  if (!parts) return "--connect must be tcp://HOST:PORT, not " + shown;
  if (parts->host == "*") {
    return "--connect must name the coordinator's host, not " + shown + ": `*` is for listening alone";
  }
  if (parts->port == 0) {
    return "--connect needs the port that the coordinator says it listens on, from 1 to 65535, not " + shown;
  }
  return std::nullopt;
}

}  // namespace sluice

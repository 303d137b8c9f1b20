#include "common/settings/metrics_endpoint.hpp"

#include "common/text/number.hpp"
#include "common/text/text.hpp"

#include <cstdint>

#include <arpa/inet.h>

namespace sluice {
namespace {

bool is_address(int family, const std::string& text) {
  in6_addr address{};  // Room for either.
  return ::inet_pton(family, text.c_str(), &address) == 1;
}

}  // namespace

Result<std::string> parse_metrics_endpoint(std::string_view text) {
  const auto refused = [&] {
    return fail(
        Reason::usage_invalid,
        "--metrics-listen must be HOST:PORT with an IP address or localhost as the host, or :PORT for "
        "127.0.0.1 (port 0 picks one), not \"" +
            excerpt(text, 80) + "\"");
  };
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return refused();
  const auto port = number_from<std::uint16_t>(text.substr(colon + 1));
  if (!port) return refused();

  const std::string host(text.substr(0, colon));
  const std::string behind = ":" + std::to_string(*port);
  if (host.empty() || host == "localhost") return "127.0.0.1" + behind;
  if (is_address(AF_INET, host)) return host + behind;
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed && is_address(AF_INET6, host.substr(1, host.size() - 2))) return host + behind;
  return refused();
}

}  // namespace sluice

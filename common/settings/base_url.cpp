#include "common/settings/base_url.hpp"

#include "common/text/number.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

namespace sluice {
namespace {

constexpr std::uint16_t https_port = 443;
constexpr std::uint16_t http_port = 80;

bool is_host_name(std::string_view host) {
  return !host.empty() && std::all_of(host.begin(), host.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
  });
}

bool is_ipv6(std::string_view host) {
  return host.find(':') != std::string_view::npos && std::all_of(host.begin(), host.end(), [](char c) {
           return (c >= 'a' && c <= 'f') || (c >= '0' && c <= '9') || c == ':' || c == '.';
         });
}

struct HostPort {
  std::string host;
  std::optional<std::uint16_t> port;
};

/// `host`, `host:port`, `[ipv6]` or `[ipv6]:port`, in lower case.
std::optional<HostPort> split_authority(std::string_view authority) {
  HostPort result;
  std::string_view after;
  if (authority.starts_with('[')) {
    const auto close = authority.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    result.host = to_lower(authority.substr(1, close - 1));
    if (!is_ipv6(result.host)) return std::nullopt;
    after = authority.substr(close + 1);
  } else {
    const auto colon = std::min(authority.find(':'), authority.size());
    result.host = to_lower(authority.substr(0, colon));
    if (!is_host_name(result.host)) return std::nullopt;
    after = authority.substr(colon);
  }
  if (after.empty()) return result;
  if (!after.starts_with(':')) return std::nullopt;
  result.port = number_from<std::uint16_t>(after.substr(1));
  if (!result.port || *result.port == 0) return std::nullopt;
  return result;
}

bool is_loopback_v4(std::string_view host) {
  if (!host.starts_with("127.")) return false;
  std::size_t parts = 0;
  for (std::size_t at = 0; at <= host.size(); ++parts) {
    const auto dot = std::min(host.find('.', at), host.size());
    if (!number_from<std::uint8_t>(host.substr(at, dot - at))) return false;
    at = dot + 1;
  }
  return parts == 4;
}

}  // namespace

Result<BaseUrl> parse_base_url(std::string_view url) {
  const auto wrong = [](std::string what) { return fail(Reason::settings_invalid, std::move(what)); };
  const auto scheme_end = url.find("://");
  const std::string scheme = to_lower(url.substr(0, std::min(scheme_end, url.size())));
  if (scheme_end == std::string_view::npos || (scheme != "http" && scheme != "https")) {
    return wrong("must be a URL that starts with http:// or https://");
  }
  const auto printable = [](char c) { return c > 0x20 && c < 0x7f; };
  if (!std::all_of(url.begin(), url.end(), printable))
    return wrong("must not contain spaces or control characters");
  const std::string_view rest = url.substr(scheme_end + 3);
  const std::string_view authority = rest.substr(0, std::min(rest.find_first_of("/?#\\"), rest.size()));
  if (authority.find('@') != std::string_view::npos) {
    return wrong("must not contain a user name or password: keys belong in the environment");
  }
  if (rest.find_first_of("?#") != std::string_view::npos) {
    return wrong(
        "must not have a query or a fragment: a query stands as \"query\" in [providers.NAME] of the "
        "settings "
        "file");
  }
  const auto parts = split_authority(authority);
  if (!parts || rest.find('\\') != std::string_view::npos) {
    return wrong("must name a host, and a port from 1 to 65535 if any, after the scheme");
  }
  BaseUrl result;
  result.secure = scheme == "https";
  result.host = parts->host;
  result.port = parts->port.value_or(result.secure ? https_port : http_port);
  result.text = url;
  while (result.text.ends_with('/')) result.text.pop_back();
  return result;
}

std::string_view endpoint_path_of(std::string_view url) {
  static constexpr std::array<std::string_view, 8> paths{
      "/chat/completions", "/completions", "/responses",       "/embeddings",
      "/v1/messages",      "/messages",    ":generateContent", ":batchEmbedContents"};
  while (url.ends_with('/')) url.remove_suffix(1);
  const auto found = std::ranges::find_if(paths, [&](std::string_view path) { return url.ends_with(path); });
  return found != paths.end() ? *found : std::string_view();
}

std::string_view endpoint_path_of(std::string_view url, ProviderKind kind) {
  const std::string_view version = kind == ProviderKind::anthropic ? "/v1"
                                   : kind == ProviderKind::gemini  ? "/v1beta"
                                                                   : "";
  while (url.ends_with('/')) url.remove_suffix(1);
  return !version.empty() && url.ends_with(version) ? version : endpoint_path_of(url);
}

bool is_loopback_host(std::string_view host) {
  return host == "localhost" || host == "::1" || is_loopback_v4(host);
}

std::string host_entry(const BaseUrl& url) {
  const bool ipv6 = url.host.find(':') != std::string::npos;
  return (ipv6 ? "[" + url.host + "]" : url.host) + ":" + std::to_string(url.port);
}

bool is_host_entry(std::string_view entry) {
  return split_authority(entry).has_value();
}

bool may_receive_key(std::string_view base_url, std::span<const std::string> trusted_hosts,
                     bool trusts_loopback) {
  const auto url = parse_base_url(base_url);
  if (!url) return false;
  if (trusts_loopback && is_loopback_host(url->host)) return true;
  return std::any_of(trusted_hosts.begin(), trusted_hosts.end(), [&](const std::string& entry) {
    const auto trusted = split_authority(entry);
    if (!trusted || trusted->host != url->host) return false;
    if (trusted->port) return *trusted->port == url->port;
    return url->secure && url->port == https_port;
  });
}

}  // namespace sluice

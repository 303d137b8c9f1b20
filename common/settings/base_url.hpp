#pragma once

#include "common/error.hpp"
#include "common/model/run_settings.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sluice {

/// The parts of a provider's base URL that matter for trust.
struct BaseUrl {
  bool secure = false;     ///< https
  std::string host;        ///< Lower case; IPv6 addresses without brackets.
  std::uint16_t port = 0;  ///< The scheme's own if none is written.
  std::string text;        ///< As given, without trailing slashes.
};

/// Reads an http or https URL with a host and without user info, query and fragment. The error's message does
/// not quote the URL, since it may hold a secret.
Result<BaseUrl> parse_base_url(std::string_view url);

/// The path of an API's endpoint at the end of a base URL, which is added to it with each call, such as
/// `/chat/completions`; empty if there is none.
std::string_view endpoint_path_of(std::string_view url);

/// The same of a provider of this kind, for whom the API's version is a part of that path as well.
std::string_view endpoint_path_of(std::string_view url, ProviderKind kind);

/// True for `localhost`, 127.0.0.0/8 and ::1.
bool is_loopback_host(std::string_view host);

/// True if a worker may send a provider's key to this URL: loopback always, else a host that is listed. An
/// entry is `host` (https on port 443 alone) or `host:port` (that port, also without TLS). A text that is no
/// base URL gets no key.
bool may_receive_key(std::string_view base_url, std::span<const std::string> trusted_hosts,
                     bool trusts_loopback = true);

/// `host:port` as may_receive_key takes it, with brackets around an IPv6 address.
std::string host_entry(const BaseUrl& url);

/// True for what may stand in `key_hosts`: `host` or `host:port`, without scheme and path.
bool is_host_entry(std::string_view entry);

}  // namespace sluice

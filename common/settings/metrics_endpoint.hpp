#pragma once

#include "common/error.hpp"

#include <string>
#include <string_view>

namespace sluice {

/// Where metrics are served: `HOST:PORT` with an IPv4 address, [IPv6] or `localhost`; `:PORT` means loopback,
/// since metrics are for anybody who can reach them. Port 0 picks a free one. usage_invalid for anything
/// else. Pure.
Result<std::string> parse_metrics_endpoint(std::string_view text);

}  // namespace sluice

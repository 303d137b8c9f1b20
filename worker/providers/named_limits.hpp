#pragma once

#include "worker/providers/http_message.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace sluice {

/// A limit whose header names the time that it is for.
struct NamedLimit {
  bool of_tokens = false;     ///< Else of requests.
  std::uint64_t quota = 0;    ///< As it is written; above 0.
  std::uint64_t seconds = 0;  ///< Its window; above 0.
  friend bool operator==(const NamedLimit&, const NamedLimit&) = default;
};

/// The policies of `RateLimit-Policy` and `RateLimit-Limit`, with or without `X-`, in the forms of the IETF's
/// drafts (`10;w=1` and `"burst";q=10;w=1`), and `x-ratelimit-limit-` with `req`, `requests` or `tokens` and
/// `-second` or `-minute`. Windows of more than five minutes are left out: they are quotas, no rates.
std::vector<NamedLimit> named_limits(const HttpHeaders& headers);

/// A number above zero that can be a limit, or nothing.
std::optional<std::uint64_t> announced_count(std::string_view text);

}  // namespace sluice

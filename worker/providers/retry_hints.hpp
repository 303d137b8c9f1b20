#pragma once

#include "worker/providers/http_message.hpp"

#include <chrono>
#include <optional>
#include <string_view>

/// How long a server asks to wait. All delays are rounded up to milliseconds, above zero and at most
/// defaults::max_named_delay; what is zero, negative, past or malformed gives nothing.
namespace sluice {

/// `retry-after-ms`, else `retry-after` as an HTTP date (RFC 9110 5.6.7) or one of RFC 3339, or as seconds
/// (may be fractional, or have units). Numbers from 1e9 on (of milliseconds 1e12) are moments since 1970, not
/// delays of 31 years. Moments are held against when the response arrived and against its own `date`,
/// if it has one: the shorter delay counts.
std::optional<std::chrono::milliseconds> retry_after(const HttpHeaders& headers,
                                                     std::chrono::system_clock::time_point arrived);
/// The latest reset among the limits of which nothing remains: `x-ratelimit-*` (durations, at some servers
/// moments as numbers) and `anthropic-ratelimit-*` (RFC 3339).
std::optional<std::chrono::milliseconds> limit_reset(const HttpHeaders& headers,
                                                     std::chrono::system_clock::time_point arrived);
/// `x-should-retry`: the server's word on whether a retry makes sense.
std::optional<bool> should_retry(const HttpHeaders& headers);

/// A duration in units: "12ms", "1m30s", "6m0s", "45.837906927s"; a bare number is seconds.
std::optional<std::chrono::milliseconds> parse_delay(std::string_view text);

/// The three forms of RFC 9110: "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT" and
/// "Sun Nov  6 08:49:37 1994". The first may end in an offset ("+0300"); any other zone is none.
std::optional<std::chrono::system_clock::time_point> parse_http_date(std::string_view text);

}  // namespace sluice

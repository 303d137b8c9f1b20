#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

/// A moment as RFC 3339 writes it: "2024-05-01T12:00:00Z", with an optional fraction of a second, which is
/// rounded up to milliseconds, and an offset ("+02:00"). A blank may stand for the T. Nothing if it is none.
std::optional<std::chrono::sys_time<std::chrono::milliseconds>> parse_rfc3339(std::string_view text);

/// `2026-02-05T14:30:00.000Z`
std::string rfc3339(std::chrono::sys_time<std::chrono::milliseconds> time);

}  // namespace sluice

#pragma once

#include <string_view>

namespace sluice {

/// True for a date and time as RFC 3339 writes them, like 2025-12-21T12:00:00Z.
bool is_rfc3339(std::string_view text);

}  // namespace sluice

#pragma once

#include "common/timestamp.hpp"

namespace sluice {

/// True for a date and time as RFC 3339 writes them, like 2025-12-21T12:00:00Z.
inline bool is_rfc3339(std::string_view text) {
  return parse_rfc3339(text).has_value();
}

}  // namespace sluice

#pragma once

#include "coordinator/display/numbers.hpp"
#include "coordinator/facts/observation.hpp"

#include <chrono>
#include <cstdint>

namespace sluice {

/// Of the settings' retention_days and retention_max_count.
inline Retention retention_of(std::int64_t now_ms, std::uint32_t days, std::uint64_t newest) {
  const std::chrono::milliseconds age = std::chrono::days(days);
  return {wording::rfc3339(now_ms - age.count()), newest};
}

}  // namespace sluice

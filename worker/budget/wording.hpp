#pragma once

#include "common/clock.hpp"

#include <string>

namespace sluice::wording {

/// "12 ms"
inline std::string milliseconds(BootTime time) {
  return std::to_string(std::chrono::round<std::chrono::milliseconds>(time).count()) + " ms";
}

}  // namespace sluice::wording

#pragma once

#include "tests/support/sanitizers.hpp"

#include <chrono>
#include <thread>

namespace sluice::support {

/// How long a test waits for what must happen: far longer than it takes, even on a busy machine with
/// sanitizers.
inline constexpr std::chrono::seconds patience{has_address_sanitizer ? 120 : 30};

/// Polls a condition of other processes until it holds. False if it does not within the deadline.
template <class Condition>
bool eventually(Condition holds, std::chrono::milliseconds deadline = patience) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  while (!holds()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
  return true;
}

}  // namespace sluice::support

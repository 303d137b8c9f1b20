#pragma once

#include "coordinator/facts/learned_limits.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace sluice {

/// What the newest run that learnt anything of a provider leaves to those that follow.
struct RememberedLimits {
  std::string key;       ///< See limits_identity.
  std::string provider;  ///< As that run's settings name it.
  std::string server;    ///< Its base URL without user info; of earlier versions, its cache identity.
  LearnedLimits limits;  ///< `age` counts from learned_at_ms.
  std::int64_t learned_at_ms = 0;
  std::string run_id;
  std::optional<std::chrono::milliseconds> run_time{};  ///< How long that run took; where it was looked up.
  friend bool operator==(const RememberedLimits&, const RememberedLimits&) = default;
};

}  // namespace sluice

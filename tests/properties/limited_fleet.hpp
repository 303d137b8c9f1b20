#pragma once

#include "tests/properties/simulated_fleet.hpp"

#include <cstddef>
#include <cstdint>

/// What the tests of simulated fleets share: a provider that is limited, and workers that saturate it.
namespace sluice::fleet_test {

using namespace testing;

inline constexpr double rate = 100;
inline constexpr double burst = 10;
inline constexpr std::size_t call_count = 1000;

inline double seconds(BootTime time) {
  return static_cast<double>(time.count()) * 1e-6;
}

inline FleetProvider limited(BootTime latency) {
  FleetProvider provider;
  provider.limits.requests_per_minute = 6000;
  provider.limits.burst_seconds = 0.1;
  provider.nature.requests_per_second = rate;
  provider.nature.burst = burst;
  provider.nature.latency = latency;
  provider.calls = calls(call_count);
  return provider;
}

/// Workers that never lack calls to make, whatever the way to the coordinator takes.
inline std::uint32_t saturating(std::uint32_t workers, BootTime latency, BootTime network) {
  const double in_flight = 1.3 * rate * seconds(latency + 3 * network);
  return static_cast<std::uint32_t>(in_flight / workers) + 1;
}

}  // namespace sluice::fleet_test

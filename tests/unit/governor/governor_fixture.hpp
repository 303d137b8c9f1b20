#pragma once

#include "coordinator/governor/governor.hpp"

#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace sluice::governor_test {

using namespace std::chrono_literals;

constexpr BootTime start = std::chrono::hours(1);

class GovernorTest : public ::testing::Test {
 protected:
  explicit GovernorTest(const ProviderLimits& limits = {})
      : governor({{{"openai", limits}, {"gemini", {}}}, {60s, 1s, 600s}}, start) {}

  void send(WorkerId worker, wire::Demand demand, BootTime now) {
    governor.on_heartbeat(worker, {"run", ++sent, 10, {std::move(demand)}, 0}, now);
  }
  static wire::Demand ready(std::uint32_t calls, std::uint32_t in_flight = 0) {
    wire::Demand demand;
    demand.provider = "openai";
    demand.ready_calls = calls;
    demand.in_flight = in_flight;
    demand.sizes.resize(calls);
    return demand;
  }
  static wire::Demand paused(std::uint32_t pause_ms) {
    auto demand = ready(1, 1);
    demand.pause_ms = pause_ms;
    return demand;
  }
  /// What the worker is granted of the provider in this turn; nothing if no grant is sent.
  std::optional<wire::Grant> grant_to(WorkerId worker, BootTime now, const std::string& provider = "openai") {
    for (const auto& answer : governor.turn(now)) {
      if (answer.worker != worker) continue;
      for (const auto& grant : answer.grants.grants)
        if (grant.provider == provider) return grant;
    }
    return std::nullopt;
  }
  std::uint32_t pause_at(BootTime now, const std::string& provider = "openai") {
    send(1, ready(0), now);
    const auto grant = grant_to(1, now, provider);
    EXPECT_TRUE(grant);
    return grant ? grant->pause_ms : 0;
  }

  std::uint64_t sent = 0;
  Governor governor;
};

}  // namespace sluice::governor_test

#include "tests/unit/governor/fleet.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

/// Any history: workers die, stop, resume and join; messages are late, lost, doubled and out of order; clocks
/// run apart. What may never happen is a start too many.
namespace sluice::testing {
namespace {

using namespace std::chrono_literals;

struct Disturbance {
  enum class Kind : std::uint8_t { kill, freeze, thaw, join };
  Kind kind = Kind::kill;
  BootTime at{};
  std::uint32_t node = 0;
};

std::vector<Disturbance> disturbances(std::size_t most) {
  std::vector<Disturbance> all;
  const auto count = *rc::gen::inRange<std::size_t>(0, most + 1);
  for (std::size_t i = 0; i < count; ++i) {
    const auto kind = static_cast<Disturbance::Kind>(*rc::gen::inRange(0, 4));
    const BootTime at(*rc::gen::inRange(0, 8'000'000));
    const auto node = *rc::gen::inRange<std::uint32_t>(0, 8);
    all.push_back({kind, at, node});
    // Most stops are short ones: a few permits' lifetimes.
    if (kind == Disturbance::Kind::freeze) {
      all.push_back({Disturbance::Kind::thaw, at + BootTime(*rc::gen::inRange(1000, 2'000'000)), node});
    }
  }
  return all;
}

FleetOptions any_options() {
  FleetOptions options;
  options.seed = *rc::gen::arbitrary<std::uint64_t>();
  options.workers = *rc::gen::inRange<std::uint32_t>(1, 9);
  options.max_concurrent = *rc::gen::inRange<std::uint32_t>(1, 60);
  options.network_delay = BootTime(*rc::gen::inRange(0, 60'000));
  options.drift = *rc::gen::inRange(0, 101) * 1e-6;
  options.reordered = *rc::gen::arbitrary<bool>();
  options.lost_messages = *rc::gen::inRange(0, 3) * 0.05;
  options.doubled_messages = *rc::gen::inRange(0, 3) * 0.1;
  options.patience = 12s;
  return options;
}

void disturb(Fleet& fleet, const std::vector<Disturbance>& all) {
  for (const auto& one : all) {
    fleet.events().after(one.at, [&fleet, one] {
      const auto node = one.node % fleet.node_count();
      switch (one.kind) {
        case Disturbance::Kind::kill:
          return fleet.kill(node);
        case Disturbance::Kind::freeze:
          return fleet.freeze(node);
        case Disturbance::Kind::thaw:
          return fleet.thaw(node);
        case Disturbance::Kind::join:
          return fleet.add_node();
      }
    });
  }
}

RC_GTEST_PROP(FleetHistory, StartsInAnyWindowStayWithinRateAndBurst, ()) {
  const auto options = any_options();
  const double rate = *rc::gen::element(0.5, 2.0, 20.0, 100.0, 300.0);
  const double burst_seconds = *rc::gen::element(0.02, 0.1, 0.5, 1.0);
  FleetProvider provider;
  provider.limits.requests_per_minute = static_cast<std::uint64_t>(rate * 60);
  provider.limits.burst_seconds = burst_seconds;
  const double burst = std::max(1.0, rate * burst_seconds);
  provider.nature.requests_per_second = rate;
  provider.nature.burst = burst;
  provider.nature.latency = BootTime(*rc::gen::inRange(1000, 500'000));
  provider.calls = calls(1000);
  Fleet fleet(options, {provider});
  disturb(fleet, disturbances(12));
  fleet.run();
  RC_ASSERT(fleet.refused() == 0u);
  RC_ASSERT(greatest_excess(fleet.starts(), rate) <= burst + 1e-6);
}

RC_GTEST_PROP(FleetHistory, TokensThatArriveStayWithinTheLimit, ()) {
  const auto options = any_options();
  FleetProvider provider;
  provider.limits.tokens_per_minute = 600'000;
  provider.limits.output_tokens_per_minute = 240'000;
  provider.nature.tokens_per_second = 10'000;
  provider.nature.token_burst = 10'000;
  std::mt19937_64 sizes(options.seed);
  for (int i = 0; i < 300; ++i) {
    const auto input = std::uniform_int_distribution<std::uint32_t>(1, 600)(sizes);
    const auto output = std::uniform_int_distribution<std::uint32_t>(1, 200)(sizes);
    provider.calls.push_back({{input + 50, 200}, {input, output}});
  }
  Fleet fleet(options, {provider});
  disturb(fleet, disturbances(8));
  fleet.run();
  RC_ASSERT(fleet.refused() == 0u);
}

RC_GTEST_PROP(FleetHistory, CallsInFlightStayWithinTheirPlaces, ()) {
  auto options = any_options();
  options.request_timeout = 3s;
  FleetProvider provider;
  provider.limits.max_in_flight = *rc::gen::inRange<std::uint32_t>(1, 30);
  if (*rc::gen::arbitrary<bool>()) provider.limits.requests_per_minute = 6000;
  provider.nature.latency = BootTime(*rc::gen::inRange(1000, 2'900'000));
  provider.calls = calls(500);
  Fleet fleet(options, {provider});
  disturb(fleet, disturbances(8));
  fleet.run();
  RC_ASSERT(fleet.most_in_flight() <= *provider.limits.max_in_flight);
}

/// While every call that is ready belongs to somebody alive, a slot is wasted only by who dies or stops: a
/// lookahead and a lifetime each, at its share of the rate.
RC_GTEST_PROP(FleetHistory, NoCapacityIsLostForLongerThanLookaheadAndLifetime, ()) {
  FleetOptions options;
  options.seed = *rc::gen::arbitrary<std::uint64_t>();
  options.workers = *rc::gen::inRange<std::uint32_t>(2, 9);
  options.max_concurrent = 60;
  options.patience = 6s;
  FleetProvider provider;
  provider.limits.requests_per_minute = 6000;
  provider.limits.burst_seconds = 0.5;
  provider.nature.requests_per_second = 100;
  provider.nature.burst = 50;
  provider.calls = calls(2000);
  Fleet fleet(options, {provider});
  const auto victims = *rc::gen::inRange<std::uint32_t>(0, options.workers);
  for (std::uint32_t i = 0; i < victims; ++i) {
    const BootTime at(*rc::gen::inRange(500'000, 4'000'000));
    const bool dies = *rc::gen::arbitrary<bool>();
    fleet.events().after(at, [&fleet, i, dies] { dies ? fleet.kill(i) : fleet.freeze(i); });
  }
  fleet.run();
  // 150 ms of slots, and what a round trip at the beginning costs.
  const double slots = 5.8 * 99.9;
  const double lost = victims * 0.171 * 100;
  RC_ASSERT(static_cast<double>(fleet.starts().size()) >= slots - lost);
}

}  // namespace
}  // namespace sluice::testing

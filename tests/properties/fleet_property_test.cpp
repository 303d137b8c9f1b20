#include "common/clock_distance.hpp"
#include "coordinator/governor/defaults.hpp"
#include "tests/properties/history.hpp"
#include "tests/properties/windows.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

/// The governor with the workers' real budgets, under any history: workers die, stop, go on and join;
/// connections break, stall and swallow; messages are late, lost and out of order; clocks run apart. What a
/// history looked like, with its seed, is printed when a property fails.
namespace sluice::testing {
namespace {

using namespace std::chrono_literals;

// --- The bound ---

struct Paced {
  std::uint64_t per_minute = 0;
  BootTime burst{};  ///< As a time of the rate.

  friend std::ostream& operator<<(std::ostream& out, const Paced& paced) {
    return out << paced.per_minute << " a minute, burst of " << paced.burst.count() << " us";
  }
};

rc::Gen<Paced> any_rate() {
  return rc::gen::construct<Paced>(rc::gen::element<std::uint64_t>(30, 300, 1200, 6000, 18'000),
                                   rc::gen::element<BootTime>(20ms, 100ms, 500ms, 1s));
}

/// What a provider may answer besides: refusals with and without a delay, and an outage.
ProviderNature any_nature() {
  ProviderNature nature;
  nature.latency = any::time(1ms, 500ms);
  nature.refused_at_random = *rc::gen::element(0.0, 0.0, 0.02);
  nature.names_delays = *rc::gen::arbitrary<bool>();
  nature.named_delay_min = any::time(1ms, 300ms);
  if (*rc::gen::inRange(0, 4) == 0) {
    nature.down_from = EventQueue::beginning + any::time(0us, 5s);
    nature.down_until = nature.down_from + any::time(0us, 3s);
  }
  return nature;
}

/// How far out of its window a permit may be used: nothing, unless the way is a long one
/// (clock_distance.hpp).
BootTime out_of_window(const Network& network) {
  const auto longest = 2 * network.delay_max;
  return (longest - clock_uncertainty(longest)) / 2;
}

/// A limit as calls keep it that start so far out of their windows.
ExactLimit widened(ExactLimit limit, BootTime out) {
  limit.burst += limit.per_minute * 2 * out.count();
  return limit;
}

/// Each permit was used once at most, and while the coordinator's clock was in its window.
void check_permits(const Fleet& fleet, BootTime out) {
  std::set<std::uint64_t> used;
  for (const auto& start : fleet.starts()) {
    if (!start.permit) RC_FAIL("a call started without a permit");
    const auto coordinator = static_cast<std::uint64_t>(fleet.clock().at(start.at).count());
    RC_ASSERT(start.permit->opens_us <= coordinator + static_cast<std::uint64_t>(out.count()));
    RC_ASSERT(coordinator <= start.permit->closes_us + static_cast<std::uint64_t>(out.count()));
    RC_ASSERT(used.insert(start.permit->id).second);
  }
}

template <class Units>
void check_windows(const std::vector<Start>& starts, BootTime Start::*when, const ExactLimit& limit,
                   Units units) {
  std::vector<Charge> charges;
  for (const auto& start : starts) charges.push_back({start.*when, units(start)});
  if (const auto over = window_over(std::move(charges), limit)) {
    std::ostringstream what;
    what << *over << " are more than the limit's: " << limit.per_minute << " a minute and a burst of "
         << static_cast<double>(limit.burst) / ExactLimit::minute_us;
    RC_FAIL(what.str());
  }
}

std::int64_t one(const Start&) {
  return 1;
}

RC_GTEST_PROP(FleetHistory, StartsInAnyWindowStayWithinRateAndBurst, ()) {
  const auto history = *any::history(8s);
  const auto paced = *any_rate();
  FleetProvider provider;
  provider.limits.requests_per_minute = paced.per_minute;
  provider.limits.burst_seconds = static_cast<double>(paced.burst.count()) * 1e-6;
  provider.nature = any_nature();
  provider.calls = calls(*rc::gen::element<std::size_t>(50, 1000, 2000));
  Fleet fleet(history.options, {provider});
  let_happen(fleet, history);
  fleet.run_for(11s);
  const auto out = out_of_window(history.options.network);
  check_permits(fleet, out);
  const auto rate = static_cast<std::int64_t>(paced.per_minute);
  const auto limit = ExactLimit::with_burst_of(rate, paced.burst, 1);
  check_windows(fleet.starts(), &Start::at, widened(limit, out), one);
  // Where the burst has it to spare, what arrives leaves one unit of it to a process that is stopped right
  // before it writes.
  SlotConditions farthest;
  farthest.shortest_lifetime = defaults::permit_lifetime;
  const auto reserve = slot_rule(provider.limits, farthest).has_reserve ? ExactLimit::minute_us : 0;
  const ExactLimit at_provider{rate, std::max(limit.burst - reserve, ExactLimit::minute_us)};
  check_windows(fleet.starts(), &Start::arrives, widened(at_provider, out), one);
}

RC_GTEST_PROP(FleetHistory, TokensInAnyWindowStayWithinRateAndBurst, ()) {
  const auto history = *any::history(8s);
  constexpr std::int64_t total_per_minute = 600'000;
  constexpr std::int64_t output_per_minute = 180'000;
  const auto burst = *rc::gen::element<BootTime>(60ms, 500ms, 1s, 3s);
  FleetProvider provider;
  provider.limits.tokens_per_minute = total_per_minute;
  if (*rc::gen::arbitrary<bool>()) provider.limits.output_tokens_per_minute = output_per_minute;
  provider.limits.burst_seconds = static_cast<double>(burst.count()) * 1e-6;
  provider.nature = any_nature();
  std::mt19937_64 sizes(history.options.seed);
  const auto up_to = [&sizes](std::uint32_t most) {
    return std::uniform_int_distribution<std::uint32_t>(1, most)(sizes);
  };
  for (int i = 0; i < 400; ++i) {
    const wire::CallSize used{up_to(300), up_to(100)};
    provider.calls.push_back({{used.input_tokens + up_to(100), used.output_tokens + up_to(80)}, used});
  }
  Fleet fleet(history.options, {provider});
  let_happen(fleet, history, {{120, 60}, {80, 20}});
  fleet.run_for(11s);
  const auto out = out_of_window(history.options.network);
  check_permits(fleet, out);
  const auto total = [](const Start& start) {
    return std::int64_t{start.used.input_tokens} + start.used.output_tokens;
  };
  const auto output = [](const Start& start) { return std::int64_t{start.used.output_tokens}; };
  for (const auto when : {&Start::at, &Start::arrives}) {
    check_windows(fleet.starts(), when, widened(ExactLimit::with_burst_of(total_per_minute, burst, 1), out),
                  total);
    if (!provider.limits.output_tokens_per_minute) continue;
    check_windows(fleet.starts(), when, widened(ExactLimit::with_burst_of(output_per_minute, burst, 1), out),
                  output);
  }
}

RC_GTEST_PROP(FleetHistory, CallsInFlightStayWithinTheirPlaces, ()) {
  auto history = *any::history(8s);
  // Each connection keeps the order of what it carries, which places rely on.
  history.options.network.reordered = false;
  history.options.request_timeout = 3s;
  FleetProvider provider;
  provider.limits.max_in_flight = *rc::gen::inRange<std::uint32_t>(1, 30);
  if (*rc::gen::arbitrary<bool>()) provider.limits.requests_per_minute = 6000;
  provider.nature.latency = any::time(1ms, 2900ms);
  provider.calls = calls(500);
  Fleet fleet(history.options, {provider});
  let_happen(fleet, history);
  fleet.run_for(11s);
  RC_ASSERT(fleet.most_in_flight() <= *provider.limits.max_in_flight);
}

// --- Capacity and turns ---

/// What a worker that lacks nothing needs to use each permit, and how long it may wait for one.
struct Calm {
  Network network{BootTime(0), 3ms, 0, false};
  BootTime connect_time = 1ms;
  /// From a slot's opening to the start, where nothing is lost.
  BootTime slack = 13ms;
};

std::vector<BootTime> times_of(const std::vector<Start>& starts) {
  std::vector<BootTime> times;
  for (const auto& start : starts) times.push_back(start.at);
  std::ranges::sort(times);
  return times;
}

std::vector<BootTime> times_of(const std::vector<Start>& starts, std::size_t worker) {
  std::vector<BootTime> times;
  for (const auto& start : starts) {
    if (start.worker == worker) times.push_back(start.at);
  }
  std::ranges::sort(times);
  return times;
}

rc::Gen<Paced> any_rate_to_use() {
  return rc::gen::construct<Paced>(rc::gen::element<std::uint64_t>(300, 1200, 1200, 3000),
                                   rc::gen::element<BootTime>(20ms, 100ms, 500ms, 1s));
}

/// The rule with the longest permits that a calm network asks for: there and back, and some more.
SlotRule calm_rule(const ProviderLimits& limits) {
  SlotConditions conditions;
  conditions.shortest_lifetime = 2 * Calm().network.delay_max + 6ms;
  return slot_rule(limits, conditions);
}

/// The rate at which slots follow each other, for clocks that run fast, too.
double slots_a_minute(const ProviderLimits& limits) {
  const auto rule = calm_rule(limits);
  return rule.requests->shape.rate / (1 + rule.requests->shape.surcharge) * 60 * (1 - 200e-6);
}

/// All of the rate is used, and everybody has its turn; but for one turn of each who is `gone`.
void check_use(const Fleet& fleet, const ProviderLimits& limits, const std::vector<std::size_t>& living,
               std::uint32_t gone, BootTime from, BootTime to) {
  const Calm calm;
  const auto per_minute = slots_a_minute(limits);
  const auto per_us = per_minute / ExactLimit::minute_us;
  from += EventQueue::beginning;
  to += EventQueue::beginning;
  const auto lack = greatest_lack(times_of(fleet.starts()), per_minute, from, to);
  RC_LOG() << lack << " starts were lacking\n";
  RC_ASSERT(lack <= 2 + gone + per_us * static_cast<double>(calm.slack.count()));
  const auto turn = static_cast<double>(living.size() + gone + 1) / per_us;
  const auto most = BootTime(static_cast<BootTime::rep>(turn)) + calm_rule(limits).lifetime + calm.slack;
  for (const auto worker : living) {
    const auto wait = longest_wait(times_of(fleet.starts(), worker), from, to);
    RC_LOG() << "worker " << worker << " waited " << wait.count() << " us\n";
    RC_ASSERT(wait <= most);
  }
}

RC_GTEST_PROP(FleetHistory, AfterAnyHistoryTheWholeRateIsUsedAndNobodyStarves, ()) {
  const Calm calm;
  auto history = *any::history(3s);
  history.options.connect_time = calm.connect_time;
  history.options.max_concurrent = *rc::gen::inRange<std::uint32_t>(20, 60);
  const auto paced = *any_rate_to_use();
  FleetProvider provider;
  provider.limits.requests_per_minute = paced.per_minute;
  provider.limits.burst_seconds = static_cast<double>(paced.burst.count()) * 1e-6;
  provider.nature.latency = any::time(1ms, 50ms);
  provider.calls = calls(2000);
  Fleet fleet(history.options, {provider});
  let_happen(fleet, history);
  // What happens for a while is over by 8 s; a heartbeat's silence, a lost worker, a new connection and a
  // permit that nobody reports take their time after it.
  fleet.events().after(8s, [&] { fleet.set_network(calm.network); });
  fleet.run_for(20s);
  std::vector<std::size_t> living;
  for (std::size_t i = 0; i < fleet.worker_count(); ++i) {
    if (fleet.is_up(i)) living.push_back(i);
  }
  RC_PRE(!living.empty());
  check_use(fleet, provider.limits, living, 0, 16s, 20s);
}

RC_GTEST_PROP(FleetHistory, CapacityIsLostForNoLongerThanASlotLasts, ()) {
  const Calm calm;
  FleetOptions options;
  options.seed = *rc::gen::arbitrary<std::uint64_t>();
  options.workers = *rc::gen::inRange<std::uint32_t>(2, 9);
  options.max_concurrent = 60;
  options.network = calm.network;
  options.connect_time = calm.connect_time;
  const auto paced = *any_rate_to_use();
  FleetProvider provider;
  provider.limits.requests_per_minute = paced.per_minute;
  provider.limits.burst_seconds = static_cast<double>(paced.burst.count()) * 1e-6;
  provider.nature.latency = any::time(1ms, 50ms);
  provider.calls = calls(2000);
  Fleet fleet(options, {provider});
  const auto victims = *rc::gen::inRange<std::uint32_t>(1, options.workers);
  const auto at = any::time(1s, 3s);
  const bool die = *rc::gen::arbitrary<bool>();
  fleet.events().after(at, [&] {
    for (std::uint32_t i = 0; i < victims; ++i) die ? fleet.kill(i) : fleet.freeze(i);
  });
  fleet.run_for(9s);
  std::vector<std::size_t> living;
  for (std::size_t i = victims; i < options.workers; ++i) living.push_back(i);
  // By then the slots that they had were passed; who had none had yet to let one pass in its turn.
  const auto lifetime = calm_rule(provider.limits).lifetime;
  const auto used_again = at + defaults::permit_lookahead + lifetime + defaults::permit_patience + calm.slack;
  check_use(fleet, provider.limits, living, victims, used_again, 9s);
}

}  // namespace
}  // namespace sluice::testing

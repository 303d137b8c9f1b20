#pragma once

#include "common/defaults.hpp"
#include "common/wire/messages.hpp"
#include "tests/properties/simulated_clock.hpp"
#include "tests/properties/simulated_provider.hpp"
#include "worker/budget/call_budget.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sluice::testing {

/// A call as the tests plan it.
struct PlannedCall {
  wire::CallSize reserved;
  wire::CallSize used;
  bool is_poisoned = false;  ///< It fails each time, and is given up after some.
  std::uint32_t failures = 0;
};

/// A call that a worker has made.
struct Start {
  BootTime at{};
  std::size_t worker = 0;
  wire::CallSize used;  ///< Nothing, if it was refused.
  std::optional<wire::Permit> permit;
  BootTime arrives{};
};

struct SimulatedHello {};
struct SimulatedWelcome {};
struct SimulatedUnknownWorker {};
using FromWorker = std::variant<SimulatedHello, wire::Heartbeat>;
using ToWorker = std::variant<SimulatedWelcome, SimulatedUnknownWorker, wire::Grants>;

/// A worker's process on simulated time. What its calls are allowed, and what is reported of them, is up to
/// the real CallBudget, PermitBook and ClockBounds; around them it does what the worker's actors do by
/// docs/protocol.md: HELLO, heartbeats, silence, retries, and the look at the clock before a request is
/// written.
class SimulatedWorker {
 public:
  struct Provider {
    std::string name;
    SimulatedProvider& provider;
    std::function<std::optional<PlannedCall>()> next_call;  ///< Leases one; nothing: there is none now.
    std::function<std::size_t(const Start&)> started;       ///< Returns its number.
    std::function<void(std::size_t number, const Reply& reply)> served;  ///< Whoever still waits for it.
    std::function<void()> answered;
  };
  struct Surroundings {
    EventQueue& events;
    std::mt19937_64& random;
    std::function<void(FromWorker)> send;
    std::function<void()> reopen_socket;
  };
  struct Nature {
    std::size_t index = 0;
    std::uint32_t max_concurrent = 1;
    BootTime connect_time{};    ///< From the decision to the instant before the request is written, at most.
    BootTime arrival_jitter{};  ///< From there to the provider, at most.
    bool reports_each_answer = false;  ///< Else in rounds, as a real worker where calls need no permits.
  };

  SimulatedWorker(Surroundings around, const SimulatedClock& clock, const Nature& nature,
                  std::vector<Provider> providers)
      : around_(std::move(around)), clock_(clock), nature_(nature) {
    for (auto& provider : providers) lanes_.push_back(std::make_unique<Lane>(std::move(provider)));
    last_message_at_ = last_tick_ = last_reconnect_ = own_now();
  }

  void begin() {
    send_hello();
    tick_later();
  }
  bool dead() const { return dead_; }
  bool frozen() const { return frozen_; }

  /// Takes out the calls that it has not begun, by provider.
  std::vector<std::vector<PlannedCall>> take_ready() {
    std::vector<std::vector<PlannedCall>> taken(lanes_.size());
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      auto& lane = *lanes_[i];
      for (const auto& [id, call] : lane.ready) taken[i].push_back(call);
      lane.held -= static_cast<std::uint32_t>(lane.ready.size());
      lane.ready.clear();
    }
    return taken;
  }
  void kill() { dead_ = true; }
  void freeze() { frozen_ = true; }
  /// Goes on with what came meanwhile; its timers may be faster than its socket.
  void thaw(bool timers_first) {
    if (!std::exchange(frozen_, false) || dead_) return;
    if (timers_first) turn();
    for (auto& what : std::exchange(kept_, {})) what();
    turn();
  }

  void take(const ToWorker& message) {
    when_running([this, message] {
      last_message_at_ = own_now();
      if (!std::exchange(connected_, true)) demand_wanted_ = true;
      std::visit([this](const auto& known) { on_message(known); }, message);
      turn();
    });
  }
  /// There may be calls to lease.
  void look_for_calls() {
    when_running([this] { turn(); });
  }

 private:
  struct Lane {
    explicit Lane(Provider connected)
        : with(std::move(connected)), budget(with.name, std::chrono::hours(24)) {}
    Provider with;
    CallBudget budget;
    std::map<std::uint64_t, PlannedCall> ready;
    std::uint32_t held = 0;  ///< Calls in all: ready, in flight and backing off.
  };

  BootTime own_now() const { return clock_.at(around_.events.now()); }
  Moment moment() const {
    const auto own = own_now();
    return {TimePoint(std::chrono::duration_cast<Duration>(own)), own};
  }
  BootTime up_to(BootTime most) {
    return BootTime(std::uniform_int_distribution<BootTime::rep>(0, most.count())(around_.random));
  }
  template <class What>
  void when_running(What what) {
    if (dead_) return;
    if (frozen_) return kept_.push_back(what);
    what();
  }
  template <class What>
  void after(BootTime time, What what) {
    around_.events.after(time, [this, what] { when_running(what); });
  }

  // --- the worker's actor ---

  void send_hello() {
    welcome_awaited_ = true;
    around_.send(SimulatedHello{});
  }
  void on_message(const SimulatedWelcome&) {
    if (!std::exchange(welcome_awaited_, false)) return;
    demand_wanted_ = true;
    if (!std::exchange(in_run_, true)) return;
    for (auto& lane : lanes_) lane->budget.forget_permits();
  }
  void on_message(const SimulatedUnknownWorker&) { send_hello(); }
  void on_message(const wire::Grants& grants) {
    if (!in_run_) return;
    received_us_ = std::max(received_us_, grants.now_us);
    const auto echo = grants.echo_us > 0 ? std::optional(boot_time(grants.echo_us)) : std::nullopt;
    confirmed_at_ = std::max(confirmed_at_, std::min(echo.value_or(own_now()), own_now()));
    bounds_.on_grants(boot_time(grants.now_us), echo, own_now());
    for (std::size_t i = 0; i < lanes_.size(); ++i) lanes_[i]->budget.take(grants.grants[i], moment().now);
  }
  void tick_later() {
    const auto next = clock_.time_of(own_now() + defaults::heartbeat_interval);
    around_.events.at(next, [this] { when_running([this] { tick(); }); });
  }
  void tick() {
    tick_later();
    const BootTime interval = defaults::heartbeat_interval;
    const auto now = own_now();
    if (now - std::exchange(last_tick_, now) > 2 * interval) last_message_at_ = now;
    if (now - last_message_at_ > defaults::liveness * interval) {
      if (std::exchange(connected_, false)) {
        for (auto& lane : lanes_) lane->budget.suspend();
      }
      if (now - last_reconnect_ > defaults::liveness * interval) {
        last_reconnect_ = now;
        around_.reopen_socket();
      }
    }
    if (!in_run_) return send_hello();
    if (!connected_) return send_heartbeat({});
    demand_wanted_ = true;
    turn();
  }
  void send_heartbeat(std::vector<wire::Demand> demands) {
    wire::Heartbeat heartbeat;
    heartbeat.sent_at_us = static_cast<std::uint64_t>(own_now().count());
    heartbeat.demands = std::move(demands);
    heartbeat.received_us = received_us_;
    around_.send(std::move(heartbeat));
  }

  // --- its model client ---

  bool is_fresh() const {
    return connected_ &&
           own_now() - confirmed_at_ <= defaults::liveness * BootTime(defaults::heartbeat_interval);
  }
  void turn() {
    if (!in_run_) return;
    for (auto& lane : lanes_) {
      lease_calls(*lane);
      if (is_fresh()) start_ready(*lane);
    }
    send_demand();
    wake_later();
  }
  void lease_calls(Lane& lane) {
    while (lane.held < std::max(nature_.max_concurrent, lane.budget.searched_places())) {
      const auto call = lane.with.next_call();
      if (!call) return;
      ++lane.held;
      lane.ready.emplace(next_id_++, *call);
    }
  }
  static std::vector<wire::CallSize> sizes_of_ready(const Lane& lane) {
    std::vector<wire::CallSize> sizes;
    for (const auto& [id, call] : lane.ready) {
      if (sizes.size() == wire::max_demand_sizes) break;
      sizes.push_back(call.reserved);
    }
    return sizes;
  }
  void start_ready(Lane& lane) {
    for (auto next = lane.ready.begin(); next != lane.ready.end() && lane.budget.may_start(moment());) {
      const auto [id, call] = *next;
      const auto size = lane.budget.needs_sizes() ? call.reserved : wire::CallSize{};
      const auto start = lane.budget.start(size, bounds_, moment());
      if (!start) {
        ++next;
        continue;
      }
      next = lane.ready.erase(next);
      after(up_to(nature_.connect_time),
            [this, &lane, id = id, call = call, permit = start->permit] { write(lane, id, call, permit); });
    }
  }
  void send_demand() {
    bool due = std::exchange(demand_wanted_, false);
    for (auto& lane : lanes_) {
      auto& budget = lane->budget;
      if (budget.holds_permits()) budget.give_back(sizes_of_ready(*lane), bounds_, moment());
      due = due || budget.is_due(lane->ready.size(), moment().now);
    }
    if (!due || !connected_) return;
    std::vector<wire::Demand> demands;
    for (auto& lane : lanes_) {
      std::vector<wire::CallSize> sizes;
      if (lane->budget.needs_sizes()) sizes = sizes_of_ready(*lane);
      auto& demand =
          demands.emplace_back(lane->budget.demand(lane->ready.size(), std::move(sizes), moment().now));
      if (const auto span = bounds_.at(own_now())) {
        demand.uncertainty_us = static_cast<std::uint32_t>((span->to - span->from).count());
      }
      demand.variation_us = static_cast<std::uint32_t>(nature_.arrival_jitter.count());
    }
    send_heartbeat(std::move(demands));
  }
  void wake_later() {
    if (!is_fresh()) return;
    std::optional<TimePoint> next;
    for (const auto& lane : lanes_) {
      const auto report = lane->budget.next_report(lane->ready.size(), moment().now);
      if (report && (!next || *report < *next)) next = report;
      if (lane->ready.empty()) continue;
      const auto chance = lane->budget.next_chance(bounds_, moment());
      if (chance && (!next || *chance < *next)) next = chance;
    }
    if (!next) return;
    const auto own = std::chrono::ceil<BootTime>(next->time_since_epoch());
    const auto at = std::max(clock_.time_of(own), around_.events.now() + BootTime(1));
    if (wake_at_ > around_.events.now() && wake_at_ <= at) return;
    wake_at_ = at;
    around_.events.at(at, [this] { when_running([this] { turn(); }); });
  }

  // --- a call ---

  /// Connected: the request goes out now or, if its window has passed, not at all.
  void write(Lane& lane, std::uint64_t id, const PlannedCall& call, const std::optional<TakenPermit>& taken) {
    const auto own = own_now();
    if (taken && (own < taken->own_window.from || own > taken->own_window.to)) {
      lane.budget.ended();
      lane.budget.settle(taken->permit.id, {});
      if (taken->permit.probe) lane.budget.failed();
      lane.ready.emplace(id, call);
      return turn();
    }
    const auto now = around_.events.now();
    Start start{now, nature_.index, call.used, {}, now + up_to(nature_.arrival_jitter)};
    if (taken) start.permit = taken->permit;
    const auto number = lane.with.started(start);
    around_.events.at(start.arrives, [this, &lane, id, call, start, number] {
      lane.with.provider.arrive(
          call.used, call.is_poisoned, [this, &lane, id, call, start, number](Reply reply) {
            lane.with.served(number, reply);
            when_running([this, &lane, id, call, start, reply] { end(lane, id, call, start, reply); });
          });
    });
  }
  void end(Lane& lane, std::uint64_t id, PlannedCall call, const Start& start, const Reply& reply) {
    auto& budget = lane.budget;
    budget.ended();
    if (reply.announced_per_minute > 0) budget.announced({reply.announced_per_minute, 0, 0, 0}, {});
    demand_wanted_ = demand_wanted_ || nature_.reports_each_answer;
    if (reply.outcome == Outcome::answered) {
      budget.answered(around_.events.now() - start.at, moment().now);
      if (start.permit && call.used != wire::CallSize{}) budget.settle(start.permit->id, call.used);
      --lane.held;
      lane.with.answered();
      return turn();
    }
    if (reply.outcome == Outcome::failed) {
      budget.failed();
      ++call.failures;
      if (call.is_poisoned && call.failures > defaults::max_retries) {
        --lane.held;
        lane.with.answered();
        return turn();
      }
    } else {
      if (start.permit) budget.settle(start.permit->id, {});
      if (reply.named_delay > BootTime::zero()) {
        budget.pause(std::chrono::ceil<std::chrono::milliseconds>(reply.named_delay), moment().now);
      } else {
        budget.was_rate_limited();
      }
    }
    const auto wait =
        reply.named_delay > BootTime::zero() ? reply.named_delay : up_to(std::chrono::milliseconds(500));
    after(wait, [this, &lane, id, call] {
      lane.ready.emplace(id, call);
      turn();
    });
    turn();
  }

  Surroundings around_;
  SimulatedClock clock_;
  Nature nature_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  ClockBounds bounds_;
  std::vector<std::function<void()>> kept_;  ///< What came while it was frozen.
  bool dead_ = false;
  bool frozen_ = false;
  bool welcome_awaited_ = false;
  bool in_run_ = false;
  bool connected_ = true;
  bool demand_wanted_ = false;
  std::uint64_t received_us_ = 0;
  std::uint64_t next_id_ = 1;
  BootTime confirmed_at_{};
  BootTime last_message_at_{};
  BootTime last_tick_{};
  BootTime last_reconnect_{};
  BootTime wake_at_{};
};

}  // namespace sluice::testing

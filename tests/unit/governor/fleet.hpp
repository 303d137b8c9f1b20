#pragma once

#include "common/defaults.hpp"
#include "coordinator/governor/governor.hpp"
#include "tests/unit/governor/model_worker.hpp"

#include <memory>
#include <set>

namespace sluice::testing {

struct FleetProvider {
  std::string name = "provider";
  ProviderLimits limits;
  ProviderNature nature;
  std::vector<PlannedCall> calls;
};

struct FleetOptions {
  std::uint64_t seed = 1;
  std::uint32_t workers = 4;
  std::uint32_t max_concurrent = 32;
  BootTime network_delay = std::chrono::milliseconds(20);   ///< Each way, uniform from 0.
  BootTime arrival_jitter = std::chrono::milliseconds(20);  ///< From start to arrival, uniform from 0.
  double drift = 100e-6;                                    ///< Of the workers' clocks, at most.
  double lost_messages = 0;                                 ///< Share, each way.
  double doubled_messages = 0;
  bool reordered = false;
  BootTime outage_timeout = std::chrono::minutes(10);
  BootTime request_timeout = std::chrono::seconds(10);
  BootTime patience = std::chrono::minutes(60);  ///< The simulation ends here at the latest.
};

/// A coordinator's Governor and workers by budget.md's rule around it, over a network with delays, on
/// simulated time. Ends when every call is answered.
class Fleet {
 public:
  Fleet(const FleetOptions& options, std::vector<FleetProvider> providers)
      : options_(options),
        random_(options.seed),
        begun_(events_.now()),
        governor_(config(options, providers), events_.now()) {
    for (auto& provider : providers) {
      auto& lane = *lanes_.emplace_back(std::make_unique<Lane>(events_, std::move(provider)));
      left_ += lane.waiting.size();
    }
    for (std::uint32_t i = 0; i < options.workers; ++i) add_node();
  }

  EventQueue& events() { return events_; }
  BootTime begun() const { return begun_; }
  std::size_t node_count() const { return nodes_.size(); }

  /// Runs until all calls are answered. False if the patience ends before.
  bool run() {
    const auto end = begun_ + options_.patience;
    while (left_ > 0 && events_.step(end)) {
      watch_places();
    }
    return left_ == 0;
  }
  BootTime elapsed() const { return finished_at_ - begun_; }
  const std::vector<BootTime>& starts(std::size_t provider = 0) const { return lanes_[provider]->starts; }
  std::uint64_t refused(std::size_t provider = 0) const { return lanes_[provider]->provider.refused(); }
  BootTime finished_at(std::size_t provider = 0) const { return lanes_[provider]->finished_at; }
  BudgetFacts facts(std::size_t provider = 0) const { return governor_.facts(events_.now())[provider]; }
  std::uint32_t most_in_flight(std::size_t provider = 0) const { return lanes_[provider]->most_in_flight; }
  std::uint64_t most_places(std::size_t provider = 0) const { return lanes_[provider]->most_places; }
  const std::vector<std::uint64_t>& finished_by_node() const { return finished_by_node_; }

  // What may happen to a node.
  void kill(std::size_t node) {
    nodes_[node]->dead = true;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      auto& workers = *nodes_[node]->workers[i];
      workers.freeze();
      for (const auto& call : workers.take_ready()) lanes_[i]->waiting.push_back(call);
    }
  }
  void freeze(std::size_t node) {
    nodes_[node]->frozen = true;
    for (auto& worker : nodes_[node]->workers) worker->freeze();
  }
  void thaw(std::size_t node) {
    auto& one = *nodes_[node];
    if (one.dead || !std::exchange(one.frozen, false)) return;
    for (auto& worker : one.workers) worker->thaw();
    for (auto& message : std::exchange(one.kept, {})) take(one, message);
    say(one);
  }
  void add_node() {
    const auto id = nodes_.size() + 1;
    WorkerClock clock;
    clock.offset_us = uniform(1e9, 1e12);
    clock.drift = uniform(-options_.drift, options_.drift);
    auto& node = *nodes_.emplace_back(std::make_unique<Node>());
    node.id = id;
    node.clock = clock;
    finished_by_node_.push_back(0);
    for (auto& lane : lanes_) {
      ModelWorker::Surroundings around{events_, lane->provider, random_, lane->name, options_.arrival_jitter,
                                       nullptr, nullptr,        nullptr};
      around.started = [&lane = *lane](BootTime at) { lane.starts.push_back(at); };
      around.finished = [this, &lane = *lane, id] {
        lane.finished_at = finished_at_ = events_.now();
        ++finished_by_node_[id - 1];
        --left_;
      };
      around.changed = [this, &node] { changed(node); };
      node.workers.push_back(
          std::make_unique<ModelWorker>(std::move(around), clock, options_.max_concurrent));
    }
    hello(node);
    beat(node);
  }

 private:
  struct Lane {
    Lane(EventQueue& events, FleetProvider planned)
        : name(std::move(planned.name)),
          limits(planned.limits),
          provider(events, planned.nature),
          waiting(planned.calls.begin(), planned.calls.end()) {}
    std::string name;
    ProviderLimits limits;
    SimulatedProvider provider;
    std::deque<PlannedCall> waiting;
    std::vector<BootTime> starts;
    BootTime finished_at{};
    std::uint32_t most_in_flight = 0;
    std::uint64_t most_places = 0;
  };
  struct Node {
    WorkerId id = 0;
    WorkerClock clock;
    ClockBounds bounds;
    std::vector<std::unique_ptr<ModelWorker>> workers;
    std::vector<wire::Grants> kept;  ///< What came while it was frozen.
    bool dead = false;
    bool frozen = false;
    bool saying = false;
    std::uint64_t session = 0;
    std::uint64_t heard_us = 0;
    std::uint64_t last_said_us = 0;
    BootTime last_heard{};  ///< By the coordinator.
    bool known = false;     ///< Ditto.
    BootTime last_up{};
    BootTime last_down{};
  };

  static GovernorConfig config(const FleetOptions& options, const std::vector<FleetProvider>& providers) {
    GovernorConfig config;
    for (const auto& one : providers) config.providers.emplace_back(one.name, one.limits);
    config.times = {options.request_timeout, std::chrono::seconds(1), options.outage_timeout};
    return config;
  }
  double uniform(double from, double to) { return std::uniform_real_distribution<>(from, to)(random_); }
  bool happens(double share) { return share > 0 && uniform(0, 1) < share; }
  BootTime delay() {
    return BootTime(
        static_cast<BootTime::rep>(uniform(0, static_cast<double>(options_.network_delay.count()))));
  }
  /// ZeroMQ keeps the order of a connection.
  BootTime arrival(BootTime& last) {
    auto at = events_.now() + delay();
    if (!options_.reordered) at = std::max(at, last);
    last = std::max(last, at);
    return at;
  }

  // --- a worker's process ---

  void hello(Node& node) {
    ++node.session;
    node.heard_us = 0;
    node.known = false;
    for (auto& worker : node.workers) worker->begin_anew();
    events_.at(arrival(node.last_up), [this, &node, session = node.session] {
      if (node.session != session) return;
      node.known = true;
      node.last_heard = events_.now();
      governor_.join(node.id, {options_.max_concurrent}, events_.now());
      turn();
    });
    say(node);
  }
  void beat(Node& node) {
    if (!node.dead && !node.frozen) say(node);
    watch(node);
    if (!node.dead) events_.after(std::chrono::seconds(1), [this, &node] { beat(node); });
  }
  void changed(Node& node) {
    if (node.dead || node.frozen || std::exchange(node.saying, true)) return;
    events_.after({}, [this, &node] {
      node.saying = false;
      if (!node.dead && !node.frozen) say(node);
    });
  }
  void fill(Node& node) {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      auto& waiting = lanes_[i]->waiting;
      auto& worker = *node.workers[i];
      for (auto room = worker.room(); room > 0 && !waiting.empty(); --room) {
        worker.give(waiting.front());
        waiting.pop_front();
      }
    }
  }
  void say(Node& node) {
    fill(node);
    for (auto& worker : node.workers) worker->act();
    wire::Heartbeat heartbeat;
    node.last_said_us =
        std::max(node.last_said_us + 1, static_cast<std::uint64_t>(node.clock.at(events_.now())));
    heartbeat.sent_at_us = node.last_said_us;
    heartbeat.heard_us = node.heard_us;
    for (auto& worker : node.workers) heartbeat.demands.push_back(worker->demand());
    if (happens(options_.lost_messages)) return;
    const int times = happens(options_.doubled_messages) ? 2 : 1;
    for (int i = 0; i < times; ++i) {
      events_.at(arrival(node.last_up),
                 [this, &node, heartbeat, session = node.session] { arrive(node, heartbeat, session); });
    }
  }
  void take(Node& node, const wire::Grants& grants) {
    const auto own = node.clock.at(events_.now());
    if (grants.echo_us != 0) {
      node.bounds.hear(static_cast<double>(grants.echo_us), own, static_cast<double>(grants.now_us));
    }
    const bool newest = grants.now_us >= node.heard_us;
    node.heard_us = std::max(node.heard_us, grants.now_us);
    for (std::size_t i = 0; i < lanes_.size(); ++i)
      node.workers[i]->hear(grants.grants[i], node.bounds, newest);
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      if (node.workers[i]->room() > 0 && !lanes_[i]->waiting.empty()) return changed(node);
    }
  }

  // --- the coordinator ---

  void arrive(Node& node, const wire::Heartbeat& heartbeat, std::uint64_t session) {
    if (session != node.session) return;
    if (!node.known) {
      if (!node.dead) hello(node);
      return;
    }
    node.last_heard = events_.now();
    governor_.hear(node.id, heartbeat, events_.now());
    turn();
  }
  /// A worker that is silent for three heartbeats is lost.
  void watch(Node& node) {
    if (!node.known || events_.now() - node.last_heard < std::chrono::milliseconds(3500)) return;
    node.known = false;
    governor_.leave(node.id, true, events_.now());
    turn();
  }
  void turn() {
    const auto now = events_.now();
    for (auto& answer : governor_.turn(now)) send(answer);
    const auto wake = governor_.next_wake(now);
    if (!wake || (wake_at_ > now && wake_at_ <= *wake)) return;
    wake_at_ = *wake;
    events_.at(*wake, [this, at = *wake] {
      if (at == wake_at_) turn();
    });
  }
  void send(const Governor::Answer& answer) {
    auto& node = *nodes_[answer.worker - 1];
    if (happens(options_.lost_messages)) return;
    const int times = happens(options_.doubled_messages) ? 2 : 1;
    for (int i = 0; i < times; ++i) {
      events_.at(arrival(node.last_down), [this, &node, grants = answer.grants, session = node.session] {
        if (node.dead || session != node.session) return;
        if (node.frozen) return node.kept.push_back(grants);
        take(node, grants);
      });
    }
  }
  void watch_places() {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      if (!lanes_[i]->limits.max_in_flight) continue;
      std::uint32_t in_flight = 0;
      std::uint64_t places = 0;
      for (const auto& node : nodes_) {
        in_flight += node->workers[i]->in_flight();
        if (!node->dead) places += node->workers[i]->places();
      }
      lanes_[i]->most_in_flight = std::max(lanes_[i]->most_in_flight, in_flight);
      lanes_[i]->most_places = std::max(lanes_[i]->most_places, places);
    }
  }

  FleetOptions options_;
  std::mt19937_64 random_;
  EventQueue events_;
  BootTime begun_;
  Governor governor_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::uint64_t> finished_by_node_;
  std::uint64_t left_ = 0;
  BootTime finished_at_{};
  BootTime wake_at_{};
};

/// The greatest excess of starts over rate x window, over all windows: at most the burst if the limit was
/// kept.
inline double greatest_excess(std::vector<BootTime> starts, double rate) {
  std::ranges::sort(starts);
  // A bucket that fills at the rate and never overflows below: the lowest level over all beginnings.
  double excess = 0;
  double greatest = 0;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    if (i > 0)
      excess = std::max(0.0, excess - rate * static_cast<double>((starts[i] - starts[i - 1]).count()) * 1e-6);
    excess += 1;
    greatest = std::max(greatest, excess);
  }
  return greatest;
}

inline std::vector<PlannedCall> calls(std::size_t count, wire::CallSize reserved = {},
                                      wire::CallSize used = {}) {
  return std::vector<PlannedCall>(count, PlannedCall{reserved, used});
}

}  // namespace sluice::testing

#pragma once

#include "common/defaults.hpp"
#include "coordinator/governor/governor.hpp"
#include "tests/properties/simulated_worker.hpp"

#include <deque>

namespace sluice::testing {

struct FleetProvider {
  std::string name = "provider";
  ProviderLimits limits;
  ProviderNature nature;
  std::vector<PlannedCall> calls;
  LearnedLimits learned{};  ///< By an earlier run.
};

/// The way between a worker and the coordinator.
struct Network {
  BootTime delay_min{};
  BootTime delay_max = std::chrono::milliseconds(20);
  double lost = 0;         ///< Share of the messages, each way.
  bool reordered = false;  ///< Messages of one connection overtake each other; ZeroMQ's never do.
};

struct FleetOptions {
  std::uint64_t seed = 1;
  std::uint32_t workers = 4;
  std::uint32_t max_concurrent = 32;
  bool max_concurrent_named = false;
  bool reports_each_answer = false;  ///< Of the workers: see SimulatedWorker::Nature.
  Network network;
  std::vector<Network> networks;  ///< Of the first workers; empty: `network` is that of all.
  BootTime connect_time{};        ///< At most.
  BootTime arrival_jitter = std::chrono::milliseconds(20);  ///< From start to arrival, at most.
  std::int64_t most_fast_ppb = 99'900;                      ///< Of any clock, either way.
  BootTime outage_timeout = std::chrono::minutes(10);
  BootTime request_timeout = std::chrono::seconds(10);
  BootTime patience = std::chrono::minutes(60);  ///< The simulation ends here at the latest.
  bool shares_its_key = false;                   ///< With other runs on its machine.
};

/// What the runs on one machine tell each other of a key (SharedBudgets), in the order in which they did it.
struct SharedKey {
  struct Run {
    bool is_there = true;
    KeyPlaces places;
  };
  std::vector<ForeignUse> uses;
  std::vector<Run> runs;

  OtherPlaces others_of(std::size_t run) const {
    OtherPlaces others;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (i == run) others.before = others.places.size();
      if (i == run || !runs[i].is_there) continue;
      others.places.push_back(runs[i].places);
      others.living.push_back(i);
    }
    return others;
  }
};

/// A coordinator's Governor and workers around it with real budgets, over a network, on simulated time. Each
/// machine has a clock of its own; times that are asked for here are none of theirs.
class Fleet {
 public:
  Fleet(const FleetOptions& options, std::vector<FleetProvider> providers)
      : Fleet(options, std::move(providers), nullptr) {}
  /// Another run on the machine of `beside`, which is to outlive it, with the key of its first provider, from
  /// now on. Both share their keys.
  Fleet(const FleetOptions& options, const FleetProvider& provider, Fleet& beside)
      : Fleet(options, {provider}, &beside) {}

  EventQueue& events() { return events_; }
  std::size_t worker_count() const { return nodes_.size(); }
  bool is_up(std::size_t worker) const {
    return !nodes_[worker]->process->dead() && !nodes_[worker]->process->frozen();
  }

  /// Runs until all calls are answered. False if the patience ends before.
  bool run() {
    while (left_ > 0 && events_.step(EventQueue::beginning + options_.patience)) continue;
    return left_ == 0;
  }
  /// Runs for so long from the beginning, whatever is left to do.
  void run_for(BootTime time) {
    while (events_.step(EventQueue::beginning + time)) continue;
  }
  void add_calls(const std::vector<PlannedCall>& calls, std::size_t provider = 0) {
    left_ += calls.size();
    lanes_[provider]->waiting.insert(lanes_[provider]->waiting.end(), calls.begin(), calls.end());
    for (auto& node : nodes_) node->process->look_for_calls();
  }

  bool is_done() const { return left_ == 0; }
  /// Its coordinator and its workers go, as at the end of a run.
  void end() {
    if (key_) key_->runs[run_].is_there = false;
    for (auto& node : nodes_) node->process->kill();
    stop_coordinator(std::chrono::hours(24 * 365));
  }

  BootTime elapsed() const { return finished_at_ - EventQueue::beginning; }
  BootTime finished_at(std::size_t provider = 0) const { return lanes_[provider]->finished_at; }
  const std::vector<Start>& starts(std::size_t provider = 0) const { return lanes_[provider]->starts; }
  std::uint64_t refused(std::size_t provider = 0) const { return lanes_[provider]->provider.refused(); }
  BudgetFacts facts(std::size_t provider = 0) const {
    return governor_.facts(clock_.at(events_.now()))[provider];
  }
  std::uint32_t most_in_flight(std::size_t provider = 0) const { return lanes_[provider]->most_in_flight; }
  const std::vector<std::uint64_t>& answered_by_worker() const { return answered_by_worker_; }
  /// The coordinator's.
  const SimulatedClock& clock() const { return clock_; }

  // What may happen.
  void add_worker() {
    const auto index = nodes_.size();
    auto& node = *nodes_.emplace_back(std::make_unique<Node>());
    answered_by_worker_.push_back(0);
    node.link = new_link(index);
    SimulatedWorker::Surroundings around{
        events_, random_, [this, index](FromWorker message) { send_up(index, std::move(message)); },
        [&node, index, this] { node.link = new_link(index); }};
    std::vector<SimulatedWorker::Provider> providers;
    for (auto& lane : lanes_) providers.push_back(provider_for(*lane, index));
    const SimulatedWorker::Nature nature{index, options_.max_concurrent, options_.connect_time,
                                         options_.arrival_jitter, options_.reports_each_answer};
    node.process =
        std::make_unique<SimulatedWorker>(std::move(around), any_clock(), nature, std::move(providers));
    node.process->begin();
  }
  /// Dead at once; what it had not begun is left to the others.
  void kill(std::size_t worker) {
    nodes_[worker]->process->kill();
    auto left = nodes_[worker]->process->take_ready();
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      lanes_[i]->waiting.insert(lanes_[i]->waiting.end(), left[i].begin(), left[i].end());
    }
    for (auto& node : nodes_) node->process->look_for_calls();
  }
  /// The calls that a worker has not begun end, as by their deadlines: it needs no permits for them.
  void drop_calls(std::size_t worker) {
    for (const auto& dropped : nodes_[worker]->process->take_ready()) left_ -= dropped.size();
    nodes_[worker]->process->look_for_calls();
  }
  void freeze(std::size_t worker) { nodes_[worker]->process->freeze(); }
  void thaw(std::size_t worker) { nodes_[worker]->process->thaw(happens(0.5)); }
  /// The connection breaks with all that is on its way, and there is another at once.
  void break_link(std::size_t worker) {
    nodes_[worker]->link->lost = true;
    nodes_[worker]->link = new_link(worker);
  }
  /// The connection swallows everything until its worker opens another.
  void cut_link(std::size_t worker) { nodes_[worker]->link->lost = true; }
  /// Nothing gets through for so long, both ways; then all of it does.
  void stall_link(std::size_t worker, BootTime time) {
    nodes_[worker]->link->stalled_until = events_.now() + time;
  }
  void stop_coordinator(BootTime time) {
    coordinator_stopped_until_ = std::max(coordinator_stopped_until_, events_.now() + time);
  }
  void set_network(const Network& network) { options_.network = network; }

 private:
  struct Link {
    bool lost = false;
    BootTime stalled_until{};
    std::optional<Network> network;  ///< Its own.
    BootTime last_up{};              ///< The latest arrival so far.
    BootTime last_down{};
  };
  using LinkRef = std::shared_ptr<Link>;
  struct Lane {
    Lane(EventQueue& events, FleetProvider planned)
        : Lane(std::make_shared<SimulatedProvider>(events, planned.nature), std::move(planned)) {}
    Lane(std::shared_ptr<SimulatedProvider> shared, FleetProvider planned)
        : name(std::move(planned.name)),
          limits(planned.limits),
          shared_provider(std::move(shared)),
          provider(*shared_provider),
          waiting(planned.calls.begin(), planned.calls.end()) {}
    std::string name;
    ProviderLimits limits;
    std::shared_ptr<SimulatedProvider> shared_provider;
    SimulatedProvider& provider;
    std::deque<PlannedCall> waiting;
    std::vector<Start> starts;
    BootTime finished_at{};
    std::uint32_t in_flight = 0;
    std::uint32_t most_in_flight = 0;
  };
  struct Node {
    std::unique_ptr<SimulatedWorker> process;
    LinkRef link;  ///< As the worker has it.
    // What the coordinator knows of it.
    LinkRef peer;  ///< Null: it does not know the worker.
    BootTime last_message_at{};
  };

  Fleet(const FleetOptions& options, std::vector<FleetProvider> providers, Fleet* beside)
      : options_(options),
        random_(options.seed),
        shared_events_(beside != nullptr ? beside->shared_events_ : std::make_shared<EventQueue>()),
        events_(*shared_events_),
        clock_(beside != nullptr ? beside->clock_ : any_clock()),
        governor_(config(options, providers), clock_.at(events_.now())) {
    for (auto& provider : providers) {
      auto lane = beside != nullptr
                      ? std::make_unique<Lane>(beside->lanes_.front()->shared_provider, std::move(provider))
                      : std::make_unique<Lane>(events_, std::move(provider));
      left_ += lane->waiting.size();
      lanes_.push_back(std::move(lane));
    }
    if (options.shares_its_key) share(beside != nullptr ? beside->key_ : std::make_shared<SharedKey>());
    for (std::uint32_t i = 0; i < options.workers; ++i) add_worker();
    coordinator_ticks();
  }
  void share(std::shared_ptr<SharedKey> key) {
    key_ = std::move(key);
    run_ = key_->runs.size();
    key_->runs.emplace_back();
    governor_.share(lanes_.front()->name, run_, key_->uses, false);
  }

  static GovernorConfig config(const FleetOptions& options, const std::vector<FleetProvider>& providers) {
    GovernorConfig config;
    for (const auto& one : providers) {
      config.providers.emplace_back(one.name, one.limits);
      config.learned.push_back(one.learned);
    }
    config.times = {options.request_timeout, defaults::heartbeat_interval, options.outage_timeout};
    return config;
  }
  double uniform(double from, double to) { return std::uniform_real_distribution<>(from, to)(random_); }
  bool happens(double share) { return share > 0 && uniform(0, 1) < share; }
  BootTime between(BootTime from, BootTime to) {
    return BootTime(std::uniform_int_distribution<BootTime::rep>(from.count(), to.count())(random_));
  }
  SimulatedClock any_clock() {
    const auto shows = between(std::chrono::minutes(10), std::chrono::hours(300));
    const auto most = options_.most_fast_ppb;
    return {shows, std::uniform_int_distribution<std::int64_t>(-most, most)(random_)};
  }
  LinkRef new_link(std::size_t worker) {
    auto link = std::make_shared<Link>();
    if (worker < options_.networks.size()) link->network = options_.networks[worker];
    return link;
  }

  SimulatedWorker::Provider provider_for(Lane& lane, std::size_t worker) {
    SimulatedWorker::Provider provider{lane.name, lane.provider, nullptr, nullptr, nullptr, nullptr};
    provider.next_call = [&lane]() -> std::optional<PlannedCall> {
      if (lane.waiting.empty()) return std::nullopt;
      const auto call = lane.waiting.front();
      lane.waiting.pop_front();
      return call;
    };
    provider.started = [&lane](const Start& start) {
      lane.starts.push_back(start);
      lane.most_in_flight = std::max(lane.most_in_flight, ++lane.in_flight);
      return lane.starts.size() - 1;
    };
    provider.served = [&lane](std::size_t number, const Reply& reply) {
      --lane.in_flight;
      if (reply.outcome == Outcome::refused) lane.starts[number].used = {};
    };
    provider.answered = [this, &lane, worker] {
      lane.finished_at = finished_at_ = events_.now();
      ++answered_by_worker_[worker];
      --left_;
    };
    return provider;
  }

  // --- the network ---

  template <class What>
  void carry(const LinkRef& link, BootTime Link::*last, What arrive) {
    const Network& network = link->network ? *link->network : options_.network;
    if (link->lost || happens(network.lost)) return;
    auto at = std::max(events_.now(), link->stalled_until) + between(network.delay_min, network.delay_max);
    if (!network.reordered) at = std::max(at, (*link).*last);
    (*link).*last = std::max((*link).*last, at);
    events_.at(at, [link, arrive] {
      if (!link->lost) arrive();
    });
  }
  void send_up(std::size_t worker, FromWorker message) {
    const auto link = nodes_[worker]->link;
    carry(link, &Link::last_up, [this, worker, link, message = std::move(message)] {
      at_coordinator([this, worker, link, message] {
        std::visit([&](const auto& known) { on_message(worker, link, known); }, message);
      });
    });
  }
  void send_down(std::size_t worker, const LinkRef& link, ToWorker message) {
    carry(link, &Link::last_down, [this, worker, link, message = std::move(message)] {
      if (nodes_[worker]->link == link) nodes_[worker]->process->take(message);
    });
  }

  // --- the coordinator ---

  template <class What>
  void at_coordinator(What what) {
    if (events_.now() >= coordinator_stopped_until_) return what();
    events_.at(coordinator_stopped_until_, [this, what] { at_coordinator(what); });
  }
  BootTime coordinator_now() const { return clock_.at(events_.now()); }
  void on_message(std::size_t worker, const LinkRef& link, const SimulatedHello&) {
    auto& node = *nodes_[worker];
    if (node.peer) governor_.leave(worker + 1, true, coordinator_now());
    node.peer = link;
    node.last_message_at = coordinator_now();
    governor_.join(worker + 1, {options_.max_concurrent, options_.max_concurrent_named}, coordinator_now());
    send_down(worker, link, SimulatedWelcome{});
    turn();
  }
  void on_message(std::size_t worker, const LinkRef& link, const wire::Heartbeat& heartbeat) {
    auto& node = *nodes_[worker];
    if (node.peer != link) return send_down(worker, link, SimulatedUnknownWorker{});
    node.last_message_at = coordinator_now();
    governor_.on_heartbeat(worker + 1, heartbeat, coordinator_now());
    turn();
  }
  void coordinator_ticks() {
    at_coordinator([this] {
      const auto now = coordinator_now();
      const BootTime interval = defaults::heartbeat_interval;
      // It was stopped itself: all clocks are restarted.
      const bool late = now - std::exchange(last_tick_, now) > 2 * interval;
      bool changed = false;
      for (std::size_t worker = 0; worker < nodes_.size(); ++worker) {
        auto& node = *nodes_[worker];
        if (late) node.last_message_at = now;
        if (!node.peer || now - node.last_message_at <= defaults::liveness * interval) continue;
        node.peer.reset();
        governor_.leave(worker + 1, true, now);
        changed = true;
      }
      if (changed) turn();
    });
    events_.after(defaults::heartbeat_interval, [this] { coordinator_ticks(); });
  }
  /// Before the governor's turn, and after it.
  void take_in_others(BootTime now) {
    std::vector<ForeignUse> news;
    for (; seen_ < key_->uses.size(); ++seen_) {
      if (key_->uses[seen_].run != run_) news.push_back(key_->uses[seen_]);
    }
    governor_.count(lanes_.front()->name, news, key_->others_of(run_), now);
  }
  void tell_others(BootTime now) {
    for (const auto& use : governor_.take_use(lanes_.front()->name, now)) key_->uses.push_back({run_, use});
    key_->runs[run_].places = governor_.places(lanes_.front()->name, now);
  }
  void turn() {
    const auto now = coordinator_now();
    if (key_) take_in_others(now);
    auto answers = governor_.turn(now);
    if (key_) tell_others(now);
    for (auto& answer : answers) {
      const auto worker = answer.worker - 1;
      send_down(worker, nodes_[worker]->peer, std::move(answer.grants));
    }
    const auto wake = governor_.next_wake(now);
    if (!wake) return;
    auto at = std::max(clock_.time_of(*wake), events_.now() + BootTime(1));
    // Of two runs that wait for one slot now the one is first, now the other.
    if (key_) at += between(BootTime(0), std::chrono::microseconds(200));
    if (wake_at_ > events_.now() && wake_at_ <= at) return;
    wake_at_ = at;
    events_.at(at, [this, at] {
      if (at == wake_at_) at_coordinator([this] { turn(); });
    });
  }
  FleetOptions options_;
  std::mt19937_64 random_;
  std::shared_ptr<EventQueue> shared_events_;
  EventQueue& events_;
  SimulatedClock clock_;
  Governor governor_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::uint64_t> answered_by_worker_;
  std::uint64_t left_ = 0;
  BootTime finished_at_{};
  BootTime wake_at_{};
  BootTime last_tick_{};
  BootTime coordinator_stopped_until_{};
  std::shared_ptr<SharedKey> key_;  ///< Null: no other run has it.
  std::size_t run_ = 0;
  std::size_t seen_ = 0;
};

inline std::vector<PlannedCall> calls(std::size_t count, wire::CallSize reserved = {},
                                      wire::CallSize used = {}) {
  return std::vector<PlannedCall>(count, PlannedCall{reserved, used});
}

}  // namespace sluice::testing

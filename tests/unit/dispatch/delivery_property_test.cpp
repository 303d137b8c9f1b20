// Lease bookkeeping under any order of death, delay and duplication: a model of workers, of a network that
// loses, doubles and delays messages, and of a recorder that takes its time drives the Dispatcher; each unit
// must be settled exactly once, by the first result that is committed, and the run must end. Where workers
// only come, leave with a GOODBYE and wait for a slow recorder, each unit is called for once.
#include "coordinator/dispatch/dispatcher.hpp"

#include <chrono>
#include <deque>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice {
namespace {

using namespace std::chrono_literals;

struct ModelWorker {
  std::deque<UnitId> holding;
  bool alive = true;     ///< False: killed; it says nothing any more.
  bool stopped = false;  ///< SIGSTOP: silent, but it may wake up.
};

/// A result on its way to the coordinator.
struct InFlight {
  WorkerId worker;
  UnitId unit;
};

/// What may happen to a fleet.
enum class Trouble {
  any,             ///< Workers die, stop and wake up, messages are lost, late and doubled.
  nobody_is_lost,  ///< Workers come and say GOODBYE, and the recorder is slow.
};

class Model {
 public:
  Model(std::size_t units, std::uint64_t seed, Trouble trouble)
      : random_(seed),
        unit_count_(units),
        trouble_(trouble),
        dispatcher_({1000ms, 3, 200, 600s}, affinities(units), {}) {}

  void run() {
    for (int step = 0; step < 400; ++step) disturb();
    calm_down();
  }

  std::size_t settled_twice = 0;
  std::map<UnitId, int> commits;
  std::map<UnitId, int> calls;  ///< At the provider.
  bool finished = false;

 private:
  static std::vector<UnitAffinity> affinities(std::size_t count) {
    std::vector<UnitAffinity> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back({i * 0x9e3779b97f4a7c15ull, 0});
    return all;
  }

  std::size_t pick(std::size_t below) {
    return std::uniform_int_distribution<std::size_t>(0, below - 1)(random_);
  }

  void join(WorkerId worker) {
    auto& model = workers_[worker];
    const std::vector<UnitId> held(model.holding.begin(), model.holding.end());
    dispatcher_.join(worker, "cache" + std::to_string(worker % 3), held, now_);
    dispatcher_.set_window(worker, 1 + static_cast<std::uint32_t>(pick(4)));
  }

  void lease_all() {
    for (auto& [id, worker] : workers_) {
      // A stopped or dead worker's mail is lost or waits; either way the lease is the coordinator's view.
      for (const auto unit : dispatcher_.lease(id, 8, now_)) {
        const bool arrives = trouble_ == Trouble::nobody_is_lost || pick(10) > 0;
        if (worker.alive && arrives) worker.holding.push_back(unit);
      }
    }
  }

  /// A result has come: it goes to the recorder, whose answer takes a while.
  void deliver(const InFlight& result) {
    if (dispatcher_.knows(result.worker)) dispatcher_.on_message(result.worker, now_);
    dispatcher_.begin_recording(result.unit);
    recorder_.push_back(result);
  }

  /// The recorder has committed the first `count` of what it was given.
  void commit(std::size_t count) {
    for (; count > 0; --count) {
      const auto [worker, unit] = recorder_.front();
      recorder_.pop_front();
      const bool was_settled = dispatcher_.is_settled(unit);
      const bool first = dispatcher_.settle(unit);
      if (first) ++commits[unit];
      if (first && was_settled) ++settled_twice;
      dispatcher_.release(worker, unit);
    }
  }

  /// Whoever leaves brings what it has called for, and says GOODBYE in the same breath.
  void send_goodbye(WorkerId id, ModelWorker& worker) {
    std::erase_if(network_, [&](const InFlight& result) {
      if (result.worker != id) return false;
      deliver(result);
      return true;
    });
    worker.holding.clear();
    worker.alive = false;
    dispatcher_.leave(id);
  }

  void disturb() {
    trouble_ == Trouble::any ? disturb_anything() : disturb_nobody();
    if (!recorder_.empty() && pick(3) == 0) commit(1 + pick(recorder_.size()));
    lease_all();
  }

  void disturb_nobody() {
    now_ += std::chrono::milliseconds(pick(900));
    for (auto& [id, worker] : workers_) dispatcher_.on_message(id, now_);
    std::erase_if(workers_, [](const auto& entry) { return !entry.second.alive; });
    switch (pick(5)) {
      case 0:
        if (workers_.size() < 6) join(next_id_++);
        break;
      case 1:
        if (workers_.empty()) break;
        {
          auto chosen = workers_.begin();
          std::advance(chosen, static_cast<std::ptrdiff_t>(pick(workers_.size())));
          send_goodbye(chosen->first, chosen->second);
        }
        break;
      case 2:
        dispatcher_.tick(now_);
        break;
      case 3:
        if (!network_.empty()) {
          deliver(network_.front());
          network_.erase(network_.begin());
        }
        break;
      default:
        work();
    }
  }

  void disturb_anything() {
    now_ += std::chrono::milliseconds(pick(900));
    switch (pick(10)) {
      case 0:
        if (workers_.size() < 6) join(next_id_++);
        break;
      case 1:
        if (!workers_.empty()) random_worker().alive = false;
        break;
      case 2:
        if (!workers_.empty()) random_worker().stopped = true;
        break;
      case 3:
        for (auto& [id, worker] : workers_) {
          if (worker.alive && std::exchange(worker.stopped, false) && !dispatcher_.knows(id)) join(id);
        }
        break;
      case 4:
        dispatcher_.tick(now_);
        break;
      case 5:
        if (!network_.empty()) {
          const auto chosen = network_.begin() + static_cast<std::ptrdiff_t>(pick(network_.size()));
          deliver(*chosen);
          if (pick(4) > 0) network_.erase(chosen);  // Otherwise it comes once more later.
        }
        break;
      case 6:
        for (auto& [id, worker] : workers_) {
          if (!worker.alive || worker.stopped || pick(4) > 0) continue;
          send_goodbye(id, worker);
          break;
        }
        break;
      default:
        work();
    }
    for (auto& [id, worker] : workers_) {
      if (worker.alive && !worker.stopped && pick(3) > 0) dispatcher_.on_message(id, now_);
    }
  }

  void work() {
    for (auto& [id, worker] : workers_) {
      if (!worker.alive || worker.stopped || worker.holding.empty()) continue;
      const auto unit = worker.holding.front();
      dispatcher_.started(id, unit, now_);
      if (pick(3) == 0) continue;
      worker.holding.pop_front();
      ++calls[unit];
      network_.push_back({id, unit});
    }
  }

  ModelWorker& random_worker() {
    auto chosen = workers_.begin();
    std::advance(chosen, static_cast<std::ptrdiff_t>(pick(workers_.size())));
    return chosen->second;
  }

  /// No more trouble: one healthy worker, ticks, and everything that is still on its way arrives.
  void calm_down() {
    for (auto& [id, worker] : workers_) {
      if (worker.alive && trouble_ == Trouble::nobody_is_lost) send_goodbye(id, worker);
      worker.alive = false;
    }
    const auto healthy = next_id_++;
    join(healthy);
    for (int step = 0; step < 2000 && !dispatcher_.finished(); ++step) {
      now_ += 500ms;
      dispatcher_.on_message(healthy, now_);
      dispatcher_.tick(now_);
      dispatcher_.set_window(healthy, 4);
      for (const auto unit : dispatcher_.lease(healthy, 8, now_)) {
        ++calls[unit];
        deliver({healthy, unit});
      }
      commit(recorder_.size());
    }
    for (const auto& late : network_) deliver(late);
    commit(recorder_.size());
    finished = dispatcher_.finished() && dispatcher_.settled_count() == unit_count_;
  }

  std::mt19937_64 random_;
  std::size_t unit_count_;
  Trouble trouble_;
  TimePoint now_ = TimePoint() + 1h;
  Dispatcher dispatcher_;
  std::map<WorkerId, ModelWorker> workers_;
  WorkerId next_id_ = 1;
  std::vector<InFlight> network_;
  std::deque<InFlight> recorder_;  ///< Given to it, and not committed yet.
};

RC_GTEST_PROP(Delivery, EachUnitIsSettledExactlyOnceAndTheRunEnds, ()) {
  const auto units = *rc::gen::inRange<std::size_t>(1, 40);
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  Model model(units, seed, Trouble::any);
  model.run();
  RC_ASSERT(model.finished);
  RC_ASSERT(model.settled_twice == 0u);
  RC_ASSERT(model.commits.size() == units);
  for (const auto& [unit, count] : model.commits) RC_ASSERT(count == 1);
}

RC_GTEST_PROP(Delivery, WorkersThatLeaveCauseNoSecondCall, ()) {
  const auto units = *rc::gen::inRange<std::size_t>(1, 40);
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  Model model(units, seed, Trouble::nobody_is_lost);
  model.run();
  RC_ASSERT(model.finished);
  RC_ASSERT(model.calls.size() == units);
  for (const auto& [unit, count] : model.calls) RC_ASSERT(count == 1);
}

}  // namespace
}  // namespace sluice

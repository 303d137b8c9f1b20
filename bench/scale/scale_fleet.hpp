#pragma once

#include "bench/scale/sim_worker.hpp"
#include "coordinator/governor/governor.hpp"
#include "coordinator/governor/turn_pace.hpp"
#include "coordinator/run/run_controller.hpp"
#include "tests/properties/event_queue.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace sluice::scale {

struct FleetOptions {
  std::uint32_t workers = 100;
  std::size_t units = 100'000;
  std::uint32_t repeats = 100;  ///< Units of a case.
  /// In the time that the run should take; half of them wake up again, and others come for the rest.
  std::uint32_t deaths = 10;
  std::uint64_t seed = 1;
};

/// What steps of one kind have cost.
struct StepCost {
  std::uint64_t count = 0;
  std::chrono::nanoseconds cpu{};

  StepCost& operator+=(const StepCost& other) {
    count += other.count;
    cpu += other.cpu;
    return *this;
  }
  double each_us() const {
    return count > 0 ? static_cast<double>(cpu.count()) * 1e-3 / static_cast<double>(count) : 0;
  }
};

struct FleetCosts {
  StepCost plan;       ///< By unit.
  StepCost result;     ///< A REPORT is taken in; by result.
  StepCost lease;      ///< Results are committed, and the next units leased and rendered; by leased unit.
  StepCost heartbeat;  ///< By HEARTBEAT.
  StepCost turn;       ///< Of the governor; by HEARTBEAT that it answers.
  StepCost join;       ///< HELLO and READY; by worker.
  StepCost leave;      ///< GOODBYE; by worker.
  StepCost death;      ///< A tick that finds somebody silent; by worker.
  StepCost tick;       ///< Any other.
  StepCost merge;      ///< By trial.

  /// From the first HELLO to the last GOODBYE.
  std::chrono::nanoseconds run() const {
    return result.cpu + lease.cpu + heartbeat.cpu + turn.cpu + join.cpu + leave.cpu + death.cpu + tick.cpu;
  }
};

struct FleetOutcome {
  FleetCosts costs;
  bool complete = false;          ///< Every unit has its result, and every worker has left.
  std::uint64_t settled = 0;      ///< Units with a first result.
  std::uint64_t duplicates = 0;   ///< Results that came second.
  std::uint64_t leases_lost = 0;  ///< By those that died or were silent.
  std::uint64_t merged = 0;       ///< Trials in the aggregates, all assessed.
  double simulated_seconds = 0;   ///< Of the run.
  double plan_bytes_a_unit = 0;   ///< What the plan keeps.
  double begin_bytes_a_unit = 0;  ///< What the run's state takes beside it before the first worker comes,
  double most_bytes_a_unit = 0;   ///< and at most, with the simulated workers and what is on its way.
};

/// A coordinator's RunController and Governor around a plan, and simulated workers, on simulated time. Its
/// ledger is a bit for each unit.
class ScaleFleet {
 public:
  explicit ScaleFleet(const FleetOptions& options);
  FleetOutcome run();

 private:
  void make_plan();
  void start_run();
  void merge();

  void add_worker();
  void lose_workers();
  void carry(SimWorker& worker, wire::ToCoordinator message);
  void take(const Peer& peer, wire::ToCoordinator message);
  StepCost& cost_of(const wire::ToCoordinator& message, std::uint64_t& steps);
  void tick();
  void perform(Effects& effects);
  void commit();
  void request_turn();
  void turn();
  void deliver(const Peer& peer, wire::ToWorker message);
  TimePoint now() const { return TimePoint() + events_.now(); }

  FleetOptions options_;
  std::mt19937_64 random_;
  testing::EventQueue events_;
  Suite suite_;
  std::unique_ptr<Plan> plan_;
  std::unique_ptr<RunController> controller_;
  std::unique_ptr<Governor> governor_;
  TurnPace pace_;
  bool turn_due_ = false;
  BootTime wakes_at_{};
  std::vector<std::unique_ptr<SimWorker>> workers_;
  std::unordered_map<Peer, SimWorker*> by_peer_;
  std::deque<RecordResult> to_commit_;
  std::vector<bool> committed_;
  std::size_t bytes_before_ = 0;
  FleetOutcome outcome_;
};

}  // namespace sluice::scale

// Whatever becomes of the workers, the report is the same, byte for byte (docs/delivery.md, "Byte identity").

#include "tests/support/ledger_rows.hpp"
#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <algorithm>
#include <csignal>
#include <set>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using namespace support;
using nlohmann::json;

const std::string any_port = "tcp://127.0.0.1:0";
constexpr std::size_t calls_each = 5;  ///< That a worker has in flight.
constexpr int longer_than_the_test = 600'000;

class Delivery : public Workbench {
 protected:
  // A case that has its result once and nothing else: what "nothing lost, nothing counted twice" means.
  void expect_complete(const Finished& finished) {
    EXPECT_EQ(comparable_part(finished.output), reference_report());
    const auto report = parse_report(finished.output);
    ASSERT_TRUE(report.is_object());
    EXPECT_EQ(schema_findings(report), "");
    EXPECT_EQ(report["metrics"]["total_fixtures"], fixture_count());
    EXPECT_EQ(report["metrics"]["errors"], 0);
    std::set<std::string> ids;
    for (const auto& result : report["fixture_results"]) ids.insert(result["id"].get<std::string>());
    EXPECT_EQ(ids.size(), fixture_count());
    EXPECT_EQ(report["fixture_results"].size(), fixture_count());
    const auto rows = ledger_rows(home());
    ASSERT_EQ(rows.size(), fixture_count());
    for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i].trial, i);
  }

  Process start_named(const std::string& endpoint, const std::string& name, const Flags& flags = {}) {
    return start_worker(endpoint, Flags{"--name", name} + flags);
  }
  /// Worker processes in the middle of calls that take `latency_ms`; all calls after theirs come at once.
  struct Scene {
    SimulatorProcess simulator;
    Process coordinator;
    std::string endpoint;
    std::vector<Process> workers;
  };
  Scene amid_slow_calls(int latency_ms, const std::vector<std::string>& workers, const Flags& flags = {}) {
    let_all_workers_call();
    const auto calls = calls_each * workers.size();
    auto simulator = start_simulator(
        {"{\"latency_ms\": " + std::to_string(latency_ms) + ", \"times\": " + std::to_string(calls) + "}"},
        {});
    auto coordinator = start_sluice(live(simulator) + Flags{"--listen", any_port});
    Scene scene{std::move(simulator), std::move(coordinator), "", {}};
    scene.endpoint = endpoint_of(scene.coordinator);
    for (const auto& name : workers) {
      scene.workers.push_back(start_named(scene.endpoint, name, flags));
      const auto begun = calls_each * scene.workers.size();
      EXPECT_TRUE(eventually([&] { return scene.simulator.count("start") >= begun; }))
          << name << ": " << scene.workers.back().errors();
    }
    return scene;
  }
  /// Waits for a run to end with all that it should, and returns its report.
  json completed(Process& coordinator) {
    const auto finished = finish(coordinator);
    EXPECT_EQ(finished.exit_code, 1) << finished.errors;
    expect_complete(finished);
    return parse_report(finished.output);
  }
  static void expect_well_ended(Process& worker) { EXPECT_EQ(worker.wait(), 0) << worker.errors(); }
  static json worker_named(const json& report, const std::string& name) {
    for (const auto& worker : report["run"]["workers"]) {
      if (worker["name"] == name) return worker;
    }
    return {};
  }
};

TEST_F(Delivery, FourWorkersInOneProcessReportLikeOne) {
  const auto simulator = start_simulator({"--latency-ms", "5"});
  const auto finished = run_sluice(live(simulator) + Flags{"--workers", "4"});
  EXPECT_EQ(finished.exit_code, 1) << finished.errors;
  expect_complete(finished);
  EXPECT_EQ(parse_report(finished.output)["run"]["workers"].size(), 4u);
}

// One of four worker processes is killed and one stopped, each in the middle of five calls. The stopped one
// wakes up in the next run on the same port.
TEST_F(Delivery, KilledAndStoppedWorkersLoseNothingAndHurtNobody) {
  auto scene = amid_slow_calls(longer_than_the_test, {"killed", "stopped"});
  auto& [simulator, coordinator, endpoint, workers] = scene;
  auto& killed = workers[0];
  auto& stopped = workers[1];
  // Nothing has been answered: five calls in flight at either worker, and so five leases at least.
  ASSERT_EQ(simulator.count("start"), 10u);
  ASSERT_EQ(simulator.count("answer"), 0u);
  ASSERT_TRUE(stopped.stop());
  killed.signal(SIGKILL);
  EXPECT_EQ(killed.wait(), 128 + SIGKILL);
  ASSERT_TRUE(eventually([&sim = simulator] { return sim.count("gone") == 5; }))
      << "the killed worker's calls";
  ASSERT_EQ(ledger_rows(home()).size(), 0u);

  auto third = start_named(endpoint, "third");
  auto fourth = start_named(endpoint, "fourth");
  const auto report = completed(coordinator);
  expect_well_ended(third);
  expect_well_ended(fourth);
  for (const auto* name : {"killed", "stopped"}) {
    EXPECT_EQ(worker_named(report, name)["units"], 0) << name;
    EXPECT_EQ(worker_named(report, name)["lost"], true) << name;
  }
  EXPECT_EQ(report["run"]["workers"].size(), 4u);

  // The stopped worker comes back with the old run's leases in its hands, and finds another run.
  auto later = start_sluice(live(simulator) + Flags{"--listen", endpoint});
  ASSERT_EQ(endpoint_of(later), endpoint);
  stopped.signal(SIGCONT);
  ASSERT_TRUE(has_logged(later, "worker stopped is there")) << stopped.errors();
  const auto fifth = start_named(endpoint, "fifth");  // May come when all is done.
  completed(later);
  expect_well_ended(stopped);
}

TEST_F(Delivery, AWorkerMayJoinLate) {
  // The first worker's calls hang, so that the run cannot be over before the second one comes.
  auto scene = amid_slow_calls(1500, {"first"});
  auto late = start_named(scene.endpoint, "late");
  const auto report = completed(scene.coordinator);
  EXPECT_GT(worker_named(report, "late")["units"], 0);
  EXPECT_EQ(worker_named(report, "first")["lost"], false);
  expect_well_ended(scene.workers[0]);
  expect_well_ended(late);
}

TEST_F(Delivery, AWorkerMayLeaveInTheMiddleOfItsCalls) {
  auto scene = amid_slow_calls(longer_than_the_test, {"leaving"}, {"--drain-timeout", "0.5"});
  scene.workers[0].signal(SIGTERM);
  expect_well_ended(scene.workers[0]);
  ASSERT_TRUE(has_logged(scene.coordinator, "worker leaving left"));
  auto other = start_named(scene.endpoint, "other");
  const auto report = completed(scene.coordinator);
  // Its leases were free at once: nobody waited for the heartbeats that make a silent worker lost.
  EXPECT_EQ(report["run"]["leases_lost"], 0);
  EXPECT_EQ(worker_named(report, "leaving")["lost"], false);
  expect_well_ended(other);
}

// Each worker is told to leave amid its calls, and another one takes over: no answer is lost, no call made
// again.
TEST_F(Delivery, LeavingCostsNoRepeatedCall) {
  let_all_workers_call();
  auto simulator = start_simulator({R"({"latency_ms": 150})"}, {});
  auto coordinator = start_sluice(live(simulator) + Flags{"--listen", any_port});
  const auto endpoint = endpoint_of(coordinator);
  std::vector<Process> workers;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto before = simulator.count("start");
    workers.push_back(start_named(endpoint, "w" + std::to_string(i)));
    ASSERT_TRUE(eventually([&] { return simulator.count("start") > before + calls_each; }))
        << workers.back().errors();
    workers.back().signal(SIGTERM);
    expect_well_ended(workers.back());
  }
  auto last = start_named(endpoint, "last");
  const auto report = completed(coordinator);
  expect_well_ended(last);
  EXPECT_EQ(report["run"]["duplicates_dropped"], 0);
  EXPECT_EQ(report["run"]["leases_lost"], 0);
  std::size_t starts = 0;
  std::size_t gone = 0;
  for (const auto& event : simulator.final_events()) {
    starts += event.kind == "start" ? 1 : 0;
    gone += event.kind == "gone" ? 1 : 0;
  }
  EXPECT_EQ(starts, fixture_count());
  EXPECT_EQ(gone, 0u);
}

// Three workers come back to a run that they have completed, in any order, milliseconds apart.
TEST_F(Delivery, ARerunWithTheSameWorkersPaysNothing) {
  let_all_workers_call();
  const auto simulator = start_simulator({"--latency-ms", "20"});
  const auto run = [&](const std::vector<std::string>& names, const Flags& flags) {
    auto coordinator = start_sluice(live(simulator) + Flags{"--listen", any_port} + flags);
    const auto endpoint = endpoint_of(coordinator);
    std::vector<Process> workers;
    for (const auto& name : names) workers.push_back(start_named(endpoint, name));
    const auto report = completed(coordinator);
    for (auto& worker : workers) expect_well_ended(worker);
    return report;
  };
  const auto first = run({"a", "b", "c"}, {"--expect-workers", "3"});
  for (const auto* name : {"a", "b", "c"}) EXPECT_GT(worker_named(first, name)["units"], 0) << name;
  const auto paid = simulator.count("start");
  EXPECT_EQ(paid, fixture_count());
  EXPECT_EQ(run({"c", "a", "b"}, {})["run"]["requests"], 0);
  EXPECT_EQ(run({"b", "c", "a"}, {"--expect-workers", "3"})["run"]["requests"], 0);
  EXPECT_EQ(simulator.count("start"), paid);
}

}  // namespace
}  // namespace sluice

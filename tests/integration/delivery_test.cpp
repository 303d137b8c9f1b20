// Whatever becomes of the workers, the report is the same, byte for byte (delivery.md, "Byte identity").

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

  Process start_named(const std::string& endpoint, const std::string& name) {
    return start_worker(endpoint, {"--name", name});
  }
  static bool wait_for_starts(const SimulatorProcess& simulator, std::size_t count) {
    return eventually([&] { return simulator.count("start") >= count; });
  }
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
  // The first ten calls would be answered long after the test; everything after them comes at once.
  const auto simulator = start_simulator({R"({"latency_ms": 600000, "times": 10})"}, {});
  auto coordinator = start_sluice(live(simulator) + Flags{"--listen", any_port});
  const auto endpoint = endpoint_of(coordinator);
  auto killed = start_named(endpoint, "killed");
  ASSERT_TRUE(wait_for_starts(simulator, 5)) << killed.errors();
  auto stopped = start_named(endpoint, "stopped");
  ASSERT_TRUE(wait_for_starts(simulator, 10)) << stopped.errors();
  // Nothing has been answered: five calls in flight at either worker, and so five leases at least.
  ASSERT_EQ(simulator.count("start"), 10u);
  ASSERT_EQ(simulator.count("answer"), 0u);
  ASSERT_TRUE(stopped.stop());
  killed.signal(SIGKILL);
  EXPECT_EQ(killed.wait(), 128 + SIGKILL);
  ASSERT_TRUE(eventually([&] { return simulator.count("gone") == 5; })) << "the killed worker's calls";
  ASSERT_EQ(ledger_rows(home()).size(), 0u);

  auto third = start_named(endpoint, "third");
  auto fourth = start_named(endpoint, "fourth");
  const auto finished = finish(coordinator);
  EXPECT_EQ(finished.exit_code, 1) << finished.errors;
  expect_complete(finished);
  EXPECT_EQ(third.wait(), 0) << third.errors();
  EXPECT_EQ(fourth.wait(), 0) << fourth.errors();
  const auto report = parse_report(finished.output);
  for (const auto* name : {"killed", "stopped"}) {
    EXPECT_EQ(worker_named(report, name)["units"], 0) << name;
    EXPECT_EQ(worker_named(report, name)["lost"], true) << name;
  }
  EXPECT_EQ(report["run"]["workers"].size(), 4u);

  // The stopped worker comes back with the old run's leases in its hands, and finds another run.
  auto later = start_sluice(live(simulator) + Flags{"--listen", endpoint});
  ASSERT_EQ(endpoint_of(later), endpoint);
  stopped.signal(SIGCONT);
  ASSERT_TRUE(has_said(later, "worker stopped is there")) << stopped.errors();
  const auto fifth = start_named(endpoint, "fifth");  // May come when all is done.
  const auto second = finish(later);
  EXPECT_EQ(second.exit_code, 1) << second.errors;
  expect_complete(second);
  EXPECT_EQ(stopped.wait(), 0) << stopped.errors();
}

TEST_F(Delivery, AWorkerMayJoinLate) {
  // The first worker's calls hang, so that the run cannot be over before the second one comes.
  const auto simulator = start_simulator({R"({"latency_ms": 1500, "times": 5})"}, {});
  auto coordinator = start_sluice(live(simulator) + Flags{"--listen", any_port});
  const auto endpoint = endpoint_of(coordinator);
  auto first = start_named(endpoint, "first");
  ASSERT_TRUE(wait_for_starts(simulator, 5));
  auto late = start_named(endpoint, "late");
  const auto finished = finish(coordinator);
  EXPECT_EQ(finished.exit_code, 1) << finished.errors;
  expect_complete(finished);
  const auto report = parse_report(finished.output);
  EXPECT_GT(worker_named(report, "late")["units"], 0);
  EXPECT_EQ(worker_named(report, "first")["lost"], false);
  EXPECT_EQ(first.wait(), 0) << first.errors();
  EXPECT_EQ(late.wait(), 0) << late.errors();
}

TEST_F(Delivery, AWorkerMayLeaveInTheMiddleOfItsCalls) {
  const auto simulator = start_simulator({R"({"latency_ms": 600000, "times": 5})"}, {});
  auto coordinator = start_sluice(live(simulator) + Flags{"--listen", any_port});
  const auto endpoint = endpoint_of(coordinator);
  auto leaving = start_named(endpoint, "leaving");
  ASSERT_TRUE(wait_for_starts(simulator, 5));
  leaving.signal(SIGTERM);
  EXPECT_EQ(leaving.wait(), 0) << leaving.errors();
  ASSERT_TRUE(has_said(coordinator, "worker leaving left"));
  auto other = start_named(endpoint, "other");
  const auto finished = finish(coordinator);
  EXPECT_EQ(finished.exit_code, 1) << finished.errors;
  expect_complete(finished);
  // Its leases were free at once: nobody waited for the heartbeats that make a silent worker lost.
  EXPECT_EQ(parse_report(finished.output)["run"]["leases_lost"], 0);
  EXPECT_EQ(worker_named(parse_report(finished.output), "leaving")["lost"], false);
  EXPECT_EQ(other.wait(), 0) << other.errors();
}

}  // namespace
}  // namespace sluice

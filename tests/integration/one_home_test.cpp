// Several at once in one home: it works, or is refused in one sentence.

#include "tests/support/ledger_rows.hpp"
#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <csignal>
#include <vector>

#include <nlohmann/json.hpp>

namespace sluice::one_home_test {

using namespace support;
using nlohmann::json;

class OneHome : public Workbench {};

TEST_F(OneHome, FourRunsAtOnceEndAsEachWouldAlone) {
  const auto simulator = start_simulator({"--latency-ms", "5"});
  std::vector<Process> runs;
  for (int i = 0; i < 4; ++i) runs.push_back(start_sluice(live(simulator) + Flags{"--save-observations"}));
  for (auto& run : runs) {
    const auto finished = finish(run);
    EXPECT_EQ(finished.exit_code, 1) << finished.errors;
    EXPECT_EQ(comparable_part(finished.output), reference_report());
  }
  const json listed = json::parse(run_sluice({"runs", "list", "--format", "json"}).output, nullptr, false);
  EXPECT_GE(listed.size(), 4u);
  const auto checked = run_sluice({"doctor"});
  EXPECT_EQ(checked.exit_code, 0) << checked.output << checked.errors;
}

TEST_F(OneHome, APruneLeavesTheRunThatIsUnderWayAndItEndsWell) {
  const auto simulator = start_simulator();
  for (int i = 0; i < 3; ++i) ASSERT_EQ(run_sluice(live(simulator)).exit_code, 1);
  const auto stalling = start_simulator({R"({"latency_ms": 0, "times": 12})", R"({"fault": "hang"})"}, {});
  auto run = start_sluice(live(stalling) + Flags{"--refresh", "--drain-timeout", "0"});
  ASSERT_TRUE(eventually([&] { return ledger_rows(home()).size() == 12; })) << run.errors();
  const auto pruned = run_sluice({"runs", "prune", "--keep", "1"});
  EXPECT_EQ(pruned.exit_code, 0) << pruned.errors;
  const auto caches = run_sluice({"cache", "prune", "--older-than", "1h"});
  EXPECT_EQ(caches.exit_code, 2);
  EXPECT_EQ(caches.error_lines().size(), 1u) << caches.errors;
  EXPECT_EQ(ledger_rows(home()).size(), 12u);
  run.signal(SIGINT);
  const auto finished = finish(run);
  EXPECT_GE(parse_report(finished.output)["run"]["requests"], 12) << finished.errors;
}

TEST_F(OneHome, ASecondCoordinatorOnTheSameEndpointIsRefusedInOneSentence) {
  const auto simulator = start_simulator();
  auto first = start_sluice(live(simulator) + Flags{"--listen", "tcp://127.0.0.1:0"});
  const std::string endpoint = endpoint_of(first);
  const auto second = run_sluice(live(simulator) + Flags{"--listen", endpoint});
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_EQ(second.error_lines().size(), 1u) << second.errors;
  // The first never knew.
  auto worker = start_worker(endpoint);
  const auto finished = finish(first);
  EXPECT_EQ(comparable_part(finished.output), reference_report()) << finished.errors;
  finish(worker);
}

TEST_F(OneHome, TwoCoordinatorsWithWorkersOfTheirOwnEndAsEachWouldAlone) {
  const auto simulator = start_simulator({"--latency-ms", "5"});
  // A worker that came after the end of its run would wait for the next one.
  const Flags listening = live(simulator) + Flags{"--listen", "tcp://127.0.0.1:0", "--expect-workers", "2"};
  Process coordinators[] = {start_sluice(listening), start_sluice(listening + Flags{"--refresh"})};
  std::vector<Process> workers;
  for (auto& coordinator : coordinators) {
    const std::string endpoint = endpoint_of(coordinator);
    for (int i = 0; i < 2; ++i) workers.push_back(start_worker(endpoint));
  }
  for (auto& coordinator : coordinators) {
    const auto finished = finish(coordinator);
    EXPECT_EQ(finished.exit_code, 1) << finished.errors;
    EXPECT_EQ(comparable_part(finished.output), reference_report());
  }
  for (auto& worker : workers) EXPECT_EQ(finish(worker).exit_code, 0) << worker.errors();
  const auto checked = run_sluice({"doctor"});
  EXPECT_EQ(checked.exit_code, 0) << checked.output << checked.errors;
}

TEST_F(OneHome, ASecondWorkerOfOneNameIsRefusedInOneSentence) {
  const auto simulator = start_simulator();
  // The run is not over before the second one has been refused.
  auto coordinator =
      start_sluice(live(simulator) + Flags{"--listen", "tcp://127.0.0.1:0", "--expect-workers", "2"});
  const std::string endpoint = endpoint_of(coordinator);
  auto first = start_worker(endpoint, {"--name", "twin"});
  ASSERT_TRUE(eventually([&] { return first.errors().find("connected") != std::string::npos; }))
      << first.errors();
  const auto second = run_worker(endpoint, {"--name", "twin"});
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_EQ(second.error_lines().size(), 1u) << second.errors;
  auto other = start_worker(endpoint);
  const auto finished = finish(coordinator);
  EXPECT_EQ(comparable_part(finished.output), reference_report()) << finished.errors;
  finish(first);
  finish(other);
}

}  // namespace sluice::one_home_test

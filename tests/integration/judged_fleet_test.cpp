// A judged suite over four workers of which one is killed: the report of a single worker, votes within the
// shared limit, and nothing that a worker has stored is paid for again.

#include "tests/support/report_text.hpp"
#include "tests/support/wait.hpp"
#include "tests/support/workbench.hpp"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace sluice::judged_fleet_test {

using namespace support;

constexpr int cases = 1000;
constexpr int samples = 3;
constexpr int in_flight = 40;  ///< Of the provider, for all workers together.

class JudgedFleet : public Workbench {
 protected:
  JudgedFleet() {
    write_text(folder() / "suite.yaml", "suite: judged\ntests_file: cases.jsonl\n");
    std::string lines;
    for (int i = 0; i < cases; ++i) {
      const std::string number = std::to_string(10'000 + i);
      lines += R"({"id": "q)" + number + R"(", "input": {"prompt": "question )" + number +
               R"("}, "expected": {"type": "relevancy"}})" + "\n";
    }
    write_text(folder() / "cases.jsonl", lines);
    write_text(folder() / "sluice.toml", "[providers.openai]\nmax_in_flight = 40\nmodel = \"gpt-4o-mini\"\n");
  }

  /// Answers without a marker are judged by a hash of themselves, so that scores differ from case to case.
  SimulatorProcess start(const std::string& latency_ms = "3") {
    return start_simulator({R"({"vote": false, "text": "An answer of some length."})"},
                           {"--latency-ms", latency_ms});
  }
  static Flags run(const SimulatorProcess& simulator, const Flags& more = {}) {
    return Flags{"run",
                 "suite.yaml",
                 "--config",
                 "sluice.toml",
                 "--mode",
                 "live",
                 "--provider",
                 "openai",
                 "--judge",
                 "openai",
                 "--format",
                 "json",
                 "--base-url",
                 simulator.url() + "/v1",
                 "--max-concurrent",
                 "10"} +
           more;
  }

  /// The most calls that were under way at a time.
  static int most_under_way(const std::vector<SimulatorEvent>& events) {
    int now = 0;
    int most = 0;
    for (const SimulatorEvent& event : events) {
      now += event.kind == "start" ? 1 : -1;
      most = std::max(most, now);
    }
    return most;
  }

  static int starts(const std::vector<SimulatorEvent>& events, bool votes) {
    return static_cast<int>(std::ranges::count_if(events, [votes](const SimulatorEvent& event) {
      return event.kind == "start" && event.vote == votes;
    }));
  }
};

TEST_F(JudgedFleet, AKilledWorkerCostsNoMoreThanWhatItHeld) {
  std::string alone;
  {
    auto simulator = start();
    const auto finished = run_sluice(run(simulator, {"--home", "alone"}));
    ASSERT_NE(finished.exit_code, 2) << finished.errors;
    alone = comparable_part(finished.output);
    ASSERT_FALSE(alone.empty());
    const auto events = simulator.final_events();
    EXPECT_EQ(starts(events, true), samples * cases);
    EXPECT_EQ(starts(events, false), cases);
  }

  // Three quarters of 4,000 calls, 40 at a time, are still to come when the worker is killed: they take long
  // enough for a busy machine to see that the first quarter is done.
  auto simulator = start("40");
  auto coordinator = start_sluice(
      run(simulator, {"--listen", "tcp://127.0.0.1:0", "--expect-workers", "4", "--home", "fleet"}));
  const auto endpoint = endpoint_of(coordinator);
  std::vector<Process> workers;
  for (int i = 0; i < 4; ++i) {
    const std::string name = "w" + std::to_string(i);
    workers.push_back(start_worker(endpoint, {"--name", name, "--max-concurrent", "10", "--config",
                                              "sluice.toml", "--home", "home-" + name}));
  }
  ASSERT_TRUE(eventually([&] { return simulator.count("start") > static_cast<std::size_t>(cases); }));
  workers[0].signal(SIGKILL);
  EXPECT_EQ(workers[0].wait(), 128 + SIGKILL);
  // Its successor finds what it has stored.
  auto successor = start_worker(
      endpoint, {"--name", "w4", "--max-concurrent", "10", "--config", "sluice.toml", "--home", "home-w0"});
  const auto finished = finish(coordinator);
  ASSERT_NE(finished.exit_code, 2) << finished.errors;
  EXPECT_EQ(comparable_part(finished.output), alone);
  for (std::size_t i = 1; i < workers.size(); ++i) EXPECT_EQ(workers[i].wait(), 0) << workers[i].errors();
  // On a busy machine it may have come after the run's end, and wait for another one.
  successor.signal(SIGTERM);
  EXPECT_TRUE(successor.wait()) << successor.errors();

  const auto events = simulator.final_events();
  EXPECT_LE(most_under_way(events), in_flight);
  // Those of the units that the killed worker held, whose cache others cannot ask: a few times its ten calls,
  // as busy as the machine is.
  const int repeated_votes = starts(events, true) - samples * cases;
  const int repeated_answers = starts(events, false) - cases;
  EXPECT_LE(repeated_answers, cases / 10);
  EXPECT_LE(repeated_votes, samples * cases / 10);
}

TEST_F(JudgedFleet, ASecondRunCallsNobody) {
  auto simulator = start();
  ASSERT_NE(run_sluice(run(simulator, {"--workers", "2"})).exit_code, 2);
  const auto before = simulator.count("start");
  const auto again = run_sluice(run(simulator, {"--workers", "2"}));
  ASSERT_NE(again.exit_code, 2) << again.errors;
  EXPECT_EQ(parse_report(again.output)["run"]["requests"], 0);
  EXPECT_EQ(simulator.count("start"), before);
}

}  // namespace sluice::judged_fleet_test

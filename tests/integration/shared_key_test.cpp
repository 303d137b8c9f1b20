// Runs on one machine that use one key: they share its limits through the home.
#include "tests/integration/budget_workbench.hpp"

namespace sluice {
namespace {

using namespace support;

class SharedKeyRuns : public BudgetWorkbench {
 protected:
  Flags run(const std::string& log, const Flags& more = {}) {
    return Flags{"run",
                 (folder() / "suite.yaml").string(),
                 "--format",
                 "json",
                 "--no-cache",
                 "--max-concurrent",
                 "20",
                 "--call-log",
                 (folder() / log).string()} +
           more;
  }
  std::vector<std::int64_t> all_starts(const std::vector<std::string>& logs) const {
    std::vector<std::string> texts;
    for (const auto& log : logs) texts.push_back(read_text(folder() / log));
    return merged_starts(texts, "limited");
  }
};

TEST_F(SharedKeyRuns, TogetherKeepALimit) {
  constexpr RequestLimit limit{100, 10};
  constexpr std::size_t cases = 120;
  auto simulator = start_simulator({"--latency-ms", "50", "--rps", "100", "--burst", "15"});
  write_settings(simulator, limit_keys(limit));
  write_questions(cases);
  const std::vector<std::string> logs{"a.jsonl", "b.jsonl", "c.jsonl"};
  std::vector<Process> runs;
  for (const auto& log : logs) runs.push_back(start_sluice(run(log)));
  std::uint64_t others = 0;
  for (Process& one : runs) {
    const auto finished = finish(one);
    EXPECT_EQ(finished.exit_code, 0) << finished.errors;
    const auto report = parse_report(finished.output);
    ASSERT_TRUE(report.is_object()) << finished.errors;
    EXPECT_EQ(report["metrics"]["passed"], cases);
    others = std::max(others, report["run"]["budget"][0]["other_runs"].get<std::uint64_t>());
  }
  EXPECT_GE(others, 1u);
  const auto starts = all_starts(logs);
  ASSERT_EQ(starts.size(), cases * logs.size());
  expect_within(starts, limit);
  EXPECT_EQ(answered(simulator.final_events(), 429), 0u);
}

TEST_F(SharedKeyRuns, OneAfterTheOtherKeepALimit) {
  // What the first one took of the minute is gone for the second.
  constexpr RequestLimit limit{20, 20};
  auto simulator = start_simulator({"--rps", "20", "--burst", "25"});
  write_settings(simulator, limit_keys(limit));
  write_questions(30);
  for (const char* const log : {"a.jsonl", "b.jsonl"}) {
    const auto finished = run_sluice(run(log));
    EXPECT_EQ(finished.exit_code, 0) << finished.errors;
  }
  const auto starts = all_starts({"a.jsonl", "b.jsonl"});
  ASSERT_EQ(starts.size(), 60u);
  expect_within(starts, limit);
  EXPECT_EQ(answered(simulator.final_events(), 429), 0u);
}

TEST_F(SharedKeyRuns, ShareCallsInFlight) {
  constexpr std::size_t cases = 60;
  auto simulator = start_simulator({"--latency-ms", "30"});
  write_settings(simulator, "max_in_flight = 3\n");
  write_questions(cases);
  std::vector<Process> runs;
  for (const char* const log : {"a.jsonl", "b.jsonl"}) runs.push_back(start_sluice(run(log)));
  for (Process& one : runs) {
    const auto finished = finish(one);
    EXPECT_EQ(finished.exit_code, 0) << finished.errors;
  }
  int in_flight = 0;
  int most = 0;
  for (const auto& event : simulator.final_events()) {
    in_flight += event.kind == "start" ? 1 : event.kind == "answer" ? -1 : 0;
    most = std::max(most, in_flight);
  }
  EXPECT_LE(most, 3);
}

TEST_F(SharedKeyRuns, ARunGoesOnByItselfWhereNothingCanBeShared) {
  auto simulator = start_simulator();
  write_settings(simulator, "requests_per_minute = 6000\n");
  write_questions(5);
  write_text(home() / "keys", "a file where a folder should be");
  const auto finished = run_sluice(run("a.jsonl"));
  EXPECT_EQ(finished.exit_code, 0) << finished.errors;
  EXPECT_NE(finished.errors.find("the limits are not shared with other runs on this machine"),
            std::string::npos)
      << finished.errors;
}

}  // namespace
}  // namespace sluice

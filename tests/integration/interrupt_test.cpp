// Control-C: the run ends at once, says so, shows what it has, and what was paid for is kept.

#include "tests/support/ledger_rows.hpp"
#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <csignal>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using namespace support;

class Interrupt : public Workbench {
 protected:
  static constexpr std::size_t answered = 12;

  // Twelve cases are answered at once and the others never: what is there when the signal comes is known.
  SimulatorProcess start_stalling_simulator() {
    return start_simulator({R"({"latency_ms": 0, "times": 12})", R"({"fault": "hang"})"}, {});
  }
};

TEST_F(Interrupt, EndsAtOnceWithWhatThereIs) {
  const auto stalling = start_stalling_simulator();
  auto run = start_sluice(live(stalling));
  ASSERT_TRUE(eventually([&] { return ledger_rows(home()).size() == answered; })) << run.errors();
  run.signal(SIGINT);
  const auto finished = finish(run);
  EXPECT_LT(finished.duration, std::chrono::seconds(2));
  EXPECT_EQ(finished.exit_code, 2);
  ASSERT_EQ(finished.error_lines().size(), 1u) << finished.errors;
  EXPECT_NE(finished.error_lines()[0].find("interrupted by SIGINT"), std::string::npos) << finished.errors;
  const auto report = parse_report(finished.output);
  ASSERT_TRUE(report.is_object()) << finished.output.substr(0, 500);
  EXPECT_EQ(schema_findings(report), "");
  EXPECT_EQ(report["verdict"], "error");
  EXPECT_EQ(report["reason_code"], "interrupted");
  EXPECT_EQ(report["metrics"]["errors"], fixture_count() - answered);
  EXPECT_EQ(report["fixture_results"].size(), fixture_count());
}

TEST_F(Interrupt, LeavesACacheThatTheNextRunUses) {
  write_text(folder() / "sluice.toml",
             "[providers.openai]\ncache_identity = \"one provider on two ports\"\n");
  const auto stalling = start_stalling_simulator();
  auto run = start_sluice(live(stalling));
  ASSERT_TRUE(eventually([&] { return ledger_rows(home()).size() == answered; })) << run.errors();
  run.signal(SIGINT);
  EXPECT_EQ(finish(run).exit_code, 2);

  const auto simulator = start_simulator();
  const auto again = run_sluice(live(simulator));
  EXPECT_EQ(again.exit_code, 1) << again.errors;
  EXPECT_EQ(comparable_part(again.output), reference_report());
  const auto facts = parse_report(again.output)["run"];
  EXPECT_EQ(facts["cache_hits"], answered);
  EXPECT_EQ(facts["requests"], fixture_count() - answered);
}

TEST_F(Interrupt, EndsTheWorkersOfOtherProcessesToo) {
  const auto stalling = start_stalling_simulator();
  auto run = start_sluice(live(stalling) + Flags{"--listen", "tcp://127.0.0.1:0"});
  auto worker = start_worker(endpoint_of(run));
  ASSERT_TRUE(eventually([&] { return ledger_rows(home()).size() == answered; })) << worker.errors();
  run.signal(SIGINT);
  const auto finished = finish(run);
  EXPECT_LT(finished.duration, std::chrono::seconds(2));
  EXPECT_EQ(finished.exit_code, 2);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(worker.wait(), 0) << worker.errors();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
}

TEST_F(Interrupt, BeforeAnyWorkerCameIsStillARunThatEnds) {
  const auto simulator = start_simulator();
  auto run = start_sluice(live(simulator) + Flags{"--listen", "tcp://127.0.0.1:0"});
  ASSERT_NE(endpoint_of(run), "");
  run.signal(SIGTERM);
  const auto finished = finish(run);
  EXPECT_LT(finished.duration, std::chrono::seconds(2));
  EXPECT_EQ(finished.exit_code, 2);
  ASSERT_EQ(finished.error_lines().size(), 1u) << finished.errors;
  EXPECT_NE(finished.error_lines()[0].find("SIGTERM"), std::string::npos);
}

}  // namespace
}  // namespace sluice

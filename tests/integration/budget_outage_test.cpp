// A provider that is down for a while costs that while, not a case.

#include "tests/integration/budget_workbench.hpp"

#include <chrono>

namespace sluice {
namespace {

using namespace support;

class BudgetOutage : public BudgetWorkbench {
 protected:
  static constexpr std::size_t cases = 400;
  static constexpr int workers = 4;
  static constexpr int calls_each = 10;

  // Answers are too slow and calls too few for the run to be over before the outage begins.
  void expect_survived(const std::string& outage, const Flags& flags = {}) {
    auto simulator = start_simulator({"--latency-ms", "100", "--outage", outage});
    // On average three retries bridge 0.7 seconds: not an outage, if its calls spent attempts. They last
    // until the breaker's state arrives.
    write_settings(simulator, "max_in_flight = 40\n",
                   "rate_limit_initial_delay_ms = 200\nrate_limit_max_retries = 3\n");
    const auto begin = std::chrono::steady_clock::now();
    const auto run = run_fleet(write_questions(cases), workers, calls_each, flags);
    expect_all_passed(run, cases);
    const auto took = std::chrono::steady_clock::now() - begin;
    // One second without outage, two and a half with the longest, and the wait before the next probe.
    EXPECT_LT(took, longest_);
    events_ = simulator.final_events();
  }
  /// Requests that came during the outage, less those that can have been on their way when it began.
  std::size_t calls_beyond_those_in_flight(std::size_t failed) const {
    return failed - std::min<std::size_t>(failed, workers * calls_each);
  }

  std::chrono::seconds longest_{10};
  std::vector<SimulatorEvent> events_;
};

TEST_F(BudgetOutage, OfErrorsCostsNoCaseAndFewCalls) {
  expect_survived("0.4,2.9,503");
  const auto failed = answered(events_, 503);
  EXPECT_GE(failed, 5u);
  EXPECT_LE(calls_beyond_those_in_flight(failed), 30u) << "it should be probed, not stormed";
}

// A burst of 429 that names no delay ended 6 to 11 of 61 cases.
TEST_F(BudgetOutage, OfRefusalsCostsNoCaseAndFewCalls) {
  longest_ = std::chrono::seconds(25);
  expect_survived("0.4,9,429");
  const auto refused = answered(events_, 429);
  EXPECT_GE(refused, 5u);
  EXPECT_LE(calls_beyond_those_in_flight(refused), 100u);
}

TEST_F(BudgetOutage, OfRefusedConnectionsCostsNoCase) {
  expect_survived("0.4,1.3,refuse");
}

TEST_F(BudgetOutage, OfSilenceCostsNoCase) {
  expect_survived("0.4,2,hang", {"--request-timeout", "1"});
  const auto gone = static_cast<std::size_t>(std::ranges::count(events_, "gone", &SimulatorEvent::kind));
  EXPECT_GE(gone, 5u);
  EXPECT_LE(calls_beyond_those_in_flight(gone), 30u);
}

TEST_F(BudgetOutage, FromTheStartCostsNoCaseEither) {
  expect_survived("0,2.5,503");
}

TEST_F(BudgetOutage, ThatLastsTooLongEndsTheCasesWithTheirReason) {
  auto simulator = start_simulator({"--latency-ms", "100", "--outage", "0.4,600,503"});
  write_settings(
      simulator, "",
      "rate_limit_initial_delay_ms = 50\nrate_limit_max_retries = 2\noutage_timeout_seconds = 2\n");
  const auto run = run_fleet(write_questions(cases), 2, 10);
  EXPECT_EQ(run.finished.exit_code, 1) << run.finished.errors;
  ASSERT_TRUE(run.report.is_object()) << run.finished.errors;
  EXPECT_EQ(run.report["metrics"]["total_fixtures"], cases);
  EXPECT_GT(run.report["metrics"]["passed"], 0);
  EXPECT_GT(run.report["metrics"]["errors"], 0);
  for (const auto& result : run.report["fixture_results"]) {
    const bool is_error = result["status"] == "error";
    EXPECT_EQ(result["reason_code"], is_error ? Json("provider_failed") : Json()) << result["id"];
  }
}

}  // namespace
}  // namespace sluice

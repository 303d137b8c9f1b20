// One limit for a fleet: used to the full and never exceeded.

#include "tests/integration/budget_workbench.hpp"

namespace sluice {
namespace {

using namespace support;

class BudgetLimits : public BudgetWorkbench {
 protected:
  static constexpr RequestLimit limit{200, 20};
  static constexpr std::size_t cases = 300;

  /// The limit's server. It has 50 ms more of burst than it says: what a busy test machine may add to the
  /// network's variation that sluice reckons with. What workers start is measured without it.
  SimulatorProcess start_limited(const Flags& flags = {}) {
    return start_simulator(Flags{"--latency-ms", "50", "--rps", "200", "--burst", "30"} + flags);
  }

  void expect_used_and_never_exceeded(int workers, int max_concurrent) {
    auto simulator = start_limited();
    write_settings(simulator, limit_keys(limit));
    const auto run = run_fleet(write_questions(cases), workers, max_concurrent);
    expect_all_passed(run, cases);
    EXPECT_EQ(run.report["run"]["rate_limited"], 0);
    EXPECT_EQ(run.report["run"]["requests"], cases);
    const auto all = starts();
    ASSERT_EQ(all.size(), cases);
    expect_within(all, limit);
    // The last 200 take a second at the limit; the first are left out while workers still join.
    EXPECT_LT(seconds_between(all, cases - 201, cases - 1), 1.5);
    EXPECT_EQ(answered(simulator.final_events(), 429), 0u);
  }
};

TEST_F(BudgetLimits, OneWorkerUsesARequestLimitAndKeepsIt) {
  expect_used_and_never_exceeded(1, 40);
}

TEST_F(BudgetLimits, FourWorkersUseARequestLimitAndKeepIt) {
  expect_used_and_never_exceeded(4, 10);
}

TEST_F(BudgetLimits, SixteenWorkersUseARequestLimitAndKeepIt) {
  expect_used_and_never_exceeded(16, 4);
}

// A question and its answer come to some 20 tokens, of which sluice can only know a bound beforehand.
TEST_F(BudgetLimits, FourWorkersKeepATokenLimit) {
  constexpr double tokens_per_second = 2000;
  auto simulator = start_simulator({"--latency-ms", "20", "--tpm", std::to_string(tokens_per_second * 60),
                                    "--token-burst", std::to_string(tokens_per_second)});
  write_settings(simulator, "tokens_per_minute = 120000\nburst_seconds = 1\n");
  const auto run = run_fleet(write_questions(cases), 4, 20);
  expect_all_passed(run, cases);
  EXPECT_EQ(run.report["run"]["rate_limited"], 0);
  const double tokens = run.report["run"]["paid_input_tokens"].get<double>() +
                        run.report["run"]["paid_output_tokens"].get<double>();
  const auto all = starts();
  ASSERT_EQ(all.size(), cases);
  const double ideal = (tokens - tokens_per_second) / tokens_per_second;
  EXPECT_GT(ideal, 0.3) << "the limit should matter";
  EXPECT_LT(seconds_between(all, 0, cases - 1), 2 * ideal + 1);
  EXPECT_EQ(answered(simulator.final_events(), 429), 0u);
}

// Retries take permits like all other calls.
TEST_F(BudgetLimits, RetriesAreWithinTheLimitToo) {
  auto simulator = start_limited({"--error-rate", "0.3,500", "--max-faults", "2"});
  write_settings(simulator, limit_keys(limit), "rate_limit_initial_delay_ms = 5\n");
  const auto run = run_fleet(write_questions(cases), 4, 10);
  expect_all_passed(run, cases);
  const auto all = starts();
  EXPECT_GT(all.size(), cases + cases / 5);
  EXPECT_EQ(run.report["run"]["requests"], all.size());
  expect_within(all, limit);
}

TEST_F(BudgetLimits, OfAnotherServerAreFoundWithFewRefusals) {
  constexpr std::size_t many = 250;
  auto simulator =
      start_simulator({"--latency-ms", "50", "--rps", "100", "--burst", "10", "--no-retry-after"});
  write_settings(simulator, "");
  const auto run = run_fleet(write_questions(many), 4, 10);
  expect_all_passed(run, many);
  const auto refused = answered(simulator.final_events(), 429);
  // Most come while the limit is being found, so that a run of a thousand cases, of which this would be the
  // twentieth part, has hardly more.
  EXPECT_LE(refused, 50u);
  const auto all = starts();
  EXPECT_LT(seconds_between(all, 0, all.size() - 1), 2 * (many - 10) / 100.0);
}

TEST_F(BudgetLimits, AreLearntFromHeaders) {
  auto simulator =
      start_simulator({"--latency-ms", "50", "--rps", "100", "--burst", "110", "--limit-headers"});
  write_settings(simulator, "");
  const auto run = run_fleet(write_questions(cases), 2, 10);
  expect_all_passed(run, cases);
  const auto all = starts();
  // The first calls go out before the first header comes. What a bucket holds no header says: a second's
  // worth is taken for granted.
  expect_within({all.begin() + 30, all.end()}, {100, 100});
  EXPECT_LE(answered(simulator.final_events(), 429), 10u);
  EXPECT_NE(run.report["run"]["budget"].dump().find("6000"), std::string::npos) << run.report["run"];
}

TEST_F(BudgetLimits, RefuseACallThatCanNeverFit) {
  auto simulator = start_simulator();
  write_settings(simulator, "tokens_per_minute = 60\n");
  const auto run = run_fleet(write_questions(3), 1, 5);
  EXPECT_EQ(run.finished.exit_code, 1) << run.finished.errors;
  ASSERT_TRUE(run.report.is_object()) << run.finished.errors;
  EXPECT_EQ(run.report["metrics"]["errors"], 3);
  EXPECT_NE(run.report["run"]["errors"].dump().find("tokens_per_minute"), std::string::npos)
      << run.report["run"]["errors"];
  EXPECT_EQ(answered(simulator.final_events(), 200), 0u);
}

// The embeddings' provider asks for two seconds of silence; the model's goes on at its own limit.
TEST_F(BudgetLimits, APauseOfOneProviderHoldsUpNoOther) {
  auto simulator = start_limited();
  auto embedder = start_simulator({"--fail-first", "1,429,2"});
  write_settings(simulator, limit_keys(limit), "embedding_provider = \"embedder\"\nembedding_model = \"e\"\n",
                 provider_table("embedder", embedder));
  const auto run = run_fleet(
      write_questions(cases, R"({"type": "semantic_similarity_to", "text": "It may be cancelled."})"), 2,
      200);
  expect_all_passed(run, cases);
  const auto chat = starts();
  ASSERT_EQ(chat.size(), cases);
  expect_within(chat, limit);
  std::int64_t refused_us = 0;
  std::int64_t next_us = 0;
  for (const auto& event : embedder.final_events()) {
    if (event.status == 429) refused_us = event.at_us;
    if (event.kind == "start" && refused_us > 0 && next_us == 0) next_us = event.at_us;
  }
  ASSERT_GT(refused_us, 0);
  EXPECT_GE(next_us - refused_us, 2'000'000);
  // No call of the model waits for the embedder's pause: the log of the simulator has them all within it.
  std::size_t meanwhile = 0;
  for (const auto& event : simulator.final_events()) {
    if (event.kind == "start" && event.at_us > refused_us && event.at_us < next_us) ++meanwhile;
  }
  EXPECT_GT(meanwhile, cases / 2);
}

}  // namespace
}  // namespace sluice

// What a run may take: time, tokens, dollars, and a provider that says no for good.

#include "tests/integration/budget_workbench.hpp"

#include <map>

namespace sluice {
namespace {

using namespace support;

class BudgetSpend : public BudgetWorkbench {
 protected:
  static constexpr std::size_t cases = 200;

  void SetUp() override { suite_ = write_questions(cases); }

  FleetRun run(const Flags& flags) {
    FleetRun run{run_sluice(Flags{"run", suite_.string(), "--format", "json"} + flags), {}};
    run.report = parse_report(run.finished.output);
    return run;
  }

  /// Some cases have passed, all others ended for this reason, and the report says so.
  static void expect_cut_short(const FleetRun& run, const std::string& reason) {
    EXPECT_EQ(run.finished.exit_code, 1) << run.finished.errors;
    ASSERT_TRUE(run.report.is_object()) << run.finished.errors;
    EXPECT_EQ(schema_findings(run.report), "");
    EXPECT_TRUE(run.report["run"]["cut_short"].is_string()) << run.report["run"];
    std::map<std::string, std::size_t> outcomes;
    for (const auto& result : run.report["fixture_results"]) {
      ++outcomes[result["status"] == "error" ? result["reason_code"].get<std::string>()
                                             : result["status"].get<std::string>()];
    }
    EXPECT_EQ(outcomes["pass"] + outcomes[reason], cases) << Json(outcomes);
    EXPECT_GT(outcomes["pass"], 0u);
    EXPECT_GT(outcomes[reason], 0u);
  }
  static std::uint64_t paid_tokens(const Json& report) {
    return report["run"]["paid_input_tokens"].get<std::uint64_t>() +
           report["run"]["paid_output_tokens"].get<std::uint64_t>();
  }

  /// The run stops with one sentence after few calls, although none of them came from the same case.
  void expect_stopped_at_once(const std::vector<std::string>& rules, const std::string& kind,
                              const std::vector<std::string>& words) {
    auto simulator = start_simulator(rules, {"--latency-ms", "5"});
    auto settings = "\n[providers.limited]\nkind = \"" + kind + "\"\nbase_url = \"" + simulator.url() +
                    (kind == "openai" ? "/v1" : "") + "\"\napi_key_env = \"\"\nmodel = \"sim-1\"\n";
    write_text(folder() / "sluice.toml", "[eval]\nprovider = \"limited\"\nmode = \"live\"\n" + settings);
    const auto run = run_fleet(suite_, 2, 5);
    EXPECT_EQ(run.finished.exit_code, 2) << run.finished.errors;
    ASSERT_EQ(run.finished.error_lines().size(), 1u) << run.finished.errors;
    for (const auto& word : words) {
      EXPECT_NE(run.finished.errors.find(word), std::string::npos) << word << " in: " << run.finished.errors;
    }
    EXPECT_LE(starts().size(), 20u) << "of " << cases;
  }

 private:
  std::filesystem::path suite_;
};

TEST_F(BudgetSpend, ADeadlineEndsTheRunWithWhatItHas) {
  auto simulator = start_simulator({"--latency-ms", "200"});
  write_settings(simulator, "max_in_flight = 4\n");
  const auto cut = run({"--deadline", "1"});
  expect_cut_short(cut, "deadline_reached");
  EXPECT_LT(cut.finished.duration, std::chrono::seconds(5));
}

TEST_F(BudgetSpend, ADeadlineEndsARunWhoseProviderNeverAnswers) {
  auto simulator = start_simulator({"--latency-ms", "20", "--outage", "0.1,600,hang"});
  write_settings(simulator, "max_in_flight = 4\n");
  const auto cut = run({"--deadline", "1s"});
  expect_cut_short(cut, "deadline_reached");
  EXPECT_LT(cut.finished.duration, std::chrono::seconds(5));
}

TEST_F(BudgetSpend, ATokenBudgetIsNeverExceeded) {
  auto simulator = start_simulator();
  write_settings(simulator, "");
  const auto cut = run({"--max-tokens", "2000"});
  expect_cut_short(cut, "token_budget_spent");
  EXPECT_LE(paid_tokens(cut.report), 2000u);
  // A call could have come to 64 tokens of answer and some 40 of question.
  EXPECT_GT(paid_tokens(cut.report), 1700u) << "a budget is there to be used";
}

TEST_F(BudgetSpend, WhatACacheHoldsNeedsNoBudget) {
  auto simulator = start_simulator();
  write_settings(simulator, "");
  run({});
  const auto calls = simulator.count("start");
  const auto again = run({"--max-tokens", "1"});
  EXPECT_EQ(again.finished.exit_code, 0) << again.finished.errors;
  EXPECT_EQ(paid_tokens(again.report), 0u);
  EXPECT_EQ(simulator.count("start"), calls);
  const auto anew = run({"--max-tokens", "1", "--refresh"});
  EXPECT_EQ(anew.report["reason_code"], "token_budget_spent") << anew.finished.errors;
  EXPECT_EQ(simulator.count("start"), calls);
}

TEST_F(BudgetSpend, ACostBudgetIsNeverExceeded) {
  auto simulator = start_simulator();
  write_settings(simulator, "");
  write_text(
      folder() / "prices.toml",
      "version = \"1.0.0\"\nas_of = \"2026-01-01\"\n[[model]]\nprovider = \"openai\"\nmodel = \"sim-1\"\n"
      "input = 100.0\noutput = 100.0\n");
  const auto cut = run({"--max-cost", "0.2", "--prices", "prices.toml"});
  expect_cut_short(cut, "cost_budget_spent");
  EXPECT_LE(cut.report["run"]["paid_cost"].get<double>(), 0.2);
  EXPECT_GT(cut.report["run"]["paid_cost"].get<double>(), 0.17);
}

// Two of three repeats are enough to judge a case: the run was green.
TEST_F(BudgetSpend, ARunWhoseRepeatsDidNotGetTheirTurnDoesNotPass) {
  write_questions(1);
  const auto simulator = start_simulator({R"({"latency_ms": 0, "times": 2})", R"({"fault": "hang"})"}, {});
  write_settings(simulator, "");
  const auto cut = run({"--repeat", "3", "--deadline", "1s"});
  EXPECT_EQ(cut.finished.exit_code, 1) << cut.finished.errors;
  ASSERT_TRUE(cut.report.is_object()) << cut.finished.errors;
  EXPECT_EQ(cut.report["verdict"], "error");
  EXPECT_EQ(cut.report["reason_code"], "deadline_reached");
  EXPECT_EQ(cut.report["fixture_results"][0]["status"], "pass");
}

TEST_F(BudgetSpend, ACostBudgetNeedsAPrice) {
  auto simulator = start_simulator();
  write_settings(simulator, "");
  const auto refused = run({"--max-cost", "1"});
  EXPECT_EQ(refused.finished.exit_code, 2) << refused.finished.errors;
  ASSERT_EQ(refused.finished.error_lines().size(), 1u) << refused.finished.errors;
  EXPECT_NE(refused.finished.errors.find("sim-1"), std::string::npos) << refused.finished.errors;
  EXPECT_EQ(simulator.count("start"), 0u);
}

TEST_F(BudgetSpend, EmbeddingsCostWhatTheirOwnModelCosts) {
  auto simulator = start_simulator();
  write_settings(simulator, "", "embedding_provider = \"limited\"\nembedding_model = \"e\"\n");
  write_questions(20, R"({"type": "semantic_similarity_to", "text": "It may.", "min_score": 0})");
  const std::string model =
      "version = \"1\"\nas_of = \"2026-01-01\"\n[[model]]\nprovider = \"openai\"\nmodel = \"sim-1\"\n"
      "input = 100.0\noutput = 400.0\n";
  write_text(folder() / "prices.toml", model);
  const auto refused = run({"--max-cost", "1", "--prices", "prices.toml"});
  EXPECT_EQ(refused.finished.exit_code, 2);
  EXPECT_NE(refused.finished.errors.find("the price of the model \"e\""), std::string::npos)
      << refused.finished.errors;

  write_text(folder() / "prices.toml",
             model + "[[model]]\nprovider = \"openai\"\nmodel = \"e\"\ninput = 7.0\noutput = 0.0\n");
  const auto paid = run({"--max-cost", "10", "--prices", "prices.toml"});
  expect_all_passed(paid, 20);
  const auto tokens = [&](const std::string& of) {
    return paid.report["run"]["paid_" + of + "_tokens"].get<double>();
  };
  EXPECT_GT(tokens("embedding"), 0.0);
  EXPECT_NEAR(paid.report["run"]["paid_cost"].get<double>(),
              (100 * tokens("input") + 400 * tokens("output") + 7 * tokens("embedding")) / 1e6, 1e-9);
}

TEST_F(BudgetSpend, ASpentQuotaStopsTheRun) {
  expect_stopped_at_once(
      {R"({"status": 429, "body": "{\"error\":{\"message\":\"You exceeded your current quota.\",\"type\":\"insufficient_quota\",\"param\":null,\"code\":\"insufficient_quota\"}}"})"},
      "openai", {"quota", "billing"});
}

TEST_F(BudgetSpend, AQuotaOfTheDayStopsTheRunAlthoughSecondsAreNamed) {
  expect_stopped_at_once(
      {R"({"status": 429, "body": "{\"error\":{\"code\":429,\"message\":\"Quota exceeded.\",\"status\":\"RESOURCE_EXHAUSTED\",\"details\":[{\"@type\":\"type.googleapis.com/google.rpc.QuotaFailure\",\"violations\":[{\"quotaId\":\"GenerateRequestsPerDayPerProjectPerModel-FreeTier\"}]},{\"@type\":\"type.googleapis.com/google.rpc.RetryInfo\",\"retryDelay\":\"7s\"}]}}"})"},
      "gemini", {"uota"});
}

TEST_F(BudgetSpend, AnUnknownModelStopsTheRun) {
  expect_stopped_at_once({R"({"status": 404, "text": "The model does not exist."})"}, "openai",
                         {"404", "model"});
}

}  // namespace
}  // namespace sluice

// What a run would call, take and cost, before its first call.
#include "tests/support/workbench.hpp"

#include <memory>
#include <string>

#include <nlohmann/json.hpp>

namespace sluice::plan_test {

using namespace support;
using nlohmann::json;

class PlanCommand : public Workbench {
 protected:
  PlanCommand() {
    write_text(folder() / "suite.yaml",
               "suite: capitals\ntests:\n"
               "  - {id: france, input: {prompt: capital 1}, expected: {type: must_contain, text: a}}\n"
               "  - {id: spain, input: {prompt: capital 2}, expected: {type: must_contain, text: a}}\n"
               "  - {id: spain-2, input: {prompt: capital 2}, expected: {type: must_contain, text: b}}\n"
               "  - {id: peru, input: {prompt: capital 3}, expected: [{type: relevancy}]}\n");
    server_ = std::make_unique<SimulatorProcess>(start_simulator(
        {R"({"contains": "capital", "vote": true, "text": {"rationale": "Good.", "score": 1.0}})",
         R"({"contains": "capital", "vote": false, "text": "a"})"},
        {}));
    write_text(folder() / "sluice.toml",
               "[providers.sim]\nkind = \"openai\"\nbase_url = \"" + server_->url() +
                   "/v1\"\napi_key_env = \"OPENAI_API_KEY\"\ncache_identity = \"sim\"\nrequests_per_minute = "
                   "600\n");
  }
  static Flags model() { return {"--provider", "sim", "--model", "gpt-5-mini"}; }
  static Flags judged() {
    return model() + Flags{"--judge", "sim", "--judge-model", "gpt-5-mini", "--judge-samples", "3"};
  }
  json plan(const Flags& more) {
    const auto finished = run_sluice(Flags{"plan", "suite.yaml", "--format", "json"} + more);
    EXPECT_EQ(finished.exit_code, 0) << finished.errors;
    return json::parse(finished.output, nullptr, false);
  }
  Finished run(const Flags& more) {
    return run_sluice(Flags{"run", "suite.yaml", "--mode", "live", "--format", "json"} + judged() + more);
  }

  std::unique_ptr<SimulatorProcess> server_;
};

TEST_F(PlanCommand, CountsCallsAndBoundsWhatTheyTake) {
  const json before = plan(judged());
  EXPECT_EQ(before["cases"], 4);
  EXPECT_EQ(before["answers"], 3) << "two tests share a request";
  EXPECT_EQ(before["held"], 0);
  ASSERT_EQ(before["calls"].size(), 2u) << before;
  const json& answers = before["calls"][0];
  const json& votes = before["calls"][1];
  EXPECT_EQ(answers["for"], "answers");
  EXPECT_EQ(answers["calls"], 3);
  EXPECT_EQ(votes["for"], "votes");
  EXPECT_EQ(votes["calls"], 3);
  EXPECT_TRUE(votes["held"].is_null()) << "not looked for";
  EXPECT_EQ(before["times"][0]["limit"], "requests_per_minute");
  EXPECT_DOUBLE_EQ(before["times"][0]["seconds"], 0.6);
  EXPECT_EQ(server_->count("start"), 0u);

  const auto ran = run({});
  ASSERT_EQ(ran.exit_code, 1) << ran.errors;  // One test asks for a b.
  EXPECT_TRUE(eventually([&] { return server_->count("start") == 6; }));
  const json report = json::parse(ran.output);
  const json& took = report["run"];
  EXPECT_LE(took["paid_input_tokens"], answers["input_tokens_at_most"]);
  EXPECT_LE(took["paid_output_tokens"], answers["output_tokens_at_most"]);
  EXPECT_LE(took["paid_judge_input_tokens"], votes["input_tokens_at_most"]);
  EXPECT_GT(took["paid_judge_input_tokens"], 0);
  EXPECT_LE(report["metrics"]["estimated_cost"], before["cost_at_most"]);

  const json after = plan(judged());
  EXPECT_EQ(after["held"], 3);
  EXPECT_EQ(after["calls"][0]["calls"], 0);
  EXPECT_EQ(after["calls"][0]["cost_at_most"], 0.0);
  EXPECT_EQ(plan(judged() + Flags{"--refresh"})["calls"][0]["calls"], 3);
}

TEST_F(PlanCommand, SaysWhatACachedRunLacks) {
  EXPECT_NE(run_sluice(Flags{"plan", "suite.yaml", "--mode", "cached", "--judge", "fake"} + model())
                .output.find("3 answers are not in the caches, and would be errors (cache_miss)."),
            std::string::npos);
  ASSERT_EQ(run({}).exit_code, 1);
  EXPECT_NE(run_sluice(Flags{"plan", "suite.yaml", "--mode", "cached", "--judge", "fake"} + model())
                .output.find("the caches hold every answer; votes and embeddings were not looked for."),
            std::string::npos);
}

TEST_F(PlanCommand, ATableFitsATerminal) {
  const auto finished = run_sluice(Flags{"plan", "suite.yaml"} + judged());
  EXPECT_TRUE(finished.output.starts_with("capitals: 4 cases, 3 answers, 0 in the caches\n"))
      << finished.output;
  EXPECT_NE(finished.output.find("sim: at least 0.6 s by its requests_per_minute.\n"), std::string::npos)
      << finished.output;
  EXPECT_NE(finished.output.find("At most $"), std::string::npos) << finished.output;
  EXPECT_NE(finished.output.find("An upper bound: full answers"), std::string::npos) << finished.output;
}

TEST_F(PlanCommand, ARunAboveTheConfirmedCostIsRefusedWithoutATerminal) {
  const auto refused = run({"--confirm-above", "0.0001"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.errors.find("the run may cost up to $"), std::string::npos) << refused.errors;
  EXPECT_EQ(server_->count("start"), 0u);
  const auto wrong = run({"--confirm-above", "free"});
  EXPECT_EQ(wrong.exit_code, 2);
  const auto allowed = run({"--confirm-above", "100"});
  EXPECT_EQ(allowed.exit_code, 1) << allowed.errors;
  EXPECT_TRUE(eventually([&] { return server_->count("start") == 6; }));
  const auto bounded = run({"--confirm-above", "0.0001", "--max-cost", "0.0001", "--judge-refresh"});
  EXPECT_EQ(bounded.errors.find("may cost up to"), std::string::npos) << "the budget bounds it";
  const auto again = run({"--confirm-above", "0.50"});
  EXPECT_EQ(again.exit_code, 1) << again.errors;
}

TEST_F(PlanCommand, AModelWithoutAPriceIsSaid) {
  const auto planned =
      run_sluice({"plan", "suite.yaml", "--provider", "sim", "--model", "unheard-of", "--judge", "fake"});
  EXPECT_EQ(planned.exit_code, 0) << planned.errors;
  EXPECT_NE(planned.output.find("The cost is not known: the price table does not have sim:unheard-of"),
            std::string::npos)
      << planned.output;
  const auto refused = run_sluice({"run", "suite.yaml", "--mode", "live", "--provider", "sim", "--model",
                                   "unheard-of", "--judge", "fake", "--confirm-above", "100"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.errors.find("nobody knows what the run costs"), std::string::npos) << refused.errors;
}

}  // namespace sluice::plan_test

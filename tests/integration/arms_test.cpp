// Several ways of answering in one run: what is called, what is paid, what is compared and gated.

#include "tests/support/paths.hpp"
#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace sluice::arms_test {

using namespace support;
using nlohmann::json;

class ArmsOfARun : public Workbench {
 protected:
  ArmsOfARun() {
    write_text(folder() / "suite.yaml",
               "suite: capitals\n"
               "prompts:\n"
               "  - {id: short, prompt: 'Capital of {{country}}?'}\n"
               "  - {id: polite, prompt: 'Please: the capital of {{country}}?'}\n"
               "arms:\n"
               "  - {name: old, provider: first, prompt: short}\n"
               "  - {name: new, provider: second, model: m2}\n"
               "settings: {embedding_model: lexical-ngrams-v1}\n"
               "tests:\n"
               "  - {id: france, vars: {country: France, capital: Paris},\n"
               "     expected: {type: semantic_similarity_to, text: '{{capital}}'}}\n"
               "  - {id: peru, vars: {country: Peru, capital: Lima},\n"
               "     expected: {type: semantic_similarity_to, text: '{{capital}}'}}\n");
  }
  static std::vector<std::string> answers() {
    return {R"({"contains": "Please: the capital of Peru", "text": "Cusco"})",
            R"({"contains": "Peru", "text": "Lima"})", R"({"contains": "France", "text": "Paris"})"};
  }
  Flags run(const SimulatorProcess& simulator, const std::string& mode, const Flags& more = {}) {
    const std::string port = simulator.url().substr(simulator.url().rfind(':') + 1);
    write_text(folder() / "sluice.toml",
               "[providers.first]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:" + port +
                   "/v1\"\napi_key_env = \"\"\nmodel = \"m1\"\ncache_identity = \"first\"\n"
                   "[providers.second]\nkind = \"anthropic\"\nbase_url = \"http://127.0.0.1:" +
                   port + "\"\napi_key_env = \"\"\ncache_identity = \"second\"\n");
    return Flags{"run", "suite.yaml", "--config", "sluice.toml", "--mode", mode, "--format", "json"} + more;
  }
  static std::map<std::string, std::string> statuses(const json& report) {
    std::map<std::string, std::string> result;
    for (const json& one : report["fixture_results"]) result[one["id"]] = one["status"];
    return result;
  }
};

// It named flags that nobody had given, and was offered to be gone on with.
TEST_F(ArmsOfARun, AModelThatIsNotKnownIsNamedWithItsLineInTheSuite) {
  // No call of the arm is answered: one that was would make of the others failures of their own.
  std::string suite = read_text(folder() / "suite.yaml");
  suite.replace(suite.find("model: m2"), 9, "model: m2, prompt: polite");
  write_text(folder() / "suite.yaml", suite);
  auto simulator = start_simulator({R"({"contains": "Please", "status": 404, "text": "no such model"})",
                                    R"({"contains": "Capital", "text": "Paris"})"},
                                   {});
  const auto wrong = run_sluice(run(simulator, "live"));
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.errors.find("; the model is \"m2\" (suite.yaml:7, arm \"new\")"), std::string::npos)
      << wrong.errors;
  for (const char* flag : {"--model", "--base-url", "--resume"})
    EXPECT_EQ(wrong.errors.find(flag), std::string::npos) << wrong.errors;
  const auto listed = run_sluice({"runs", "list"});
  EXPECT_EQ(listed.output.find("--resume"), std::string::npos) << listed.output;
}

TEST_F(ArmsOfARun, EachTestIsAskedUnderEachArmAndReplayedFromTheCache) {
  auto simulator = start_simulator(answers(), {});
  const auto live = run_sluice(run(simulator, "live"));
  ASSERT_EQ(live.exit_code, 0) << live.errors;
  const json report = json::parse(live.output);
  EXPECT_EQ(report["run"]["requests"], 6);
  EXPECT_TRUE(report["model"].is_null());
  ASSERT_EQ(report["arms"].size(), 3u);
  EXPECT_EQ(report["arms"][0]["name"], "old");
  EXPECT_EQ(report["arms"][1]["name"], "new/short");
  EXPECT_EQ(report["arms"][2]["name"], "new/polite");
  EXPECT_EQ(report["arms"][2]["provider"], "anthropic");
  EXPECT_EQ(report["arms"][2]["means"]["semantic_similarity_to"], 0.5);
  EXPECT_EQ(report["arm_comparisons"].size(), 3u);
  EXPECT_EQ(report["run"]["arm_latencies"][0]["called"], 2);
  ASSERT_EQ(report["fixture_results"].size(), 6u);
  EXPECT_EQ(report["fixture_results"][0]["id"], "france@new/polite");

  const auto cached = run_sluice(run(simulator, "cached"));
  ASSERT_EQ(cached.exit_code, 0) << cached.errors;
  const json replayed = json::parse(cached.output);
  EXPECT_EQ(replayed["run"]["requests"], 0);
  EXPECT_EQ(replayed["arms"], report["arms"]);
  EXPECT_EQ(replayed["arm_comparisons"], report["arm_comparisons"]);
  EXPECT_EQ(replayed["fixture_results"], report["fixture_results"]);
  EXPECT_TRUE(replayed["run"]["arm_latencies"][0]["p50_ms"].is_null()) << "nothing was called";
}

TEST_F(ArmsOfARun, TheOtherArmsAreGatedAgainstOne) {
  auto simulator = start_simulator(answers(), {});
  const auto gated = run_sluice(run(simulator, "live", {"--baseline-arm", "old"}));
  EXPECT_EQ(gated.exit_code, 1) << gated.errors;
  const json report = json::parse(gated.output);
  EXPECT_EQ(report["verdict"], "regression");
  EXPECT_EQ(report["baseline_comparison"]["baseline"], "the arm old");
  EXPECT_EQ(report["baseline_comparison"]["regressed"], 1);
  const auto by_case = statuses(report);
  EXPECT_EQ(by_case.at("peru@new/polite"), "fail");
  EXPECT_EQ(by_case.at("peru@new/short"), "pass");
  EXPECT_EQ(by_case.at("peru@old"), "pass");
  EXPECT_EQ(report["arm_comparisons"].size(), 2u) << "those with the baseline's";

  const auto against_worse = run_sluice(run(simulator, "cached", {"--baseline-arm", "new/polite"}));
  EXPECT_EQ(against_worse.exit_code, 0) << against_worse.errors;
}

// 5 of 6 cases passed: the arms that answered all right hid the one that failed every second test.
TEST_F(ArmsOfARun, EachIsHeldToTheLeastPassRate) {
  write_text(folder() / "suite.yaml",
             "suite: capitals\n"
             "prompts:\n"
             "  - {id: short, prompt: 'Capital of {{country}}?'}\n"
             "  - {id: polite, prompt: 'Please: the capital of {{country}}?'}\n"
             "arms:\n"
             "  - {name: old, provider: first, prompt: short}\n"
             "  - {name: new, provider: second, model: m2}\n"
             "tests:\n"
             "  - {id: france, vars: {country: France}, expected: {type: must_contain, text: Paris}}\n"
             "  - {id: peru, vars: {country: Peru}, expected: {type: must_contain, text: Lima}}\n");
  auto simulator = start_simulator(answers(), {});
  const auto missed =
      run_sluice(run(simulator, "live", {"--min-pass-rate", "0.8", "--report", "json=missed.json"}));
  EXPECT_EQ(missed.exit_code, 1) << missed.errors;
  const json report = json::parse(missed.output);
  EXPECT_EQ(report["verdict"], "fail");
  EXPECT_EQ(report["arms"][0]["pass_rate"], 1.0);
  EXPECT_EQ(report["arms"][2]["pass_rate"], 0.5);
  ASSERT_EQ(report["pass_rate"]["groups"].size(), 3u);
  EXPECT_EQ(report["pass_rate"]["groups"][2],
            (json{{"arm", "new/polite"}, {"rate", 0.5}, {"min_pass_rate", 0.8}, {"missed", true}}));
  const auto compared = run_sluice({"compare", "missed.json", "missed.json"});
  EXPECT_EQ(compared.exit_code, 1) << compared.errors;
  EXPECT_NE(compared.output.find("pass rate 0.50 of the arm new/polite, below the 0.8"), std::string::npos)
      << compared.output;

  const auto reached = run_sluice(run(simulator, "cached", {"--min-pass-rate", "0.5"}));
  EXPECT_EQ(reached.exit_code, 0) << reached.errors;
}

TEST_F(ArmsOfARun, FlagsTakeThePlaceOfTheSuitesArms) {
  auto simulator = start_simulator(answers(), {});
  const auto live = run_sluice(run(simulator, "live", {"--arm", "x=first:m1", "--arm", "y=first:m3"}));
  ASSERT_EQ(live.exit_code, 0) << live.errors;
  const json report = json::parse(live.output);
  ASSERT_EQ(report["arms"].size(), 4u);
  EXPECT_EQ(report["arms"][3]["name"], "y/polite");
  EXPECT_EQ(report["arms"][3]["model"], "m3");
}

// Two arms of one model looked alike in the report.
TEST_F(ArmsOfARun, OfOneModelAreToldApartByWhatTheySet) {
  write_text(
      folder() / "suite.yaml",
      "suite: capitals\n"
      "arms:\n"
      "  - {name: cold, model: m, temperature: 0}\n"
      "  - {name: warm, model: m, temperature: 1, max_output_tokens: 50, seed: 3, params: {top_p: 0.9}}\n"
      "tests:\n"
      "  - {id: peru, input: {prompt: 'Capital of Peru?'}, expected: {type: must_contain, text: Lima}}\n");
  const auto shown = run_sluice({"run", "suite.yaml", "--mode", "mock", "--format", "table"});
  EXPECT_NE(shown.output.find("), temperature 0\n"), std::string::npos) << shown.output << shown.errors;
  EXPECT_NE(shown.output.find("), temperature 1, max_output_tokens 50, seed 3, top_p 0.9\n"),
            std::string::npos);
}

// A base URL that nobody followed sent keys and prompts to the provider's own servers.
TEST_F(ArmsOfARun, AFlagThatNoArmFollowsIsRefused) {
  auto simulator = start_simulator(answers(), {});
  for (const auto& [flags, word] :
       {std::pair(Flags{"--base-url", "http://127.0.0.1:1/v1"}, "[providers.first]"),
        std::pair(Flags{"--provider", "openai"}, "every arm of the run names another provider")}) {
    const auto refused = run_sluice(run(simulator, "live", flags));
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_NE(refused.errors.find(word), std::string::npos) << refused.errors;
  }
  EXPECT_EQ(simulator.final_events().size(), 0u);
}

TEST_F(ArmsOfARun, ABaseUrlIsThatOfTheProviderThatAllArmsAsk) {
  auto simulator = start_simulator(answers(), {});
  write_text(folder() / "one.yaml",
             "suite: one\nproviders: [openai:m1, openai:m2]\ntests:\n"
             "  - {id: peru, input: {prompt: 'Peru?'}, expected: {type: must_contain, text: Lima}}\n");
  const auto live = run_sluice({"run", "one.yaml", "--mode", "live", "--base-url", simulator.url() + "/v1"});
  EXPECT_EQ(live.exit_code, 0) << live.errors;
  const auto refused = run_sluice({"run", "one.yaml", "--mode", "live", "--model", "m3"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.errors.find("names its own model"), std::string::npos) << refused.errors;
}

TEST_F(ArmsOfARun, ABaselineOfARunWithArmsGatesTheNext) {
  auto simulator = start_simulator(answers(), {});
  ASSERT_EQ(run_sluice(run(simulator, "live", {"--export-baseline", "base.json"})).exit_code, 0);
  const auto gated = run_sluice(run(simulator, "cached", {"--baseline", "base.json", "--strict"}));
  EXPECT_EQ(gated.exit_code, 0) << gated.errors;
  const auto other =
      run_sluice(run(simulator, "live", {"--baseline", "base.json", "--strict", "--arm", "old=first:m1"}));
  EXPECT_EQ(other.exit_code, 2) << "no case is the same: " << other.output;
}

TEST_F(ArmsOfARun, AManifestIsMadeOfOneWayOfAnsweringAndGatesOne) {
  auto simulator = start_simulator();
  write_text(folder() / "fixtures" / "a.toml",
             read_text(shipped_fixtures() / "tls" / "deprecated_version.toml"));
  Flags fixtures = run(simulator, "live", {"--arm", "x=first:m1", "--arm", "y=first:m2"});
  fixtures[1] = "fixtures";
  ASSERT_NE(run_sluice(fixtures).exit_code, 2);
  const auto update = run_sluice({"update-baseline", "--fixtures", "fixtures", "--force"});
  EXPECT_EQ(update.exit_code, 2) << update.output;
  EXPECT_NE(update.errors.find("had several arms"), std::string::npos) << update.errors;
  write_text(folder() / "fixtures" / "manifest.toml", "[baseline]\nf1 = 0.5\n");
  const auto gated = run_sluice(fixtures + Flags{"--baseline", "fixtures/manifest.toml"});
  EXPECT_EQ(gated.exit_code, 2);
  EXPECT_NE(gated.errors.find("--baseline-arm"), std::string::npos) << gated.errors;
}

/// A folder of docs/examples, with its settings at the simulator's port.
class DocumentedExample : public Workbench {
 protected:
  Flags example(const std::string& name, const SimulatorProcess& simulator) {
    const std::filesystem::path from = source_path("docs/examples/" + name);
    std::string settings = read_text(from / "simulator.toml");
    const std::string port = simulator.url().substr(simulator.url().rfind(':') + 1);
    for (auto at = settings.find("8099"); at != std::string::npos; at = settings.find("8099", at)) {
      settings.replace(at, 4, port);
    }
    write_text(folder() / "simulator.toml", settings);
    return {"run",   (from / "suite.yaml").string(), "--config", "simulator.toml", "--format", "json",
            "--mode"};
  }
};

TEST_F(DocumentedExample, ArmsRunAsTheyStand) {
  const auto script = support::source_path("docs/examples/arms/answers.jsonl");
  auto simulator = start_simulator({"--script", script});
  const Flags run = example("arms", simulator);
  const auto live = run_sluice(run + Flags{"live"});
  EXPECT_EQ(live.exit_code, 1) << live.errors;
  const json report = json::parse(live.output);
  EXPECT_EQ(report["arms"].size(), 4u);
  EXPECT_EQ(report["metrics"]["failed"], 2) << "both models fail one prompt";
  const auto gated = run_sluice(run + Flags{"cached", "--baseline-arm", "mini/short"});
  EXPECT_EQ(json::parse(gated.output)["baseline_comparison"]["baseline"], "the arm mini/short")
      << gated.errors;
}

TEST_F(DocumentedExample, AnswersOfArmsAreShownAsAGrid) {
  auto simulator = start_simulator({"--script", support::source_path("docs/examples/arms/answers.jsonl")});
  ASSERT_EQ(run_sluice(example("arms", simulator) + Flags{"live"}).exit_code, 1);
  const Flags show{"show", "last"};
  const auto all = run_sluice(show + Flags{"--grid"});
  EXPECT_EQ(all.exit_code, 0) << all.errors;
  EXPECT_EQ(all.output,
            "╭────────┬────────────┬────────────────────┬─────────────┬─────────────────────╮\n"
            "│ Test   │ mini/short │ mini/polite        │ haiku/short │ haiku/polite        │\n"
            "├────────┼────────────┼────────────────────┼─────────────┼─────────────────────┤\n"
            "│ france │ ✓ Paris    │ ✓ Paris            │ ✓ Paris     │ ✓ Paris             │\n"
            "├────────┼────────────┼────────────────────┼─────────────┼─────────────────────┤\n"
            "│ kenya  │ ✓ Nairobi  │ ✓ Nairobi          │ ✓ Nairobi   │ ✓ Nairobi           │\n"
            "├────────┼────────────┼────────────────────┼─────────────┼─────────────────────┤\n"
            "│ peru   │ ✓ Lima     │ ✗ That is Cusco.   │ ✓ Lima      │ ✗ That is Cusco.    │\n"
            "│        │            │ └ must_contain: n… │             │ └ must_contain: no… │\n"
            "╰────────┴────────────┴────────────────────┴─────────────┴─────────────────────╯\n"
            "✓ pass, ✗ fail, └ why\n");
  const std::string reason = "│ └ must_contain: not found: \"Lima\" │";
  const auto test = run_sluice(show + Flags{"peru@mini/polite", "--grid"});
  EXPECT_NE(test.output.find(reason), std::string::npos) << test.output;
  EXPECT_EQ(test.output.find("haiku"), std::string::npos) << "the column of its arm alone: " << test.output;
  const auto some = run_sluice(show + Flags{"--filter", "peru@haiku*", "--grid"});
  EXPECT_NE(some.output.find(reason), std::string::npos) << some.output << some.errors;
  EXPECT_EQ(some.output.find("kenya"), std::string::npos) << some.output;
  const auto both = run_sluice(show + Flags{"--grid", "--json"});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_NE(both.errors.find("leave out one of them"), std::string::npos) << both.errors;
}

TEST_F(DocumentedExample, JudgesRunAsTheyStand) {
  auto simulator = start_simulator();
  const auto live = run_sluice(example("judges", simulator) + Flags{"live"});
  ASSERT_NE(live.exit_code, 2) << live.errors;
  const json report = json::parse(live.output);
  EXPECT_EQ(report["metrics"]["errors"], 0);
  EXPECT_GT(report["run"]["paid_judge_output_tokens"], 0);
}

}  // namespace sluice::arms_test

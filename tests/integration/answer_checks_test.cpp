// Metrics of an answer, from a suite to a report.
#include "tests/support/workbench.hpp"

#include <map>
#include <string>

#include <nlohmann/json.hpp>

namespace sluice::answer_checks_test {

using namespace support;
using nlohmann::json;

class AnswerChecks : public Workbench {
 protected:
  void write_settings(const SimulatorProcess& server, const std::string& kind = "openai") {
    write_text(folder() / "sluice.toml", "[providers.sim]\nkind = \"" + kind + "\"\nbase_url = \"" +
                                             server.url() + (kind == "openai" ? "/v1" : "") +
                                             "\"\napi_key_env = \"\"\n");
  }
  /// Each test's status by its id.
  std::map<std::string, std::string> statuses(const Flags& more, int exit_code) {
    const auto finished =
        run_sluice(Flags{"run", "suite.yaml", "--provider", "sim", "--format", "json"} + more);
    EXPECT_EQ(finished.exit_code, exit_code) << finished.errors << finished.output;
    std::map<std::string, std::string> by_id;
    const json report = json::parse(finished.output, nullptr, false);
    if (!report.is_object()) return by_id;
    for (const json& one : report["fixture_results"]) by_id[one["id"]] = one["status"];
    return by_id;
  }
};

TEST_F(AnswerChecks, PassAndFailAsTheAnswerSays) {
  const auto server =
      start_simulator({R"({"contains": "capital", "text": "It is PARIS: {\"city\": \"Paris\"}"})"}, {});
  write_settings(server);
  write_text(
      folder() / "suite.yaml",
      "suite: s\ntests:\n"
      "- {id: any, input: {prompt: capital}, expected: {type: contains-any, text: [Rome, PARIS]}}\n"
      "- {id: case, input: {prompt: capital}, expected: {type: icontains, text: paris}}\n"
      "- {id: not, input: {prompt: capital}, expected: {type: not-icontains, text: paris}}\n"
      "- {id: json, input: {prompt: capital}, expected: {type: contains-json, schema: {required: [city]}}}\n"
      "- {id: start, input: {prompt: capital}, expected: {type: starts-with, text: Paris}}\n"
      "- {id: group, input: {prompt: capital}, expected: {type: all_of, pass_mark: 0.5, of: [{type: "
      "icontains, "
      "text: paris}, {type: equals, text: x}]}}\n"
      "- {id: rouge, input: {prompt: capital}, expected: {type: rouge_n, text: it is paris, min_score: "
      "0.9}}\n");
  const std::map<std::string, std::string> expected{{"any", "pass"},  {"case", "pass"}, {"group", "pass"},
                                                    {"json", "pass"}, {"not", "fail"},  {"rouge", "fail"},
                                                    {"start", "fail"}};
  EXPECT_EQ(statuses({"--mode", "live", "--model", "m"}, 1), expected);
  const auto table =
      run_sluice({"run", "suite.yaml", "--provider", "sim", "--model", "m", "--mode", "cached"});
  for (const char* words :
       {"it must not pass icontains \"paris\"", "does not start with: \"Paris\"", "rouge_n"})
    EXPECT_NE(table.output.find(words), std::string::npos) << table.output;
}

TEST_F(AnswerChecks, CallsOfToolsAreComparedAlsoOutOfTheCache) {
  const json reply = json::parse(
      R"({"model":"m","choices":[{"message":{"content":null,"tool_calls":[{"id":"c","type":"function",)"
      R"("function":{"name":"look_up","arguments":"{\"order\": 17, \"all\": true}"}}]},)"
      R"("finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9,"completion_tokens":4}})");
  const auto server = start_simulator({json{{"contains", "order"}, {"body", reply.dump()}}.dump()}, {});
  write_settings(server);
  const std::string test =
      ", input: {prompt: order, tools: [{name: look_up}, {name: refund}]}, expected: {type: ";
  write_text(folder() / "suite.yaml",
             "suite: s\ntests:\n"
             "- {id: right" +
                 test +
                 "tool_call, name: look_up, arguments: {order: 17}}}\n"
                 "- {id: wrong" +
                 test +
                 "tool_call, name: look_up, arguments: {order: 18}}}\n"
                 "- {id: none" +
                 test + "not_tool_call, name: refund}}\n");
  const std::map<std::string, std::string> expected{{"none", "pass"}, {"right", "pass"}, {"wrong", "fail"}};
  EXPECT_EQ(statuses({"--mode", "live", "--model", "m"}, 1), expected);
  EXPECT_EQ(statuses({"--mode", "cached", "--model", "m"}, 1), expected);
  EXPECT_EQ(server.count("start"), 1u);
}

TEST_F(AnswerChecks, TimeAndCostAreKnownOrAnError) {
  const auto server = start_simulator({R"({"contains": "slow", "text": "yes", "latency_ms": 60})"}, {});
  write_settings(server);
  write_text(folder() / "suite.yaml",
             "suite: s\ntests:\n"
             "- {id: cheap, input: {prompt: slow 1}, expected: {type: cost, max_dollars: 1}}\n"
             "- {id: dear, input: {prompt: slow 2}, expected: {type: cost, max_dollars: 0}}\n"
             "- {id: late, input: {prompt: slow 3}, expected: {type: latency, max_ms: 1}}\n"
             "- {id: soon, input: {prompt: slow 4}, expected: {type: latency, max_ms: 100000}}\n"
             "- {id: such, input: {prompt: slow 4}, expected: {type: equals, text: 'yes'}}\n");
  const auto unpriced =
      run_sluice({"run", "suite.yaml", "--provider", "sim", "--mode", "live", "--model", "m"});
  EXPECT_EQ(unpriced.exit_code, 2);
  EXPECT_NE(unpriced.errors.find("the price table does not have the model \"m\" (sim)"), std::string::npos)
      << unpriced.errors;
  EXPECT_EQ(server.count("start"), 0u);
  const auto mock = statuses({"--mode", "mock", "--model", "m"}, 1);
  EXPECT_EQ(mock.at("cheap"), "pass") << "nobody is paid in a mock run, whatever the model";
  EXPECT_EQ(mock.at("soon"), "pass") << "nor waited for";
  const std::map<std::string, std::string> expected{
      {"cheap", "pass"}, {"dear", "fail"}, {"late", "fail"}, {"soon", "pass"}, {"such", "pass"}};
  EXPECT_EQ(statuses({"--mode", "live", "--model", "gpt-4o-mini"}, 1), expected);
  EXPECT_EQ(statuses({"--mode", "cached", "--model", "gpt-4o-mini"}, 1), expected)
      << "the cache holds what an answer used, and how long it took";
  EXPECT_EQ(server.count("start"), 4u);
  write_text(folder() / "suite.yaml",
             "suite: s\ntests:\n"
             "- {id: unasked, input: {prompt: slow 1}, expected: {type: latency, max_ms: 100000}}\n");
  EXPECT_EQ(statuses({"--mode", "cached", "--model", "gpt-4o-mini"}, 1).at("unasked"), "error")
      << "no test asked for its time when it was cached";
  EXPECT_EQ(statuses({"--mode", "live", "--refresh", "--model", "gpt-4o-mini"}, 0).at("unasked"), "pass");
  EXPECT_EQ(statuses({"--mode", "cached", "--model", "gpt-4o-mini"}, 0).at("unasked"), "pass");
}

TEST_F(AnswerChecks, EmbeddingsComeOneByOneWhereAModelKnowsNoBatch) {
  const auto server =
      start_simulator({R"({"contains": "capital", "text": "Paris it is"})"}, {"--no-batch-embeddings"});
  write_settings(server, "gemini");
  write_text(folder() / "suite.yaml",
             "suite: s\nsettings: {embedding_provider: sim, embedding_model: e}\ntests:\n"
             "- {id: t, input: {prompt: capital}, expected: {type: similar, text: [Paris, London, Rome], "
             "min_score: 0.1}}\n");
  EXPECT_EQ(statuses({"--mode", "live", "--model", "m"}, 0),
            (std::map<std::string, std::string>{{"t", "pass"}}));
}

}  // namespace sluice::answer_checks_test

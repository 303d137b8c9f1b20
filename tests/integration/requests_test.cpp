// Requests of every shape, as a server gets them.
#include "tests/support/workbench.hpp"

#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace sluice::requests_test {

using namespace support;
using nlohmann::json;

class Requests : public Workbench {
 protected:
  /// A simulator that keeps each request, and a provider "sim" of that kind whose table ends with these
  /// lines.
  SimulatorProcess serve(const std::string& kind, const std::string& table, const Flags& flags = {},
                         const std::vector<std::string>& rules = {}, const std::string& path = "/v1") {
    const Flags all = flags + Flags{"--requests", (folder() / "requests.jsonl").string()};
    auto server = rules.empty() ? start_simulator(all) : start_simulator(rules, all);
    write_text(folder() / "sluice.toml", "[providers.sim]\nkind = \"" + kind + "\"\nbase_url = \"" +
                                             server.url() + (kind == "openai" ? path : "") +
                                             "\"\nmodel = \"m\"\n" + table);
    return server;
  }
  void write_suite(const std::string& tests) {
    write_text(folder() / "suite.yaml",
               "suite: s\nsettings: {provider: sim, temperature: default}\ntests:\n" + tests);
  }
  Finished run(const Flags& more = {}) {
    return run_sluice(Flags{"run", "suite.yaml", "--mode", "live", "--format", "json"} + more);
  }
  /// What the server was sent, in order.
  std::vector<json> requests() const {
    std::vector<json> all;
    std::istringstream lines(read_text(folder() / "requests.jsonl"));
    for (std::string line; std::getline(lines, line);) all.push_back(json::parse(line));
    return all;
  }
};

constexpr const char* plain_test =
    "  - {id: t, input: {prompt: hello}, expected: {type: regex_match, pattern: \".\"}}\n";

TEST_F(Requests, QueryAndHeadersReachTheServerAndNoSecretReachesAFile) {
  set_variable("OPENAI_API_KEY", "");
  set_variable("AZURE_KEY", "azure-secret-0123456789");
  const auto server = serve("openai",
                            "api_key_env = \"\"\nquery = { api-version = \"2024-10-21\" }\n"
                            "headers = { api-key = { env = \"AZURE_KEY\" }, X-Title = \"evals\" }\n",
                            {"--require-header", "api-key=azure-secret-0123456789", "--require-query",
                             "api-version=2024-10-21", "--require-header", "x-title=evals"},
                            {}, "/openai/deployments/gpt");
  write_suite(plain_test);
  const auto finished = run({"--save-observations"});
  EXPECT_EQ(finished.exit_code, 0) << finished.errors << finished.output;
  const auto sent = requests();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0]["target"], "/openai/deployments/gpt/chat/completions?api-version=2024-10-21");
  EXPECT_EQ(finished.output.find("azure-secret"), std::string::npos);
  EXPECT_EQ(finished.errors.find("azure-secret"), std::string::npos);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(home())) {
    if (!entry.is_regular_file()) continue;
    EXPECT_EQ(read_text(entry.path()).find("azure-secret"), std::string::npos) << entry.path();
  }
  set_variable("AZURE_KEY", "");
  const auto missing = run({"--refresh"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_NE(missing.errors.find("the header api-key of provider sim needs AZURE_KEY, which is not set"),
            std::string::npos)
      << missing.errors;
}

TEST_F(Requests, ParametersOfAllPlacesAreMergedSentAndPartOfTheKey) {
  const auto server = serve("openai", "params = { top_p = 0.9, stop = [\"A\"], presence_penalty = 1 }\n");
  const auto suite = [&](const std::string& stop) {
    write_text(folder() / "suite.yaml",
               "suite: s\nsettings: {provider: sim, temperature: default, params: {stop: [" + stop +
                   "], presence_penalty: null}}\ntests:\n"
                   "  - {id: t, input: {prompt: hello, params: {temperature: 0.25, reasoning_effort: low}}, "
                   "expected: {type: regex_match, pattern: \".\"}}\n");
  };
  suite("B");
  EXPECT_EQ(run().exit_code, 0);
  ASSERT_EQ(requests().size(), 1u);
  json body = requests()[0]["body"];
  EXPECT_EQ(body["top_p"], 0.9);
  EXPECT_EQ(body["stop"], json::parse(R"(["B"])"));
  EXPECT_EQ(body["temperature"], 0.25);
  EXPECT_EQ(body["reasoning_effort"], "low");
  EXPECT_FALSE(body.contains("presence_penalty")) << body;
  EXPECT_EQ(run().exit_code, 0);
  EXPECT_EQ(requests().size(), 1u) << "the same request is in the cache";
  suite("C");
  EXPECT_EQ(run().exit_code, 0);
  EXPECT_EQ(requests().size(), 2u) << "another one is not";
}

constexpr const char* conversation = R"yaml(  - id: t
    input:
      messages:
        - {role: system, content: Be brief.}
        - {role: user, content: "Where is order 17?"}
        - {role: assistant, tool_calls: [{name: look_up, arguments: {id: 17}}]}
        - {role: tool, content: paid}
        - {role: user, content: "And now?"}
      tools: [{name: look_up, description: Finds orders., parameters: {type: object}}]
    expected: {type: regex_match, pattern: "."}
)yaml";

TEST_F(Requests, AConversationIsAskedInEachFormatAndShown) {
  for (const std::string kind : {"openai", "openai-responses", "anthropic", "gemini"}) {
    const auto server = serve(kind, "api_key_env = \"\"\n");
    write_suite(conversation);
    const auto finished = run({"--save-observations", "--perturb", "crlf", "--refresh"});
    EXPECT_EQ(finished.exit_code, 0) << kind << finished.errors << finished.output;
    const auto sent = requests();
    ASSERT_FALSE(sent.empty()) << kind;
    const json& body = sent[0]["body"];
    const json& messages = body[kind == "gemini"             ? "contents"
                                : kind == "openai-responses" ? "input"
                                                             : "messages"];
    EXPECT_EQ(messages.size(), kind == "openai" ? 5u : 4u) << body;
    EXPECT_NE(body.dump().find("Be brief."), std::string::npos) << body;
    EXPECT_EQ(body["tools"].size(), 1u) << body;
  }
}

TEST_F(Requests, ACallOfAToolIsAnAnswerThatTheCacheKeeps) {
  const json reply = json::parse(
      R"({"model":"m","choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c1",)"
      R"("type":"function","function":{"name":"look_up","arguments":"{\"id\": 17}"}}]},)"
      R"("finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9,"completion_tokens":4}})");
  const auto server = serve("openai", "api_key_env = \"\"\n", {},
                            {json{{"contains", "order"}, {"body", reply.dump()}}.dump()});
  write_suite(
      "  - id: t\n    input: {prompt: \"Where is my order?\", tools: [{name: look_up}]}\n"
      "    expected: {type: must_contain, text: '{\"name\":\"look_up\",\"arguments\":{\"id\":17}}'}\n");
  for (int twice = 0; twice < 2; ++twice) {
    const auto finished = run();
    EXPECT_EQ(finished.exit_code, 0) << finished.errors << finished.output;
    EXPECT_EQ(json::parse(finished.output)["fixture_results"][0]["answer_text"],
              R"({"tool_call":{"name":"look_up","arguments":{"id":17}}})");
  }
  EXPECT_EQ(requests().size(), 1u);
}

}  // namespace sluice::requests_test

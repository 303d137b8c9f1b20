// Checks of promptfoo in Python and JavaScript: imported, and run by the real programs.
#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <filesystem>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

namespace sluice::promptfoo_programs_test {

using namespace support;
using nlohmann::json;

class PromptfooPrograms : public Workbench {
 protected:
  SimulatorProcess start_server() {
    auto server = start_simulator({R"({"contains": "numbers", "text": "{\"n\": 3}"})",
                                   R"({"contains": "France", "text": "It is Paris."})",
                                   R"({"contains": "blanks", "text": "  Paris \n"})"},
                                  {});
    write_text(folder() / "sluice.toml", "[providers.sim]\nkind = \"openai\"\nbase_url = \"" + server.url() +
                                             "/v1\"\napi_key_env = \"\"\n");
    return server;
  }
  static bool has(const std::string& program) {
    return std::filesystem::exists("/usr/bin/" + program) || std::filesystem::exists("/bin/" + program);
  }
  static std::string test(const std::string& id, const std::string& topic, const std::string& assertion) {
    return "  - {description: " + id + ", vars: {topic: " + topic + ", least: 5}, assert: [" + assertion +
           "]}\n";
  }
  void import(const std::string& tests) {
    write_text(folder() / "promptfooconfig.yaml", "prompts: ['Say {{topic}}']\ntests:\n" + tests);
    imported_ = run_sluice({"import"});
    EXPECT_EQ(imported_.exit_code, 0) << imported_.output << imported_.errors;
  }
  Finished run(const Flags& flags = {"--mode", "live"}) {
    return run_sluice(Flags{"run", "suite.yaml", "--provider", "sim", "--model", "m", "--format", "json"} +
                      flags);
  }
  static std::map<std::string, std::string> statuses(const Finished& finished) {
    std::map<std::string, std::string> by_id;
    const json report = json::parse(finished.output, nullptr, false);
    if (!report.is_object()) return by_id;
    for (const json& one : report["fixture_results"]) by_id[one["id"]] = one["status"];
    return by_id;
  }
  void expect_shown(const std::string& id, const std::string& what) {
    const auto shown = run_sluice({"show", "last", id});
    EXPECT_NE(shown.output.find(what), std::string::npos) << what << "\n" << shown.output << shown.errors;
  }

  Finished imported_;
};

const std::map<std::string, std::string> expected{
    {"broken", "error"}, {"fails", "fail"},  {"file", "pass"},   {"graded", "fail"},
    {"negated", "pass"}, {"passes", "pass"}, {"throws", "fail"}, {"undecided", "error"}};

TEST_F(PromptfooPrograms, InPythonDecideAsTheyDoThere) {
  if (!has("python3")) GTEST_SKIP() << "there is no python3 here";
  const auto server = start_server();
  write_text(folder() / "checks" / "tone.py",
             "import helper\n"
             "async def get_assert(output, context):\n"
             "    print('no verdict')\n"
             "    return helper.holds(output, context['config']['word'])\n"
             "def graded(output, context):\n"
             "    return {'pass_': True, 'score': 0.25, 'reason': 'too short'}\n");
  write_text(folder() / "checks" / "helper.py", "def holds(text, word):\n    return word in text\n");
  import(test("passes", "France", "{type: python, value: 'len(output) >= context[\"vars\"][\"least\"]'}") +
         test("fails", "France", "{type: python, value: 'len(output) / 100', threshold: 0.5}") +
         test("throws", "France", "{type: python, value: 'json.loads(output)[\"n\"]'}") +
         test("undecided", "France", "{type: not-python, value: 'json.loads(output)[\"n\"]'}") +
         test("negated", "numbers", "{type: not-python, value: 'json.loads(output)[\"n\"] > 3'}") +
         test("broken", "France", "{type: python, value: 'len(output'}") +
         test("file", "France", "{type: python, value: 'file://checks/tone.py', config: {word: Paris}}") +
         test("graded", "France", "{type: python, value: 'file://checks/tone.py:graded', threshold: 0.5}"));
  EXPECT_NE(imported_.output.find("promptfoo_check.py: written; 8 checks run code of the configuration with "
                                  "it, by python3\n"),
            std::string::npos)
      << imported_.output;
  const auto live = run();
  EXPECT_EQ(statuses(live), expected) << live.errors << live.output;
  expect_shown("fails", "returned 0.12, and the threshold is 0.5");
  expect_shown("throws", "threw JSONDecodeError");
  expect_shown("graded", "score 0.25: the threshold is 0.5: too short");
  expect_shown("undecided", "JSONDecodeError");
  expect_shown("broken", "SyntaxError");
  EXPECT_EQ(statuses(run({"--mode", "cached"})), expected);
}

TEST_F(PromptfooPrograms, InJavaScriptDecideAsTheyDoThere) {
  if (!has("node")) GTEST_SKIP() << "there is no node here";
  const auto server = start_server();
  write_text(folder() / "checks" / "tone.js",
             "module.exports = async (output, context) => {\n"
             "  console.log('no verdict');\n"
             "  return output.includes(context.config.word);\n"
             "};\n");
  write_text(folder() / "checks" / "graded.mjs",
             "export const graded = () => ({ pass: false, score: 0.25, reason: '',\n"
             "  componentResults: [{ pass: false, score: 0, reason: 'too short' }] });\n");
  import(test("passes", "France",
              "{type: javascript, value: 'const n = output.length; n >= context.vars.least'}") +
         test("fails", "France", "{type: javascript, value: output.length / 100, threshold: 0.5}") +
         test("throws", "France", "{type: javascript, value: JSON.parse(output).n}") +
         test("undecided", "France", "{type: not-javascript, value: JSON.parse(output).n}") +
         test("negated", "numbers", "{type: not-javascript, value: 'JSON.parse(output).n > 3'}") +
         test("broken", "France", "{type: javascript, value: 'output.length >'}") +
         test("file", "France", "{type: javascript, value: 'file://checks/tone.js', config: {word: Paris}}") +
         test("graded", "France", "{type: javascript, value: 'file://checks/graded.mjs:graded'}"));
  const auto live = run();
  EXPECT_EQ(statuses(live), expected) << live.errors << live.output;
  expect_shown("fails", "returned 0.12, and the threshold is 0.5");
  expect_shown("throws", "threw SyntaxError");
  expect_shown("graded", "score 0.25: too short");
  expect_shown("undecided", "SyntaxError");
  expect_shown("broken", "SyntaxError");
  EXPECT_EQ(statuses(run({"--mode", "cached"})), expected);
}

TEST_F(PromptfooPrograms, JudgeWhatATransformMakes) {
  const auto server = start_server();
  std::string tests;
  std::map<std::string, std::string> wanted;
  const auto add = [&](const std::string& id, const std::string& status, const std::string& topic,
                       const std::string& assertion) {
    tests += test(id, topic, assertion);
    wanted[id] = status;
  };
  if (has("python3")) {
    write_text(folder() / "make.py",
               "import json\n"
               "async def get_transform(output, context):\n"
               "    return json.loads(output)['n'] + context['vars']['least']\n");
    add("python", "pass", "numbers", "{type: python, value: output == 8, transform: 'file://make.py'}");
    add("python-broken", "error", "France",
        "{type: python, value: output == 8, transform: 'file://make.py'}");
  }
  if (has("node")) {
    write_text(folder() / "make.js",
               "module.exports = { add: (output, { vars }) => JSON.parse(output).n + vars.least };\n");
    add("file", "pass", "numbers",
        "{type: javascript, value: output === 8, transform: 'file://make.js:add'}");
    add("code", "pass", "numbers",
        "{type: javascript, value: output === 3, transform: JSON.parse(output).n}");
    add("code-fails", "fail", "numbers",
        "{type: javascript, value: output > 3, transform: JSON.parse(output).n}");
    add("code-broken", "error", "France",
        "{type: javascript, value: 'true', transform: JSON.parse(output).n}");
    add("nothing", "error", "numbers", "{type: javascript, value: 'true', transform: JSON.parse(output).x}");
  }
  if (wanted.empty()) GTEST_SKIP() << "there is neither python3 nor node here";
  add("words", "pass", "blanks", "{type: regex, value: '^Paris$', transform: output.trim()}");
  if (has("python3"))
    add("python-trimmed", "pass", "blanks",
        "{type: python, value: 'output == \"Paris\"', transform: output.trim()}");
  if (has("node"))
    add("node-trimmed", "pass", "blanks",
        "{type: javascript, value: 'output === \"Paris\"', transform: output.trim()}");
  import(tests);
  const auto live = run();
  EXPECT_EQ(statuses(live), wanted) << live.errors << live.output;
}

// Long code that several tests have stands in a file.
TEST_F(PromptfooPrograms, RunCodeOfAFileAsThatOfTheSuite) {
  const auto server = start_server();
  const std::string more(40'000, 'x');
  std::string tests;
  std::map<std::string, std::string> wanted;
  const auto add = [&](const std::string& id, const std::string& assertion) {
    tests += test(id + "1", "France", assertion) + test(id + "2", "numbers", assertion);
    wanted[id + "1"] = "pass";
    wanted[id + "2"] = "fail";
  };
  if (has("python3")) add("python", "{type: python, value: '\"Paris\" in output # " + more + "'}");
  if (has("node")) add("node", "{type: javascript, value: 'output.endsWith(\"Paris.\") // " + more + "'}");
  if (wanted.empty()) GTEST_SKIP() << "there is neither python3 nor node here";
  import(tests);
  EXPECT_EQ(read_text(folder() / "suite.yaml").find(more), std::string::npos);
  EXPECT_NE(imported_.output.find("written, with code that many tests have in common"), std::string::npos)
      << imported_.output;
  const auto live = run();
  EXPECT_EQ(statuses(live), wanted) << live.errors << live.output;
}

// Another suite of the folder may run it.
TEST_F(PromptfooPrograms, ReplaceNoOtherProgramOfTheirName) {
  write_text(folder() / "promptfoo_check.py", "mine\n");
  write_text(folder() / "promptfooconfig.yaml",
             "prompts: [a]\ntests: [{assert: [{type: python, value: output}]}]\n");
  const auto refused = run_sluice({"import"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.errors.find("promptfoo_check.py is there already"), std::string::npos) << refused.errors;
  EXPECT_FALSE(std::filesystem::exists(folder() / "suite.yaml"));
  EXPECT_EQ(read_text(folder() / "promptfoo_check.py"), "mine\n");
  const auto forced = run_sluice({"import", "--force"});
  EXPECT_EQ(forced.exit_code, 0) << forced.errors;
  EXPECT_NE(read_text(folder() / "promptfoo_check.py"), "mine\n");
  EXPECT_NE(
      read_text(folder() / "suite.yaml").find("# Code of it runs in 1 check: python3 promptfoo_check.py\n"),
      std::string::npos);
}

}  // namespace sluice::promptfoo_programs_test

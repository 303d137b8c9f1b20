// The ways to a first suite: questions, or a configuration of promptfoo. What comes out is run as it is.

#include "tests/support/paths.hpp"
#include "tests/support/report_text.hpp"
#include "tests/support/terminal_process.hpp"
#include "tests/support/workbench.hpp"

#include <filesystem>
#include <sstream>
#include <string>

#include <nlohmann/json.hpp>

namespace sluice::first_suite_test {

using namespace support;
using nlohmann::json;

class FirstSuite : public Workbench {
 protected:
  void SetUp() override {
    for (const char* key : {"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"}) set_variable(key, "");
  }
  json mock_report(const std::string& suite) {
    const auto finished = run_sluice({"run", suite, "--mode", "mock", "--format", "json"});
    EXPECT_EQ(finished.exit_code, 1) << "answers are empty: " << finished.errors;
    return finished.output.empty() ? json() : json::parse(finished.output);
  }
};

TEST_F(FirstSuite, IsMadeWithoutQuestionsAndRuns) {
  const auto made = run_sluice({"init", "--yes"});
  ASSERT_EQ(made.exit_code, 0) << made.errors;
  EXPECT_NE(made.output.find("sluice run suite.yaml --mode mock"), std::string::npos) << made.output;
  const json report = mock_report("suite.yaml");
  EXPECT_EQ(report["fixture_results"].size(), 1u);
  EXPECT_TRUE(std::string(report["fixture_results"][0]["id"]).starts_with("france@"))
      << report["fixture_results"];
}

TEST_F(FirstSuite, AsksInWholeWordsOnATerminal) {
  const std::string file = (folder() / "asked.yaml").string();
  TerminalProcess init({program_path("sluice"), "init", file},
                       {{"TERM", "xterm"}, {"HOME", folder().string()}});
  const std::string question = init.read_to("one word.]");
  std::istringstream lines(question);
  std::size_t shown = 0;
  for (std::string line; std::getline(lines, line); ++shown) EXPECT_LE(line.size(), 81u) << line;
  EXPECT_EQ(shown, 2u) << question;
  init.type("Translate into {{language}}.\n\n");
  EXPECT_NE(init.read_to("EXAMPLE => TEXT"), "");
  init.type("French => oui\n");
  EXPECT_NE(init.read_to("wrote "), "");
  EXPECT_NE(read_text(file).find("language: French"), std::string::npos) << read_text(file);
}

TEST_F(FirstSuite, AsksAgainWhereAnAnswerCannotBeUsed) {
  const std::string file = (folder() / "asked.yaml").string();
  TerminalProcess init({program_path("sluice"), "init", file},
                       {{"TERM", "xterm"}, {"HOME", folder().string()}});
  init.read_to("one word.]");
  init.type("Translate it.\n");
  const std::string again = init.read_to("one word.]");
  EXPECT_NE(again.find("the prompt needs one {{name}}"), std::string::npos) << again;
  init.type("\ngpt\n");
  EXPECT_NE(init.read_to("the model must be PROVIDER:MODEL"), "");
  // It was written, and validate-fixtures refused the file.
  init.type("ollama:my/model:7b\n");
  EXPECT_NE(init.read_to("there is no provider \"ollama\""), "");
  init.type("\nOslo\n");
  EXPECT_NE(init.read_to("the example must be EXAMPLE => TEXT"), "");
  // These were written, too.
  init.type("Oslo => {{z}}\n");
  EXPECT_NE(init.read_to("the text uses {{z}}, and the prompt has {{country}} alone"), "");
  init.type("Oslo => {{country\n");
  EXPECT_NE(init.read_to("the text holds \"{{country\""), "");
  init.type("Oslo => {{ '{{' }}z}}\n");
  EXPECT_NE(init.read_to("wrote "), "");
  EXPECT_EQ(run_sluice({"validate-fixtures", file}).exit_code, 0);
}

TEST_F(FirstSuite, ProposesTheProviderWhoseKeyIsSet) {
  set_variable("ANTHROPIC_API_KEY", "key-for-tests");
  const auto made = run_sluice({"init", "evals.yaml", "--yes"});
  ASSERT_EQ(made.exit_code, 0) << made.errors;
  EXPECT_NE(read_text(folder() / "evals.yaml").find("anthropic:"), std::string::npos);
  EXPECT_EQ(read_text(folder() / "evals.yaml").find("key-for-tests"), std::string::npos);
}

TEST_F(FirstSuite, IsMadeOfAPromptfooConfigurationAndRuns) {
  write_text(folder() / "promptfooconfig.yaml", R"yaml(description: Translations
prompts:
  - "To {{language}}: {{input}}"
  - file://chat.json
providers:
  - openai:chat:gpt-4o-mini
  - id: ollama:chat:llama3:8b
    config: {temperature: 0, top_k: 3, region: eu}
defaultTest:
  assert:
    - {type: not-icontains, value: as an ai}
tests:
  - description: Says hello
    vars: {language: [French, German], input: Hello, comment: nobody reads it}
    assert:
      - {type: contains-any, value: [Bonjour, Hallo]}
      - {type: ruby, value: output.length < 20}
  - file://more.csv
)yaml");
  write_text(
      folder() / "chat.json",
      R"([{"role": "system", "content": "Translate."}, {"role": "user", "content": {{ input | dump }} }])");
  write_text(folder() / "more.csv", "language,input,__expected\nSpanish,\"Good, day\",icontains: buenos\n");
  const auto imported = run_sluice({"import", "promptfooconfig.yaml"});
  ASSERT_EQ(imported.exit_code, 0) << imported.errors << imported.output;
  EXPECT_EQ(
      imported.output,
      "promptfooconfig.yaml:8: \"region\" in config of a provider has no counterpart: left out\n"
      "promptfooconfig.yaml:13: the variable \"comment\" is used by no prompt and no check: left out\n"
      "promptfooconfig.yaml:17: the check ruby has no counterpart (`type: command` runs a program of "
      "yours): left out\n"
      "sluice.toml: written, with the servers that the suite names\n"
      "wrote suite.yaml: 3 tests, 2 prompts, 2 providers; 3 notes above on what was left out or changed\n"
      "worst first: 1 check was left out, 1 other line changes a request or a verdict\n"
      "try it: sluice run suite.yaml --mode mock\n");
  EXPECT_TRUE(
      read_text(folder() / "suite.yaml").starts_with("# Translations\n# Imported from promptfooconfig.yaml."))
      << read_text(folder() / "suite.yaml");
  EXPECT_NE(read_text(folder() / "suite.yaml").find("#   promptfooconfig.yaml:17: the check ruby"),
            std::string::npos)
      << "what is left out stands in the suite as well";
  EXPECT_EQ(read_text(folder() / "sluice.toml"),
            "[providers.ollama]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:11434/v1\"\napi_key_env = "
            "\"\"\nmax_tokens_field = \"max_tokens\"\n");
  const json report = mock_report("suite.yaml");
  ASSERT_EQ(report["fixture_results"].size(), 12u) << "three tests, two prompts, two models";
  EXPECT_EQ(report["fixture_results"][0]["id"], "says-hello-2@gpt-4o-mini/1");
  const auto again = run_sluice({"import", "promptfooconfig.yaml"});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_NE(again.errors.find("suite.yaml is there already"), std::string::npos) << again.errors;
}

// It was exit code 0, for a suite that no command loads.
TEST_F(FirstSuite, IsNotReadyWhileTheSettingsLackAServer) {
  write_text(folder() / "promptfooconfig.yaml",
             "prompts: [Hello]\nproviders: ['ollama:chat:llama3', 'groq:llama']\n"
             "tests: [{assert: [{type: contains, value: x}]}]\n");
  const std::string groq =
      "[providers.groq]\nkind = \"openai\"\nbase_url = \"https://api.groq.com/openai/v1\"\n";
  write_text(folder() / "sluice.toml", groq);
  const auto lacking = run_sluice({"import", "promptfooconfig.yaml"});
  EXPECT_EQ(lacking.exit_code, 2) << lacking.output;
  EXPECT_EQ(lacking.output,
            "sluice.toml: is left alone; it needs\n[providers.ollama]\nkind = \"openai\"\nbase_url = "
            "\"http://127.0.0.1:11434/v1\"\napi_key_env = \"\"\nmax_tokens_field = \"max_tokens\"\n");
  EXPECT_EQ(lacking.errors,
            "sluice: error: suite.yaml is written, and is not what it should be until sluice.toml has "
            "[providers.ollama]: add the lines above to it\n");
  write_text(folder() / "sluice.toml", groq + lacking.output.substr(lacking.output.find('[')));
  const auto ready = run_sluice({"import", "--force"});
  EXPECT_EQ(ready.exit_code, 0) << ready.errors;
  EXPECT_EQ(ready.output.find("is left alone"), std::string::npos) << ready.output;
  EXPECT_EQ(run_sluice({"validate-fixtures", "suite.yaml"}).exit_code, 0);
}

// An import of an earlier version sorted the keys of a body, and is no other server for that.
TEST_F(FirstSuite, IsReadyWithTheBodyOfAnEarlierImport) {
  write_text(folder() / "promptfooconfig.yaml",
             "prompts: [Hello]\nproviders: [{id: 'https://bot.example/ask', config: {body: {q: '{{prompt}}', "
             "n: 1}, transformResponse: json.a}}]\ntests: [{assert: [{type: contains, value: x}]}]\n");
  const auto imported = run_sluice({"import"});
  EXPECT_EQ(imported.exit_code, 0) << imported.errors;
  std::string settings = read_text(folder() / "sluice.toml");
  const std::string written = R"({ "q" = "{{prompt}}", "n" = 1 })";
  ASSERT_NE(settings.find(written), std::string::npos) << settings;
  EXPECT_EQ(run_sluice({"import", "--force"}).output.find("is left alone; it needs"), std::string::npos);
  settings.replace(settings.find(written), written.size(), R"({ "n" = 1, "q" = "{{prompt}}" })");
  write_text(folder() / "sluice.toml", settings);
  const auto again = run_sluice({"import", "--force"});
  EXPECT_EQ(again.exit_code, 0) << again.output << again.errors;
}

TEST_F(FirstSuite, NamesTheSettingsThatLieElsewhere) {
  std::filesystem::create_directory(folder() / "evals");
  write_text(folder() / "evals" / "promptfooconfig.yaml",
             "prompts: [Hello]\nproviders: ['ollama:chat:llama3']\n"
             "tests: [{assert: [{type: contains, value: x}]}]\n");
  const auto imported = run_sluice({"import", "evals/promptfooconfig.yaml"});
  EXPECT_EQ(imported.exit_code, 0) << imported.errors;
  EXPECT_NE(
      imported.output.find("try it: sluice run evals/suite.yaml --config evals/sluice.toml --mode mock\n"),
      std::string::npos)
      << imported.output;
}

TEST_F(FirstSuite, NeverRepeatsAKey) {
  write_text(folder() / "promptfooconfig.yaml",
             "prompts: [Hello]\nproviders: [{id: 'openai:gpt-5', config: {apiKey: sk-secret-in-a-file}}]\n"
             "tests: [{assert: [{type: contains, value: x}]}]\n");
  const auto imported = run_sluice({"import", "promptfooconfig.yaml"});
  ASSERT_EQ(imported.exit_code, 0) << imported.errors;
  EXPECT_EQ(imported.output.find("sk-secret"), std::string::npos) << imported.output;
  EXPECT_EQ(read_text(folder() / "suite.yaml").find("sk-secret"), std::string::npos);
}

TEST_F(FirstSuite, ReadsNoFileOutsideOfTheConfigurationsFolder) {
  std::filesystem::create_directory(folder() / "evals");
  write_text(folder() / "secret.txt", "nobody's business");
  write_text(folder() / "evals" / "promptfooconfig.yaml",
             "prompts: ['{{a}} {{b}}']\nproviders: [openai:gpt-5]\n"
             "tests: [{vars: {a: 'file://../secret.txt', b: 'file:///etc/hostname'}}]\n");
  const auto imported = run_sluice({"import", "evals/promptfooconfig.yaml"});
  EXPECT_EQ(imported.exit_code, 2) << "what a test asks is no empty text: " << imported.output;
  EXPECT_FALSE(std::filesystem::exists(folder() / "evals" / "suite.yaml"));
  EXPECT_NE(imported.errors.find("lies outside of the suite's folder"), std::string::npos) << imported.errors;
}

// What no answer can fail hid among the lines, at exit code 0.
TEST_F(FirstSuite, SaysFirstWhatMakesItWeakerAndFailsForItWhereItIsToldTo) {
  write_text(folder() / "promptfooconfig.yaml",
             "prompts: [Hello, 'exec:./gen.sh']\nproviders: [openai:gpt-4o, 'exec:./model.sh']\n"
             "tests: [{assert: [{type: webhook, value: x}]}, {assert: [{type: contains, value: x}]}]\n");
  const std::string lost =
      "1 test lost all its checks (tag unchecked), 1 prompt was left out, 1 provider was left out, 1 check "
      "was left out\n";
  const auto lenient = run_sluice({"import"});
  EXPECT_EQ(lenient.exit_code, 0) << lenient.errors;
  EXPECT_NE(lenient.output.find("worst first: " + lost), std::string::npos) << lenient.output;
  const auto strict = run_sluice({"import", "--force", "--strict"});
  EXPECT_EQ(strict.exit_code, 1) << strict.output;
  EXPECT_EQ(
      strict.errors,
      "sluice: error: suite.yaml is written, and with --strict it must ask and judge as the configuration: " +
          lost);
  const auto others = run_sluice({"list-fixtures", "suite.yaml", "--filter", "tag!=unchecked"});
  EXPECT_EQ(others.output.find("test-1"), std::string::npos) << others.output;
  EXPECT_NE(others.output.find("test-2"), std::string::npos) << others.output;
}

}  // namespace sluice::first_suite_test

// What a configuration sets of the environment.
#include "tests/unit/import/promptfoo_fixture.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include <gtest/gtest.h>

namespace sluice::foreign_environment_test {

const std::string one_test = "tests: [{assert: [{type: contains, value: x}]}]\n";

// Prompts and the key would have gone to OpenAI.
TEST_F(Promptfoo, AsksWhereTheEnvironmentOfTheConfigurationSays) {
  const std::string rest =
      "prompts: [a]\nproviders: ['openai:m', 'openai:responses:n', 'mistral:o']\n" + one_test;
  const ImportedSuite imported =
      import("env: {OPENAI_BASE_URL: 'https://gate.example/v1', MISTRAL_API_HOST: eu.example}\n" + rest);
  EXPECT_EQ(
      settings_of(imported.servers),
      "[providers.gate-example]\nkind = \"openai\"\nbase_url = \"https://gate.example/v1\"\n"
      "api_key_env = \"OPENAI_API_KEY\"\nmax_tokens_field = \"max_tokens\"\n\n"
      "[providers.gate-example-2]\nkind = \"openai-responses\"\nbase_url = \"https://gate.example/v1\"\n"
      "api_key_env = \"OPENAI_API_KEY\"\n\n"
      "[providers.eu-example]\nkind = \"openai\"\nbase_url = \"https://eu.example/v1\"\n"
      "api_key_env = \"MISTRAL_API_KEY\"\nmax_tokens_field = \"max_tokens\"\n");
  const std::string notes = notes_of(imported);
  EXPECT_TRUE(has(notes, "the server https://gate.example/v1 gets the key in OPENAI_API_KEY,")) << notes;
  EXPECT_TRUE(has(notes, "the server https://eu.example/v1 gets the key in MISTRAL_API_KEY,")) << notes;
  EXPECT_EQ(std::ranges::count(notes, '\n'), 2) << notes;
  EXPECT_TRUE(has(suite_yaml(imported.suite), "gate-example")) << suite_yaml(imported.suite);
}

TEST_F(Promptfoo, AsksWhereTheNextSays) {
  const auto urls = [&](const std::string& config) {
    std::string all;
    for (const ImportedServer& server : import(config + "prompts: [a]\n" + one_test).servers)
      all += server.base_url + "\n";
    return all;
  };
  EXPECT_EQ(
      urls("env: {OPENAI_BASE_URL: 'https://b.example/v1', OPENAI_API_BASE_URL: 'https://a.example/v1'}\n"
           "providers: ['openai:m', {id: 'openai:n', config: {apiBaseUrl: 'https://c.example/v1'}}, "
           "{id: 'openai:o', env: {OPENAI_API_HOST: d.example}}]\n"),
      "https://a.example/v1\nhttps://c.example/v1\nhttps://d.example/v1\n");
  EXPECT_EQ(urls("env: {AZURE_API_HOST: acme.openai.azure.com}\nproviders: ['azure:chat:fast']\n"),
            "https://acme.openai.azure.com/openai/deployments/fast\n");
}

// The model that embeds by default is one of OpenAI, too.
TEST_F(Promptfoo, JudgesAndEmbedsWhereTheEnvironmentOfTheConfigurationSays) {
  const std::string made = suite(R"yaml(prompts: [a]
env: {OPENAI_API_HOST: gate.example}
defaultTest: {options: {provider: 'openai:judge'}}
tests: [{assert: [{type: llm-rubric, value: kind}, {type: similar, value: x}]}]
)yaml");
  EXPECT_TRUE(has(made, "  judge: gate-example\n")) << made;
  EXPECT_TRUE(has(made, "  embedding_provider: gate-example\n  embedding_model: text-embedding-3-large\n"))
      << made;
}

TEST_F(Promptfoo, LeavesOutProvidersWhoseAddressCannotBeTakenOver) {
  const ImportedSuite imported = import(R"yaml(prompts: [a]
env: {ANTHROPIC_BASE_URL: 'https://gate.example', OPENAI_BASE_URL: 'gate.example:{{env.PORT}}'}
providers:
  - anthropic:messages:c
  - openai:m
tests: [{assert: [{type: contains, value: x}]}]
)yaml");
  EXPECT_EQ(
      notes_of(imported),
      "promptfooconfig.yaml:4: the provider \"anthropic:messages:c\" has its address in ANTHROPIC_BASE_URL "
      "of "
      "\"env\": write it as base_url of a provider in sluice.toml: left out\n"
      "promptfooconfig.yaml:5: the provider \"openai:m\" has its address in OPENAI_BASE_URL of \"env\" that "
      "sluice cannot take over: left out\n");
  EXPECT_EQ(lost(imported, Loss::provider), 2u);
}

TEST_F(Promptfoo, NamesWhatEachOtherVariableWouldDo) {
  const ImportedSuite imported = import(R"yaml(prompts: [a]
env:
  OPENAI_TEMPERATURE: 0.7
  MY_API_KEY: sk-hidden
  GOOGLE_API_HOST: gate.example
  OTHER: x
providers: [{id: 'openai:m', env: {OPENAI_MAX_TOKENS: 5}}]
tests: [{assert: [{type: contains, value: x}]}]
)yaml");
  EXPECT_EQ(
      notes_of(imported),
      R"(promptfooconfig.yaml:3: "OPENAI_TEMPERATURE" in "env" is the temperature where the config of a provider names none: left out; write it to the providers of the suite
promptfooconfig.yaml:4: "MY_API_KEY" in "env" is most likely a secret: left out; set it in the environment of the run
promptfooconfig.yaml:5: "GOOGLE_API_HOST" in "env" says where providers of the kind gemini are asked, of which there are none here: left out
promptfooconfig.yaml:6: "OTHER" in "env" has no counterpart: left out
promptfooconfig.yaml:7: "OPENAI_MAX_TOKENS" in "env" is the length of answers where the config of a provider names none: left out; write it to the providers of the suite
)");
  EXPECT_EQ(lost(imported, Loss::change), 3u) << "all but the secret and what nothing is asked by";
}

TEST_F(Promptfoo, FillsInTheVariablesOfTheEnvironment) {
  write("p.txt", "For {{ env['TEAM'] }}:\n{{q}} {{env.AREA or \"all\"}}\n");
  write("t.csv", "q,__expected\n{{env.TEAM}},contains: {{env.TEAM}}\n");
  const std::string made = suite(R"yaml(env: {TEAM: search}
prompts: ['{{env.TEAM}} {{q}}', "{{ env.MISSING | default('x') }} {{q}}", file://p.txt]
tests: file://t.csv
)yaml");
  EXPECT_TRUE(has(made, "prompt: \"search {{q}}\"\n")) << made;
  EXPECT_TRUE(has(made, "prompt: \"x {{q}}\"\n")) << made;
  EXPECT_TRUE(has(made, "prompt: |-\n      For search:\n      {{q}} all\n")) << made;
  EXPECT_TRUE(has(made, "      q: search\n    expected:\n      - type: must_contain\n        text: search\n"))
      << made;
  EXPECT_TRUE(
      has(made, "# 2: \"{{ env.MISSING | default('x') }}\" depends on the environment: \"x\" is taken\n"))
      << made;
  EXPECT_TRUE(
      has(made, "# 2: \"{{env.AREA or \\\"all\\\"}}\" depends on the environment: \"all\" is taken\n"))
      << made;
}

// It would stand in the suite.
TEST_F(Promptfoo, FillsInNoSecret) {
  const std::string made = suite(R"yaml(env: {BOT_TOKEN: hidden, PLAIN: sk-hidden}
prompts: ["{{env.BOT_TOKEN | default('x')}}", '{{env.PLAIN}}', b]
tests: [{assert: [{type: contains, value: x}]}]
)yaml");
  EXPECT_FALSE(has(made, "hidden")) << made;
  EXPECT_TRUE(has(made, "# 2: a prompt holds \"{{env.PLAIN}}\", a variable of the environment")) << made;
  EXPECT_FALSE(has(made, "prompt: x\n")) << made;
}

}  // namespace sluice::foreign_environment_test

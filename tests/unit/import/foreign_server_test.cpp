// The servers that a configuration asks, as a settings file has them.
#include "coordinator/import/foreign_server.hpp"

#include "common/settings/load_settings.hpp"
#include "tests/unit/import/promptfoo_fixture.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace sluice::foreign_server_test {

TEST_F(Promptfoo, NamesTheServersThatItNeeds) {
  const ImportedSuite imported = import(
      "prompts: [a]\nproviders: ['ollama:llama3', 'ollama:chat:phi4', {id: 'openai:m', config: {apiBaseUrl: "
      "'http://gpu.example:8000/v1/', apiKeyEnvar: GPU_KEY}}]\n"
      "tests: [{assert: [{type: contains, value: x}]}]\n");
  EXPECT_EQ(settings_of(imported.servers),
            "[providers.ollama]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:11434/v1\"\napi_key_env = "
            "\"\"\nmax_tokens_field = \"max_tokens\"\n\n"
            "[providers.gpu-example]\nkind = \"openai\"\nbase_url = \"http://gpu.example:8000/v1\"\n"
            "api_key_env = \"GPU_KEY\"\nmax_tokens_field = \"max_tokens\"\n");
}

// Others than OpenAI's were left out.
TEST_F(Promptfoo, AsksAnotherServerOfAnyProviderInOpenAisFormat) {
  const ImportedSuite imported = import(
      "prompts: [a]\nproviders: [{id: 'openrouter:a/b', config: {apiBaseUrl: 'https://gate.example/v1'}}, "
      "{id: 'groq:c', config: {apiBaseUrl: 'https://gate.example/v1', apiKeyEnvar: GATE_KEY}}]\n"
      "tests: [{assert: [{type: contains, value: x}]}]\n");
  EXPECT_EQ(settings_of(imported.servers),
            "[providers.gate-example]\nkind = \"openai\"\nbase_url = \"https://gate.example/v1\"\n"
            "api_key_env = \"OPENROUTER_API_KEY\"\nmax_tokens_field = \"max_tokens\"\n\n"
            "[providers.gate-example-2]\nkind = \"openai\"\nbase_url = \"https://gate.example/v1\"\n"
            "api_key_env = \"GATE_KEY\"\nmax_tokens_field = \"max_tokens\"\n");
  EXPECT_EQ(
      notes_of(imported),
      "promptfooconfig.yaml:2: the server https://gate.example/v1 gets the key in OPENROUTER_API_KEY, as "
      "promptfoo sends it there: if it has a key of its own, put that into another variable, and name it "
      "as api_key_env beside this base_url in sluice.toml\n");
  EXPECT_EQ(
      notes("prompts: [a]\nproviders: [{id: 'anthropic:messages:c', config: {apiBaseUrl: "
            "'https://gate.example'}}]\ntests: [{assert: [{type: contains, value: x}]}]\n"),
      "promptfooconfig.yaml:2: the provider \"anthropic:messages:c\" has an \"apiBaseUrl\": write it as "
      "base_url of a provider in sluice.toml: left out\n");
}

// A server whose key stands in the configuration got OpenAI's.
TEST_F(Promptfoo, AServerGetsNoOtherKeyThanPromptfooSendsThere) {
  const auto of = [&](const std::string& url, const std::string& config) {
    const ImportedSuite imported =
        import("prompts: [a]\nproviders: [{id: 'openai:m', config: {apiBaseUrl: '" + url + "'" + config +
               "}}]\ntests: [{assert: [{type: contains, value: x}]}]\n");
    EXPECT_EQ(imported.losses, Losses{}) << notes_of(imported);
    EXPECT_EQ(notes_of(imported).find("hunter2"), std::string::npos) << notes_of(imported);
    return std::pair(imported.servers.at(0).api_key_env, notes_of(imported));
  };
  const std::string far = "https://gate.example/v1";
  const std::string near = "http://localhost:8000/v1";
  const std::string start = "promptfooconfig.yaml:2: ";
  const std::pair<std::string, std::string> of_variable{"GATE_KEY", ""};
  const std::pair<std::string, std::string> without_key{"", ""};
  for (const std::string& url : {far, near}) {
    EXPECT_EQ(of(url, ", apiKey: '{{ env.GATE_KEY }}'"), of_variable);
    EXPECT_EQ(of(url, ", apiKey: '', apiKeyEnvar: GATE_KEY"), of_variable);
    EXPECT_EQ(of(url, ", apiKeyRequired: false"), without_key);
  }
  EXPECT_EQ(of(far, ", apiKeyRequired: true").first, "OPENAI_API_KEY");
  const auto told = [&](const std::string& key, const std::string& variable) {
    return std::pair(variable, start + "\"" + key + "\" of a provider is not taken over: put the key for " +
                                   far + " into the variable " + variable +
                                   ", which api_key_env in sluice.toml names\n");
  };
  EXPECT_EQ(of(far, ", apiKey: hunter2"), told("apiKey", "GATE_EXAMPLE_API_KEY"));
  EXPECT_EQ(of(far, ", apiKey: HUNTER2, apiKeyEnvar: GATE_KEY"), told("apiKey", "GATE_KEY"));
  EXPECT_EQ(of(far, ", apiKeyEnvar: hunter2"), told("apiKeyEnvar", "GATE_EXAMPLE_API_KEY"));
  EXPECT_EQ(of("http://10.0.0.5/v1", ", apiKey: hunter2").first, "HOST_10_0_0_5_API_KEY");
  EXPECT_EQ(of(near, ", apiKey: hunter2"),
            std::pair(std::string(),
                      start + "\"apiKey\" of a provider is not taken over, and the server " + near +
                          " is called without a key: if it asks for one, put that into a variable, and name "
                          "it as api_key_env beside this base_url in sluice.toml\n"));
  EXPECT_EQ(of(near, ""),
            std::pair(std::string(),
                      start + "the server " + near +
                          " is called without a key, where promptfoo sends the one in OPENAI_API_KEY: if it "
                          "asks for that, write api_key_env = \"OPENAI_API_KEY\" beside this base_url in "
                          "sluice.toml\n"));
}

// sluice sends max_completion_tokens, which such servers may not know; promptfoo sends it for reasoning
// models alone.
TEST_F(Promptfoo, NamesTheBoundOfAnAnswerAsItIsNamedThere) {
  const auto servers = [&](const std::string& providers) {
    return settings_of(import("prompts: [a]\nproviders: [" + providers +
                              "]\ntests: [{assert: [{type: contains, value: x}]}]\n")
                           .servers);
  };
  const std::string field = "max_tokens_field = \"max_tokens\"\n";
  EXPECT_NE(servers("'openrouter:meta/llama', 'openrouter:openai/gpt-5-mini'").find(field),
            std::string::npos);
  EXPECT_EQ(servers("'openrouter:meta/llama', 'openrouter:openai/gpt-5-mini'").find("openrouter-2"),
            std::string::npos)
      << "without a bound its name is no matter";
  EXPECT_EQ(servers("{id: 'openrouter:openai/o3', config: {max_completion_tokens: 9}}").find(field),
            std::string::npos);
  EXPECT_EQ(servers("'azure:chat:gpt-5-mini'").find(field), std::string::npos);
  EXPECT_EQ(
      servers("{id: 'openai:responses:m', config: {apiBaseUrl: 'https://gate.example/v1'}}").find(field),
      std::string::npos);
}

TEST_F(Promptfoo, ServersOfOneHostAreEachNamed) {
  const ImportedSuite imported = import(
      "prompts: [a]\nproviders: [{id: 'openai:m', config: {apiBaseUrl: 'http://localhost:8000/v1'}}, {id: "
      "'openai:n', config: {apiBaseUrl: 'http://localhost:9000/v1'}}, {id: 'openai:o', config: {apiBaseUrl: "
      "'http://localhost:8000/v1'}}]\n"
      "defaultTest: {options: {provider: {id: 'openai:judge', config: {apiBaseUrl: "
      "'http://localhost:7000/v1'}}}}\n"
      "tests: [{assert: [{type: llm-rubric, value: x}]}]\n");
  ASSERT_EQ(imported.servers.size(), 3u);
  EXPECT_EQ(imported.servers[0].base_url, "http://localhost:8000/v1");
  EXPECT_EQ(imported.servers[1].base_url, "http://localhost:9000/v1");
  EXPECT_EQ(imported.servers[1].name, "localhost-2");
  EXPECT_EQ(imported.servers[2].base_url, "http://localhost:7000/v1");
  const std::string text = suite_yaml(imported.suite);
  EXPECT_NE(text.find("judge: localhost-3\n"), std::string::npos) << text;
}

TEST_F(Promptfoo, ServersOfAFileKeepTheirUsersWhenTheyAreRenamed) {
  const std::string server =
      "{id: 'https://bot.example/NUMBER', label: NUMBER, config: {body: {q: '{{prompt}}'}, "
      "transformResponse: json.a}}";
  const auto numbered = [&](std::string text, const std::string& number) {
    for (auto at = text.find("NUMBER"); at != std::string::npos; at = text.find("NUMBER"))
      text.replace(at, 6, number);
    return text;
  };
  write("p.yaml", "- " + numbered(server, "two") + "\n- " + numbered(server, "three") + "\n");
  const ImportedSuite imported =
      import("prompts: [a]\nproviders: [" + numbered(server, "one") +
             ", file://p.yaml]\ntests: [{assert: [{type: contains, value: x}]}]\n");
  std::map<std::string, std::string> urls;
  for (const ImportedServer& one : imported.servers) urls[one.name] = one.base_url;
  EXPECT_EQ(urls["bot-example"], "https://bot.example/one");
  const std::string text = suite_yaml(imported.suite);
  for (const auto& [name, url] : urls) {
    const std::string label = url.substr(url.rfind('/') + 1);
    const auto at = text.find("name: " + label + "\n");
    ASSERT_NE(at, std::string::npos) << text;
    EXPECT_NE(text.find("provider: " + name + "\n", at), std::string::npos) << text;
  }
}

TEST_F(Promptfoo, NoSecretOfAServerIsWritten) {
  const ImportedSuite imported = import(R"yaml(prompts: [a]
providers:
  - {id: 'https://me:hunter2@bot.example/ask?key=AIzaSECRET', config: {body: {q: '{{prompt}}'}, transformResponse: json.a}}
  - {id: 'https://bot.example/ask?x_api_key=SECRET1&v=1', config: {headers: {x_api_key: SECRET2}, body: {q: '{{prompt}}'}, transformResponse: json.a}}
  - {id: 'https://c.example/ask', config: {body: {q: '{{prompt}}', api_key: SECRET3}, transformResponse: json.a}}
  - {id: 'azure:chat:x', config: {apiHost: 'me:SECRET4@acme.openai.azure.com'}}
  - {id: 'https://d.example/{{env.T}}/ask', config: {body: {q: '{{prompt}}'}, transformResponse: json.a}}
tests: [{assert: [{type: contains, value: x}]}]
)yaml");
  const std::string all = suite_yaml(imported.suite) + notes_of(imported) + settings_of(imported.servers);
  EXPECT_EQ(all.find("SECRET"), std::string::npos) << all;
  EXPECT_EQ(all.find("hunter2"), std::string::npos) << all;
  EXPECT_EQ(all.find("{{env"), all.find("{{env.T}}/ask\" has no URL")) << all;
  ASSERT_EQ(imported.servers.size(), 2u) << all;
}

TEST_F(Promptfoo, WhatTomlCannotHoldAsItStandsIsWrittenOtherwise) {
  const ImportedSuite imported = import(
      "prompts: [a]\nproviders: [{id: 'https://b.example/x?v=1', config: {queryParams: {v: 2}, body: {q: "
      "'{{prompt}}', big: 12345678901234567890, odd: \"a\\x7Fb\"}, transformResponse: json.a}}]\n"
      "tests: [{assert: [{type: contains, value: x}]}]\n");
  SettingSources sources;
  sources.file_name = "sluice.toml";
  sources.file_text = settings_of(imported.servers);
  sources.environment = [](std::string_view) -> std::optional<std::string> { return std::nullopt; };
  const auto settings = merge_settings(sources);
  ASSERT_TRUE(settings.has_value()) << sources.file_text.value_or("");
}

TEST_F(Promptfoo, ADeploymentOfAzureIsAServerOfItsOwn) {
  const ImportedSuite imported = import(R"yaml(prompts: [a]
providers:
  - {id: 'azure:chat:fast', config: {apiHost: acme.openai.azure.com, apiVersion: '2025-01-01', temperature: 0.5}}
  - id: azureopenai:chat:slow
  - id: azure:embedding:small
tests: [{assert: [{type: contains, value: x}]}]
)yaml");
  EXPECT_EQ(settings_of(imported.servers),
            R"toml([providers.azure-fast]
kind = "openai"
base_url = "https://acme.openai.azure.com/openai/deployments/fast"
api_key_env = ""
query = { "api-version" = "2025-01-01" }
headers = { "api-key" = { "env" = "AZURE_API_KEY" } }
max_tokens_field = "max_tokens"

[providers.azure-slow]
kind = "openai"
base_url = "https://NAME.openai.azure.com/openai/deployments/slow"
api_key_env = ""
query = { "api-version" = "2024-10-21" }
headers = { "api-key" = { "env" = "AZURE_API_KEY" } }
max_tokens_field = "max_tokens"
)toml");
  EXPECT_EQ(
      notes_of(imported),
      R"(promptfooconfig.yaml:4: the provider says no "apiHost" that sluice can take over: write yours for NAME in base_url of [providers.azure-slow] of sluice.toml
promptfooconfig.yaml:4: the provider says no "apiVersion": 2024-10-21 stands in query of [providers.azure-slow] of sluice.toml
promptfooconfig.yaml:5: the provider "azure:embedding:small" is asked for something else than a text: left out
)");
}

TEST_F(Promptfoo, AServerOfAnotherFormatIsAskedWithItsBody) {
  const ImportedSuite imported = import(R"yaml(prompts: [a]
providers:
  - id: https
    label: bot
    config:
      url: https://bots.example.com/ask?lang=en
      method: POST
      headers: {Content-Type: application/json, Authorization: 'Bearer {{env.BOT_KEY}}', X-Team: evals, X-Api-Key: abcdef}
      queryParams: {v: 2}
      body: {question: '{{ prompt }}', options: {heat: 0.5, tags: [a, true]}}
      transformResponse: json.choices[0]['text']
  - id: http://127.0.0.1:9/x
    config: {body: '{"input": {{ prompt | dump }}, "n": 1}', responseParser: json.out;}
  - {id: https, config: {url: 'https://a.example/x', body: {q: '{{topic}}'}, transformResponse: json.a}}
  - {id: https, config: {url: 'https://b.example/x', body: {q: '{{prompt}}'}, transformResponse: '(json) => json.a'}}
  - {id: https, config: {url: 'https://c.example/x', method: GET, transformResponse: json.a}}
  - {id: 'https://e.example/x?a=%20', config: {body: {q: '{{prompt}}'}, transformResponse: json.a}}
  - {id: https, config: {request: 'file://r.txt', url: 'https://d.example/x', transformResponse: json.a}}
tests: [{assert: [{type: contains, value: x}]}]
)yaml");
  EXPECT_EQ(settings_of(imported.servers),
            R"toml([providers.bots-example-com]
kind = "http"
base_url = "https://bots.example.com/ask"
api_key_env = ""
query = { "lang" = "en", "v" = "2" }
headers = { "Authorization" = { "env" = "BOT_KEY", "prefix" = "Bearer " }, "X-Team" = "evals" }
body = { "question" = "{{prompt}}", "options" = { "heat" = 0.5, "tags" = [ "a", true ] } }
answer = { "text" = "/choices/0/text" }

[providers.127-0-0-1]
kind = "http"
base_url = "http://127.0.0.1:9/x"
api_key_env = ""
body = { "input" = "{{prompt}}", "n" = 1 }
answer = { "text" = "/out" }
)toml");
  EXPECT_EQ(
      notes_of(imported),
      R"(promptfooconfig.yaml:8: "X-Api-Key" in headers of a provider cannot be said as it stands: add it to [providers.bots-example-com]; a secret as { env = "NAME" }
promptfooconfig.yaml:14: the provider "https" has a body that holds {{topic}}, while a request has the prompt alone: left out
promptfooconfig.yaml:15: the provider "https" does not say by a plain path, as json.output.text, where the answer stands: left out
promptfooconfig.yaml:16: the provider "https" does not ask by POST with a body: left out
promptfooconfig.yaml:17: the provider "https://e.example/x" has no URL that sluice can take over: left out
promptfooconfig.yaml:18: the provider "https" asks with a raw request: left out
)");
}

}  // namespace sluice::foreign_server_test

#include "worker/key_ring.hpp"

#include "common/settings/provider_presets.hpp"
#include "common/settings/request_body.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace sluice {
namespace key_ring_test {

class KeyRingTest : public ::testing::Test {
 protected:
  KeyRingTest() {
    provider.name = "openai";
    provider.kind = ProviderKind::openai;
    provider.base_url = "https://api.openai.com/v1";
    provider.api_key_env = "OPENAI_API_KEY";
  }

  Result<std::string> key(std::vector<ProviderConfig> own = {}) const {
    return ring(std::move(own)).key_for(provider);
  }

  KeyRing ring(std::vector<ProviderConfig> own = {}) const {
    SettingSources none;
    none.environment = [](std::string_view) { return std::nullopt; };
    Settings settings = *merge_settings(none);  // With the built-in providers.
    for (auto& table : own) {
      std::erase_if(settings.providers,
                    [&](const ProviderConfig& known) { return known.name == table.name; });
      settings.providers.push_back(std::move(table));
    }
    const auto environment = [this](std::string_view name) -> std::optional<std::string> {
      const auto found = variables.find(std::string(name));
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
    return KeyRing(environment, settings, coordinator);
  }

  void expect_withheld(const Result<std::string>& answer) const {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().reason, Reason::key_withheld);
    EXPECT_EQ(answer.error().message.find("sk-secret"), std::string::npos);
    EXPECT_NE(answer.error().message.find(provider.base_url), std::string::npos);
  }

  CoordinatorPlace coordinator = CoordinatorPlace::this_machine;
  ProviderSettings provider;
  std::map<std::string, std::string> variables{{"OPENAI_API_KEY", "sk-secret"}};
};

TEST_F(KeyRingTest, TheStandardHostGetsTheKey) {
  EXPECT_EQ(key(), "sk-secret");
}

// A fake coordinator had workers send any text to any address, and was shown what came back.
TEST_F(KeyRingTest, WithoutAKeyAsWellOnlyKnownHostsAreCalled) {
  provider.name = "vllm";
  provider.api_key_env.clear();
  provider.base_url = "http://169.254.169.254/latest/meta-data";
  for (const auto place : {CoordinatorPlace::this_machine, CoordinatorPlace::elsewhere}) {
    coordinator = place;
    expect_withheld(key());
  }
  coordinator = CoordinatorPlace::this_process;
  EXPECT_EQ(key(), "") << "its settings are the user's own";
  coordinator = CoordinatorPlace::elsewhere;
  provider.base_url = "https://api.openai.com/v1";
  EXPECT_EQ(key(), "");
}

TEST_F(KeyRingTest, ACoordinatorElsewhereReachesNothingOnThisMachinesLoopback) {
  provider.base_url = "http://127.0.0.1:8080/v1";
  coordinator = CoordinatorPlace::elsewhere;
  expect_withheld(key());
  ProviderConfig own;
  own.name = "openai";
  own.kind.value = ProviderKind::openai;
  own.api_key_env.value = "OPENAI_API_KEY";
  own.base_url = {"http://127.0.0.1:8080/v1", Origin::file, "sluice.toml:2"};
  EXPECT_EQ(key({own}), "sk-secret");
}

TEST_F(KeyRingTest, LoopbackGetsTheKey) {
  for (const auto* url : {"http://127.0.0.1:8080/v1", "http://localhost:1234/v1", "http://[::1]:9/v1"}) {
    provider.base_url = url;
    EXPECT_EQ(key(), "sk-secret") << url;
  }
}

TEST_F(KeyRingTest, WhatTheCoordinatorNamesIsNotEnough) {
  for (const auto* url :
       {"https://evil.example/v1", "https://api.openai.com.evil.example/v1", "http://api.openai.com/v1",
        "https://api.openai.com:8443/v1", "https://127.0.0.1.evil.example",
        "https://api.openai.com@evil.example/v1", "not a url", ""}) {
    provider.base_url = url;
    expect_withheld(key());
  }
}

TEST_F(KeyRingTest, AnotherKindsStandardHostIsNotTrustedWithThisKey) {
  provider.base_url = "https://api.anthropic.com";
  expect_withheld(key());
}

TEST_F(KeyRingTest, ARunOfOneMachineIsToldToNameTheHostItself) {
  provider.base_url = "https://proxy.example/v1";
  EXPECT_EQ(
      key().error().message,
      "the key in OPENAI_API_KEY is not sent to https://proxy.example/v1, which this worker's own settings "
      "do not name; add its host to key_hosts under [providers.openai] in the worker's sluice.toml");
  coordinator = CoordinatorPlace::this_process;
  EXPECT_EQ(
      key().error().message,
      "the key in OPENAI_API_KEY is not sent to https://proxy.example/v1, which the suite alone names; add "
      "its host to key_hosts under [providers.openai] in sluice.toml, or say --base-url "
      "https://proxy.example/v1");
}

TEST_F(KeyRingTest, HostsOfTheWorkersOwnSettingsGetTheKey) {
  provider.base_url = "https://proxy.example/v1";
  ProviderConfig own;
  own.name = "openai";
  own.api_key_env.value = "OPENAI_API_KEY";
  own.key_hosts.value = {"proxy.example"};
  own.key_hosts.origin = Origin::file;
  EXPECT_EQ(key({own}), "sk-secret");
  own.key_hosts.value = {"other.example"};
  expect_withheld(key({own}));
  own.name = "another";
  own.key_hosts.value = {"proxy.example"};
  expect_withheld(key({own}));
}

TEST_F(KeyRingTest, TheCoordinatorDoesNotChooseTheVariable) {
  variables["DATABASE_PASSWORD"] = "sk-secret";
  provider.api_key_env = "DATABASE_PASSWORD";
  provider.base_url = "http://127.0.0.1:9999/v1";
  const auto answer = key();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().reason, Reason::key_withheld);
  ProviderConfig own;
  own.name = "mine";
  own.api_key_env.value = "DATABASE_PASSWORD";
  EXPECT_EQ(key({own}), "sk-secret");
  own.kind.value = ProviderKind::gemini;
  EXPECT_FALSE(key({own})) << "it is another kind's";
}

TEST_F(KeyRingTest, AMissingKeyIsNamedWithItsVariable) {
  for (const char* const value : {static_cast<const char*>(nullptr), "", " \n"}) {
    variables.clear();
    if (value != nullptr) variables["OPENAI_API_KEY"] = value;
    const auto answer = key();
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().reason, Reason::key_missing);
    EXPECT_NE(answer.error().message.find("OPENAI_API_KEY"), std::string::npos);
  }
}

TEST_F(KeyRingTest, AMissingKeyOfTheEmbedderSaysWhoNeedsItAndWhatNeedsNone) {
  RunSettings run;
  run.mode = Mode::live;
  run.providers = {provider, provider};
  run.providers[0].name = "anthropic";
  run.providers[0].api_key_env = "";
  run.embedding = {"openai", "text-embedding-3-small"};
  variables.clear();
  std::vector<Error> problems;
  EXPECT_EQ(ring().credentials_of(run, problems).size(), 1u);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].reason, Reason::key_missing);
  for (const char* words : {"semantic_similarity_to", "embeddings", "provider openai", "OPENAI_API_KEY",
                            "embedding_model: lexical-ngrams-v1", "--embedding-model"}) {
    EXPECT_NE(problems[0].message.find(words), std::string::npos) << words << "\n" << problems[0].message;
  }
  // One that also answers needs its key whoever embeds.
  run.embedding.provider = "anthropic";
  run.providers = {provider};
  run.providers[0].name = "anthropic";
  problems.clear();
  ring().credentials_of(run, problems);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].message.find("lexical"), std::string::npos) << problems[0].message;
}

TEST_F(KeyRingTest, AProviderWithoutAVariableIsCalledWithoutAKey) {
  provider.api_key_env.clear();
  provider.base_url = "https://anywhere.example/v1";
  ProviderConfig own;
  own.name = "openai";
  own.base_url = {provider.base_url, Origin::file, "sluice.toml:2"};
  EXPECT_EQ(key({own}), "");
}

TEST_F(KeyRingTest, AHeadersSecretIsGivenWhereTheWorkersOwnSettingsNameItAlone) {
  provider.headers = {{"api-key", "Key ", "AZURE_KEY"}, {"X-Title", "evals", ""}};
  variables["AZURE_KEY"] = " azure-secret-1\n";
  const auto unnamed = ring().credentials_for(provider);
  ASSERT_FALSE(unnamed);
  EXPECT_EQ(unnamed.error().reason, Reason::key_withheld);
  EXPECT_NE(unnamed.error().message.find("api-key = { env = \"AZURE_KEY\" }"), std::string::npos)
      << unnamed.error().message;
  ProviderConfig own = *preset_provider("openai");
  own.headers.value = provider.headers;
  const auto given = ring({own}).credentials_for(provider);
  ASSERT_TRUE(given) << given.error().message;
  EXPECT_EQ(given->key, "sk-secret");
  EXPECT_EQ(given->headers, (std::vector<SecretHeader>{{"api-key", "Key ", "azure-secret-1"}}));
  // The same variable in another header is what the wire would choose, not this machine's user.
  provider.headers.front().name = "X-Title";
  EXPECT_FALSE(ring({own}).credentials_for(provider));
}

TEST_F(KeyRingTest, AHeadersSecretGoesToNoHostThatNobodyNamed) {
  provider.headers = {{"api-key", "", "AZURE_KEY"}};
  provider.api_key_env.clear();
  provider.base_url = "https://evil.example/v1";
  variables["AZURE_KEY"] = "azure-secret-1";
  ProviderConfig own = *preset_provider("openai");
  own.headers.value = provider.headers;
  for (const auto place : {CoordinatorPlace::this_process, CoordinatorPlace::elsewhere}) {
    coordinator = place;
    const auto withheld = ring({own}).credentials_for(provider);
    ASSERT_FALSE(withheld);
    EXPECT_EQ(withheld.error().reason, Reason::key_withheld);
    EXPECT_EQ(withheld.error().message.find("azure-secret"), std::string::npos);
  }
  provider.base_url = "https://api.openai.com/v1";
  EXPECT_TRUE(ring({own}).credentials_for(provider));
  variables.erase("AZURE_KEY");
  EXPECT_EQ(ring({own}).credentials_for(provider).error().reason, Reason::key_missing);
}

TEST_F(KeyRingTest, TheMaskFindsWhatHeadersHold) {
  ProviderConfig own = *preset_provider("openai");
  own.headers.value = {{"api-key", "", "AZURE_KEY"}};
  variables["AZURE_KEY"] = "azure-secret-1";
  const auto keys = ring({own}).all_keys();
  EXPECT_NE(std::ranges::find(keys, "azure-secret-1"), keys.end());
  EXPECT_NE(std::ranges::find(keys, "sk-secret"), keys.end());
}

TEST_F(KeyRingTest, KnowsEveryKeyOfItsOwnSettingsForTheMask) {
  variables["GEMINI_API_KEY"] = "other-secret";
  variables["UNRELATED"] = "not-a-key-1";
  const auto keys = ring().all_keys();
  EXPECT_NE(std::ranges::find(keys, "sk-secret"), keys.end());
  EXPECT_NE(std::ranges::find(keys, "other-secret"), keys.end());
  EXPECT_EQ(std::ranges::find(keys, "not-a-key-1"), keys.end());
}

// What is sent, and which program runs, is the worker's own business.
class OwnFormats : public KeyRingTest {
 protected:
  /// The table that the run has, as its coordinator names it.
  static ProviderConfig table(ProviderKind kind) {
    ProviderConfig own = *preset_provider(to_string(kind));
    own.name = "own";
    own.kind.origin = Origin::file;
    if (kind == ProviderKind::http) {
      own.base_url = {"https://bots.example/ask", Origin::file, ""};
      own.body.value = R"({"q":"{{prompt}}"})";
      own.answer.value.text = "/text";
    } else {
      own.command.value = {"bot", "--fast"};
    }
    return own;
  }
  Result<Credentials> credentials(const ProviderConfig& of_run, std::vector<ProviderConfig> own) const {
    return ring(std::move(own)).credentials_for(provider_settings(Settings(), of_run));
  }
};

TEST_F(OwnFormats, AreThoseOfTheWorkersSettings) {
  for (const ProviderKind kind : {ProviderKind::http, ProviderKind::exec}) {
    const auto got = credentials(table(kind), {table(kind)});
    ASSERT_TRUE(got) << got.error().message;
    ASSERT_NE(got->own, nullptr);
    EXPECT_EQ(got->own->command, table(kind).command.value);
    EXPECT_EQ(got->own->body, table(kind).body.value);
  }
}

// Its field in the identity made each call find the program changed, once a file of it was touched.
TEST_F(OwnFormats, ACommandIsComparedWithoutTheFieldOfTheBound) {
  ProviderConfig own = table(ProviderKind::exec);
  own.max_tokens_field.value = "max_tokens";
  const auto got = credentials(own, {own});
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->own->command_identity, identity_of_command(own.command.value));
  EXPECT_FALSE(credentials(own, {table(ProviderKind::exec)})) << "the cache keys are others";
  own.cache_identity.value = "named";
  EXPECT_EQ(credentials(own, {own})->own->command_identity, "");
}

TEST_F(OwnFormats, OfARunAloneAreWithheld) {
  coordinator = CoordinatorPlace::this_machine;
  for (const ProviderKind kind : {ProviderKind::http, ProviderKind::exec}) {
    const auto none = credentials(table(kind), {});
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().reason, Reason::key_withheld);
    EXPECT_NE(none.error().message.find("[providers.own]"), std::string::npos) << none.error().message;
    ProviderConfig other = table(kind);
    other.command.value = {"bot", "--slow"};
    other.body.value = R"({"q":"{{system}}"})";
    const auto differs = credentials(table(kind), {other});
    ASSERT_FALSE(differs);
    EXPECT_NE(differs.error().message.find("make the two alike"), std::string::npos)
        << differs.error().message;
  }
  // A coordinator that names another kind for a provider that the worker has.
  ProviderConfig plain = *preset_provider("openai");
  plain.name = "own";
  EXPECT_FALSE(credentials(table(ProviderKind::exec), {plain}));
}

}  // namespace key_ring_test
}  // namespace sluice

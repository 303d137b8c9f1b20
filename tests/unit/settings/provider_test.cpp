#include "common/model/cache_key.hpp"
#include "common/settings/base_url.hpp"
#include "common/settings/key_trust.hpp"
#include "common/settings/load_settings.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

Settings settings_of(std::string file, std::vector<FlagValue> flags = {}) {
  SettingSources sources;
  sources.file_name = "sluice.toml";
  sources.file_text = std::move(file);
  sources.flags = std::move(flags);
  auto settings = merge_settings(sources);
  EXPECT_TRUE(settings) << join_findings(settings.error());
  return settings ? *settings : Settings{};
}

ResolvedProvider resolved(const Settings& settings) {
  auto provider = resolve_provider(settings);
  EXPECT_TRUE(provider) << provider.error().message;
  return provider ? *provider : ResolvedProvider{};
}

std::string refusal(const Settings& settings, const ExampleModels& examples = {}) {
  const auto provider = resolve_provider(settings, examples);
  EXPECT_FALSE(provider);
  return provider ? "" : provider.error().message;
}

TEST(Provider, DefaultIsGeminiWithoutAModelThatMayBeGone) {
  const auto chosen = resolved(settings_of("[eval]\nmodel = \"m\"\n"));
  EXPECT_EQ(chosen.provider.kind, ProviderKind::gemini);
  EXPECT_EQ(chosen.provider.api_key_env, "GEMINI_API_KEY");
  EXPECT_EQ(chosen.model, "m");
  const FlagValue live{"mode", "--mode", "live"};
  EXPECT_EQ(
      refusal(settings_of("", {live})),
      "no model is named for the provider \"gemini\": name it with --model, or as \"model\" in [eval], or "
      "\"model\" in [providers.gemini] of the settings file; \"gemini\" is the default, and --provider names "
      "another");
  EXPECT_EQ(
      refusal(settings_of("")),
      "no model is named for the provider \"gemini\", and a cached run replays the answers of one: name it "
      "with --model, or as \"model\" in [eval], or \"model\" in [providers.gemini] of the settings file; "
      "\"gemini\" is the default, and --provider names another");
  EXPECT_EQ(refusal(settings_of("", {live, {"model", "--model", "openai:gpt-5-mini"}})),
            "the model \"openai:gpt-5-mini\" begins with a provider's name: --provider openai --model "
            "gpt-5-mini name "
            "both, and so do \"settings: {provider: openai}\" and \"model: gpt-5-mini\" in a suite");
  EXPECT_EQ(resolved(settings_of("", {live, {"model", "--model", "llama3:8b"}})).model, "llama3:8b");
  EXPECT_EQ(resolved(settings_of(
                         "[providers.mistral]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:11434/v1\"\n",
                         {live, {"provider", "--provider", "mistral"}, {"model", "--model", "mistral:7b"}}))
                .model,
            "mistral:7b");
}

TEST(Provider, IsWhoMakesTheModelWhereNobodyNamesOne) {
  const auto provider = [](const std::string& file, std::vector<FlagValue> flags = {}) {
    return resolved(settings_of(file, std::move(flags))).provider.name;
  };
  EXPECT_EQ(provider("[eval]\nmodel = \"gpt-4o-mini\"\n"), "openai");
  EXPECT_EQ(provider("[eval]\nmodel = \"o4-mini\"\n"), "openai");
  EXPECT_EQ(provider("[eval]\nmodel = \"claude-haiku-4-5\"\n"), "anthropic");
  EXPECT_EQ(provider("[eval]\nmodel = \"gemini-2.5-flash\"\n"), "gemini");
  EXPECT_EQ(provider("[eval]\nmodel = \"olmo\"\n"), "gemini") << "the default, for a name that says nothing";
  EXPECT_EQ(provider("[eval]\nmodel = \"gpt-4o-mini\"\nprovider = \"gemini\"\n"), "gemini");
  EXPECT_EQ(provider("", {{"model", "--model", "gpt-4o-mini"}}), "openai");
  EXPECT_EQ(settings_of("[eval]\nmodel = \"gpt-4o-mini\"\n").provider.where, "sluice.toml:2");
}

TEST(Provider, ABaseUrlEndsBeforeTheEndpointsPath) {
  for (const std::string url : {"https://a.example/v1/chat/completions", "https://a.example/v1/embeddings/",
                                "https://a.example/v1/messages", "https://a.example/v1/responses"}) {
    EXPECT_FALSE(endpoint_path_of(url).empty()) << url;
  }
  for (const std::string url :
       {"https://a.example/v1", "https://chat.example/", "https://a.example/completions/v1"})
    EXPECT_TRUE(endpoint_path_of(url).empty()) << url;
  const auto gemini = [](const std::string& url) { return endpoint_path_of(url, ProviderKind::gemini); };
  EXPECT_EQ(endpoint_path_of("https://a.example/v1/", ProviderKind::anthropic), "/v1");
  EXPECT_EQ(endpoint_path_of("https://a.example/v1", ProviderKind::openai), "");
  EXPECT_EQ(gemini("https://a.example/v1beta"), "/v1beta");
  EXPECT_EQ(gemini("https://a.example"), "");
  EXPECT_EQ(
      refusal(settings_of("[eval]\nmodel = \"m\"\nprovider = \"anthropic\"\n",
                          {{"base_url", "--base-url", "https://a.example/v1"}})),
      "the base URL (flag --base-url) ends in \"/v1\", which each call adds itself: leave it out, as in "
      "https://a.example");
}

TEST(Provider, AMockRunNeedsNoModel) {
  const FlagValue mock{"mode", "--mode", "mock"};
  EXPECT_EQ(resolved(settings_of("", {mock})).model, "mock");
  EXPECT_EQ(resolved(settings_of("[eval]\nmodel = \"m\"\n", {mock})).model, "m");
}

TEST(Provider, ExamplesOfModelsAreThoseOfItsKindAtItsStandardAddress) {
  const auto examples = [](ProviderKind kind) {
    return kind == ProviderKind::openai ? std::vector<std::string>{"a", "b"} : std::vector<std::string>{};
  };
  const FlagValue live{"mode", "--mode", "live"};
  const FlagValue openai{"provider", "--provider", "openai"};
  EXPECT_NE(
      refusal(settings_of("", {live, openai}), examples).find("with --model, such as \"a\" or \"b\", or as"),
      std::string::npos);
  EXPECT_EQ(refusal(settings_of("", {live}), examples).find("such as"), std::string::npos);
  const FlagValue own{"base_url", "--base-url", "http://127.0.0.1:1/v1"};
  EXPECT_EQ(refusal(settings_of("", {live, openai, own}), examples).find("such as"), std::string::npos);
}

TEST(Provider, OtherProvidersNeedAModel) {
  const auto missing = resolve_provider(settings_of("", {{"provider", "--provider", "openai"}}));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().reason, Reason::settings_invalid);
  EXPECT_NE(missing.error().message.find("--model"), std::string::npos);
  const auto chosen =
      resolved(settings_of("[providers.openai]\nmodel = \"gpt\"\n", {{"provider", "-", "openai"}}));
  EXPECT_EQ(chosen.model, "gpt");
  EXPECT_EQ(chosen.provider.max_tokens_field, "max_completion_tokens");
}

TEST(Provider, ModelOfOneProviderIsNotSentToAnother) {
  const std::string file =
      "[eval]\nprovider = \"openai\"\nmodel = \"gpt\"\n[providers.gemini]\nmodel = \"g\"\n";
  EXPECT_EQ(resolved(settings_of(file)).model, "gpt");
  EXPECT_EQ(resolved(settings_of(file, {{"provider", "--provider", "openai"}})).model, "gpt");
  EXPECT_EQ(resolved(settings_of(file, {{"provider", "--provider", "gemini"}})).model, "g");
  EXPECT_EQ(
      resolved(settings_of(file, {{"model", "--model", "m"}, {"provider", "--provider", "anthropic"}})).model,
      "m");
  const auto other = resolve_provider(settings_of(file, {{"provider", "--provider", "anthropic"}}));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message,
            "the model \"gpt\" (sluice.toml:3) is meant for the provider \"openai\": name one for "
            "\"anthropic\" with "
            "--model, or as \"model\" in [providers.anthropic] of the settings file");
}

TEST(Provider, UnknownOnesAreNamedWithTheNearest) {
  const auto unknown = resolve_provider(settings_of("[eval]\nprovider = \"antropic\"\n"));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(
      unknown.error().message,
      "there is no provider \"antropic\" (sluice.toml:2); there are \"anthropic\", "
      "\"gemini\", \"openai\" and \"openai-responses\", and each [providers.NAME] of the settings file; "
      "did you mean \"anthropic\"?");
}

TEST(Provider, BaseUrlFlagGoesBeforeTheProvidersOwn) {
  const std::string file =
      "[eval]\nprovider=\"x\"\nmodel=\"m\"\n[providers.x]\nkind=\"openai\"\nbase_url=\"http://a/v1\"\n";
  EXPECT_EQ(resolved(settings_of(file)).provider.base_url, "http://a/v1");
  const auto chosen = resolved(settings_of(file, {{"base_url", "--base-url", "HTTP://B:80/v1//"}}));
  EXPECT_EQ(chosen.provider.base_url, "HTTP://B:80/v1");
  EXPECT_EQ(chosen.provider.cache_identity, "http://b/v1");
}

// docs/commands.md says so.
TEST(Provider, AnswersAreFoundByTheBaseUrlAndNotByTheNameOrTheKey) {
  const auto key_at = [](const std::string& name, const std::string& table) {
    const auto chosen = resolved(settings_of("[eval]\nprovider = \"" + name +
                                             "\"\nmodel = \"m\"\n[providers." + name + "]\n" + table));
    ModelRequest request;
    request.provider = chosen.provider.name;
    request.model = chosen.model;
    request.user = "Capital of France?";
    return cache_key(chosen.provider, request, 0);
  };
  const std::string kind = "kind = \"openai\"\n";
  const std::string a = kind + "base_url = \"https://a.example/v1\"\n";
  const std::string b = kind + "base_url = \"https://b.example/v1\"\n";
  const std::string identity = "cache_identity = \"gateway\"\n";
  EXPECT_EQ(key_at("one", a), key_at("other", a + "api_key_env = \"OTHER_KEY\"\nmax_in_flight = 2\n"));
  EXPECT_EQ(key_at("one", a), key_at("one", a + "headers = {X-Token = {env = \"TOKEN\"}}\n"));
  EXPECT_NE(key_at("one", a), key_at("one", a + "headers = {X-Tier = \"fast\"}\n"));
  EXPECT_NE(key_at("one", a), key_at("one", a + "query = {region = \"eu\"}\n"));
  EXPECT_NE(key_at("one", a), key_at("one", b));
  EXPECT_EQ(key_at("one", a + identity), key_at("one", b + identity));
}

TEST(BaseUrl, RefusesWhatIsNoPlainHttpUrl) {
  for (const char* url : {"", "localhost:1", "ftp://h", "http://", "http:///v1", "http://h?x", "http://h#x",
                          "http://u:p@h", "http://h:0", "http://h:65536", "http://h:x", "http://[::1",
                          "http://a b", "http://[zz]", "http://h\\@evil", "http://h/a?b@c"}) {
    const auto parsed = parse_base_url(url);
    EXPECT_FALSE(parsed) << url;
  }
  const auto parsed = parse_base_url("https://API.example.com/v1/");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->host, "api.example.com");
  EXPECT_EQ(parsed->port, 443);
  EXPECT_EQ(parsed->text, "https://API.example.com/v1");
}

TEST(BaseUrl, KnowsLoopbackFromItsLookalikes) {
  for (const char* host : {"localhost", "127.0.0.1", "127.255.3.4", "::1"})
    EXPECT_TRUE(is_loopback_host(host)) << host;
  for (const char* host : {"127.evil.com", "127.0.0.1.evil.com", "localhost.evil.com", "127.0.0",
                           "127.0.0.256", "::2", "128.0.0.1", "127.0.0.1."}) {
    EXPECT_FALSE(is_loopback_host(host)) << host;
  }
}

TEST(KeyTrust, StandardHostLoopbackAndNamedHostsOnly) {
  const Settings settings =
      settings_of("[providers.openai]\nkey_hosts = [\"proxy.example.com\", \"plain.example.com:8080\"]\n");
  ProviderSettings provider;
  provider.name = "openai";
  provider.kind = ProviderKind::openai;
  const auto hosts = trusted_key_hosts(settings, provider);
  for (const char* url : {"https://api.openai.com/v1", "http://127.0.0.1:9/v1", "http://[::1]:9/v1",
                          "https://proxy.example.com/v1", "http://plain.example.com:8080/v1"}) {
    EXPECT_TRUE(may_receive_key(url, hosts)) << url;
  }
  for (const char* url :
       {"http://api.openai.com/v1", "https://api.openai.com:8443/v1", "https://api.openai.com.evil/",
        "https://api.anthropic.com", "http://proxy.example.com/v1", "https://plain.example.com/v1",
        "https://evil.example.com@api.openai.com/", "nonsense"}) {
    EXPECT_FALSE(may_receive_key(url, hosts)) << url;
  }
}

TEST(KeyTrust, OwnBaseUrlsAreTrustedButNotThoseOfOtherProviders) {
  const std::string file = "[providers.gw]\nkind = \"gemini\"\nbase_url = \"http://gw.example.com:81\"\n";
  ProviderSettings provider;
  provider.name = "gw";
  provider.kind = ProviderKind::gemini;
  EXPECT_TRUE(may_receive_key("http://gw.example.com:81/", trusted_key_hosts(settings_of(file), provider)));
  EXPECT_FALSE(may_receive_key("http://gw.example.com/", trusted_key_hosts(settings_of(file), provider)));
  const Settings with_flag = settings_of(
      file, {{"base_url", "--base-url", "https://flag.example.com"}, {"provider", "--provider", "openai"}});
  EXPECT_FALSE(may_receive_key("https://flag.example.com", trusted_key_hosts(with_flag, provider)));
  provider.name = "openai";
  EXPECT_TRUE(may_receive_key("https://flag.example.com", trusted_key_hosts(with_flag, provider)));
}

// A suite's base URL was only said to get no key when a run had begun.
TEST(KeyTrust, WhatTheSuiteAloneNamesIsKnownBeforeARun) {
  const auto said = [](const std::string& file, Origin origin, const std::string& url) {
    Settings settings = settings_of(file + "[eval]\nprovider = \"openai\"\nmodel = \"m\"\n");
    settings.base_url = {url, origin, "suite.yaml:4"};
    const auto error = withheld_of_suite(settings);
    if (error) EXPECT_EQ(error->reason, Reason::key_withheld);
    return error ? error->message : "";
  };
  const std::string url = "https://gw.example.com/v1";
  EXPECT_EQ(
      said("", Origin::suite, url),
      "the key in OPENAI_API_KEY is not sent to https://gw.example.com/v1, which the suite alone names; "
      "add its host to key_hosts under [providers.openai] in sluice.toml, or say --base-url "
      "https://gw.example.com/v1");
  EXPECT_EQ(said("", Origin::flag, url), "");
  EXPECT_EQ(said("", Origin::suite, "http://127.0.0.1:9/v1"), "");
  EXPECT_EQ(said("[providers.openai]\nkey_hosts = [\"gw.example.com\"]\n", Origin::suite, url), "");
  const std::string keyless = "[providers.openai]\napi_key_env = \"\"\n";
  EXPECT_EQ(said(keyless, Origin::suite, url), "");
  EXPECT_TRUE(said(keyless + "headers = { X-Team = { env = \"TEAM_TOKEN\" } }\n", Origin::suite, url)
                  .starts_with("what TEAM_TOKEN holds is not sent to https://gw.example.com/v1"));
}

TEST(Embedding, ByDefaultIsOpenAis) {
  const auto resolved = resolve_embedding(settings_of(""));
  ASSERT_TRUE(resolved) << resolved.error().message;
  EXPECT_EQ(resolved->embedding, (EmbeddingSettings{"openai", "text-embedding-3-small"}));
  ASSERT_TRUE(resolved->provider);
  EXPECT_EQ(resolved->provider->base_url, "https://api.openai.com/v1");
}

TEST(Embedding, TheBuiltInOneNeedsNoProvider) {
  const auto resolved = resolve_embedding(
      settings_of("[eval]\nembedding_provider = \"x\"\nembedding_model = \"lexical-ngrams-v1\"\n"));
  ASSERT_TRUE(resolved) << resolved.error().message;
  EXPECT_EQ(resolved->embedding, (EmbeddingSettings{"", "lexical-ngrams-v1"}));
  EXPECT_FALSE(resolved->provider);
}

TEST(Embedding, NamesWhatCannotEmbed) {
  EXPECT_EQ(
      resolve_embedding(settings_of("[eval]\nembedding_provider = \"opnai\"\n")).error().message,
      "there is no provider \"opnai\" (sluice.toml:2); there are \"anthropic\", "
      "\"gemini\", \"openai\" and \"openai-responses\", and each [providers.NAME] of the settings file; "
      "did you mean \"openai\"?");
  EXPECT_EQ(resolve_embedding(settings_of("[eval]\nembedding_provider = \"anthropic\"\n")).error().message,
            "the provider \"anthropic\" (sluice.toml:2) has no embeddings: name one of kind \"openai\" or "
            "\"gemini\" with --embedding-provider");
  const auto gemini = resolve_embedding(
      settings_of("[eval]\nembedding_provider = \"gemini\"\nembedding_model = \"gemini-embedding-001\"\n"));
  ASSERT_TRUE(gemini) << gemini.error().message;
  EXPECT_EQ(gemini->embedding, (EmbeddingSettings{"gemini", "gemini-embedding-001"}));
  EXPECT_EQ(
      resolve_embedding(settings_of("[eval]\nembedding_provider = \"x\"\n[providers.x]\nkind = \"openai\"\n"))
          .error()
          .message,
      "the provider \"x\" has no default embedding model: name one with --embedding-model, or as "
      "\"embedding_model\" in [eval]");
}

TEST(Embedding, TheRunsBaseUrlIsForItsOwnProviderAlone) {
  Settings settings = settings_of("[eval]\nprovider = \"openai\"\nmodel = \"m\"\n");
  settings.base_url = {"http://127.0.0.1:1/v1", Origin::flag, "--base-url"};
  EXPECT_EQ(resolve_embedding(settings)->provider->base_url, "http://127.0.0.1:1/v1");
  settings.provider.value = "gemini";
  EXPECT_EQ(resolve_embedding(settings)->provider->base_url, "https://api.openai.com/v1");
}

TEST(Provider, ABaseUrlOfASuiteGetsNoKey) {
  Settings settings = settings_of("[eval]\nprovider = \"openai\"\nmodel = \"m\"\n");
  settings.base_url = {"https://elsewhere.example/v1", Origin::suite, "suite.yaml:4"};
  const auto resolved_one = resolve_provider(settings);
  ASSERT_TRUE(resolved_one);
  EXPECT_FALSE(may_receive_key(settings.base_url.value, trusted_key_hosts(settings, resolved_one->provider)));
  settings.base_url.origin = Origin::flag;
  EXPECT_TRUE(may_receive_key(settings.base_url.value, trusted_key_hosts(settings, resolved_one->provider)));
}

}  // namespace
}  // namespace sluice

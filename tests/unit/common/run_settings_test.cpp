#include "common/model/run_settings.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(RunSettings, NormalisesBaseUrls) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"https://api.openai.com/v1", "https://api.openai.com/v1"},
      {"HTTPS://API.OpenAI.com/V1", "https://api.openai.com/V1"},
      {"https://api.openai.com:443/v1/", "https://api.openai.com/v1"},
      {"http://localhost:80", "http://localhost"},
      {"http://localhost:443/v1", "http://localhost:443/v1"},
      {"https://localhost:80//", "https://localhost:80"},
      {"https://host:8443/a", "https://host:8443/a"},
      {"https://user:secret@host/v1", "https://host/v1"},
      {"https://a@b@host:443/v1", "https://host/v1"},
      {"https://host/v1/@name", "https://host/v1/@name"},
      {"http://[::1]:80/v1", "http://[::1]/v1"},
      {"http://[::1]:8080", "http://[::1]:8080"},
      {"not a url", "not a url"},
  };
  for (const auto& [given, expected] : cases) {
    EXPECT_EQ(normalised_base_url(given), expected) << given;
    EXPECT_EQ(normalised_base_url(expected), expected) << "normalising twice changes nothing";
  }
}

TEST(RunSettings, ProviderKindsHaveNames) {
  for (const auto kind : {ProviderKind::openai, ProviderKind::anthropic, ProviderKind::gemini}) {
    EXPECT_EQ(provider_kind_from(to_string(kind)), kind);
  }
  EXPECT_EQ(provider_kind_from("OpenAI"), std::nullopt);
  EXPECT_EQ(provider_kind_from(""), std::nullopt);
  EXPECT_EQ(to_string(Mode::live), "live");
  EXPECT_EQ(to_string(Mode::cached), "cached");
  EXPECT_EQ(to_string(Mode::mock), "mock");
}

TEST(CacheIdentity, IsTheBaseUrlWithWhatElseDecidesTheAnswer) {
  ProviderSettings provider;
  provider.base_url = "https://Host.example/v1/";
  EXPECT_EQ(default_cache_identity(provider), "https://host.example/v1");
  provider.query = {{"api-version", "2024-10-21"}};
  provider.headers = {{"X-Tier", "a \"b\"", ""}, {"api-key", "", "AZURE_KEY"}};
  EXPECT_EQ(default_cache_identity(provider),
            "https://host.example/v1 query\"api-version\":\"2024-10-21\" header\"x-tier\":\"a \\\"b\\\"\"")
      << "who asks is no part of it";
}

// Another field was answered out of the cache of the first, whose bound the server had ignored.
TEST(CacheIdentity, NamesTheFieldOfTheBoundWhereItIsNotTheDefault) {
  ProviderSettings provider;
  provider.base_url = "http://host.example/v1";
  for (const char* by_default : {"", "max_completion_tokens"}) {
    provider.max_tokens_field = by_default;
    EXPECT_EQ(default_cache_identity(provider), "http://host.example/v1");
  }
  provider.max_tokens_field = "max_tokens";
  EXPECT_EQ(default_cache_identity(provider), "http://host.example/v1 field\"max_tokens\":\"max_tokens\"");
  provider.kind = ProviderKind::gemini;
  EXPECT_EQ(default_cache_identity(provider), "http://host.example/v1") << "it has no such field";
  provider.kind = ProviderKind::exec;
  EXPECT_EQ(field_identity(provider), " field\"max_tokens\":\"max_tokens\"") << "its body has it";
}

TEST(Headers, AreNamesAndValuesThatAddNoOtherHeader) {
  for (const char* name : {"X-Title", "api-key", "Authorization"}) EXPECT_TRUE(is_header_name(name)) << name;
  for (const char* name : {"", "X Title", "X:", "X\r\nY", "Host", "content-length", "Content-Type"})
    EXPECT_FALSE(is_header_name(name)) << name;
  EXPECT_TRUE(is_header_value("Bearer caf\xc3\xa9"));
  EXPECT_FALSE(is_header_value("a\r\nX-Evil: 1"));
}

}  // namespace
}  // namespace sluice

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

}  // namespace
}  // namespace sluice

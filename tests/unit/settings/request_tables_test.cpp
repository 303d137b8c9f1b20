#include "common/settings/load_settings.hpp"
#include "common/settings/settings.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::request_tables_test {

tl::expected<Settings, std::vector<Finding>> load(const std::string& file) {
  SettingSources sources;
  sources.file_text = file;
  sources.file_name = "sluice.toml";
  return merge_settings(sources);
}

constexpr const char* azure = R"([eval]
provider = "azure"
model = "gpt"
params = { top_p = 0.5 }
[providers.azure]
kind = "openai"
base_url = "https://me.openai.azure.com/openai/deployments/gpt"
api_key_env = ""
query = { api-version = "2024-10-21" }
headers = { api-key = { env = "AZURE_KEY" }, Authorization = { env = "TOKEN", prefix = "Bearer " }, X-Title = "evals" }
params = { top_p = 0.9, reasoning_effort = "low" }
)";

TEST(RequestTables, AreThoseOfTheProvider) {
  const auto settings = load(azure);
  ASSERT_TRUE(settings) << join_findings(settings.error());
  const auto resolved = resolve_provider(*settings);
  ASSERT_TRUE(resolved);
  const ProviderSettings& provider = resolved->provider;
  EXPECT_EQ(provider.query, (std::vector<QueryField>{{"api-version", "2024-10-21"}}));
  EXPECT_EQ(provider.headers, (std::vector<ProviderHeader>{{"Authorization", "Bearer ", "TOKEN"},
                                                           {"X-Title", "evals", ""},
                                                           {"api-key", "", "AZURE_KEY"}}));
  EXPECT_EQ(provider.cache_identity,
            "https://me.openai.azure.com/openai/deployments/gpt query\"api-version\":\"2024-10-21\" "
            "header\"x-title\":\"evals\"");
  EXPECT_EQ(resolved->params, (RequestParams{{"reasoning_effort", "\"low\""}, {"top_p", "0.9"}}));
  EXPECT_EQ(settings->params.value, (RequestParams{{"top_p", "0.5"}}));
  EXPECT_EQ(secret_variables(*settings),
            (std::vector<std::string>{"ANTHROPIC_API_KEY", "AZURE_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY",
                                      "TOKEN"}));
}

TEST(RequestTables, AreShownAsTheyAreWritten) {
  const auto settings = load(azure);
  ASSERT_TRUE(settings);
  const auto lines = describe(*settings);
  const auto shown = [&](std::string_view key) {
    const auto line = std::ranges::find(lines, key, &SettingLine::key);
    return line == lines.end() ? std::string("(not there)") : line->value;
  };
  EXPECT_EQ(shown("providers.azure.headers"),
            "{ \"Authorization\" = { env = \"TOKEN\", prefix = \"Bearer \" }, \"X-Title\" = \"evals\", "
            "\"api-key\" = { env = \"AZURE_KEY\" } }");
  EXPECT_EQ(shown("providers.azure.query"), "{ \"api-version\" = \"2024-10-21\" }");
  EXPECT_EQ(shown("providers.azure.params"), R"({"reasoning_effort":"low","top_p":0.9})");
  EXPECT_EQ(shown("providers.openai.headers"), "(none)");
}

TEST(RequestTables, TakeATextThatOnlyBeginsAsKeysDo) {
  EXPECT_TRUE(
      load("[providers.openai]\nparams = { stop = \"sk-\", user = \"sk- is how our keys begin\" }\n"));
}

TEST(RequestTables, OfAVariableAreOneTable) {
  const auto load_variable = [](std::string value) {
    SettingSources sources;
    sources.environment = [value = std::move(value)](std::string_view name) {
      return name == "SLUICE_PARAMS" ? std::optional(value) : std::nullopt;
    };
    return merge_settings(sources);
  };
  EXPECT_TRUE(load_variable("{ top_p = 0.9 }"));
  const auto more = load_variable("{ top_p = 0.9 }\n[eval]\nmodel = 'x'");
  ASSERT_FALSE(more) << "what stands behind the table was left out without a word";
  EXPECT_EQ(join_findings(more.error()),
            "SLUICE_PARAMS: must be a table of fields of the request, as { top_p = 0.9 }");
}

TEST(RequestTables, RefuseWhatIsNoneOrShowsASecret) {
  struct Slip {
    std::string line;
    std::string finding;
  };
  for (const Slip& slip : std::vector<Slip>{
           {"headers = { api-key = \"sk-secret\" }",
            "\"headers\" in [providers.openai] must hold no secret: \"api-key\" in it is the name of a "
            "variable of "
            "the environment, { env = \"NAME\" }"},
           {"headers = { Authorization = \"Bearer sk-secret\" }", "must hold no secret"},
           {"headers = { Ocp-Apim-Subscription-Key = \"0123\" }", "must hold no secret"},
           {"headers = { X-Auth = \"0123\" }", "must hold no secret"},
           {"headers = { X-Password = \"0123\" }", "must hold no secret"},
           {"headers = { X-Signature = \"0123\" }", "must hold no secret"},
           {"headers = { X-Upstream = \"bearer 0123\" }", "\"X-Upstream\" in it begins as keys do; name a"},
           {"headers = { X-Upstream = \"sk-secret\" }", "begins as keys do"},
           {"headers = { X-Upstream = \"AIza0123\" }", "begins as keys do"},
           {"headers = { Host = \"x\" }", "\"Host\" in it is no name of a header that may be set"},
           {"headers = { X-Title = \"a\\nb\" }", "holds a control character"},
           {"headers = { X-Title = 3 }", "must be a text, or { env = \"NAME\" }"},
           {"headers = { X-Title = { env = \"sk-secret\" } }",
            "the name of an environment variable in upper case"},
           {"headers = { X-Title = { prefix = \"a\" } }", "lacks \"env\""},
           {"headers = { X-Title = \"a\", x-title = \"b\" }", "stands in it twice"},
           {"headers = 3", "must be a table of headers"},
           {"query = { key = \"sk-secret\" }", "must hold no secret: URLs are shown and logged"},
           {"query = { a = 3 }", "\"a\" in it must be a text"},
           {"query = \"a=b\"", "must be a table of texts"},
           {"query = { v = \"sk-secret\" }", "must hold no secret: URLs are shown and logged"},
           {"params = { user = \"sk-secret0123456789abcdef\" }",
            "must hold no secret: \"user\" in it begins as keys do"},
           {"params = { a = [{ b = \"AIza0123456789sk-secret\" }] }", "\"a\" in it begins as keys do"},
           {"params = { messages = [] }", "messages stand in a test's \"input\""},
           {"params = { max_tokens = 3, max_output_tokens = 4 }", "must name the bound of an answer once"},
           {"params = { \"a b\" = 3 }", "is no name of one"},
           {"params = { a = inf }", "holds what JSON has not"},
           {"base_url = \"https://h/v1?api-version=1\"",
            "must not have a query or a fragment: a query stands as \"query\" in [providers.NAME]"},
       }) {
    const auto settings = load("[providers.openai]\n" + slip.line + "\n");
    ASSERT_FALSE(settings) << slip.line;
    const std::string said = join_findings(settings.error());
    EXPECT_NE(said.find(slip.finding), std::string::npos) << slip.line << "\n" << said;
    EXPECT_EQ(said.find("sk-secret"), std::string::npos) << said;
  }
}

}  // namespace sluice::request_tables_test

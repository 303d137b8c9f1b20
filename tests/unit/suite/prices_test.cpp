#include "coordinator/suite/prices.hpp"

#include "common/files.hpp"
#include "config/embedded_config.hpp"
#include "tests/support/paths.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

std::string price(const std::string& provider, const std::string& model, const std::string& input) {
  return "[[model]]\nprovider = \"" + provider + "\"\nmodel = \"" + model + "\"\ninput = " + input +
         "\noutput = 10\n";
}

TEST(Prices, LongestMatchWinsAndAnExactNameBeforeAll) {
  const auto table = PriceTable::parse("version = \"1\"\nas_of = 2026-01-02\n" +
                                           price("openai", "gpt-*", "1") + price("openai", "gpt-4*", "2") +
                                           price("openai", "gpt-4", "3") + price("gemini", "*", "4"),
                                       "prices.toml");
  ASSERT_TRUE(table) << join_findings(table.error());
  const Usage million{1'000'000, 0};
  EXPECT_DOUBLE_EQ(table->cost(ProviderKind::openai, "gpt-3", million).value_or(-1), 1.0);
  EXPECT_DOUBLE_EQ(table->cost(ProviderKind::openai, "gpt-4o", million).value_or(-1), 2.0);
  EXPECT_DOUBLE_EQ(table->cost(ProviderKind::openai, "gpt-4", million).value_or(-1), 3.0);
  EXPECT_DOUBLE_EQ(table->cost(ProviderKind::gemini, "anything", {500'000, 100'000}).value_or(-1), 3.0);
  EXPECT_FALSE(table->cost(ProviderKind::anthropic, "gpt-4", million));
  EXPECT_FALSE(table->cost(ProviderKind::openai, "o1", million));
  EXPECT_EQ(table->cost(ProviderKind::openai_responses, "gpt-5-mini", million),
            table->cost(ProviderKind::openai, "gpt-5-mini", million));
}

TEST(Prices, NamesEverythingThatIsWrong) {
  const auto table = PriceTable::parse("version = \"1\"\nas_of = \"x\"\n" + price("opnai", "a", "1") +
                                           price("openai", "a*b", "-1") + price("gemini", "m", "1") +
                                           price("gemini", "m", "2") + "[[modl]]\n",
                                       "p.toml");
  ASSERT_FALSE(table);
  EXPECT_EQ(join_findings(table.error()),
            "p.toml:4: \"provider\" in [[model]] must be \"openai\", \"openai-responses\", "
            "\"anthropic\", \"gemini\", \"http\" or \"exec\", not \"opnai\"; "
            "p.toml:11: \"input\" in [[model]] must be from 0 to 10000, not -1; "
            "p.toml:20: \"model\" in [[model]] is listed twice for this provider: \"m\"; "
            "p.toml:23: unknown key \"modl\"; did you mean \"model\"?");
}

TEST(Prices, ModelsAreExactNamesThatAnswer) {
  const auto table =
      PriceTable::parse("version = \"1\"\nas_of = 2026-01-02\n" + price("openai", "a*", "1") +
                            "[[model]]\nprovider = \"openai\"\nmodel = \"embedder\"\ninput = 1\n"
                            "output = 0\n" +
                            price("openai", "b", "1") + price("gemini", "g", "1") +
                            price("openai", "c", "1") + price("openai", "d", "1"),
                        "prices.toml");
  ASSERT_TRUE(table) << join_findings(table.error());
  EXPECT_EQ(table->models(ProviderKind::openai, 2), (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(table->models(ProviderKind::gemini, 2), (std::vector<std::string>{"g"}));
  EXPECT_TRUE(table->models(ProviderKind::anthropic, 2).empty());
}

TEST(Prices, ShippedTableKnowsTwoModelsOfEachProviderAndTheDefaultEmbedder) {
  const auto table = PriceTable::parse(embedded::prices, "prices.toml");
  ASSERT_TRUE(table) << join_findings(table.error());
  for (const ProviderKind kind : {ProviderKind::openai, ProviderKind::anthropic, ProviderKind::gemini}) {
    const auto models = table->models(kind, 2);
    ASSERT_EQ(models.size(), 2u) << to_string(kind);
    EXPECT_GT(table->cost(kind, models[0], {1000, 1000}).value_or(0), 0.0);
  }
  EXPECT_DOUBLE_EQ(table->cost(ProviderKind::openai, "text-embedding-3-small", {1'000'000, 0}).value_or(0),
                   0.02)
      << "the default embedder";
}

TEST(Prices, TheTableOfTheDocumentationIsOne) {
  const auto page = read_file(support::source_path("docs/providers.md"), 1 << 20);
  ASSERT_TRUE(page) << page.error().message;
  const std::string_view fence = "```toml\n";
  const auto begin = page->find(fence, page->find("\n## Prices\n")) + fence.size();
  ASSERT_LT(begin, page->size());
  const auto table = PriceTable::parse(page->substr(begin, page->find("```", begin) - begin), "providers.md");
  ASSERT_TRUE(table) << join_findings(table.error());
  EXPECT_DOUBLE_EQ(table->cost(ProviderKind::openai, "llama-3.3-70b", {1'000'000, 1'000'000}).value_or(0),
                   0.52);
  EXPECT_EQ(table->cost(ProviderKind::openai, "qwen3-8b", {1'000'000, 1'000'000}), 0.0);
}

}  // namespace
}  // namespace sluice

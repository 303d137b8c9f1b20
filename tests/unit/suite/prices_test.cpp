#include "coordinator/suite/prices.hpp"

#include "config/embedded_config.hpp"

#include <string>

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
  EXPECT_EQ(table->as_of(), "2026-01-02");
  const Usage million{1'000'000, 0};
  EXPECT_DOUBLE_EQ(table->cost(ProviderKind::openai, "gpt-3", million).value_or(-1), 1.0);
  EXPECT_DOUBLE_EQ(table->cost(ProviderKind::openai, "gpt-4o", million).value_or(-1), 2.0);
  EXPECT_DOUBLE_EQ(table->cost(ProviderKind::openai, "gpt-4", million).value_or(-1), 3.0);
  EXPECT_DOUBLE_EQ(table->cost(ProviderKind::gemini, "anything", {500'000, 100'000}).value_or(-1), 3.0);
  EXPECT_FALSE(table->cost(ProviderKind::anthropic, "gpt-4", million));
  EXPECT_FALSE(table->cost(ProviderKind::openai, "o1", million));
}

TEST(Prices, NamesEverythingThatIsWrong) {
  const auto table = PriceTable::parse("version = \"1\"\nas_of = \"x\"\n" + price("opnai", "a", "1") +
                                           price("openai", "a*b", "-1") + price("gemini", "m", "1") +
                                           price("gemini", "m", "2") + "[[modl]]\n",
                                       "p.toml");
  ASSERT_FALSE(table);
  EXPECT_EQ(
      join_findings(table.error()),
      "p.toml:4: \"provider\" in [[model]] must be \"openai\", \"anthropic\" or \"gemini\", not \"opnai\"; "
      "p.toml:11: \"input\" in [[model]] must be from 0 to 10000, not -1; "
      "p.toml:20: \"model\" in [[model]] is listed twice for this provider: \"m\"; "
      "p.toml:23: unknown key \"modl\"; did you mean \"model\"?");
}

TEST(Prices, ShippedTableKnowsTheDefaultModel) {
  const auto table = PriceTable::parse(embedded::prices, "prices.toml");
  ASSERT_TRUE(table) << join_findings(table.error());
  EXPECT_GT(table->cost(ProviderKind::gemini, "gemini-2.0-flash", {1000, 1000}).value_or(0), 0.0);
  EXPECT_DOUBLE_EQ(table->cost(ProviderKind::openai, "text-embedding-3-small", {1'000'000, 0}).value_or(0),
                   0.02)
      << "the default embedder";
}

}  // namespace
}  // namespace sluice

#include "coordinator/session/provider_limits.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace sluice::provider_limits_test {

using namespace std::chrono_literals;

ProviderSettings provider(const std::string& name, const std::string& base_url, const std::string& variable) {
  ProviderSettings one;
  one.name = name;
  one.base_url = base_url;
  one.cache_identity = base_url;
  one.api_key_env = variable;
  return one;
}

TEST(ProviderLimits, BelongToServerAndKeyWhateverTheSectionIsCalled) {
  const auto one = provider("a", "https://x/v1", "X_KEY");
  EXPECT_EQ(key_identity(one), key_identity(provider("b", "https://x/v1", "X_KEY")));
  EXPECT_NE(key_identity(one), key_identity(provider("a", "https://y/v1", "X_KEY")));
  EXPECT_NE(key_identity(one), key_identity(provider("a", "https://x/v1", "Y_KEY")));
  EXPECT_EQ(key_identity(one).find("X_KEY"), std::string::npos);
}

TEST(ProviderLimits, OfOneRunAreThoseOfTheNext) {
  const std::vector providers{provider("a", "https://x/v1", "X_KEY"), provider("b", "https://y/v1", "Y_KEY")};
  BudgetFacts of_b;
  of_b.provider = "b";
  of_b.learned.requests_per_minute = 600;
  of_b.learned.age = 10s;
  BudgetFacts of_a;
  of_a.provider = "a";
  const auto learned = limits_learned(providers, std::vector{of_a, of_b}, "run-1", 100'000);
  ASSERT_EQ(learned.size(), 1u) << "nothing was learnt of a";
  EXPECT_EQ(learned[0].provider, "b");
  EXPECT_EQ(learned[0].learned_at_ms, 90'000);
  const auto next = limits_for(providers, learned, 150'000);
  ASSERT_EQ(next.size(), 2u);
  EXPECT_TRUE(next[0].empty());
  EXPECT_EQ(next[1].requests_per_minute, 600);
  EXPECT_EQ(next[1].age, 60s);
  EXPECT_EQ(limits_for(providers, learned, 0)[1].age, 0s) << "a clock that was set back";
}

// What only the cache tells servers by stood there: a text of the settings, or headers behind the URL.
TEST(ProviderLimits, NameTheServerByItsBaseUrl) {
  auto named = provider("a", "https://me:secret@one.example/v1/", "X_KEY");
  named.cache_identity = "our answers of May";
  auto with_headers = provider("b", "https://two.example/v1", "X_KEY");
  with_headers.cache_identity = R"(https://two.example/v1 header"x-team":"evals")";
  std::vector<BudgetFacts> budgets(2);
  budgets[0].provider = "a";
  budgets[1].provider = "b";
  for (BudgetFacts& one : budgets) one.learned.in_flight = 2;
  const auto learned = limits_learned(std::vector{named, with_headers}, budgets, "run-1", 0);
  ASSERT_EQ(learned.size(), 2u);
  EXPECT_EQ(learned[0].server, "https://one.example/v1");
  EXPECT_EQ(learned[1].server, "https://two.example/v1");
}

// A run without a call stood in `sluice limits` as the one that had learnt the limit, in its 0 seconds.
TEST(ProviderLimits, WhatARunOnlyHandsOnStaysThatOfTheRunThatLearntIt) {
  const std::vector providers{provider("a", "https://x/v1", "X_KEY")};
  BudgetFacts facts;
  facts.provider = "a";
  facts.learned.in_flight = 2;
  facts.learned_before = true;
  EXPECT_TRUE(limits_learned(providers, std::vector{facts}, "run-2", 0).empty());
}

// One section each for two models: the slow one's limit was the other's, too, in the next run.
TEST(ProviderLimits, OfSectionsWithOneKeyAreKeptApart) {
  const std::vector providers{provider("large", "https://x/v1", "X_KEY"),
                              provider("small", "https://x/v1", "X_KEY")};
  std::vector<BudgetFacts> budgets(2);
  budgets[0].provider = "large";
  budgets[0].learned.requests_per_minute = 60;
  budgets[1].provider = "small";
  budgets[1].learned.requests_per_minute = 600;
  const auto learned = limits_learned(providers, budgets, "run-1", 0);
  const auto next = limits_for(providers, learned, 0);
  ASSERT_EQ(next.size(), 2u);
  EXPECT_EQ(next[0].requests_per_minute, 60);
  EXPECT_EQ(next[1].requests_per_minute, 600);
  const auto alone = limits_for(std::span(providers).last(1), learned, 0);
  EXPECT_EQ(alone.at(0).requests_per_minute, 600) << "though the run has no other section";
}

}  // namespace sluice::provider_limits_test

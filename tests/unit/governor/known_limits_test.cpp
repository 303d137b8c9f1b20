#include "coordinator/governor/known_limits.hpp"

#include <gtest/gtest.h>

namespace sluice::known_limits_test {

wire::AnnouncedLimits requests(std::uint64_t limit) {
  return {limit, 0, 0, 0};
}

TEST(KnownLimits, TheLeastThatIsReadIsInForce) {
  KnownLimits limits{ProviderLimits()};
  EXPECT_TRUE(limits.on_announced(1, requests(600)));
  EXPECT_TRUE(limits.on_announced(2, requests(500)));
  EXPECT_FALSE(limits.on_announced(3, requests(550)));
  EXPECT_EQ(limits.in_force().requests_per_minute, 500u);
}

// A worker that announced limits of 1 failed 581 of 600 cases, and outlived itself.
TEST(KnownLimits, OneThatReadsATenthOfWhatAllOthersReadIsNotBelieved) {
  KnownLimits limits{ProviderLimits()};
  limits.on_announced(1, {600, 60'000, 0, 0});
  limits.on_announced(2, {600, 60'000, 0, 0});
  limits.on_announced(3, {5, 600, 0, 0});
  EXPECT_EQ(limits.in_force().requests_per_minute, 600u);
  EXPECT_EQ(limits.in_force().tokens_per_minute, 60'000u);
  limits.on_announced(1, requests(5));
  EXPECT_EQ(limits.in_force().requests_per_minute, 5u) << "two of them read it";
}

TEST(KnownLimits, WhatNobodySellsIsNotBelieved) {
  KnownLimits limits{ProviderLimits()};
  EXPECT_FALSE(limits.on_announced(1, {1, 1, 1, 1}));
  EXPECT_FALSE(limits.names_a_rate());
}

TEST(KnownLimits, WhatAWorkerReadEndsWithIt) {
  KnownLimits limits{ProviderLimits()};
  limits.on_announced(1, requests(600));
  limits.on_announced(2, requests(100));
  EXPECT_EQ(limits.in_force().requests_per_minute, 100u);
  EXPECT_TRUE(limits.forget(2));
  EXPECT_EQ(limits.in_force().requests_per_minute, 600u);
  EXPECT_FALSE(limits.forget(2));
  EXPECT_FALSE(limits.forget(1)) << "nothing better is known: the next one begins with it";
  EXPECT_EQ(limits.in_force().requests_per_minute, 600u);
}

// A worker that announced two calls a minute and left held up all others to the end of the run.
TEST(KnownLimits, WhatOnlyOneReadThatHasGoneEndsWithTheNextAnswer) {
  KnownLimits limits{ProviderLimits()};
  limits.on_announced(1, {600, 0, 0, 0});
  limits.on_announced(2, {2, 600, 0, 0});
  EXPECT_FALSE(limits.on_answered());
  limits.forget(2);
  EXPECT_EQ(limits.in_force().requests_per_minute, 600u);
  EXPECT_EQ(limits.in_force().tokens_per_minute, 600u) << "no answer has come that has none";
  EXPECT_TRUE(limits.on_answered());
  EXPECT_EQ(limits.in_force().requests_per_minute, 600u);
  EXPECT_EQ(limits.in_force().tokens_per_minute, std::nullopt);
  EXPECT_FALSE(limits.on_answered());
}

TEST(KnownLimits, WhoComesAfterTheLastOneBeginsWithWhatThatRead) {
  KnownLimits limits{ProviderLimits()};
  limits.on_announced(1, requests(600));
  limits.forget(1);
  limits.on_announced(2, {});
  EXPECT_EQ(limits.in_force().requests_per_minute, 600u);
  limits.on_announced(2, requests(600));
  EXPECT_FALSE(limits.on_answered());
  EXPECT_EQ(limits.in_force().requests_per_minute, 600u);
}

TEST(KnownLimits, WhatOnlyOneReadThatWasSentAwayEndsAtOnce) {
  KnownLimits limits{ProviderLimits()};
  limits.on_announced(1, requests(2));
  EXPECT_TRUE(limits.distrust(1));
  EXPECT_FALSE(limits.names_a_rate());
  EXPECT_FALSE(limits.distrust(1));
}

TEST(KnownLimits, WhatTheSettingsNameIsNotChangedByAnybody) {
  ProviderLimits configured;
  configured.requests_per_minute = 300;
  KnownLimits limits(configured);
  EXPECT_FALSE(limits.on_announced(1, requests(60)));
  EXPECT_EQ(limits.in_force().requests_per_minute, 300u);
}

TEST(KnownLimits, OnceCallsAreRefusedLessThanTheSettingsSayIsInForce) {
  ProviderLimits configured;
  configured.requests_per_minute = 3000;
  KnownLimits limits(configured);
  EXPECT_FALSE(limits.on_announced(1, requests(600)));
  EXPECT_EQ(limits.in_force().requests_per_minute, 3000u) << "the user may know it better";
  EXPECT_TRUE(limits.on_refused());
  EXPECT_EQ(limits.in_force().requests_per_minute, 600u);
  BudgetFacts facts;
  limits.describe(facts);
  EXPECT_EQ(facts.requests, (KnownLimit{600, LimitSource::announced}));
  EXPECT_EQ(facts.announced_below, 600);
  limits.on_announced(1, requests(9000));
  EXPECT_EQ(limits.in_force().requests_per_minute, 3000u);
  limits.on_announced(1, requests(60));
  EXPECT_EQ(limits.in_force().requests_per_minute, 3000u) << "it may be one of another time";
  limits.describe(facts);
  EXPECT_EQ(facts.announced_below, 60) << "but the user should know";
}

}  // namespace sluice::known_limits_test

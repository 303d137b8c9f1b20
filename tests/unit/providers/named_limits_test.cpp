#include "worker/providers/named_limits.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

std::vector<NamedLimit> limits_of(const std::string& header, const std::string& value) {
  return named_limits({{"content-type", "application/json"}, {header, value}});
}

using Named = std::vector<NamedLimit>;

TEST(NamedLimits, APolicyHasItsQuotaInFrontOrAsAParameter) {
  const Named ten_a_second = {{false, 10, 1}};
  EXPECT_EQ(limits_of("ratelimit-policy", "10;w=1"), ten_a_second);
  EXPECT_EQ(limits_of("ratelimit-policy", " \"per; second\" ; w=1 ; q=10 ; pk=:abc=: "), ten_a_second);
  EXPECT_EQ(limits_of("ratelimit-policy", "\"fixed window\";\"api\";q=10;w=1"), ten_a_second);
  EXPECT_EQ(limits_of("ratelimit-policy", "\"a\";q=10;w=1;qu=\"requests\""), ten_a_second);
  EXPECT_EQ(limits_of("x-ratelimit-policy", "10;w=1"), ten_a_second);
}

TEST(NamedLimits, ALimitMayHaveItsPoliciesBehindIt) {
  EXPECT_EQ(limits_of("ratelimit-limit", "10, 10;w=1;burst=20, 500;w=60"),
            (Named{{false, 10, 1}, {false, 500, 60}}));
  EXPECT_EQ(limits_of("x-ratelimit-limit", "10, 10;w=1;name=\"a, b\""), (Named{{false, 10, 1}}));
}

TEST(NamedLimits, TokensAreNamedSo) {
  EXPECT_EQ(limits_of("ratelimit-policy", "\"input-Tokens\";q=9000;w=60"), (Named{{true, 9000, 60}}));
  EXPECT_EQ(limits_of("ratelimit-policy", "\"a\";q=9000;w=60;qu=\"tokens\""), (Named{{true, 9000, 60}}));
  EXPECT_EQ(limits_of("x-ratelimit-limit-tokens-minute", "9000"), (Named{{true, 9000, 60}}));
}

TEST(NamedLimits, WhatIsNoRateOfRequestsOrTokensIsNone) {
  for (const char* policy : {"", "10", "10;w=0", "0;w=1", "w=1", "-1;w=1", "10;w=x", "10;w=86400",
                             "\"a\";q=10;w=1;qu=\"content-bytes\"", "\"open;q=10;w=1", ",;,;=", "1.5;w=1"}) {
    EXPECT_EQ(limits_of("ratelimit-policy", policy), Named{}) << policy;
  }
  EXPECT_EQ(limits_of("x-ratelimit-limit-requests-day", "14400"), Named{});
  EXPECT_EQ(limits_of("x-ratelimit-limit-req-minute", "0"), Named{});
  EXPECT_EQ(limits_of("x-ratelimit-remaining-req-minute", "5"), Named{});
  EXPECT_EQ(limits_of("x-ratelimit-limit-requests", "5"), Named{});
}

}  // namespace
}  // namespace sluice

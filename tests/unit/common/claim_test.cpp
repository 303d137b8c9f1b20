#include "common/model/claim.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(Claim, ValuesHaveOneText) {
  EXPECT_EQ(to_text(ClaimValue(true)), "true");
  EXPECT_EQ(to_text(ClaimValue(false)), "false");
  EXPECT_EQ(to_text(ClaimValue(1.0)), "1");
  EXPECT_EQ(to_text(ClaimValue(0.1)), "0.1");
  EXPECT_EQ(to_text(ClaimValue(-0.0)), "0");
  EXPECT_EQ(to_text(ClaimValue(std::string("a\"b"))), R"("a\"b")");
  EXPECT_EQ(to_text("tls/cert", "enabled", false), "tls/cert/enabled = false");
}

TEST(Claim, CanonicalFormDistinguishesKindsOfValues) {
  const std::vector<ClaimValue> values{true,         false, 1.0, 0.0, std::string("true"), std::string("1"),
                                       std::string()};
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_NE(canonical_form("s", "p", values[i]), canonical_form("s", "p", values[j]))
          << i << " and " << j;
    }
  }
}

TEST(Claim, CanonicalFormKeepsItsPartsApart) {
  EXPECT_NE(canonical_form("a", "bc", true), canonical_form("ab", "c", true));
  EXPECT_NE(canonical_form("a\"\"b", "c", true), canonical_form("a", "b\"\"c", true));
  EXPECT_NE(canonical_form("", "ab", true), canonical_form("ab", "", true));
}

TEST(Claim, LineAndConfidenceAreNoPartOfTheIdentity) {
  const FinalClaim one{"s", "p", 2.0, 0.4, 7, true, false};
  const FinalClaim other{"s", "p", 2.0, 0.9, std::nullopt, false, true};
  EXPECT_EQ(canonical_form(one), canonical_form(other));
}

}  // namespace
}  // namespace sluice

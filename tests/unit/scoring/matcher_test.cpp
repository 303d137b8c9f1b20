#include "worker/scoring/matcher.hpp"

#include "common/model/claim.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

ClaimValue text(const char* words) {
  return std::string(words);
}

FinalClaim claim(std::string subject, ClaimValue value, double confidence = 0.9,
                 std::string predicate = "value") {
  return {std::move(subject), std::move(predicate), std::move(value), confidence, std::nullopt, true, false};
}

ExpectedClaim expected(std::string subject, ClaimValue value, std::string predicate = "value") {
  return {std::move(subject), std::move(predicate), std::move(value), std::nullopt};
}

ScoringTask task(std::vector<ExpectedClaim> must_contain, std::vector<ExpectedClaim> must_not_contain = {},
                 double min_confidence = 0.5) {
  return {0, std::move(must_contain), std::move(must_not_contain), min_confidence, true, {}};
}

using Positions = std::vector<std::uint32_t>;
using Matches = std::vector<ClaimMatch>;

TEST(Values, MatchAsDocumented) {
  struct Case {
    ClaimValue a;
    ClaimValue b;
    bool match;
  };
  const std::vector<Case> cases = {
      {true, true, true},
      {true, false, false},
      {1.0, 1.0, true},
      {1.0, 1.0009, true},
      {1.0, 1.0011, false},
      {1.0, 0.9991, true},
      {0.0, -0.0, true},
      {text("none"), text("none"), true},
      {text("none"), text("None"), false},
      {text(""), text(""), true},
      {text("1"), text("1.0"), false},
      {text("yes"), text("true"), false},
      // Words for booleans, in any case, and nothing around them.
      {text("true"), true, true},
      {text("TRUE"), true, true},
      {text("Yes"), true, true},
      {text("on"), true, true},
      {text("enabled"), true, true},
      {text("1"), true, true},
      {text("false"), false, true},
      {text("no"), false, true},
      {text("OFF"), false, true},
      {text("Disabled"), false, true},
      {text("0"), false, true},
      {text("false"), true, false},
      {text("maybe"), true, false},
      {text("maybe"), false, false},
      {text(" true"), true, false},
      {text("disabledd"), false, false},
      {text(""), false, false},
      {text("1.0"), true, false},
      // Numbers in texts: the whole text, decimal.
      {text("1"), 1.0, true},
      {text("1.0"), 1.0, true},
      {text("+1.5"), 1.5, true},
      {text("-2"), -2.0, true},
      {text(".5"), 0.5, true},
      {text("5."), 5.0, true},
      {text("1e3"), 1000.0, true},
      {text("1.0009"), 1.0, true},
      {text("1.0011"), 1.0, false},
      // Exactly the tolerance apart, on either side of it as binary numbers.
      {0.5, 0.501, true},
      {1.0, 1.001, true},
      {0.001, 0.0, true},
      {-0.0005, 0.0005, true},
      {1234567.0, 1234567.001, true},
      {text("0.501"), 0.5, true},
      {0.5, 0.5010001, false},
      {9007199254740992.0, 9007199254740994.0, false},
      {text("1.2.3"), 1.2, false},
      {text("1 "), 1.0, false},
      {text("1,5"), 1.5, false},
      {text("0x10"), 16.0, false},
      {text("0x10"), 0.0, false},
      {text("nan"), 0.0, false},
      {text("inf"), 1e308, false},
      {text("1e999"), 1e308, false},
      {text("+-1"), -1.0, false},
      {text("-"), 0.0, false},
      {text(""), 0.0, false},
      {text("true"), 1.0, false},
      // Numbers and booleans never match.
      {true, 1.0, false},
      {false, 0.0, false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(values_match(c.a, c.b), c.match) << to_text(c.a) << " and " << to_text(c.b);
    EXPECT_EQ(values_match(c.b, c.a), c.match) << to_text(c.b) << " and " << to_text(c.a);
  }
}

TEST(Subjects, MatchOnTheirLastTwoSegments) {
  EXPECT_TRUE(subjects_match("tls/cert_verification", "tls/cert_verification"));
  EXPECT_TRUE(subjects_match("code://python/tls/cert_verification", "tls/cert_verification"));
  EXPECT_TRUE(subjects_match("a/tls/min", "b/c/tls/min"));
  EXPECT_TRUE(subjects_match("tls", "tls"));
  EXPECT_FALSE(subjects_match("cert_verification", "tls/cert_verification"));
  EXPECT_FALSE(subjects_match("ssl/cert_verification", "tls/cert_verification"));
  EXPECT_FALSE(subjects_match("xtls/cert", "tls/cert"));
  EXPECT_FALSE(subjects_match("tls/cert/", "tls/cert"));
  EXPECT_FALSE(subjects_match("TLS/cert", "tls/cert"));
  EXPECT_FALSE(subjects_match("/tls", "tls"));
  EXPECT_TRUE(subjects_match("a//tls", "/tls"));
  EXPECT_TRUE(subjects_match("", ""));
}

TEST(Claims, MatchOnAllThreeParts) {
  const ExpectedClaim wanted = expected("tls/cert", false, "enabled");
  EXPECT_TRUE(claim_matches(claim("x/tls/cert", text("off"), 0.0, "enabled"), wanted));
  EXPECT_FALSE(claim_matches(claim("x/tls/cert", true, 0.9, "enabled"), wanted));
  EXPECT_FALSE(claim_matches(claim("x/tls/cert", false, 0.9, "Enabled"), wanted));
  EXPECT_FALSE(claim_matches(claim("x/tls/key", false, 0.9, "enabled"), wanted));
}

TEST(MatchClaims, SplitsIntoMatchedMissingAndUnexpected) {
  const ClaimsScore score =
      match_claims({claim("a/x", 1.0), claim("a/z", 9.0), claim("a/y", 2.0)},
                   task({expected("a/y", 2.0), expected("a/q", 3.0), expected("a/x", 1.0)}));
  EXPECT_EQ(score.matched, (Matches{{0, 2}, {2, 0}}));
  EXPECT_EQ(score.missing, (Positions{1}));
  EXPECT_EQ(score.unexpected, (Positions{1}));
  EXPECT_TRUE(score.forbidden.empty());
}

TEST(MatchClaims, NothingAgainstNothing) {
  EXPECT_EQ(match_claims({}, task({})), ClaimsScore{});
}

TEST(MatchClaims, ClaimBelowTheConfidenceIsNeitherFoundNorWrong) {
  const ClaimsScore score =
      match_claims({claim("a/x", 1.0, 0.79), claim("a/z", 1.0, 0.79), claim("a/y", 2.0, 0.8)},
                   task({expected("a/x", 1.0), expected("a/y", 2.0)}, {expected("a/z", 1.0)}, 0.8));
  EXPECT_EQ(score.matched, (Matches{{1, 2}}));
  EXPECT_EQ(score.missing, (Positions{0}));
  EXPECT_TRUE(score.unexpected.empty());
  EXPECT_TRUE(score.forbidden.empty());
}

TEST(MatchClaims, IdenticalClaimsCountOnceWithTheHighestConfidence) {
  FinalClaim elsewhere = claim("a/x", 1.0, 0.9);
  elsewhere.line = 40;
  const ClaimsScore score =
      match_claims({claim("a/x", 1.0, 0.1), elsewhere, claim("b/c", true), claim("b/c", true)},
                   task({expected("a/x", 1.0)}));
  EXPECT_EQ(score.matched, (Matches{{0, 0}}));
  EXPECT_EQ(score.unexpected, (Positions{2}));
}

TEST(MatchClaims, EachClaimMeetsOneExpectationOnly) {
  const ClaimsScore one_claim =
      match_claims({claim("a/x", 1.0)}, task({expected("a/x", 1.0), expected("a/x", text("1"))}));
  EXPECT_EQ(one_claim.matched.size(), 1u);
  EXPECT_EQ(one_claim.missing, (Positions{1}));
  const ClaimsScore two_claims =
      match_claims({claim("a/x", 1.0), claim("a/x", text("1"))}, task({expected("a/x", 1.0)}));
  EXPECT_EQ(two_claims.matched, (Matches{{0, 0}}));
  EXPECT_EQ(two_claims.unexpected, (Positions{1}));
}

TEST(MatchClaims, IsMaximumWhereGreedyIsNot) {
  // "1" meets both expectations, true only the first: taking "1" first would lose one.
  const ClaimsScore score = match_claims({claim("a/x", text("1")), claim("a/x", true)},
                                         task({expected("a/x", text("1")), expected("a/x", true)}));
  EXPECT_EQ(score.matched.size(), 2u);
  const ClaimsScore crossed = match_claims({claim("a/x", text("1")), claim("a/x", true)},
                                           task({expected("a/x", true), expected("a/x", 1.0)}));
  EXPECT_EQ(crossed.matched, (Matches{{0, 1}, {1, 0}}));
  EXPECT_TRUE(crossed.missing.empty());
}

TEST(MatchClaims, PrefersTheIdenticalClaim) {
  const ClaimsScore score =
      match_claims({claim("a/tls/x", 1.0), claim("tls/x", 1.0)}, task({expected("tls/x", 1.0)}));
  EXPECT_EQ(score.matched, (Matches{{0, 1}}));
  EXPECT_EQ(score.unexpected, (Positions{0}));
}

TEST(MatchClaims, ForbiddenClaimIsUnexpectedOnce) {
  const ClaimsScore score =
      match_claims({claim("a/x", true), claim("a/y", true)},
                   task({}, {expected("a/x", true), expected("a/x", text("yes")), expected("a/z", true)}));
  EXPECT_EQ(score.forbidden, (Matches{{0, 0}, {1, 0}}));
  EXPECT_EQ(score.unexpected, (Positions{0, 1}));
}

TEST(MatchClaims, ClaimBothExpectedAndForbiddenIsNotUnexpected) {
  const ClaimsScore score =
      match_claims({claim("a/x", true)}, task({expected("a/x", true)}, {expected("a/x", text("on"))}));
  EXPECT_EQ(score.matched, (Matches{{0, 0}}));
  EXPECT_EQ(score.forbidden, (Matches{{0, 0}}));
  EXPECT_TRUE(score.unexpected.empty());
}

TEST(MatchClaims, LongAugmentingPathsNeedNoStack) {
  // Expectation i meets claims i and i+1, and the last one claim 0 only as well: one path through all of
  // them.
  constexpr std::size_t count = 3000;
  std::vector<ExpectedClaim> wanted;
  std::vector<FinalClaim> claims;
  for (std::size_t i = 0; i < count; ++i) {
    const double at = static_cast<double>(i) * 0.0015;
    claims.push_back(claim("a/x", at));
    wanted.push_back(expected("a/x", at + 0.00075));
  }
  const ClaimsScore score = match_claims(claims, task(wanted));
  EXPECT_EQ(score.matched.size(), count);
  EXPECT_TRUE(score.missing.empty());
  EXPECT_TRUE(score.unexpected.empty());
}

}  // namespace
}  // namespace sluice

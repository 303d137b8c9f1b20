#include "common/checks/redactor.hpp"

#include "common/checks/redact_claims.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::redactor_test {

Redactor shipped(const std::string& name) {
  const ShippedRedaction* found = find_shipped_redaction(name);
  EXPECT_NE(found, nullptr) << name;
  const std::vector<RedactionPattern> patterns{{name, std::string(found->pattern)}};
  auto redactor = Redactor::make(patterns);
  EXPECT_TRUE(redactor) << redactor.error().message;
  return *redactor;
}

std::string clean(const Redactor& redactor, std::string text) {
  redactor.apply(text);
  return text;
}

TEST(Redactor, KeysOfCommonServicesAreReplaced) {
  const Redactor keys = shipped("keys");
  // In two parts each, so that nobody takes them for real ones.
  for (const std::string key : {"sk-"
                                "ant-api03-0123456789abcdef",
                                "sk-proj-abcdEFGH0123456789",
                                "sk_"
                                "live_4eC39HqLyjWDarjtT1zdp7dc",
                                "AIza"
                                "SyA1234567890abcdefghijklmnopqrstuv",
                                "AKIAIOSFODNN7EXAMPLE",
                                "ghp"
                                "_0123456789abcdefghijklmnopqrstuvwxyz",
                                "github"
                                "_pat_11ABCDEFG0abcdefghijkl",
                                "glpat"
                                "-ABCdef0123456789_-xy",
                                "xoxb"
                                "-1234567890-abcdef",
                                "hf"
                                "_abcdefghijklmnopqrstuvwxyz01234567",
                                "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlLWhlcmU",
                                "-----"
                                "BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----",
                                "-----"
                                "BEGIN PRIVATE KEY-----\\nMIIEow=="}) {
    EXPECT_EQ(clean(keys, "it is (" + key + "), really"),
              key.ends_with("==") ? "it is ([redacted keys]" : "it is ([redacted keys]), really")
        << key;
  }
  for (const char* plain : {"", "sk-learn", "task-oriented answers are risk-free", "AKIA", "ghp_short",
                            "a disk_with_sixteen_more_letters"}) {
    EXPECT_FALSE(keys.redacted(plain)) << plain;
  }
}

TEST(Redactor, MailAddressesAreReplaced) {
  const Redactor mail = shipped("mail");
  EXPECT_EQ(clean(mail, R"({"value": "jane.doe+x@mail.example.co.uk"})"), R"({"value": "[redacted mail]"})");
  EXPECT_EQ(clean(mail, "<a@b.io>, c_d@e-f.org."), "<[redacted mail]>, [redacted mail].");
  EXPECT_FALSE(mail.redacted("@Override user@host, 3 @ 4.50"));
}

TEST(Redactor, PatternsAreAppliedOneAfterTheOther) {
  const std::vector<RedactionPattern> patterns{{"customer", "C-[0-9]{4}"}, {"word", "(?i)secret"}};
  const auto redactor = Redactor::make(patterns);
  ASSERT_TRUE(redactor);
  EXPECT_EQ(clean(*redactor, "C-1234 has a Secret, C-12 none; C-9999"),
            "[redacted customer] has a [redacted word], C-12 none; [redacted customer]");
  EXPECT_FALSE(redactor->redacted("nothing"));
  EXPECT_TRUE(Redactor().empty());
  EXPECT_FALSE(Redactor().redacted("C-1234"));
}

TEST(RedactClaims, ANumberIsRedactedByItsDigits) {
  const std::vector<RedactionPattern> patterns{{"card", "[0-9]{16}"}, {"customer", "\\b[0-9]{6}\\b"}};
  const Redactor redactor = *Redactor::make(patterns);
  for (const double plain : {12.0, 4096.0, 0.5, -1.0, 1e14}) {
    ClaimValue value = plain;
    EXPECT_FALSE(redact_value(value, redactor)) << plain;
    EXPECT_EQ(value, ClaimValue(plain));
  }
  ClaimValue card = 4e15;  // As long as it is written out.
  EXPECT_TRUE(redact_value(card, redactor));
  EXPECT_EQ(card, ClaimValue(std::string("[redacted card]")));
  ClaimValue flag = true;
  EXPECT_FALSE(redact_value(flag, redactor));
}

// The number stood in reports and observations, and in the answer beside it no more.
TEST(RedactClaims, NumbersAreRedactedAndTheClaimsStayTheSameToStability) {
  const std::vector<RedactionPattern> patterns{{"card", "[0-9]{16}"}};
  UnitResult result;
  result.parsed = {{"s", "p", 4111111111111111.0, 0.9, {}}};
  result.claims = {{"s", "p", 4111111111111111.0, 0.9, {}, true, false}};
  redact_claims(result, *Redactor::make(patterns));
  const ClaimValue redacted = std::string("[redacted card]");
  EXPECT_EQ(result.parsed[0].value, redacted);
  EXPECT_EQ(result.claims[0].value, redacted);
  EXPECT_FALSE(is_zero(result.claims_identity));
}

TEST(Redactor, APatternThatCannotBeMeantIsRefusedByName) {
  const std::vector<RedactionPattern> broken{{"mine", "a("}};
  const auto one = Redactor::make(broken);
  ASSERT_FALSE(one);
  EXPECT_EQ(one.error().message,
            "the redaction pattern \"mine\" (\"a(\") is no regular expression of RE2: missing ): a(");
  const std::vector<RedactionPattern> empty{{"mine", "x*"}};
  const auto other = Redactor::make(empty);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message,
            "the redaction pattern \"mine\" (\"x*\") matches the empty text, which is everywhere");
  // They marked each word, and hid none.
  for (const char* pattern : {"\\b", "\\b([0-9]{4})?", "\\B"}) {
    const std::vector<RedactionPattern> nowhere{{"mine", pattern}};
    EXPECT_FALSE(Redactor::make(nowhere)) << pattern;
  }
  const std::vector<RedactionPattern> sound{{"mine", "\\b[0-9]{4}\\b"}};
  EXPECT_EQ(clean(*Redactor::make(sound), "a 1234"), "a [redacted mine]");
}

}  // namespace sluice::redactor_test

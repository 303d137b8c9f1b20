#include "worker/scoring/claims_parser.hpp"

#include "worker/defaults.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace sluice {
namespace {

/// A document with one claim whose keys but the given ones are sound.
std::string claim_with(const std::string& key, const std::string& json) {
  std::string text = "{\"claims\":[{";
  const auto add = [&](const std::string& name, const std::string& sound) {
    const std::string& given = name == key ? json : sound;
    if (given.empty()) return;
    if (text.back() != '{') text += ',';
    text += "\"" + name + "\":" + given;
  };
  add("subject", "\"a/b\"");
  add("predicate", "\"enabled\"");
  add("value", "true");
  add("confidence", "0.9");
  add("line", "3");
  if (key == "extra") text += "," + json;
  return text + "}]}";
}

std::string problem(std::string_view text) {
  const auto parsed = parse_claims(text);
  if (parsed) return "no problem";
  EXPECT_EQ(parsed.error().reason, Reason::unparsable_answer);
  return parsed.error().message;
}

TEST(ClaimsParser, ReadsEveryKindOfValue) {
  const auto parsed = parse_claims(R"({"claims":[
    {"subject":"tls/cert_verification","predicate":"enabled","value":false,"confidence":0.95,"line":4},
    {"subject":"jwt/expiry","predicate":"seconds","value":-86400.5,"confidence":1,"line":null},
    {"subject":"jwt/algorithm","predicate":"value","value":"n\u00f6ne","confidence":0}]})");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(*parsed, (std::vector<ParsedClaim>{
                         {"tls/cert_verification", "enabled", false, 0.95, 4},
                         {"jwt/expiry", "seconds", -86400.5, 1.0, std::nullopt},
                         {"jwt/algorithm", "value", std::string("n\xc3\xb6ne"), 0.0, std::nullopt},
                     }));
}

TEST(ClaimsParser, NothingFoundIsAnEmptyList) {
  const auto parsed = parse_claims(R"({"claims":[]})");
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(parsed->empty());
}

TEST(ClaimsParser, ToleratesSpaceAndAFence) {
  const std::string document = claim_with("", "");
  for (const std::string& text :
       {document, " \n\t" + document + "\r\n", "```json\n" + document + "\n```", "```\n" + document + "```",
        "\n```JSON  \r\n" + document + "\r\n```\n", "\xef\xbb\xbf" + document}) {
    const auto parsed = parse_claims(text);
    ASSERT_TRUE(parsed) << text << parsed.error().message;
    EXPECT_EQ(parsed->size(), 1u);
  }
  for (const std::string& text :
       {"Here you are: " + document, document + " I hope this helps", "```json\n" + document,
        "```python\n" + document + "\n```", "```json" + document + "```", document + document}) {
    EXPECT_NE(problem(text).find("not JSON"), std::string::npos) << text;
  }
}

TEST(ClaimsParser, IgnoresUnknownKeysWhateverTheyHold) {
  for (const std::string extra :
       {R"("why":"because")", R"("a":{"claims":[{"subject":1}],"value":{"b":[[null]]}})",
        R"("a":[],"b":{},"c":null,"d":1e3,"e":true)"}) {
    const auto parsed = parse_claims(claim_with("extra", extra));
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(*parsed, (std::vector<ParsedClaim>{{"a/b", "enabled", true, 0.9, 3}}));
  }
  EXPECT_TRUE(parse_claims(R"({"notes":{"claims":1},"claims":[],"more":[{"subject":null}]})"));
}

TEST(ClaimsParser, AcceptsWhatIsInRange) {
  const auto value = [](const std::string& json) {
    return parse_claims(claim_with("value", json)).value().at(0).value;
  };
  EXPECT_EQ(value("9007199254740992"), ClaimValue(9007199254740992.0));
  EXPECT_EQ(value("-9007199254740992"), ClaimValue(-9007199254740992.0));
  EXPECT_EQ(value("1e300"), ClaimValue(1e300));
  EXPECT_EQ(value("\"\""), ClaimValue(std::string()));
  EXPECT_FALSE(std::signbit(std::get<double>(value("-0.0"))));
  EXPECT_EQ(parse_claims(claim_with("line", "0")).value().at(0).line, 0u);
  EXPECT_EQ(parse_claims(claim_with("line", "12.0")).value().at(0).line, 12u);
  EXPECT_EQ(parse_claims(claim_with("line", "4294967295")).value().at(0).line, 4294967295u);
  EXPECT_EQ(parse_claims(claim_with("line", "")).value().at(0).line, std::nullopt);
}

TEST(ClaimsParser, NamesThePlaceOfWhatIsWrong) {
  struct Case {
    std::string key;
    std::string json;
    std::string message;
  };
  for (const Case& c : std::vector<Case>{
           {"subject", "", "claims[0].subject is missing"},
           {"predicate", "", "claims[0].predicate is missing"},
           {"value", "", "claims[0].value is missing"},
           {"confidence", "", "claims[0].confidence is missing"},
           {"subject", "1", "claims[0].subject is the number 1 where a string is expected"},
           {"subject", "null", "claims[0].subject is null where a string is expected"},
           {"predicate", "true", "claims[0].predicate is a boolean where a string is expected"},
           {"predicate", "{}", "claims[0].predicate is an object where a string is expected"},
           {"value", "null", "claims[0].value is null where a string, a number or a boolean is expected"},
           {"value", "[1]", "claims[0].value is an array where a string, a number or a boolean is expected"},
           {"value", "9007199254740993", "claims[0].value is a number too large to be exact"},
           {"value", "-9223372036854775808", "claims[0].value is a number too large to be exact"},
           {"value", "100000000000000000000", "claims[0].value is a number too large to be exact"},
           {"confidence", "\"0.9\"",
            "claims[0].confidence is a string where a number from 0 to 1 is expected"},
           {"confidence", "1.01",
            "claims[0].confidence is the number 1.01 where a number from 0 to 1 is expected"},
           {"confidence", "-0.5",
            "claims[0].confidence is the number -0.5 where a number from 0 to 1 is expected"},
           {"confidence", "null", "claims[0].confidence is null where a number from 0 to 1 is expected"},
           {"line", "-1", "claims[0].line is the number -1 where a whole number from 0, or null is expected"},
           {"line", "1.5",
            "claims[0].line is the number 1.5 where a whole number from 0, or null is expected"},
           {"line", "4294967296",
            "claims[0].line is the number 4294967296 where a whole number from 0, or null is expected"},
           {"line", "\"3\"", "claims[0].line is a string where a whole number from 0, or null is expected"},
           {"extra", "\"value\":false", "claims[0].value stands there twice"},
       }) {
    EXPECT_EQ(problem(claim_with(c.key, c.json)).rfind(c.message, 0), 0u)
        << c.key << " " << c.json << ": " << problem(claim_with(c.key, c.json));
  }
}

TEST(ClaimsParser, NamesWhatIsWrongAroundTheClaims) {
  struct Case {
    std::string text;
    std::string message;
  };
  for (const Case& c : std::vector<Case>{
           {"", "the answer is empty"},
           {" \n", "the answer is empty"},
           {"```\n```", "the answer is empty"},
           {"{}", "the answer has no \"claims\""},
           {"[]", "the answer is an array where an object with \"claims\" is expected"},
           {"null", "the answer is null where an object with \"claims\" is expected"},
           {"\"claims\"", "the answer is a string where an object with \"claims\" is expected"},
           {R"({"claims":{}})", "claims is an object where an array is expected"},
           {R"({"claims":null})", "claims is null where an array is expected"},
           {R"({"claims":[1]})", "claims[0] is a number where an object is expected"},
           {R"({"claims":[[]]})", "claims[0] is an array where an object is expected"},
           {R"({"claims":[null]})", "claims[0] is null where an object is expected"},
           {R"({"claims":[],"claims":[]})", "the answer has \"claims\" twice"},
           {R"({"claims":[)", "the answer is not JSON (byte 12)"},
           {R"({"claims":[],})", "the answer is not JSON (byte 14)"},
           {"no weaknesses found", "the answer is not JSON (byte 2)"},
           {"{\"claims\":[{\"subject\":\"\xff\"}]}", "the answer is not valid UTF-8 (byte 23)"},
           {R"({"claims":[{"confidence":1e999}]})", "the answer holds a number too large (byte 30)"},
           {R"({"claims":[{"value":NaN}]})", "the answer is not JSON (byte 21)"},
       }) {
    EXPECT_EQ(problem(c.text), c.message) << c.text;
  }
}

TEST(ClaimsParser, NamesTheRightClaim) {
  const std::string sound = R"({"subject":"a/b","predicate":"p","value":1,"confidence":1})";
  EXPECT_EQ(problem(R"({"claims":[)" + sound + "," + sound + R"(,{"subject":"a/b"}]})"),
            "claims[2].predicate is missing");
}

TEST(ClaimsParser, BoundsTheirNumber) {
  const auto many = [](std::size_t count) {
    std::string text = "{\"claims\":[";
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) text += ',';
      text += R"({"subject":"a/b","predicate":"p","value":1,"confidence":1})";
    }
    return text + "]}";
  };
  EXPECT_EQ(parse_claims(many(defaults::max_claims)).value().size(), defaults::max_claims);
  EXPECT_EQ(problem(many(defaults::max_claims + 1)), "the answer has more than 10000 claims");
}

TEST(ClaimsParser, BoundsTheNestingOfWhatItSkips) {
  const auto nested = [](std::size_t depth) {
    return "{\"x\":" + std::string(depth, '[') + std::string(depth, ']') + ",\"claims\":[]}";
  };
  EXPECT_TRUE(parse_claims(nested(64)));
  EXPECT_EQ(problem(nested(65)), "the answer nests deeper than 64 levels");
  EXPECT_EQ(problem(nested(1'000'000)), "the answer nests deeper than 64 levels");
}

}  // namespace
}  // namespace sluice

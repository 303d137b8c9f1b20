#include "common/checks/json_schema.hpp"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

namespace sluice {
namespace {

/// What is wrong with the document; "" if it fits.
std::string problem(std::string_view schema, std::string_view document) {
  const auto compiled = JsonSchema::compile(schema);
  if (!compiled) {
    ADD_FAILURE() << compiled.error().message;
    return "no schema";
  }
  const auto outcome = compiled->compare(document);
  if (!outcome) {
    ADD_FAILURE() << outcome.error().message;
    return "no outcome";
  }
  return outcome->problem;
}
bool fits(std::string_view schema, std::string_view document) {
  return problem(schema, document).empty();
}
std::string refused(std::string_view schema) {
  const auto compiled = JsonSchema::compile(schema);
  if (compiled) {
    ADD_FAILURE() << "compiled: " << schema.substr(0, 200);
    return "";
  }
  EXPECT_EQ(compiled.error().reason, Reason::fixture_invalid);
  return compiled.error().message;
}

constexpr std::string_view city = R"({
  "type": "object",
  "properties": {"name": {"type": "string", "minLength": 2}, "people": {"type": "integer", "minimum": 0},
                 "tags": {"type": "array", "items": {"enum": ["old", "big"]}, "uniqueItems": true}},
  "required": ["name"], "additionalProperties": false})";

TEST(JsonSchema, ChecksAsDraft7Defines) {
  EXPECT_EQ(problem(city, R"({"name":"Paris","people":2100000,"tags":["old","big"]})"), "");
  EXPECT_EQ(problem(city, R"({"name":7})"),
            "does not fit the schema at /name: Value type not permitted by 'type' constraint");
  EXPECT_NE(problem(city, R"({"people":1})").find("at the root: Missing required property 'name'"),
            std::string::npos);
  EXPECT_NE(problem(city, R"({"name":"Paris","tags":["old","new"]})").find("at /tags/1: "),
            std::string::npos);
  EXPECT_NE(problem(city, R"({"name":"Paris","tags":["old","old"]})").find("at /tags: "), std::string::npos);
  EXPECT_FALSE(fits(city, R"({"name":"P"})"));
  EXPECT_TRUE(fits(city, "{\"name\":\"\u00fc\u00fc\"}"));
  EXPECT_FALSE(fits(city, "{\"name\":\"\u00fc\"}")) << "characters, not bytes";
  EXPECT_FALSE(fits(city, R"({"name":"Paris","x":1})"));
  EXPECT_FALSE(fits("false", "1"));
  EXPECT_TRUE(fits("true", "1"));
  EXPECT_TRUE(fits("{}", "null"));
}

TEST(JsonSchema, OfAKeyThatStandsTwiceTheLastOneCounts) {
  EXPECT_TRUE(fits(city, R"({"name":7,"name":"Paris"})"));
  EXPECT_FALSE(fits(city, R"({"name":"Paris","name":7})"));
}

TEST(JsonSchema, NamesWhereTheAnswerIsNotJson) {
  EXPECT_EQ(problem("{}", ""), "is empty");
  EXPECT_EQ(problem("{}", " \n"), "is empty");
  EXPECT_EQ(problem("{}", R"({"a": 1,, })"), R"(is not JSON: it goes wrong at byte 9, after "{\"a\": 1,")");
  EXPECT_EQ(problem("{}", R"({"a": [1,)"), R"(is not JSON: it ends too early, after "{\"a\": [1,")");
  EXPECT_EQ(problem("{}", "Paris"), "is not JSON: it goes wrong at byte 1");
  EXPECT_EQ(problem("{}", "{} trailing"), R"(is not JSON: it goes wrong at byte 6, after "{} tr")");
  EXPECT_NE(problem("{}", "[1e400]").find("too large"), std::string::npos);
  EXPECT_NE(problem("{}", "[NaN]").find("is not JSON"), std::string::npos);
  EXPECT_NE(problem("{}", "\"\xff\"").find("is not JSON"), std::string::npos);
}

TEST(JsonSchema, TakesJsonOutOfOneCodeFence) {
  EXPECT_TRUE(fits(city, "```json\n{\"name\":\"Paris\"}\n```\n"));
  EXPECT_TRUE(fits(city, "```\n{\"name\":\"Paris\"}\n```"));
  EXPECT_FALSE(fits(city, "Here it is:\n```json\n{\"name\":\"Paris\"}\n```"));
  EXPECT_FALSE(fits(city, "```json\n{\"name\":\"Paris\"}"));
  EXPECT_EQ(problem("{}", "```json\n{,}\n```"), R"(is not JSON: it goes wrong at byte 10, after "{")")
      << "counted in the whole answer";
}

TEST(JsonSchema, DeepNestingIsAProblemAndNoOverflow) {
  for (const auto* bracket : {"[", "{\"a\":"}) {
    std::string deep;
    for (int i = 0; i < 100'000; ++i) deep += bracket;
    EXPECT_EQ(problem("{}", deep), "nests deeper than 128 levels");
    EXPECT_NE(refused(deep).find("nests deeper"), std::string::npos);
  }
  const std::string legal = std::string(128, '[') + std::string(128, ']');
  EXPECT_TRUE(fits(R"({"items":{"$ref":"#"}})", legal));
  EXPECT_FALSE(fits(R"({"type":"array","items":{"$ref":"#"},"maxItems":0})", legal));
}

TEST(JsonSchema, AWholeNumberIsAnIntegerHoweverItIsWritten) {
  EXPECT_TRUE(fits(R"({"type":"integer"})", "1.0"));
  EXPECT_TRUE(fits(R"({"type":"integer"})", "1e2"));
  EXPECT_FALSE(fits(R"({"type":"integer"})", "1.5"));
  for (const char* whole : {"9223372036854775807", "9223372036854775808", "12345678901234567890",
                            "-9223372036854775809", "1e300"}) {
    EXPECT_TRUE(fits(R"({"type":"integer"})", whole)) << whole;
    EXPECT_TRUE(fits(R"({"type":["integer","null"]})", whole)) << whole;
  }
  EXPECT_FALSE(fits(R"({"type":["integer","null"]})", "1.5"));
  EXPECT_TRUE(fits(R"({"type":["integer","null"]})", "null"));
  EXPECT_TRUE(fits(R"({"type":["integer","number"]})", "1.5"));
  EXPECT_FALSE(fits(R"({"type":"integer"})", "\"1\""));
  EXPECT_FALSE(fits(R"({"type":"integer"})", "true"));
  EXPECT_TRUE(fits(R"({"const":1})", "1.0"));
  EXPECT_TRUE(fits(R"({"enum":[2.0]})", "2"));
  // Identifiers of other systems have 64 bits; as doubles these two are one.
  EXPECT_TRUE(fits(R"({"const":9007199254740993})", "9007199254740993"));
  EXPECT_FALSE(fits(R"({"const":9007199254740993})", "9007199254740992"));
  EXPECT_TRUE(fits(R"({"enum":[1,{"id":[9223372036854775807]}]})", R"({"id":[9223372036854775807]})"));
  EXPECT_FALSE(fits(R"({"enum":[1,{"id":[9223372036854775807]}]})", R"({"id":[9223372036854775806]})"));
  EXPECT_FALSE(fits(R"({"const":1})", "true"));
  EXPECT_TRUE(fits(R"({"minimum":0})", "18446744073709551615"));
  EXPECT_FALSE(fits(R"({"uniqueItems":true})", "[1, 1.0]"));
  EXPECT_TRUE(fits(R"({"minLength":1.0})", R"("a")"));
}

TEST(JsonSchema, PatternsAreThoseOfRe2) {
  EXPECT_TRUE(fits(R"({"pattern":"^\\p{Lu}"})", "\"\u00dcber\""));
  EXPECT_EQ(problem(R"({"pattern":"^[0-9]+$"})", R"("x")"),
            "does not fit the schema at the root: The text does not match the pattern \"^[0-9]+$\"");
  EXPECT_TRUE(fits(R"({"pattern":"^[0-9]+$"})", "7")) << "only texts have a pattern";
  EXPECT_TRUE(fits(R"({"properties":{"pattern":{"pattern":"a"}}})", R"({"pattern":"a"})"))
      << "a property's name";
  EXPECT_FALSE(fits(R"({"properties":{"pattern":{"pattern":"a"}}})", R"({"pattern":"b"})"));
  EXPECT_FALSE(fits(R"({"propertyNames":{"pattern":"^x"}})", R"({"y":1})"));
  EXPECT_FALSE(fits(R"({"not":{"pattern":"a"}})", R"("a")"));
  EXPECT_TRUE(fits(R"({"enum":[{"pattern":"a"}]})", R"({"pattern":"a"})")) << "a value, and no schema";
  EXPECT_TRUE(fits(R"({"enum":[{"$ref":1,"pattern":2}]})", R"({"$ref":1,"pattern":2})"))
      << "a value with the name of a keyword";
  EXPECT_NE(refused(R"J({"properties":{"a/b":{"pattern":"("}}})J").find("/properties/a~1b/pattern"),
            std::string::npos);
  EXPECT_NE(refused(R"J({"pattern":"(?!x)"})J").find("RE2"), std::string::npos);
}

/// What std::regex, which valijson would use, answers with a stack overflow or not at all.
TEST(JsonSchema, NoPatternHangsOrOverflows) {
  const std::string as(500'000, 'a');
  EXPECT_FALSE(fits(R"J({"pattern":"^(a+)+$"})J", '"' + as + "b\""));
  EXPECT_TRUE(fits(R"J({"pattern":"^(a|a)*$"})J", '"' + as + '"'));
  EXPECT_FALSE(fits(R"({"format":"date-time"})", '"' + std::string(500'000, '1') + '"'));
  EXPECT_FALSE(fits(R"J({"propertyNames":{"pattern":"^(a+)+$"}})J", "{\"" + as + "b\":1}"));
  EXPECT_TRUE(fits(R"J({"propertyNames":{"pattern":"^(a+)+$"}})J", "{\"" + as + "\":1}"));
}

TEST(JsonSchema, UniqueItemsAreFoundInLongArrays) {
  std::string numbers = "[0";
  for (int i = 1; i < 200'000; ++i) numbers += "," + std::to_string(i);
  EXPECT_TRUE(fits(R"({"uniqueItems":true})", numbers + "]"));
  EXPECT_FALSE(fits(R"({"uniqueItems":true})", numbers + ",17]"));
  EXPECT_FALSE(fits(R"({"uniqueItems":true})", R"([{"a":1,"b":[true]},{"b":[true],"a":1}])"));
  EXPECT_TRUE(fits(R"({"uniqueItems":false})", "[1,1]"));
  EXPECT_TRUE(fits(R"({"uniqueItems":true})", R"([1,"1",true,null,[1]])"));
}

TEST(JsonSchema, FormatsOfTimeAreAssessedAndOthersAreRemarks) {
  EXPECT_TRUE(fits(R"({"format":"date"})", R"("2024-02-29")"));
  EXPECT_FALSE(fits(R"({"format":"date"})", R"("2024-02-30")"));
  EXPECT_FALSE(fits(R"({"format":"date"})", R"("24-02-29")"));
  for (const std::string leap : {"2000", "2400", "0000", "2096"})
    EXPECT_TRUE(fits(R"({"format":"date"})", '"' + leap + R"(-02-29")")) << leap;
  for (const std::string common : {"2023", "1900", "2100", "2022"}) {
    EXPECT_FALSE(fits(R"({"format":"date"})", '"' + common + R"(-02-29")")) << common;
    EXPECT_TRUE(fits(R"({"format":"date"})", '"' + common + R"(-02-28")")) << common;
  }
  EXPECT_FALSE(fits(R"({"format":"date-time"})", R"("2023-02-29T12:00:00Z")"));
  EXPECT_TRUE(fits(R"({"format":"date-time"})", R"("2024-02-29T12:00:00Z")"));
  EXPECT_TRUE(fits(R"({"format":"date-time"})", R"("2024-05-01T12:00:00.5+02:00")"));
  EXPECT_FALSE(fits(R"({"format":"date-time"})", R"("2024-05-01 12:00")"));
  EXPECT_TRUE(fits(R"({"format":"time"})", R"("23:59:60Z")"));
  EXPECT_TRUE(fits(R"({"format":"date"})", "7"));
  EXPECT_TRUE(fits(R"({"format":"email"})", R"("nobody")"));
  const auto mixed = JsonSchema::compile(
      R"({"format":"date","properties":{"format":{"format":"email"},"b":{"items":{"format":"uri"}}}})");
  ASSERT_TRUE(mixed);
  EXPECT_EQ(mixed->other_formats(), (std::set<std::string>{"email", "uri"})) << "nothing checks these";
}

TEST(JsonSchema, FollowsReferencesWithinTheSchema) {
  constexpr std::string_view tree = R"({
    "$ref": "#/definitions/node",
    "definitions": {"node": {"type": "object", "properties": {"name": {"pattern": "^n"},
      "below": {"type": "array", "items": {"$ref": "#/definitions/node"}}}, "required": ["name"]}}})";
  EXPECT_TRUE(fits(tree, R"({"name":"n1","below":[{"name":"n2","below":[]}]})"));
  EXPECT_NE(problem(tree, R"({"name":"n1","below":[{"name":"x"}]})").find("at /below/0/name: "),
            std::string::npos);
  EXPECT_FALSE(fits(R"({"anywhere":{"pattern":"^a"},"items":{"$ref":"#/anywhere"}})", R"(["b"])"));
  EXPECT_TRUE(fits(
      R"({"id":"http://example.test/x","items":{"$ref":"#/definitions/a"},"definitions":{"a":{}}})", "[1]"));
}

TEST(JsonSchema, NamesWhatASchemaMayNotHold) {
  EXPECT_NE(refused(R"({"$ref":"#"})").find("refers to itself"), std::string::npos);
  EXPECT_NE(
      refused(R"({"definitions":{"a":{"$ref":"#/definitions/b"},"b":{"anyOf":[{"$ref":"#/definitions/a"}]}},
                        "items":{"$ref":"#/definitions/a"}})")
          .find("refers to itself"),
      std::string::npos);
  EXPECT_NE(refused(R"({"not":{"$ref":"#"}})").find("refers to itself"), std::string::npos);
  EXPECT_NE(refused(R"({"items":{"$ref":"https://example.test/s.json"}})").find("/items"), std::string::npos);
  EXPECT_NE(refused(R"({"items":{"$ref":"#/definitions/none"}})").find("nothing at"), std::string::npos);
  EXPECT_NE(refused(R"({"$ref":7})").find("$ref"), std::string::npos);
  for (const auto* escaped : {"#/$defs/a%20b", "#/$defs/a~1b"}) {
    EXPECT_NE(
        refused(R"({"$defs":{"a b":{},"a/b":{}},"$ref":")" + std::string(escaped) + "\"}").find(escaped),
        std::string::npos);
  }
  EXPECT_NE(refused(R"({"items":{"patternProperties":{"^x":{}}}})").find("at /items: \"patternProperties\""),
            std::string::npos);
  EXPECT_TRUE(
      fits(R"({"properties":{"patternProperties":{"type":"null"}}})", R"({"patternProperties":null})"))
      << "a property's name";
  for (const auto& [misspelt, meant] : {std::pair("requird", "required"),
                                        {"Required", "required"},
                                        {"max_length", "maxLength"},
                                        {"reqiured", "required"},
                                        {"propertys", "properties"},
                                        {"additional_properties", "additionalProperties"},
                                        {"proprties", "properties"},
                                        {"item", "items"},
                                        {"If", "if"}}) {
    EXPECT_NE(refused(R"({"properties":{"a":{")" + std::string(misspelt) + "\":{}}}}")
                  .find("at /properties/a: \"" + std::string(misspelt) + "\" is no keyword; did you mean \"" +
                        meant + "\"?"),
              std::string::npos)
        << refused(R"({"properties":{"a":{")" + std::string(misspelt) + "\":{}}}}");
  }
  // Of other tools, and of people.
  EXPECT_TRUE(
      fits(R"({"example":1,"examples":[],"nullable":true,"discriminator":{},"xml":{},"externalDocs":{},
                       "propertyOrder":1,"propertyOrdering":[],"x-type":1,"title":"a","description":"b","default":2,
                       "readOnly":true,"deprecated":false,"$comment":"c","enumNames":[],"order":1,"note":"n","form":1,"forms":1,"requires":1,"requiredIf":1,"requiredBy":1,"container":1,"cost":1,"types":1,"extent":1,"minTerms":1,"parent":1,"constraint":1,"content":1,"tags":[],
                       "contentEncoding":"base64","$schema":"http://json-schema.org/draft-07/schema#","$id":"a","":1})",
           "1"));
  EXPECT_NE(refused(R"({"prefixItems":[{}]})").find("draft 7"), std::string::npos);
  EXPECT_NE(refused(R"({"$anchor":"a"})").find("draft 7"), std::string::npos);
  EXPECT_NE(refused(R"({"properties":{"a":{"unevaluatedProperties":false}}})").find("/properties/a"),
            std::string::npos);
  for (const auto* wrong :
       {"", "{", "7", "[]", R"("x")", R"({"properties":7})", R"({"items":{"type":7}})", R"({"required":"x"})",
        R"({"pattern":7})", R"({"type":"nonsense"})", R"({"minLength":-1})", R"({"enum":7})",
        R"({"uniqueItems":"yes"})", R"({"allOf":[7]})", R"({"properties":{"a":7}})"}) {
    EXPECT_LT(refused(wrong).size(), 600u) << wrong;
  }
  EXPECT_NE(refused('"' + std::string(2u << 20, 'x') + '"').find("1 MiB"), std::string::npos);
}

// Who mended one was told the next.
TEST(JsonSchema, AllThatIsWrongInASchemaIsSaidAtOnce) {
  EXPECT_EQ(
      refused(R"({"type":"objct","properties":{"a":{"minLength":-1},"b":{"pattern":"("}},"requird":[]})"),
      "the schema is wrong at the root: \"requird\" is no keyword; did you mean \"required\"?; at "
      "/properties/a/minLength: a whole number, 0 or more, is expected; at /properties/b/pattern: the "
      "pattern \"(\" is no regular expression of RE2: missing ): (; a sign that stands for itself has a "
      "backslash before it; at /type: \"objct\" is no type; did you mean \"object\"?");
  EXPECT_EQ(
      refused(R"({"required":"a","enum":{},"uniqueItems":1,"maximum":"1","type":["string","str"]})"),
      "the schema is wrong at /enum: a list is expected; at /maximum: a number is expected; at /required: "
      "a list of texts is expected; at /type: \"str\" is no type; there are array, boolean, integer, null, "
      "number, object, string; at /uniqueItems: true or false is expected");
  std::string many = "{";
  for (char c = 'a'; c <= 'z'; ++c) many += std::string(c == 'a' ? "\"" : ",\"") + c + R"(":{"type":7})";
  const std::string said = refused(R"({"properties":)" + many + "}}");
  EXPECT_TRUE(said.ends_with("at /properties/h/type: a type is a text; and 18 more")) << said;
}

// It ended the program.
TEST(JsonSchema, AReferenceIntoTheValueOfAKeywordIsRefused) {
  for (const char* schema : {R"({"properties":{"a":{"enum":[{}]},"b":{"$ref":"#/properties/a/enum/0"}}})",
                             R"({"properties":{"b":{"$ref":"#/const"}},"const":{}})"}) {
    EXPECT_NE(refused(schema), "") << schema;
  }
}

TEST(JsonSchema, MultiplesAreThoseOfTheNumberItself) {
  EXPECT_TRUE(fits(R"({"multipleOf":2})", "-4"));
  EXPECT_TRUE(fits(R"({"multipleOf":2})", "4.0"));
  EXPECT_FALSE(fits(R"({"multipleOf":2})", "2.5")) << "not that of its whole part";
  EXPECT_FALSE(fits(R"({"multipleOf":2})", "-3"));
  EXPECT_TRUE(fits(R"({"multipleOf":0.01})", "19.99")) << "neither of them is exact in binary";
  EXPECT_TRUE(fits(R"({"multipleOf":0.0001})", "0.0075"));
  EXPECT_FALSE(fits(R"({"multipleOf":0.0001})", "0.00751"));
  EXPECT_TRUE(fits(R"({"multipleOf":1e-10})", "1e308"));
  EXPECT_FALSE(fits(R"({"multipleOf":0.123456789})", "1e308"));
  EXPECT_TRUE(fits(R"({"multipleOf":0.00000001})", "12391239123"));
  EXPECT_TRUE(fits(R"({"multipleOf":1})", "1e30"));
  EXPECT_TRUE(fits(R"({"multipleOf":0.1})", "0"));
  EXPECT_TRUE(fits(R"({"multipleOf":5e-324})", "1e-323"));
  EXPECT_FALSE(fits(R"({"multipleOf":1e300})", "0.5"));
  EXPECT_TRUE(fits(R"({"multipleOf":0.5})", "-9223372036854775808"));
  EXPECT_FALSE(fits(R"({"multipleOf":9223372036854775807})", "9223372036854775806"));
  EXPECT_TRUE(fits(R"({"multipleOf":2})", R"("three")"));
  // Of large numbers the quotient of two doubles looks whole.
  EXPECT_FALSE(fits(R"({"multipleOf":1})", "900719925474099.5"));
  EXPECT_FALSE(fits(R"({"multipleOf":2})", "1801439850948197.5"));
  EXPECT_FALSE(fits(R"({"multipleOf":0.01})", "12345678901234.567"));
  EXPECT_TRUE(fits(R"({"multipleOf":0.01})", "12345678901234.56"));
  EXPECT_EQ(problem(R"({"multipleOf":0.5})", "0.7"),
            "does not fit the schema at the root: Value should be a multiple of 0.5");
  for (const auto* wrong : {R"({"multipleOf":0})", R"({"multipleOf":-1})", R"({"multipleOf":0.0})",
                            R"({"multipleOf":"2"})", R"({"items":{"multipleOf":-0.5}})"}) {
    EXPECT_NE(refused(wrong).find("multipleOf"), std::string::npos) << wrong;
  }
}

/// {"a":{"a":...{"a":7}...}}
std::string nested(int depth) {
  std::string text;
  for (int i = 0; i < depth; ++i) text += R"({"a":)";
  return text + "7" + std::string(static_cast<std::size_t>(depth), '}');
}

TEST(JsonSchema, AlternativesThatAllLeadDeeperDoNotHang) {
  // Each level is assessed by both alternatives: 2^100 paths to the innermost value.
  constexpr std::string_view tree = R"({"oneOf":[
    {"properties":{"a":{"$ref":"#"},"kind":{"const":"x"}},"required":["kind"]},
    {"properties":{"a":{"$ref":"#"},"kind":{"const":"y"}},"required":["kind"]}]})";
  EXPECT_NE(problem(tree, nested(100)).find("steps"), std::string::npos);
  // Here the first look ends at once, and only the one for an explanation would not.
  constexpr std::string_view costly = R"({"type":"object","required":["kind"],"oneOf":[
    {"properties":{"kind":{"const":"x"},"z":{"$ref":"#"}}},
    {"properties":{"kind":{"const":"y"},"z":{"$ref":"#"}}}]})";
  std::string deep = nested(100);
  for (auto at = deep.find("\"a\""); at != std::string::npos; at = deep.find("\"a\"", at)) {
    deep.replace(at, 3, R"("kind":"no","z")");
  }
  EXPECT_EQ(problem(costly, deep), "does not fit the schema");
  EXPECT_NE(problem(tree, nested(5)).find("at "), std::string::npos) << "a shallow one is explained";
}

/// `[0,0,...,last]`
std::string zeros(int count, const std::string& last) {
  std::string text = "[";
  for (int i = 0; i < count; ++i) text += "0,";
  return text + last + "]";
}

// Each copied the answer, and counted as one step: a minute.
TEST(JsonSchema, ValuesOfASchemaDoNotCopyALargeAnswer) {
  std::string alternatives = R"({"const":[1]})";
  std::string values = "[1]";
  for (int i = 0; i < 2000; ++i) {
    alternatives += R"(,{"const":{"a":0}},{"const":[1]})";
    values += ",[1]";
  }
  const std::string large = zeros(1'000'000, "0");
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(problem(R"({"anyOf":[)" + alternatives + "]}", large), "does not fit the schema");
  EXPECT_EQ(problem(R"({"enum":[)" + values + "]}", large), "does not fit the schema");
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
}

TEST(JsonSchema, WhatIsComparedWithinAValueCountsAsSteps) {
  const std::string wanted = zeros(100'000, "1");
  std::string alternatives = R"({"$ref":"#/definitions/long"})";
  for (int i = 0; i < 150; ++i) alternatives += R"(,{"$ref":"#/definitions/long"})";
  const std::string schema =
      R"({"definitions":{"long":{"const":)" + wanted + R"(}},"anyOf":[)" + alternatives + "]}";
  EXPECT_EQ(problem(schema, wanted), "");
  EXPECT_NE(problem(schema, zeros(100'000, "2")).find("steps"), std::string::npos);
  std::string checks = R"({"uniqueItems":true})";
  for (int i = 0; i < 50; ++i) checks += R"(,{"uniqueItems":true})";
  std::string numbers = "[0";
  for (int i = 1; i < 200'000; ++i) numbers += "," + std::to_string(i);
  EXPECT_NE(problem(R"({"allOf":[)" + checks + "]}", numbers + "]").find("steps"), std::string::npos);
}

TEST(JsonSchema, StructuredValuesAreComparedWhole) {
  constexpr std::string_view wanted = R"({"const":{"a":[1,{"b":null}],"c":"d","e":{}}})";
  EXPECT_TRUE(fits(wanted, R"({"e":{},"c":"d","a":[1.0,{"b":null}]})"));
  for (const char* other :
       {R"({"a":[1,{"b":0}],"c":"d","e":{}})", R"({"a":[1,{"b":null}],"c":"d","f":{}})",
        R"({"a":[1,{"b":null},2],"c":"d","e":{}})", R"({"a":[1,{"b":null}],"c":"d","e":[]})",
        R"({"a":[1,{"b":null}],"c":["d"],"e":{}})", R"({"a":[1,{"b":null}],"c":"x","e":{}})",
        R"({"a":[1,{"b":null}],"c":"d"})", "[]", "null", "\"d\""}) {
    EXPECT_FALSE(fits(wanted, other)) << other;
  }
}

TEST(JsonSchema, IsNotHurtByLongChainsOfReferences) {
  const auto chain = [](int links) {
    std::string text = "{\"$ref\":\"#/definitions/d0\",\"definitions\":{";
    for (int i = 0; i < links; ++i) {
      text += "\"d" + std::to_string(i) + "\":{\"properties\":{\"x\":{\"$ref\":\"#/definitions/d" +
              std::to_string(i + 1) + "\"}}},";
    }
    return text + "\"d" + std::to_string(links) + "\":{\"type\":\"null\"}}}";
  };
  EXPECT_TRUE(fits(chain(199), R"({"x":{"x":{}}})"));
  EXPECT_FALSE(fits(chain(1), R"({"x":7})"));
  EXPECT_NE(refused(chain(200)).find("more than 200 times"), std::string::npos);
  // Within the 1 MiB that a schema may have.
  EXPECT_NE(refused(chain(15'000)).find("more than 200 times"), std::string::npos);
}

TEST(JsonSchema, LargeDocumentsAreAssessedInBoundedMemory) {
  std::string wrong = "[0";
  for (int i = 0; i < 300'000; ++i) wrong += ",0";
  EXPECT_EQ(problem(R"({"items":{"type":"string"}})", wrong + "]"), "does not fit the schema");
}

}  // namespace
}  // namespace sluice

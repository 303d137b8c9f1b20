#include "coordinator/suite/json_schema_check.hpp"

#include "coordinator/suite/json_document.hpp"

#include <string>

#include <gtest/gtest.h>

namespace sluice {
namespace {

std::string problem(const std::string& json) {
  const auto node = parse_json(json);
  EXPECT_TRUE(node) << node.error().message;
  return node ? problem_with_schema(*node).value_or("") : "";
}

TEST(JsonSchemaCheck, TakesOrdinaryAndRecursiveSchemas) {
  EXPECT_EQ(problem("{}"), "");
  EXPECT_EQ(problem("true"), "");
  EXPECT_EQ(problem(R"({"type":"object","properties":{"pattern":{"type":"string"},"next":{"$ref":"#"}},
                        "required":["pattern"],"additionalProperties":false})"),
            "");
  EXPECT_EQ(problem(R"({"$ref":"#/definitions/a~1b","definitions":{"a/b":{"anyOf":[{"type":"null"},
                        {"type":"array","items":{"$ref":"#/definitions/a~1b"}}]}}})"),
            "");
  EXPECT_EQ(problem(R"({"enum":[{"$ref":1,"pattern":2}]})"), "");
}

TEST(JsonSchemaCheck, RefusesWhatCannotBeChecked) {
  EXPECT_EQ(problem("[]"), "must be an object, not an array");
  EXPECT_TRUE(problem(R"({"type":"objekt"})").starts_with("is not a valid one: "))
      << problem(R"({"type":"objekt"})");
  EXPECT_TRUE(problem(R"({"maxLength":-1})").starts_with("is not a valid one: "));
  EXPECT_EQ(
      problem(R"({"$ref":"other.json"})"),
      "has the \"$ref\" \"other.json\", but files and URLs are not read: refer to \"#/definitions/...\"");
  EXPECT_EQ(problem(R"({"items":[{"$ref":"#/definitions/none"}]})"),
            "has the \"$ref\" \"#/definitions/none\", which names nothing in the schema");
  EXPECT_EQ(problem(R"({"$ref":1})"), "has a \"$ref\" that is no text");
  EXPECT_EQ(problem(R"({"properties":{"a":{"pattern":"(a+)+b"}}})"),
            "uses \"pattern\", which has no bound in time; put a regex_match beside the schema");
  EXPECT_EQ(problem(R"({"prefixItems":[]})"),
            "uses \"prefixItems\", which is newer than draft 7 of JSON Schema");
}

TEST(JsonSchemaCheck, RefusesCyclesThatNoCheckWouldLeave) {
  const std::string endless =
      "leads back to itself without going deeper into the value: its \"$ref\" would be followed without end";
  EXPECT_EQ(problem(R"({"$ref":"#"})"), endless);
  EXPECT_EQ(problem(R"({"allOf":[{"$ref":"#"}]})"), endless);
  EXPECT_EQ(problem(R"({"definitions":{"a":{"$ref":"#/definitions/b"},"b":{"not":{"$ref":"#/definitions/a"}}},
                        "properties":{"x":{"$ref":"#/definitions/a"}}})"),
            endless);
}

TEST(JsonSchemaCheck, IsNotHurtByLongChainsOfReferences) {
  const auto chain = [](int links) {
    std::string text = "{\"$ref\":\"#/definitions/d0\",\"definitions\":{";
    for (int i = 0; i < links; ++i) {
      text += "\"d" + std::to_string(i) + "\":{\"properties\":{\"x\":{\"$ref\":\"#/definitions/d" +
              std::to_string(i + 1) + "\"}}},";
    }
    return text + "\"d" + std::to_string(links) + "\":{}}}";
  };
  EXPECT_EQ(problem(chain(199)), "");
  EXPECT_EQ(problem(chain(100'000)), "has more than 200 times \"$ref\"");
}

}  // namespace
}  // namespace sluice

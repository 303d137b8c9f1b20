#include "common/checks/json_schema.hpp"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace sluice {
namespace {

/// What is wrong with a part of a document; "" if more of it may fit.
std::string problem_of_part(std::string_view schema, std::string_view part) {
  const auto compiled = JsonSchema::compile_partial(schema);
  if (!compiled) return "refused: " + compiled.error().message;
  return compiled->compare(part)->problem;
}

constexpr std::string_view refund = R"({
  "type": "object", "required": ["amount"], "properties": {
    "amount": {"type": "number", "minimum": 0}, "reason": {"type": "string", "enum": ["late", "damaged"]},
    "to": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}},
    "items": {"type": "array", "minItems": 2, "items": {"$ref": "#/$defs/item"}}},
  "$defs": {"item": {"type": "object", "required": ["id", "count"], "properties": {"id": {"type": "integer"}}}}
})";

// Arguments of the other branch were refused when the suite was read.
TEST(PartialSchema, LeavesOpenWhatABranchDescribesAsWell) {
  const std::string_view both = R"({
    "properties": {"to": {"type": "object", "properties": {"name": {"type": "string"}}}},
    "anyOf": [{"properties": {"to": {"properties": {"zip": {"type": "string"}}}}}]})";
  EXPECT_EQ(problem_of_part(both, R"({"to":{"zip":"1010"}})"), "");
  EXPECT_NE(problem_of_part(both, R"({"to":{"zip":1010}})"), "");
}

TEST(PartialSchema, HoldsWhatEachPartOfAFittingDocumentKeeps) {
  for (const char* part : {"{}", R"({"reason":"late"})", R"({"to":{}})", R"({"items":[{"id":1},{}]})"})
    EXPECT_EQ(problem_of_part(refund, part), "") << part;
  EXPECT_EQ(problem_of_part(refund, R"({"amount":"100"})"),
            "does not fit the schema at /amount: Value type not permitted by 'type' constraint");
  for (const char* part : {R"({"reason":"LATE"})", R"({"amount":-1})", R"({"items":[{"id":1}]})",
                           R"({"items":[{"id":"1"},{}]})"})
    EXPECT_NE(problem_of_part(refund, part), "") << part;
}

TEST(PartialSchema, NamesAreThoseThatAreDeclared) {
  EXPECT_NE(problem_of_part(refund, R"({"amuont":100})").find("'amuont'"), std::string::npos)
      << problem_of_part(refund, R"({"amuont":100})");
  EXPECT_NE(problem_of_part(refund, R"({"to":{"nmae":"x"}})"), "") << "at every depth";
  for (const char* open :
       {R"({"type":"object"})", R"({"properties":{},"type":"object"})",
        R"({"properties":{"a":{}},"additionalProperties":true})",
        R"({"properties":{"a":{}},"patternProperties":{"^x-":{}}})",
        R"({"properties":{"a":{}},"additionalProperties":false,"patternProperties":{"^z":{}}})",
        R"({"properties":{"a":{}},"allOf":[{"properties":{"z":{}}}]})"})
    EXPECT_EQ(problem_of_part(open, R"({"z":1})"), "") << open;
}

TEST(PartialSchema, PassesOverWhatMoreMembersCanMend) {
  EXPECT_EQ(problem_of_part(R"({"oneOf":[{"required":["a"]},{"required":["b"]}]})", "{}"), "");
  EXPECT_NE(
      problem_of_part(R"({"properties":{"a":{"oneOf":[{"type":"string"},{"type":"null"}]}}})", R"({"a":1})"),
      "");
  EXPECT_EQ(problem_of_part(R"({"not":{"properties":{"a":{"const":1}}}})", "{}"), "");
  EXPECT_EQ(problem_of_part(R"({"properties":{"a":{"const":{"x":1,"y":2}}}})", R"({"a":{"x":1}})"), "");
  EXPECT_EQ(problem_of_part(R"({"if":{},"then":{"required":["a"]}})", "{}"), "");
}

// A provider may know more than the schemas that answers are checked by.
TEST(PartialSchema, PassesOverWhatIsNotAssessedAndRefusesWhatIsWrong) {
  for (const char* schema :
       {R"re({"properties":{"a":{"pattern":"^(?!x)"}}})re", R"({"unevaluatedProperties":false})",
        R"({"properties":{"a":{"prefixItems":[{}],"items":false}}})",
        R"({"properties":{"a":{"$ref":"https://example.org/a"}}})",
        R"({"properties":{"a":{"$ref":"#/properties/b/not"},"b":{"not":{"type":"string"}}}})"}) {
    EXPECT_EQ(problem_of_part(schema, R"({"a":[1]})"), "") << schema;
    EXPECT_EQ(problem_of_part(schema, R"({"a":"x"})"), "") << schema;
  }
  EXPECT_EQ(problem_of_part(R"({"$ref":"#/definitions/a","definitions":{"a":{"type":"object"}}})", "[]"),
            "does not fit the schema at the root: Value type not permitted by 'type' constraint");
  EXPECT_EQ(problem_of_part(R"({"type":"objekt"})", "{}"),
            "refused: the schema is wrong at /type: \"objekt\" is no type; did you mean \"object\"?");
  EXPECT_EQ(
      problem_of_part(R"({"properties":{"a":{"requird":["b"]}}})", "{}"),
      "refused: the schema is wrong at /properties/a: \"requird\" is no keyword; did you mean \"required\"?");
}

}  // namespace
}  // namespace sluice

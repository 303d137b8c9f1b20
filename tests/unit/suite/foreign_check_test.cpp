#include "coordinator/suite/foreign_check.hpp"

#include "common/checks/pattern.hpp"
#include "coordinator/suite/canonical_json.hpp"

#include <string>

#include <gtest/gtest.h>

namespace sluice {
namespace {

std::string json_of(DocumentNode node) {
  std::vector<DocumentError> none;
  if (auto* table = std::get_if<DocumentNode::Table>(&node.value)) sort_entries(*table, none);
  return canonical_json(node);
}

std::string cell(const std::string& text) {
  const auto made = expectation_of(parse_foreign_check(text, 7));
  return made ? json_of(*made) : "! " + made.error();
}

struct Row {
  std::string cell;
  std::string expectation;
};

TEST(ForeignChecks, AreExpectationsOfASuite) {
  const std::vector<Row> rows{
      {"Paris", R"({"text":"Paris","type":"exact_match"})"},
      {"Note: it rains", R"({"text":"Note: it rains","type":"exact_match"})"},
      {"equals: Paris", R"({"text":"Paris","type":"exact_match"})"},
      {"contains: Paris", R"({"text":"Paris","type":"must_contain"})"},
      {"contains: {{capital}}", R"({"text":"{{capital}}","type":"must_contain"})"},
      {"contains-all: a, b", R"({"text":["a","b"],"type":"must_contain"})"},
      {"not-contains: Paris", R"({"text":"Paris","type":"must_not_contain"})"},
      {"not-contains-any: a,b", R"({"text":["a","b"],"type":"must_not_contain"})"},
      {"contains-any: a.b, c", R"({"pattern":"a\\.b|c","type":"regex_match"})"},
      {"icontains: a b", R"({"pattern":"(?i)a\\ b","type":"regex_match"})"},
      {"icontains-all: a,b", R"({"pattern":["(?i)a","(?i)b"],"type":"regex_match"})"},
      {"icontains-any: a,b", R"({"pattern":"(?i)a|b","type":"regex_match"})"},
      {"not-icontains: a", R"({"pattern":"(?i)a","type":"regex_not_match"})"},
      {"starts-with: (a", R"({"pattern":"^\\(a","type":"regex_match"})"},
      {"regex: ^a+$", R"({"pattern":"^a+$","type":"regex_match"})"},
      {"not-regex: a", R"({"pattern":"a","type":"regex_not_match"})"},
      {"not-equals: a", R"({"pattern":"^\\s*a\\s*$","type":"regex_not_match"})"},
      {"is-json", R"({"schema":{},"type":"json_schema"})"},
      {"is-json: order.json", R"({"schema":"order.json","type":"json_schema"})"},
      {"similar(0.5): warm", R"({"min_score":0.5,"text":"warm","type":"semantic_similarity_to"})"},
      {"similar: warm", R"({"min_score":0.75,"text":"warm","type":"semantic_similarity_to"})"},
      {"llm-rubric: is polite", R"({"criteria":"is polite","type":"rubric"})"},
      {"grade: is polite", R"({"criteria":"is polite","type":"rubric"})"},
      {"factuality: It is warm.", R"({"reference":"It is warm.","type":"correctness"})"},
      {"answer-relevance(0.9)", R"({"min_score":0.9,"type":"relevancy"})"},
      {"context-faithfulness", R"({"type":"faithfulness"})"},
      {"contains:", "! names no value"},
      {"contains-any: a,,b", "! has an empty value, which every answer holds"},
      {"icontains: {{capital}}", "! holds a variable, which is not rendered in patterns"},
      {"not-similar: a", "! has no counterpart"},
      {"not-contains-all: a,b", "! has no counterpart"},
      {"similar(7): a", "! has a threshold beyond 0 to 1"},
      {"javascript: output.length > 3", "! has no counterpart"},
      {"fn: output.length > 3", "! has no counterpart"},
      {"python: len(output)", "! has no counterpart"},
      {"levenshtein(5): a", "! has no counterpart"},
  };
  for (const Row& row : rows) EXPECT_EQ(cell(row.cell), row.expectation) << row.cell;
}

TEST(ForeignChecks, KeepEveryCharacterOfATextInAPattern) {
  std::string text;
  for (char c = 0x21; c < 0x7f; ++c) text += c;
  ForeignCheck check{"icontains", false, {text + "\xc3\xa9\n"}, {}, nullptr, 1};
  const auto made = expectation_of(check);
  ASSERT_TRUE(made);
  const auto pattern = Pattern::compile(std::get<std::string>(find_entry(*made, "pattern")->value.value));
  ASSERT_TRUE(pattern) << pattern.error().message;
  EXPECT_TRUE(pattern->find("before " + text + "\xc3\xa9\n after"));
  EXPECT_FALSE(pattern->find(text));
}

TEST(ForeignChecks, OfAValueThatIsNoTextAreSchemas) {
  const DocumentNode value{std::int64_t{7}, 3, {}};
  EXPECT_EQ(json_of(*expectation_of({"equals", false, {}, {}, &value, 3})),
            R"({"schema":{"const":7},"type":"json_schema"})");
  EXPECT_EQ(json_of(*expectation_of({"is-json", false, {}, {}, &value, 3})),
            R"({"schema":7,"type":"json_schema"})");
}

}  // namespace
}  // namespace sluice

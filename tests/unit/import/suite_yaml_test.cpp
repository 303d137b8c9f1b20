#include "coordinator/import/suite_yaml.hpp"

#include "common/documents/canonical_json.hpp"
#include "coordinator/suite/documents/json_document.hpp"
#include "coordinator/suite/documents/yaml_document.hpp"

#include <string>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace sluice {
namespace {

DocumentNode table_of(std::string text) {
  return {DocumentNode::Table{{"key", 1, {std::move(text), 1, {}}}}, 1, {}};
}

std::string read_back(const DocumentNode& document) {
  const ParsedYaml parsed = parse_yaml(suite_yaml(document));
  if (!parsed.root || !parsed.errors.empty()) return "! " + parsed.errors.front().message;
  return canonical_json(*parsed.root);
}

TEST(SuiteYaml, IsWrittenAsPeopleWriteIt) {
  const auto document = parse_json(
      R"({"a": "plain text", "b": ["x: y", {"c": "two\nlines\n", "d": 7}, []], "e": {"f": true, "g": {}}, "h": 0.5})");
  ASSERT_TRUE(document);
  EXPECT_EQ(suite_yaml(*document),
            "a: plain text\n"
            "b:\n"
            "  - \"x: y\"\n"
            "  - c: |\n"
            "      two\n"
            "      lines\n"
            "    d: 7\n"
            "  - []\n"
            "e:\n"
            "  f: true\n"
            "  g: {}\n"
            "h: 0.5\n");
  EXPECT_EQ(read_back(*document), canonical_json(*document));
}

TEST(SuiteYaml, KeepsTextsThatLookLikeSomethingElse) {
  for (const std::string text : {"",
                                 " ",
                                 "true",
                                 "null",
                                 "~",
                                 "7",
                                 "1e3",
                                 "0x1f",
                                 "-",
                                 "- a",
                                 "a: b",
                                 "a #b",
                                 "#",
                                 "&a",
                                 "*a",
                                 "!a",
                                 "|",
                                 ">",
                                 "%",
                                 "@",
                                 "`",
                                 "'",
                                 "\"",
                                 "{{x}}",
                                 "[a]",
                                 " a",
                                 "a ",
                                 "a\n",
                                 "a\n\n",
                                 "\na",
                                 "a\n b\n",
                                 "a \nb\n",
                                 "\ta",
                                 "a\tb",
                                 "a\r\nb",
                                 "\x01",
                                 "\xc3\xa9",
                                 "\xe2\x80\xa8",
                                 "a\302\205b\nc",
                                 "---\na\n...\n",
                                 "\\n",
                                 "yes",
                                 "2026-01-01",
                                 "a\n---\nb",
                                 "a\n# b",
                                 "#a\nb"}) {
    const DocumentNode document = table_of(text);
    EXPECT_EQ(read_back(document), canonical_json(document)) << text;
  }
}

RC_GTEST_PROP(SuiteYaml, KeepsAnyAsciiText, ()) {
  const auto text = *rc::gen::container<std::string>(
      rc::gen::oneOf(rc::gen::inRange<char>(0x20, 0x7f), rc::gen::elementOf(std::string("\n\n: -#'\"|>{}"))));
  const DocumentNode document = table_of(text);
  RC_ASSERT(read_back(document) == canonical_json(document));
}

}  // namespace
}  // namespace sluice

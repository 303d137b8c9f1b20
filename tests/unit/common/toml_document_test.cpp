#include "common/documents/toml_document.hpp"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace sluice {
namespace {

const TomlEntry* find(const TomlNode& node, std::string_view key) {
  for (const TomlEntry& entry : std::get<TomlNode::Table>(node.value)) {
    if (entry.key == key) return &entry;
  }
  return nullptr;
}

TomlNode parsed(const std::string& text) {
  auto document = parse_toml(text);
  EXPECT_TRUE(document) << document.error().line << ": " << document.error().message;
  return document ? std::move(*document) : TomlNode{TomlNode::Table{}, 1};
}

std::string string_at(const TomlNode& node, std::string_view key) {
  const TomlEntry* entry = find(node, key);
  const auto* text = entry != nullptr ? std::get_if<std::string>(&entry->value.value) : nullptr;
  return text != nullptr ? *text : "(no string)";
}

const std::string long_line(100, 'x');

TEST(TomlDocument, KeepsTheLinesOfKeysBehindLongStrings) {
  const TomlNode document =
      parsed("a = '''\n" + long_line + "\n\n" + long_line + "\n'''\nb = 1\n[c]\nd = 2\n");
  EXPECT_EQ(string_at(document, "a"), long_line + "\n\n" + long_line + "\n");
  EXPECT_EQ(find(document, "b")->line, 6u);
  EXPECT_EQ(find(find(document, "c")->value, "d")->line, 8u);
}

TEST(TomlDocument, PutsEachLongStringInItsPlace) {
  const std::string other(100, 'y');
  const TomlNode document =
      parsed("z = [\"\\u00e9\", '''" + long_line + "''', \"\"\"\n" + other + "\n\"\"\", '''" + other +
             "\u00e9''''']\na = \"\"\n\u0022\u00e9\u0022 = '''" + long_line + "'''\n");
  const auto& values = std::get<TomlNode::Array>(find(document, "z")->value.value);
  ASSERT_EQ(values.size(), 4u);
  EXPECT_EQ(std::get<std::string>(values[0].value), "\u00e9");
  EXPECT_EQ(std::get<std::string>(values[1].value), long_line);
  EXPECT_EQ(std::get<std::string>(values[2].value), other + "\n");
  EXPECT_EQ(std::get<std::string>(values[3].value), other + "\u00e9''");
  EXPECT_EQ(string_at(document, "a"), "");
  EXPECT_EQ(string_at(document, "\u00e9"), long_line);
}

TEST(TomlDocument, InterpretsWhatIsToBeInterpreted) {
  EXPECT_EQ(string_at(parsed("a = \"\"\"\n" + long_line + "\\t\\\"\"\"\\\n   z\"\"\"\n"), "a"),
            long_line + "\t\"\"\"z");
  EXPECT_EQ(string_at(parsed("a = '''" + long_line + "\r\nz'''"), "a"), long_line + "\nz");
  EXPECT_EQ(string_at(parsed("a = '''" + long_line + "\\n\"\"\"'''"), "a"), long_line + "\\n\"\"\"");
}

TEST(TomlDocument, NamesTheLinesOfErrors) {
  const auto line_of_error = [](const std::string& text) {
    const auto document = parse_toml(text);
    return document ? 0u : document.error().line;
  };
  EXPECT_EQ(line_of_error("a = '''\n" + long_line + "\n'''\nb = = 1\n"), 4u);
  EXPECT_EQ(line_of_error("\na = '''\n" + long_line + "\x01\n'''\n"), 3u) << "a control character";
  EXPECT_EQ(line_of_error("a = 1\n[ = 2\n"), 2u) << "a header without a key";
  EXPECT_EQ(line_of_error("a = 1\n[[ = 2\n"), 2u);
  EXPECT_EQ(line_of_error("a = 1\n[[[[a]]]]\n"), 2u);
  EXPECT_EQ(line_of_error("a = 1\n\xff"), 2u) << "not UTF-8";
  EXPECT_EQ(line_of_error("a = 1\na = 2\n"), 2u) << "a key twice";
  EXPECT_EQ(line_of_error("a = 1\n\u00e9 = 2\n"), 2u) << "a bare key beyond ASCII";
  EXPECT_EQ(line_of_error("a = 0\"\n-\u014d = \"x"), 1u) << "the parser reads on behind the quote";
  EXPECT_EQ(line_of_error("a = \"x\"\"y\""), 1u);
  EXPECT_EQ(line_of_error("a.\"b\" = [\"x\",'y', {\"c\"=\"z\"}]\n[\"t\"]\n[[\"u\"]]\n\"k\"=\"\""), 0u);
  EXPECT_GT(line_of_error("a = '''\n" + long_line), 0u) << "a string without an end";
}

TEST(TomlDocument, StaysLinearInTheLengthOfHostileText) {
  std::string escapes = "a = \"\"\"";
  for (int i = 0; i < 300'000; ++i) escapes += "\\n";
  EXPECT_EQ(string_at(parsed(escapes + "\"\"\""), "a").size(), 300'000u);
  std::string strings = "a = [";
  for (int i = 0; i < 10'000; ++i) strings += "'''" + long_line + "''',";
  EXPECT_EQ(std::get<TomlNode::Array>(find(parsed(strings + "]"), "a")->value.value).size(), 10'000u);
  std::string empty = "a = [";
  for (int i = 0; i < 400'000; ++i) empty += "\"\"\"\"\"\",";
  EXPECT_EQ(std::get<TomlNode::Array>(find(parsed(empty + "1_0]"), "a")->value.value).size(), 400'001u);
  std::string tables;
  for (int i = 0; i < 60'000; ++i) tables += "k" + std::to_string(100'000 + i) + "=1\n";
  for (int i = 0; i < 60'000; ++i) tables += "[[a100000]]\n";
  EXPECT_EQ(std::get<TomlNode::Array>(find(parsed(tables), "a100000")->value.value).size(), 60'000u);
}

TEST(TomlDocument, SkipsAByteOrderMark) {
  EXPECT_EQ(string_at(parsed("\xEF\xBB\xBF"
                             "a = '''" +
                             long_line + "'''\n"),
                      "a"),
            long_line);
  EXPECT_EQ(parse_toml("\xEF\xBB\xBF[ = 2\n").error().line, 1u);
}

TEST(TomlDocument, TakesArraysThatLookLikeHeaders) {
  const TomlNode document = parsed("a = [\n[-1, +2],\n[ {b = 1} ],\n]\n[ \"t\" ]\n[[ u.v ]]\n");
  EXPECT_EQ(std::get<TomlNode::Array>(find(document, "a")->value.value).size(), 2u);
  EXPECT_NE(find(document, "t"), nullptr);
}

}  // namespace
}  // namespace sluice

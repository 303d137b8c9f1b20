// Regular expressions: what is taken of other languages' syntax, and what is said of the rest.
#include "common/checks/pattern.hpp"

#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

namespace sluice::pattern_test {

bool finds(const std::string& pattern, const std::string& text) {
  const auto compiled = Pattern::compile(pattern);
  EXPECT_TRUE(compiled) << compiled.error().message;
  return compiled && compiled->find(text);
}

/// What is said of it behind the names of the pattern and of RE2.
std::string problem(const std::string& pattern) {
  const auto compiled = Pattern::compile(pattern);
  if (compiled) return "";
  constexpr std::string_view end = "no regular expression of RE2: ";
  const std::string& message = compiled.error().message;
  return message.substr(message.find(end) + end.size());
}

// A suite in YAML was told of look-arounds, and one in CSV was taken.
TEST(Patterns, TakeNamedGroupsOfOtherLanguages) {
  EXPECT_TRUE(finds("(?<year>\\d+)-", "in 2026-11"));
  EXPECT_TRUE(finds("[(?<n>](?<o>d)\\(?<x>", ">d(<x>")) << "neither in a class nor behind a backslash";
  EXPECT_TRUE(finds("\\\\(?<n>a)", "\\a"));
  EXPECT_TRUE(finds("\\Q(?<n>\\E", "(?<n>")) << "what RE2 takes is what RE2 takes it for";
}

TEST(Patterns, TakeCharactersByTheirNumbers) {
  EXPECT_TRUE(finds("^caf\\u00e9$", "caf\u00e9"));
  EXPECT_TRUE(finds("^[\\u00e0-\\u00FF]$", "\u00e9"));
  EXPECT_TRUE(finds("^\\u{1F600}$", "\U0001F600"));
  EXPECT_TRUE(finds("^\\ud83d\\ude00$", "\U0001F600"));
  EXPECT_TRUE(finds("^\\\\u00e9$", "\\u00e9")) << "a backslash and four digits";
  for (const char* half : {"\\ud83d", "\\ude00", "\\ud83dx", "\\u12", "\\u"}) {
    EXPECT_EQ(problem(half), "invalid escape sequence: \\u; a character is written by its number as \\x{e9}")
        << half;
  }
}

TEST(Patterns, SayWhatPeopleMeantWhoWriteWhatThereIsNot) {
  const std::string none =
      "; there are no look-arounds and no back-references: a pattern that must not be found is a check of "
      "its "
      "own, regex_not_match";
  for (const auto& [pattern, what] : {std::pair("(?=a)", "invalid perl operator: (?="),
                                      {"(?!a)", "invalid perl operator: (?!"},
                                      {"(?<=a)", "invalid perl operator: (?<"},
                                      {"(?<n>a)(?<!b)", "invalid perl operator: (?<"},
                                      {"(a)\\1", "invalid escape sequence: \\1"},
                                      {"(?<n>a)\\k<n>", "invalid escape sequence: \\k"}})
    EXPECT_EQ(problem(pattern), what + none) << pattern;
  EXPECT_EQ(problem("\\y"), "invalid escape sequence: \\y");
  EXPECT_EQ(problem("(?#a)"), "invalid perl operator: (?#");
  EXPECT_EQ(problem("a(b"), "missing ): a(b; a sign that stands for itself has a backslash before it");
}

}  // namespace sluice::pattern_test

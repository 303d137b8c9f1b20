// Patterns of JavaScript as patterns of RE2. What JavaScript finds was tried with `new RegExp(pattern).test`.
#include "coordinator/import/foreign_pattern.hpp"

#include "common/checks/pattern.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::foreign_pattern_test {

using namespace std::string_literals;

struct Finding {
  std::string pattern;
  std::vector<std::string> found;
  std::vector<std::string> not_found;
};

bool finds(const std::string& pattern, const std::string& text) {
  const auto translated = translate_pattern(pattern);
  EXPECT_TRUE(translated) << pattern << ": " << translated.error();
  if (!translated) return false;
  EXPECT_EQ(translated->difference, "") << pattern;
  const auto compiled = Pattern::compile(translated->text);
  EXPECT_TRUE(compiled) << pattern << " as " << translated->text;
  return compiled && compiled->find(text);
}

TEST(ForeignPatterns, FindWhatJavaScriptFinds) {
  const std::vector<Finding> findings{
      {R"re(^\p{L}+$)re", {"p{L}}"}, {"Zoé"}},
      {R"re(^p{3}\P{L}$)re", {"pppP{L}"}, {"ppp1"}},
      {R"re(^[[:alpha:]]+$)re", {"a]]", ":]"}, {"abc"}},
      {R"re(^[[:digit:]]+$)re", {"d]"}, {"123"}},
      {R"re(^\s*yes\s*$)re", {"\u00a0yes", "yes\u2028", "\ufeffyes\v"}, {"\u200byes"}},
      {R"re(^\S+$)re", {"yes"}, {"a\u00a0b", "a\u3000b"}},
      {R"re(^[\s,]$)re", {"\u2003", ","}, {"a"}},
      {R"re(^[\S ]$)re", {"a", " "}, {"\u00a0", "\n"}},
      {R"re(^\Qx\E\C\A\z\a\h$)re", {"QxECAzah"}, {"x", "xC"}},
      {R"re(^\x{2}\u{2}\x4$)re", {"xxuux4"}, {"\002\0024"}},
      {R"re(^\x41\u00e9\cA\t$)re", {"Aé\001\t"}, {"Aé\002\t"}},
      {R"re(^\c[\c1\cA]$)re", {"\\c\021", "\\c\001"}, {"\\c1"}},
      {R"re(^\12\0\121?\8$)re", {"\n\000Q8"s}, {"\n\000128"s}},
      {R"re(^[\b\12\8]$)re", {"\010", "\n", "8"}, {"b", "1"}},
      {R"re(^a{02}b{,2}{c}$)re", {"aab{,2}{c}"}, {"aabb{c}"}},
      {R"re(^x{\8}$)re", {"x{8}"}, {"xxxxxxxx"}},
      {R"re(^.*$)re", {"a b"}, {"a\rb", "a\u2028b", "a\nb"}},
      {R"re(^(.|\n)*$)re", {"a\nb", "😀"}, {"a\rb"}},
      {R"re(^a[^]b$)re", {"a\nb"}, {"ab", "a😀b"}},
      {R"re(^[]a]?$)re", {}, {"a", ""}},
      {R"re(^[a-z&&b]$)re", {"&", "c"}, {"C"}},
      {R"re(^[\w-z][a-\d]$)re", {"-a", "_-", "z5"}, {"-b"}},
      {R"re(^[\d--x]$)re", {"-", "x", "1"}, {"5x", "a"}},
      {R"re(^[\w.-]+[-a]$)re", {"a.b-a", "x-"}, {"é-"}},
      {R"re(^\w+\b\d$)re", {}, {"ab1", "é1"}},
      {R"re(\bé)re", {"aé"}, {"é", "éa"}},
      {R"re(^[^\W_]+$)re", {"ab"}, {"a_", "é"}},
      {R"re(a$)re", {"ba"}, {"a\n"}},
      {R"re(^(?<n>a)(?<$>b)(?:c)$)re", {"abc"}, {"ab"}},
      {R"re(^😀|\ud83d\ude00$)re", {"😀a", "a😀"}, {"a"}},
      {R"re(^.$)re", {"é"}, {"😀"}},
      {R"re(3.14)re", {"3,14"}, {"3😀14"}},
      {R"re(^\W$)re", {"é"}, {"😀"}},
      {R"re(^[\W_]a[\D]b[\S]$)re", {"_aéb."}, {"😀aéb.", "_a😀b.", "_aéb😀"}},
      {R"re((^|\W)yes(\W|$))re", {"😀yes😀", "yes", "éyes."}, {"ayes"}},
      {R"re([^\x00-\x7F])re", {"é", "😀"}, {"e"}},
      {R"re(^[\u0080-\uffff]+$)re", {"é😀"}, {"e"}},
      {R"re(^[^\u0080-\uffff]+$)re", {"e"}, {"é", "😀"}},
      {R"re(^[^,]+,[^,]*$)re", {"😀,", "a,😀"}, {",a"}},
      {R"re(^(\S+\s*){1,3}$)re", {"😀 😀 😀", "a😀"}, {"a b c d"}},
      {R"re(^[\s\S]?$)re", {"", "\n"}, {"😀"}},
  };
  for (const Finding& one : findings) {
    for (const std::string& text : one.found) EXPECT_TRUE(finds(one.pattern, text)) << one.pattern << text;
    for (const std::string& text : one.not_found)
      EXPECT_FALSE(finds(one.pattern, text)) << one.pattern << text;
  }
}

TEST(ForeignPatterns, StayAsTheyAreWhereRe2ReadsThemAlike) {
  for (const std::string pattern :
       {R"(^(yes|no)$)", R"(\b\d{4}-\d{2}-\d{2}\b)", R"([\w.-]+@[\w-]+)", R"(^\{[\s\S]*\}$)", R"((?<n>x)+?)",
        R"(https?:\/\/\w+)", R"(^[^\n"]+$)", R"([a-z&&b])", R"({{2}}|{a}]})", R"([^\x00-\x7F])", "é😀"}) {
    const auto translated = translate_pattern(pattern);
    ASSERT_TRUE(translated) << pattern;
    EXPECT_EQ(translated->text, pattern);
    EXPECT_EQ(translated->difference, "") << pattern;
  }
}

TEST(ForeignPatterns, SayWhereTheyCountCharactersBeyondTheFirst65536) {
  for (const std::string pattern : {"^.{1,80}$", "^..$", "^.+.", "^[^a]{2,}$", "(.a)+", "(.+,?){3,}", "[😀🎉]",
                                    "[^😀]", "😀+", "😀?", "\\B."}) {
    const auto translated = translate_pattern(pattern);
    ASSERT_TRUE(translated) << pattern;
    EXPECT_EQ(translated->difference,
              "takes a character beyond U+FFFF, such as most emoji, for one, and there it is two")
        << pattern;
  }
}

TEST(ForeignPatterns, StayAsTheyAreWhereJavaScriptDoesNotReadThem) {
  for (const std::string pattern :
       {"(?i:a.)\\s", "a(?i)b", "(?s).", "(?P<n>a)", "^*", "\\b+", "(?<1>a)", "a)"}) {
    const auto translated = translate_pattern(pattern);
    ASSERT_TRUE(translated) << pattern;
    EXPECT_EQ(translated->text, pattern);
    EXPECT_TRUE(translated->difference.starts_with("has a pattern that JavaScript does not read")) << pattern;
  }
  const auto translated = translate_pattern("(?i)^\\s*a");
  ASSERT_TRUE(translated);
  EXPECT_EQ(translated->text, "(?i)^[\\s\\v\\p{Z}\\x{feff}]*a");
  EXPECT_NE(translated->difference, "");
}

TEST(ForeignPatterns, SayWhatRe2DoesNotFind) {
  const std::string twelve = "(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)";
  for (const std::string& pattern : {"a(?=b)"s, "(?!a)"s, "(?<=a)b"s, "(?<!a)b"s, "\\Q(?=b)"s, "(a)\\1"s,
                                     twelve + "\\12", "(?<n>a)\\k<n>"s}) {
    const auto translated = translate_pattern(pattern);
    ASSERT_FALSE(translated) << pattern;
    EXPECT_TRUE(translated.error().starts_with("cannot be said: its pattern has \"")) << translated.error();
  }
  for (const std::string pattern : {"\\ud83d", "\\ude00+", "[\\ud83d]", "[\\ud800-\\udbff]", "[a-😀]"}) {
    const auto translated = translate_pattern(pattern);
    ASSERT_FALSE(translated) << pattern;
    EXPECT_TRUE(translated.error().starts_with("looks for a half of a character")) << translated.error();
  }
  EXPECT_FALSE(translate_pattern(std::string(10'000, '(')));
}

}  // namespace sluice::foreign_pattern_test

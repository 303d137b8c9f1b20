// Checks of an answer without white space at its ends, as checks of the answer itself.
#include "coordinator/import/trimmed_answer.hpp"

#include "common/checks/pattern.hpp"
#include "common/text/trimmed.hpp"
#include "coordinator/import/foreign_pattern.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::trimmed_answer_test {

bool finds(const std::string& pattern, std::string_view text) {
  const auto translated = translate_pattern(pattern);
  EXPECT_TRUE(translated) << pattern;
  const auto compiled = Pattern::compile(translated ? translated->text : pattern);
  EXPECT_TRUE(compiled) << pattern;
  return compiled && compiled->find(text);
}

TEST(PatternsOfUntrimmedTexts, FindWhatTheyFindInTheTrimmedText) {
  const std::vector<std::string> texts{"",       " ",        "Paris",         " Paris\n", "\n\tParis \n",
                                       "Paris!", " a Paris", "Paris\nb\n",    "Paris b ", "paris",
                                       " 12 ",   " 1 2 ",    " {\"a\": 1}\n", "B",        " \nyes \n",
                                       "no ",    "noyes",    " a  "};
  for (const std::string pattern : {"^Paris$",
                                    "Paris",
                                    "^Paris",
                                    "Paris$",
                                    "^(yes|no)$",
                                    "^[A-D]$",
                                    "^\\d+$",
                                    "\\bParis\\b",
                                    "^\\s*Paris\\s*$",
                                    "^$",
                                    "^.*$",
                                    "a*",
                                    "^P.*s$",
                                    "^(?:Paris|\\d{1,2})$",
                                    "^a|b$",
                                    "^\\{.*\\}$",
                                    "(?i)^paris$",
                                    "^Paris[.!]?$",
                                    "[^\\s]$",
                                    "^\\S+$"}) {
    const auto untrimmed = pattern_of_untrimmed(pattern);
    ASSERT_TRUE(untrimmed) << pattern;
    for (const std::string& text : texts)
      EXPECT_EQ(finds(*untrimmed, text), finds(pattern, trimmed(text)))
          << *untrimmed << " in \"" << text << '"';
  }
}

// White space that they ask for may be what is taken off.
TEST(PatternsOfUntrimmedTexts, AreNoneWhereWhiteSpaceMayBeFoundAtAnEnd) {
  for (const std::string pattern :
       {"^.+$",    "^.{1,80}$", "Paris\\s", "\\n",   " Paris",   "[^a]",       "[a ]b", "[!-\\s]",
        "^[^,]+$", "\\W",       "(\\s|a)b", "a(^b)", "\\b^a",    "a$b",        "^{",    "(?m)^a$",
        "a(?=b)",  "\\Ba",      "(",        "[a",    "\xc2\xa0", "[[:space:]]"})
    EXPECT_EQ(pattern_of_untrimmed(pattern), std::nullopt) << pattern;
  EXPECT_EQ(pattern_of_untrimmed(std::string(10'000, '(')), std::nullopt);
}

TEST(EndsOfTexts, AreCleanWithoutWhiteSpaceAsJavaScriptKnowsIt) {
  EXPECT_TRUE(has_clean_ends("a b"));
  for (const char* text : {"", " ", "a ", "\na", "a\xc2\xa0",
                           "\xef\xbb\xbf"
                           "a",
                           "a\v"})
    EXPECT_FALSE(has_clean_ends(text)) << '"' << text << '"';
}

}  // namespace sluice::trimmed_answer_test

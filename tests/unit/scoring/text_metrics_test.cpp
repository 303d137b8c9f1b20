#include "worker/scoring/text_metrics.hpp"

#include "common/defaults.hpp"
#include "common/text/text.hpp"
#include "worker/defaults.hpp"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice {
namespace {

/// The detail of a failed metric; nothing if it passed.
std::optional<std::string> problem(MetricId metric, std::vector<std::string> texts, std::string_view answer) {
  const auto outcome = TextChecker().assess(answer, {metric, std::move(texts)});
  if (!outcome) {
    ADD_FAILURE() << outcome.error().message;
    return std::nullopt;
  }
  EXPECT_EQ(outcome->id, metric);
  EXPECT_FALSE(outcome->score);
  EXPECT_EQ(outcome->passed.value(), outcome->detail.empty());
  EXPECT_LE(outcome->detail.size(), defaults::max_detail_bytes);
  EXPECT_EQ(outcome->detail.find('\n'), std::string::npos);
  return *outcome->passed ? std::nullopt : std::optional(outcome->detail);
}

TEST(MustContain, TakesAllTextsByteForByte) {
  EXPECT_EQ(problem(MetricId::must_contain, {"Paris", "France"}, "Paris is in France"), std::nullopt);
  EXPECT_EQ(problem(MetricId::must_contain, {"Paris", "Rome", "Oslo"}, "Paris"),
            "not found: \"Rome\", \"Oslo\"");
  EXPECT_EQ(problem(MetricId::must_contain, {"paris"}, "Paris"), "not found: \"paris\"");
  EXPECT_EQ(problem(MetricId::must_contain, {"na\u00efve"}, "nai\u0308ve"), "not found: \"na\u00efve\"")
      << "composed and decomposed forms are different bytes";
  EXPECT_EQ(problem(MetricId::must_contain, {""}, ""), std::nullopt);
}

TEST(MustNotContain, NamesWhatItFound) {
  EXPECT_EQ(problem(MetricId::must_not_contain, {"password"}, "no secrets"), std::nullopt);
  EXPECT_EQ(problem(MetricId::must_not_contain, {"a", "secret", "z"}, "no secrets"), "found: \"secret\"");
}

TEST(Details, AreOneBoundedLine) {
  EXPECT_EQ(problem(MetricId::must_contain, {"two\nlines"}, "x"), "not found: \"two\\nlines\"");
  const std::string euros =
      "\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac"
      "\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac";
  const auto detail =
      problem(MetricId::must_contain, {euros, euros + "1", euros + "2", euros + "3", euros + "4"}, "x");
  ASSERT_TRUE(detail);
  EXPECT_GT(detail->size(), defaults::max_detail_bytes - 10);
  EXPECT_FALSE(invalid_utf8_at(*detail));
}

TEST(RegexMatch, TakesAllPatternsAnywhereInTheAnswer) {
  EXPECT_EQ(problem(MetricId::regex_match, {R"(\bParis\b)", "^It"}, "It is Paris."), std::nullopt);
  EXPECT_EQ(problem(MetricId::regex_match, {"x+", "P"}, "Paris"), "no match: \"x+\"");
  EXPECT_EQ(problem(MetricId::regex_match, {"(?i)PARIS"}, "paris"), std::nullopt);
  EXPECT_EQ(problem(MetricId::regex_match, {"^b$"}, "a\nb\nc"), "no match: \"^b$\"")
      << "the text's ends, not a line's";
  EXPECT_EQ(problem(MetricId::regex_match, {"(?m)^b$"}, "a\nb\nc"), std::nullopt);
  EXPECT_EQ(problem(MetricId::regex_match, {"a.c"}, "a\nc"), "no match: \"a.c\"");
  EXPECT_EQ(problem(MetricId::regex_match, {"(?s)a.c"}, "a\nc"), std::nullopt);
  EXPECT_EQ(problem(MetricId::regex_match, {"^.$"}, "\u00fc"), std::nullopt) << "characters, not bytes";
  EXPECT_EQ(problem(MetricId::regex_match, {R"(^\p{Greek}+$)"}, "\u03b1\u03b2"), std::nullopt);
  EXPECT_EQ(problem(MetricId::regex_match, {""}, ""), std::nullopt);
}

TEST(RegexNotMatch, ShowsWhatMatched) {
  EXPECT_EQ(problem(MetricId::regex_not_match, {R"(\d{3}-\d{4})"}, "no number"), std::nullopt);
  EXPECT_EQ(problem(MetricId::regex_not_match, {"x", R"(\d{3}-\d{4})"}, "call 555-1234 now"),
            "found: \"555-1234\" (\"\\\\d{3}-\\\\d{4}\")");
}

/// Patterns that take a backtracking engine for ever, on texts that make it.
TEST(RegexMatch, NoPatternHangs) {
  const std::string as(100'000, 'a');
  for (const auto* pattern : {"(a+)+$", "(a|a)*$", "(a|aa)+$", "(.*)*(.*)*(.*)*$",
                              "^(([a-z])+.)+[A-Z]([a-z])+$", "(?:a?){500}a{500}$"}) {
    EXPECT_TRUE(problem(MetricId::regex_match, {std::string(pattern) + "!"}, as + "b")) << pattern;
  }
}

TEST(RegexMatch, WhatDoesNotCompileIsAnErrorValue) {
  const TextChecker assess;
  std::string nested;
  for (int i = 0; i < 10'000; ++i) nested += '(';
  for (const std::string& pattern :
       {std::string("("), std::string("[a"), std::string("*"), std::string("(?!x)"), std::string(R"(\1)"),
        std::string("\xff"), std::string("((a{1000}){1000}){1000}"), nested, std::string("a{2,1}")}) {
    for (const auto metric : {MetricId::regex_match, MetricId::regex_not_match}) {
      const auto outcome = assess.assess("x", {metric, {pattern}});
      ASSERT_FALSE(outcome) << pattern.substr(0, 100);
      EXPECT_EQ(outcome.error().reason, Reason::fixture_invalid);
      EXPECT_LT(outcome.error().message.size(), 500u);
    }
  }
}

TEST(ExactMatch, IgnoresLineEndsAndWhiteSpaceAtTheEnds) {
  EXPECT_EQ(problem(MetricId::exact_match, {"Paris"}, "  Paris\r\n"), std::nullopt);
  EXPECT_EQ(problem(MetricId::exact_match, {"\na\nb\n"}, "a\r\nb"), std::nullopt);
  EXPECT_EQ(problem(MetricId::exact_match, {"Rome", "Paris"}, "Paris"), std::nullopt) << "any of them";
  EXPECT_TRUE(problem(MetricId::exact_match, {"a b"}, "a  b")) << "white space inside counts";
  EXPECT_TRUE(problem(MetricId::exact_match, {"Paris"}, "paris"));
  EXPECT_EQ(problem(MetricId::exact_match, {""}, " \n"), std::nullopt);
}

TEST(ExactMatch, NamesTheFirstDifferenceFromTheNearestText) {
  EXPECT_EQ(problem(MetricId::exact_match, {"abd"}, "abc"),
            "differs from the expected text at byte 3: \"c\" instead of \"d\"");
  EXPECT_EQ(problem(MetricId::exact_match, {"x", "abcde", "abX"}, " abc"),
            "differs from the expected text at byte 4: the end instead of \"de\"");
  EXPECT_EQ(problem(MetricId::exact_match, {"ab"}, "abc"),
            "differs from the expected text at byte 3: \"c\" instead of the end");
  EXPECT_EQ(problem(MetricId::exact_match, {"\u00fc"}, "\u00e4"),
            "differs from the expected text at byte 1: \"\u00e4\" instead of \"\u00fc\"")
      << "not in the middle of a character";
  EXPECT_EQ(problem(MetricId::exact_match, {"Paris"}, ""),
            "differs from the expected text at byte 1: the end instead of \"Paris\"");
}

TEST(TextMetrics, TakeHugeAnswers) {
  const std::string huge(8u << 20, 'x');
  EXPECT_EQ(problem(MetricId::must_contain, {"y"}, huge), "not found: \"y\"");
  EXPECT_EQ(problem(MetricId::regex_match, {"x*y$"}, huge), "no match: \"x*y$\"");
  EXPECT_EQ(problem(MetricId::regex_not_match, {"^x+$"}, huge)->substr(0, 10), "found: \"xx");
  EXPECT_EQ(problem(MetricId::exact_match, {huge}, huge + "\n"), std::nullopt);
  EXPECT_TRUE(problem(MetricId::json_schema, {"{}"}, '"' + huge));
  EXPECT_EQ(problem(MetricId::json_schema, {R"({"type":"string"})"}, '"' + huge + '"'), std::nullopt);
}

TEST(TextChecker, IsAFunctionOfItsArgumentsHoweverManyTextsItHasCompiled) {
  const TextChecker assess;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < defaults::max_compiled + 50; ++i) {
      const auto number = std::to_string(i);
      EXPECT_TRUE(assess.assess(number, {MetricId::regex_match, {"^" + number + "$"}})->passed.value());
      EXPECT_FALSE(
          assess.assess(number + "0", {MetricId::regex_match, {"^" + number + "$"}})->passed.value());
    }
  }
}

TEST(CompiledCache, IsBoundedInEntriesAndBytes) {
  CompiledCache<Pattern> cache;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(cache.get("p" + std::to_string(i)));
    ASSERT_LE(cache.size(), defaults::max_compiled);
  }
  CompiledCache<Pattern> of_long_texts;
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(of_long_texts.get(std::to_string(i) + std::string(60'000, 'x')));
  EXPECT_EQ(of_long_texts.size(), 10u);
  EXPECT_FALSE(cache.get("("));
  EXPECT_FALSE(cache.get("("));
}

TEST(TextChecker, RefusesMetricsThatAreNotItsOwn) {
  for (const auto metric : {MetricId::claims_f1, MetricId::semantic_similarity_to}) {
    EXPECT_EQ(TextChecker().assess("x", {metric, {"x"}}).error().reason, Reason::internal_error);
  }
}

rc::Gen<std::vector<std::string>> some_texts() {
  return rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(
      rc::gen::container<std::string>(rc::gen::element('a', 'b', '\n'))));
}

RC_GTEST_PROP(MustContain, TheOrderOfTheTextsIsIrrelevant, ()) {
  auto texts = *some_texts();
  const auto answer = *rc::gen::container<std::string>(rc::gen::element('a', 'b', '\n'));
  for (const auto metric : {MetricId::must_contain, MetricId::must_not_contain, MetricId::exact_match}) {
    const TextChecker assess;
    const auto passed = assess.assess(answer, {metric, texts})->passed;
    std::ranges::sort(texts);
    do {
      RC_ASSERT(assess.assess(answer, {metric, texts})->passed == passed);
    } while (texts.size() <= 5 && std::ranges::next_permutation(texts).found);
  }
}

RC_GTEST_PROP(MustContain, OneTextEitherIsContainedOrNotContained, ()) {
  const auto texts = std::vector{*rc::gen::container<std::string>(rc::gen::element('a', 'b'))};
  const auto answer = *rc::gen::container<std::string>(rc::gen::element('a', 'b'));
  const TextChecker assess;
  RC_ASSERT(assess.assess(answer, {MetricId::must_contain, texts})->passed !=
            assess.assess(answer, {MetricId::must_not_contain, texts})->passed);
  RC_ASSERT(assess.assess(answer, {MetricId::regex_match, texts})->passed ==
            assess.assess(answer, {MetricId::must_contain, texts})->passed);
}

}  // namespace
}  // namespace sluice

// Checks of an answer's text, its time and its cost, and groups of checks.
#include "worker/scoring/answer_checks.hpp"

#include "tests/unit/scoring/answer_verdict.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::answer_checks_test {

TEST(AnswerChecks, LookForTextsInEveryWay) {
  EXPECT_EQ(verdict("It is Lima.", {MetricId::contains_any, {"Paris", "Lima"}}), "pass");
  EXPECT_EQ(verdict("It is Rome.", {MetricId::contains_any, {"Paris", "Lima"}}),
            "not found: \"Paris\", \"Lima\"");
  EXPECT_EQ(verdict("PARIS, France", {MetricId::icontains, {"paris", "FRANCE"}}), "pass");
  EXPECT_EQ(verdict("PARIS", {MetricId::icontains, {"paris", "FRANCE"}}), "not found: \"FRANCE\"");
  EXPECT_EQ(verdict("PARIS", {MetricId::icontains_any, {"paris", "FRANCE"}}), "pass");
  EXPECT_EQ(verdict("\n Yes, of course", {MetricId::starts_with, {"No", "Yes"}}), "pass");
  EXPECT_EQ(verdict("Well, yes", {MetricId::starts_with, {"Yes"}}), "does not start with: \"Yes\"");
}

// `not_icontains` passed what it was to keep out: only A to Z were taken for a to z.
TEST(AnswerChecks, TakeLettersOfAnyAlphabetInAnyCase) {
  EXPECT_EQ(verdict("In München.", {MetricId::icontains, {"MÜNCHEN", "in"}}), "pass");
  EXPECT_EQ(verdict("In München.", {MetricId::not_icontains, {"MÜNCHEN"}}),
            "it must not pass icontains \"MÜNCHEN\"");
  EXPECT_EQ(verdict("МОСКВА", {MetricId::icontains_any, {"Киев", "Москва"}}), "pass");
  EXPECT_EQ(verdict("МОСКВА", {MetricId::icontains, {"Киев", "Москва"}}), "not found: \"Киев\"");
  EXPECT_EQ(verdict("ΟΔΟΣ", {MetricId::icontains, {"οδος", "ΟΔΌΣ"}}), "not found: \"ΟΔΌΣ\"") << "no accent";
  EXPECT_EQ(verdict("\xC3"
                    "aber \xC3\x84",
                    {MetricId::icontains, {"ABER", "ä"}}),
            "pass")
      << "a byte that is no text";
  EXPECT_EQ(verdict("300 K", {MetricId::icontains, {"300 \u212A"}}), "pass") << "the sign of Kelvin";
  EXPECT_EQ(verdict("Größe", {MetricId::icontains, {"ö.e"}}), "not found: \"ö.e\"") << "no pattern";
}

// The micro sign of a keyboard was another letter than the mu of a Greek text.
TEST(AnswerChecks, TakeTheSmallFormsOfALetterForOne) {
  const std::vector<std::pair<std::string, std::string>> same{
      {"5 \u00B5m", "5 \u03BCM"}, {"5 \u00B5m", "5 \u039Cm"},
      {"\u03D1", "\u03B8"},       {"\u03D1", "\u0398"},
      {"\u03D0", "\u0392"},       {"\u03D5", "\u03A6"},
      {"\u03D6", "\u03A0"},       {"\u03F0", "\u039A"},
      {"\u03F1", "\u03A1"},       {"\u03F5", "\u0395"},
      {"\u1E9B", "\u1E60"},       {"\u1FBE", "\u0399"},
      {"\u03C2", "\u03A3"},       {"\u017F", "S"},
      {"\u1C80", "\u0412"},       {"\u1C88", "\uA64A"},
      {"\u1FD3", "\u0390"},       {"\uFB05", "\uFB06"},
      {"\uAB70", "\u13A0"}};
  for (const auto& [one, other] : same) {
    EXPECT_EQ(verdict(one, {MetricId::icontains, {other}}), "pass") << one << " " << other;
    EXPECT_EQ(verdict(other, {MetricId::icontains, {one}}), "pass") << other << " " << one;
  }
  EXPECT_NE(verdict("ß", {MetricId::icontains, {"ss"}}), "pass");
}

TEST(AnswerChecks, AreTurnedRound) {
  EXPECT_EQ(verdict("PARIS", {MetricId::not_icontains, {"paris"}}), "it must not pass icontains \"paris\"");
  EXPECT_EQ(verdict("Rome", {MetricId::not_icontains, {"paris"}}), "pass");
  EXPECT_EQ(verdict("Rome", {MetricId::not_icontains_any, {"paris", "lima"}}), "pass");
  EXPECT_EQ(verdict("LIMA", {MetricId::not_icontains_any, {"paris", "lima"}}),
            "it must not pass icontains_any \"paris\", \"lima\"");
  EXPECT_EQ(verdict("Paris ", {MetricId::not_exact_match, {"Paris"}}),
            "it must not pass exact_match \"Paris\"");
  EXPECT_EQ(verdict("{}", {MetricId::not_json_schema, {"{}"}}), "it must not pass json_schema \"{}\"");
  EXPECT_EQ(verdict("none", {MetricId::not_json_schema, {"{}"}}), "pass");
  EXPECT_EQ(verdict("a b", {MetricId::not_rouge_n, {"a b"}, {1}}), "score 0");
}

// What no check knew passed the opposite.
TEST(AnswerChecks, WhereACheckGivesUpItsOppositeIsUndecided) {
  const auto outcome = [](const std::string& answer, const TextExpectation& expectation) {
    return *TextChecker().assess(CheckedAnswer(answer), expectation);
  };
  std::string links;
  for (int i = 0; i < 257; ++i) links += "[link](url) ";
  const std::string schema = R"({"type":"object"})";
  EXPECT_TRUE(outcome(links + "{}", {MetricId::not_contains_json, {schema}}).is_undecided());
  EXPECT_EQ(outcome("[link](url)", {MetricId::not_contains_json, {schema}}).passed, true);
  const std::string deep = std::string(200, '[') + std::string(200, ']');
  EXPECT_TRUE(outcome(deep, {MetricId::not_json_schema, {"{}"}}).is_undecided());
  EXPECT_EQ(outcome(deep, {MetricId::json_schema, {"{}"}}).passed, false);
  const auto grouped = [&](MetricId group, MetricId part) {
    TextExpectation of{group, {}, {1.0}};
    of.parts = {{part, {"{}"}}};
    return outcome(deep, of);
  };
  EXPECT_TRUE(grouped(MetricId::not_any_of, MetricId::json_schema).is_undecided());
  EXPECT_TRUE(grouped(MetricId::not_all_of, MetricId::json_schema).is_undecided());
  EXPECT_TRUE(grouped(MetricId::any_of, MetricId::not_json_schema).is_undecided());
  EXPECT_EQ(grouped(MetricId::any_of, MetricId::json_schema).passed, false);
  EXPECT_EQ(grouped(MetricId::not_any_of, MetricId::not_json_schema).passed, false);
}

TEST(AnswerChecks, AScoreAtItsLimitIsEnoughForAPartOfAGroup) {
  // 9 of 10 words are shared: 1 - 0.9 is less than 0.1 by a last bit.
  TextExpectation part{MetricId::not_rouge_n, {"a b c d e f g h i j"}, {1, 0.1}};
  TextExpectation group{MetricId::all_of, {}, {1.0}};
  group.parts = {part};
  EXPECT_EQ(verdict("a b c d e f g h i x", group), "pass");
}

TEST(AnswerChecks, FindJsonAmongWords) {
  const std::string schema = R"({"type":"object","required":["id"]})";
  EXPECT_EQ(verdict(R"(Here: {"id": 17, "note": "a } b"} Done.)", {MetricId::contains_json, {schema}}),
            "pass");
  EXPECT_EQ(verdict(R"([1] and {"x": 1} and then {"id": 2})", {MetricId::contains_json, {schema}}), "pass");
  EXPECT_EQ(verdict(R"(a { b {"id": 2})", {MetricId::contains_json, {schema}}), "pass")
      << "one that never closes";
  EXPECT_EQ(verdict("no JSON here", {MetricId::contains_json, {"{}"}}),
            "no JSON object or array stands in it");
  EXPECT_NE(verdict(R"({"x": 1})", {MetricId::contains_json, {schema}}).find("does not fit the schema"),
            std::string::npos);
  EXPECT_EQ(verdict(R"({"result": [{"x": 1}, {"id": 2}]})", {MetricId::contains_json, {schema}}), "pass")
      << "in one that does not fit";
  EXPECT_NE(verdict(R"({"result": [{"x": 1}]})", {MetricId::contains_json, {schema}}), "pass");
}

TEST(AnswerChecks, LookForJsonAtSoManyBracketsAndSaySo) {
  const std::string said = " (looked at its first 256 brackets alone)";
  EXPECT_EQ(verdict(std::string(100'000, '['), {MetricId::contains_json, {"{}"}}),
            "no JSON object or array stands in it" + said);
  EXPECT_EQ(verdict(std::string(256, '['), {MetricId::contains_json, {"{}"}}),
            "no JSON object or array stands in it");
  const std::string schema = R"({"type":"object"})";
  EXPECT_EQ(verdict(std::string(255, '[') + "{}", {MetricId::contains_json, {schema}}), "pass");
  EXPECT_TRUE(verdict(std::string(256, '[') + "{}", {MetricId::contains_json, {schema}}).ends_with(said));
  std::string list = "[";
  for (int i = 0; i < 256; ++i) list += "[],";
  const std::string unfit = verdict(list + "{}]", {MetricId::contains_json, {schema}});
  EXPECT_NE(unfit.find("does not fit the schema"), std::string::npos) << unfit;
  EXPECT_TRUE(unfit.ends_with(said)) << unfit;
}

// 8 MB were read again from each of 256 brackets: it took 42 s.
TEST(AnswerChecks, LookForJsonInSoManyBytesAndSaySo) {
  const std::string deep = std::string(1u << 22, '[') + std::string(1u << 22, ']');
  EXPECT_TRUE(
      verdict(deep, {MetricId::contains_json, {"{}"}}).ends_with(" (looked at its first 5 brackets alone)"));
  EXPECT_EQ(verdict(deep, {MetricId::not_contains_json, {"{}"}}).find("undecided: "), 0u);
  EXPECT_EQ(verdict("{}" + deep, {MetricId::contains_json, {"{}"}}), "pass");
}

TEST(AnswerChecks, CountChanges) {
  EXPECT_EQ(verdict(" Pariss\n", {MetricId::levenshtein, {"Rome", "Paris"}, {1}}), "pass");
  EXPECT_EQ(verdict("London", {MetricId::levenshtein, {"Paris"}, {2}}), "more than 2 changes from \"Paris\"");
}

TEST(AnswerChecks, ScoreSharedRunsOfWords) {
  EXPECT_EQ(rouge_n("The cat sat.", {"the cat sat"}, 1), 1.0);
  EXPECT_EQ(rouge_n("the cat", {"the cat sat down"}, 1), 0.666667);
  EXPECT_EQ(rouge_n("the cat sat", {"cat the sat"}, 2), 0.0);
  EXPECT_EQ(rouge_n("a b c", {"x", "b c d"}, 2), 0.5) << "the greatest";
  EXPECT_EQ(rouge_n("a a a", {"a"}, 1), 0.5) << "each counts once";
  EXPECT_EQ(rouge_n("", {"a"}, 1), 0.0);
  EXPECT_EQ(rouge_n("a", {"..."}, 1), std::nullopt);
  EXPECT_EQ(rouge_n("\xe2\x80\x9cthe cat\xe2\x80\x9d\xe2\x80\x94sat\xe2\x80\xa6", {"the cat sat"}, 1), 1.0)
      << "quotes, a dash and dots of Unicode";
  EXPECT_EQ(rouge_n("the\xc2\xa0"
                    "cat \xc2\xab"
                    "sat\xc2\xbb",
                    {"the cat sat"}, 1),
            1.0);
  EXPECT_EQ(rouge_n("\xe7\x8c\xab\xe3\x80\x81\xe7\x8a\xac\xe3\x80\x82", {"\xe7\x8c\xab \xe7\x8a\xac"}, 1),
            1.0);
  EXPECT_EQ(rouge_n("a\xe2\x81\x9f"
                    "b",
                    {"a b"}, 1),
            1.0)
      << "U+205F";
  EXPECT_EQ(rouge_n("x\xe2\x81\xb4", {"x"}, 1), 0.0) << "U+2074 is a digit";
  EXPECT_EQ(rouge_n("caf\xc3\xa9", {"caf"}, 1), 0.0) << "an accent is of its word";
}

TEST(AnswerChecks, JudgeTimeAndCostOnlyWhereTheyAreKnown) {
  CheckedAnswer answer("text");
  EXPECT_NE(verdict(answer, {MetricId::latency, {}, {200}}).find("is not known"), std::string::npos);
  EXPECT_NE(verdict(answer, {MetricId::cost, {}, {0.01, 1, 2}}).find("is not known"), std::string::npos);
  EXPECT_NE(verdict(answer, {MetricId::not_cost, {}, {0.01, 1, 2}}).find("is not known"), std::string::npos);
  EXPECT_EQ(verdict(answer, {MetricId::cost, {}, {0.01, 0, 0}}), "pass") << "of a model that is free";
  answer.latency_ms = 201;
  EXPECT_EQ(verdict(answer, {MetricId::latency, {}, {200}}), "took 201 ms, more than 200");
  EXPECT_EQ(verdict(answer, {MetricId::latency, {}, {201}}), "pass");
  answer.usage = {1000, 500};
  EXPECT_EQ(verdict(answer, {MetricId::cost, {}, {0.002, 1, 2}}), "pass");
  EXPECT_EQ(verdict(answer, {MetricId::cost, {}, {0.0019, 1, 2}}), "cost $0.002, more than $0.0019");
  EXPECT_EQ(verdict(answer, {MetricId::cost, {}, {1e-7, 0.001, 0.002}}),
            "cost $0.000002, more than $0.0000001");
}

// --refresh was named, which changes nothing of a recorded answer.
TEST(AnswerChecks, WhatIsNotKnownOfARecordedAnswerHasARemedyOfItsOwn) {
  CheckedAnswer answer("text");
  const TextExpectation in_time{MetricId::latency, {}, {200}};
  const TextExpectation cheap{MetricId::cost, {}, {0.01, 1, 2}};
  EXPECT_NE(verdict(answer, in_time).find("--refresh"), std::string::npos);
  EXPECT_NE(verdict(answer, cheap).find("--refresh"), std::string::npos);
  answer.is_recorded = true;
  for (const TextExpectation& check : {in_time, cheap}) {
    EXPECT_EQ(verdict(answer, check).find("--refresh"), std::string::npos) << verdict(answer, check);
    EXPECT_NE(verdict(answer, check).find("--answers"), std::string::npos) << verdict(answer, check);
  }
  EXPECT_NE(verdict(answer, cheap).find("\"input_tokens\""), std::string::npos) << verdict(answer, cheap);
}

// 0.00055 was more than 0.00055: in binary the sum is a trifle above it.
TEST(AnswerChecks, ACostAtItsLimitPasses) {
  CheckedAnswer answer("text");
  answer.usage = {100, 100};
  EXPECT_EQ(verdict(answer, {MetricId::cost, {}, {0.00055, 1.10, 4.40}}), "pass");
  EXPECT_NE(verdict(answer, {MetricId::not_cost, {}, {0.00055, 1.10, 4.40}}), "pass");
  EXPECT_EQ(verdict(answer, {MetricId::cost, {}, {0.000549999, 1.10, 4.40}}),
            "cost $0.00055, more than $0.000549999");
}

TextExpectation part(std::string text, double weight = 1.0) {
  TextExpectation one{MetricId::icontains, {std::move(text)}};
  one.weight = weight;
  return one;
}

TEST(AnswerChecks, GroupsPassByOneOrByAMark) {
  TextExpectation any{MetricId::any_of, {}, {1}, 1.0, {part("a"), part("b")}};
  EXPECT_EQ(verdict("b", any), "pass");
  EXPECT_EQ(verdict("x", any), "none passes: icontains: not found: \"a\"; icontains: not found: \"b\"");
  TextExpectation all{MetricId::all_of, {}, {0.75}, 1.0, {part("a", 3.0), part("b")}};
  EXPECT_EQ(verdict("a", all), "pass: reaches 0.75 of 0.75: icontains: not found: \"b\"")
      << "nothing else showed that a part had failed";
  EXPECT_EQ(verdict("a b", all), "pass");
  EXPECT_EQ(verdict("b", all), "reaches 0.25 of 0.75: icontains: not found: \"a\"");
  all.metric = MetricId::not_all_of;
  EXPECT_EQ(verdict("a", all), "it must not pass all_of");
  TextExpectation rouge{MetricId::rouge_n, {"a b"}, {1, 0.6}};
  any.parts = {rouge};
  EXPECT_EQ(verdict("a b c", any), "pass");
  EXPECT_EQ(verdict("a c d", any), "none passes: rouge_n has the score 0.4");
  TextExpectation inner{MetricId::any_of, {}, {1}, 1.0, {TextExpectation{MetricId::regex_match, {"("}}}};
  any.parts = {part("a"), inner};
  EXPECT_TRUE(verdict("a", any).starts_with("error: "))
      << "what cannot be assessed is no failure of the answer";
  any.parts = {part("a"), {MetricId::rouge_n, {"b"}, {2, 0.5}}};
  EXPECT_EQ(verdict("a", any), "pass") << "the other part decides";
  EXPECT_TRUE(verdict("x", any).starts_with("undecided: rouge_n is undefined")) << verdict("x", any);
  any.metric = MetricId::not_any_of;
  EXPECT_TRUE(verdict("x", any).starts_with("undecided: ")) << verdict("x", any);
  any.metric = MetricId::all_of;
  EXPECT_TRUE(verdict("a", any).starts_with("undecided: ")) << verdict("a", any);
  EXPECT_TRUE(verdict("x", any).starts_with("reaches 0 of 1: ")) << verdict("x", any);
  any.metric = MetricId::not_all_of;
  EXPECT_TRUE(verdict("a", any).starts_with("undecided: ")) << verdict("a", any);
}

TEST(AnswerChecks, WithoutWhatTheyAssessByAreIncomplete) {
  EXPECT_TRUE(is_complete({MetricId::icontains, {"a"}}));
  for (const TextExpectation& one : std::vector<TextExpectation>{
           {MetricId::icontains, {}},
           {MetricId::levenshtein, {"a"}},
           {MetricId::levenshtein, {"a"}, {1e6}},
           {MetricId::levenshtein, {"a"}, {-1}},
           {MetricId::rouge_n, {"a"}, {0}},
           {MetricId::tool_call, {"a"}},
           {MetricId::latency, {}},
           {MetricId::cost, {}, {1}},
           {MetricId::any_of, {}, {1}},
           {MetricId::all_of, {}, {1}, 1.0, {{MetricId::icontains, {}}}},
       }) {
    EXPECT_FALSE(is_complete(one)) << info(one.metric).name;
  }
}

}  // namespace sluice::answer_checks_test

#include "worker/units/unit_result.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

WorkUnit unit() {
  WorkUnit work;
  work.unit = 4;
  work.key = sha256("unit 4");
  work.tasks = {{8, {}, {}, 0.0, true, {}}, {9, {{"a/b", "p", true, std::nullopt}}, {}, 0.0, true, {}}};
  return work;
}

TEST(UnitResult, AnAnswerIsScoredForEachTrial) {
  const Spend spend{2, 1, 0, false, {10, 5}, 40};
  Completion completion;
  completion.text = R"({"claims":[]})";
  completion.usage = {10, 5};
  const auto result = unit_result(unit(), {Ontology(), TextChecker()}, completion, {}, spend);
  EXPECT_EQ(result.unit, 4u);
  EXPECT_EQ(result.key, unit().key);
  EXPECT_FALSE(result.error);
  EXPECT_EQ(result.answer, answer_digest(completion));
  EXPECT_EQ(result.usage, (Usage{10, 5}));
  EXPECT_EQ(result.spend, spend);
  ASSERT_EQ(result.scores.size(), 2u);
  EXPECT_EQ(result.scores[0].trial, 8u);
  EXPECT_EQ(result.scores[1].trial, 9u);
  EXPECT_EQ(result.scores[1].claims.missing, std::vector<std::uint32_t>{0});
}

TEST(UnitResult, AnErrorIsAResultWithoutScores) {
  const Spend spend{1, 0, 1, false, {}, 7};
  const auto result =
      unit_result(unit(), {Ontology(), TextChecker()}, Error{Reason::request_refused, "no"}, {}, spend);
  EXPECT_EQ(result.unit, 4u);
  EXPECT_EQ(result.key, unit().key);
  ASSERT_TRUE(result.error);
  EXPECT_EQ(result.error->reason, Reason::request_refused);
  EXPECT_EQ(result.spend, spend);
  EXPECT_TRUE(result.scores.empty());
  EXPECT_TRUE(is_zero(result.answer));
}

TEST(UnitResult, AKeyThatACacheHoldsGoesNoFurther) {
  const KeyMask keys(std::string_view("sk-secret-1234"));
  Completion stored;
  stored.text = R"({"claims":[{"subject":"a/b","predicate":"p","value":"SK-Secret-1234","confidence":1}]})";
  const auto result =
      unit_result(unit(), {Ontology(), TextChecker()}, stored, {}, {},
                  {std::vector<ParsedClaim>{{"a/b", "p", std::string("SK-Secret-1234"), 1.0, {}}}}, keys);
  EXPECT_EQ(result.answer, answer_digest(stored)) << "it is known by what the cache holds";
  ASSERT_EQ(result.claims.size(), 1u);
  EXPECT_EQ(result.claims[0].value, ClaimValue(std::string("[key]")));
  EXPECT_EQ(result.parsed[0].value, ClaimValue(std::string("[key]")));

  Completion refused;
  refused.text = "no: sk-secret-1234";
  refused.non_answer = Error{Reason::refusal, "declined: sk-secret-1234"};
  const auto refusal = unit_result(unit(), {Ontology(), TextChecker()}, refused, {}, {}, {}, keys);
  EXPECT_EQ(refusal.error, (Error{Reason::refusal, "declined: [key]"}));
  EXPECT_EQ(refusal.shown_text, "no: [key]");
}

}  // namespace
}  // namespace sluice

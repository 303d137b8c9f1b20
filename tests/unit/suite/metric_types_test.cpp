// Which metrics `expected` may name, and which keys they take.
#include "coordinator/suite/expectations/metric_types.hpp"

#include "common/text/words.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(MetricTypes, AreCalledByTheirNamesAndThoseOfOthers) {
  EXPECT_EQ(metric_called("must_contain"), MetricId::must_contain);
  EXPECT_EQ(metric_called("must-contain"), MetricId::must_contain);
  EXPECT_EQ(metric_called("contains"), MetricId::must_contain);
  EXPECT_EQ(metric_called("not-contains-any"), MetricId::must_not_contain);
  EXPECT_EQ(metric_called("not-is-json"), MetricId::not_json_schema);
  EXPECT_EQ(metric_called("Must_contain"), std::nullopt);
  EXPECT_EQ(metric_called(""), std::nullopt);
}

// `is_json` and `json_schema` are one metric, which take other keys.
TEST(MetricTypes, HaveTheirParameterByTheNameThatIsUsed) {
  ASSERT_NE(type_called("is_json"), nullptr);
  EXPECT_EQ(type_called("is_json")->id, type_called("json_schema")->id);
  EXPECT_EQ(type_called("is_json")->parameter, Parameter::json);
  EXPECT_EQ(type_called("json_schema")->parameter, Parameter::schema);
  EXPECT_EQ(type_called("no_metric"), nullptr);
}

TEST(MetricTypes, OfWhichNoModelIsAskedMayBeParts) {
  EXPECT_TRUE(type_called("regex")->may_be_part());
  EXPECT_TRUE(type_called("any_of")->may_be_part());
  for (const char* name : {"claims_recall", "faithfulness", "llm-rubric", "similar"})
    EXPECT_FALSE(type_called(name)->may_be_part()) << name;
}

TEST(MetricTypes, NameTheKeysThatTheyTake) {
  EXPECT_EQ(keys_of(Parameter::pattern), "\"pattern\"");
  EXPECT_EQ(keys_of(Parameter::rouge), "\"text\" and \"n\"");
  EXPECT_EQ(keys_of(Parameter::all_of), "\"of\" and \"pass_mark\"");
  EXPECT_EQ(keys_of(Parameter::any_of), "\"of\"");
}

TEST(MetricTypes, WithAScoreAreListedWithoutThoseTurnedRoundAndOtherNames) {
  const auto scored = names_of_scored_types();
  EXPECT_TRUE(scored.starts_with("rouge_n, command_score, ")) << scored;
  EXPECT_NE(scored.find("claims_f1"), std::string::npos) << scored;
  EXPECT_EQ(scored.find("not_rouge_n"), std::string::npos) << scored;
  EXPECT_EQ(scored.find("must_contain"), std::string::npos) << scored;
}

TEST(MetricTypes, HaveOppositesButForWhatAModelScores) {
  const auto opposite = [](const char* name) {
    const MetricType* found = opposite_of(*type_called(name));
    return found != nullptr ? std::string(found->name()) : "";
  };
  EXPECT_EQ(opposite("must_contain"), "must_not_contain");
  EXPECT_EQ(opposite("contains"), "not_contains");
  EXPECT_EQ(opposite("regex_match"), "regex_not_match");
  EXPECT_EQ(opposite("rouge_n"), "not_rouge_n");
  for (const char* name : {"rubric", "llm_rubric", "faithfulness", "similar", "claims_f1", "must_not_contain",
                           "not_rouge_n", "contains_all"})
    EXPECT_EQ(opposite(name), "") << name;
}

TEST(MetricTypes, TheNearestIsFoundAmongAllNames) {
  const auto nearest = [](const char* name) {
    const MetricType* found = nearest_type(name);
    return found != nullptr ? std::string(found->name()) : "";
  };
  EXPECT_EQ(nearest("must-contian"), "must_contain");
  EXPECT_EQ(nearest("icontains_al"), "icontains_all");
  EXPECT_EQ(nearest("zzzzzzzzzzzz"), "");
}

// "not_rubric" was near to "rubric", which asks for the opposite.
TEST(MetricTypes, TheNearestSaysNotAsOftenAsTheName) {
  const auto nearest = [](const char* name) {
    const MetricType* found = nearest_type(name);
    return found != nullptr ? std::string(found->name()) : "";
  };
  for (const char* name : {"not_rubric", "not_llm_rubric", "not_faithfulness", "not_semantic_similarity_to",
                           "not_must_not_contain", "not_not_contains"})
    EXPECT_EQ(nearest(name), "") << name;
  EXPECT_EQ(nearest("nto_contains"), "not_contains");
  EXPECT_EQ(nearest("no_contains"), "not_contains");
  EXPECT_EQ(nearest("notcontains"), "not_contains");
  EXPECT_EQ(nearest("not_refusl"), "not_refusal");
  EXPECT_EQ(nearest("mustnt_contain"), "must_not_contain");
  EXPECT_EQ(nearest("isnt_json"), "");
  for (const char* positive : {"rouge_n", "cost", "tool_call", "semantic_similarity_to", "claims_absent"})
    EXPECT_EQ(negations_in(positive), 0u) << positive;
  EXPECT_EQ(negations_in("regex_not_match"), 1u);
}

TEST(MetricTypes, AreLikeANameThatSharesAWord) {
  EXPECT_EQ(names_like("json_valid"),
            (std::vector<std::string_view>{"json_schema", "contains_json", "tool_calls_valid", "is_json"}));
  EXPECT_EQ(names_like("sentiment"), std::vector<std::string_view>());
  EXPECT_LE(names_like("contain_words").size(), 4u);
}

}  // namespace
}  // namespace sluice

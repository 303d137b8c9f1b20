// Which metrics `expected` may name, and which keys they take.
#include "coordinator/suite/expectations/metric_types.hpp"

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

TEST(MetricTypes, AreListedWithoutThoseTurnedRoundAndOtherNames) {
  const auto names = names_of_types(false);
  EXPECT_TRUE(names.starts_with("must_contain, must_not_contain, ")) << names;
  EXPECT_EQ(names.find("not_equals"), std::string::npos) << names;
  EXPECT_EQ(names.find("not_rouge_n"), std::string::npos) << names;
  const auto scored = names_of_types(true);
  EXPECT_NE(scored.find("claims_f1"), std::string::npos) << scored;
  EXPECT_EQ(scored.find("must_contain"), std::string::npos) << scored;
}

TEST(MetricTypes, TheNearestIsFoundAmongAllNames) {
  EXPECT_NE(nearest_type("must-contian").find("\"must_contain\""), std::string::npos);
  EXPECT_NE(nearest_type("icontains_al").find("\"icontains_all\""), std::string::npos);
  EXPECT_EQ(nearest_type("zzzzzzzzzzzz"), "");
}

}  // namespace
}  // namespace sluice

#include "worker/units/answer_schema.hpp"

#include "common/model/request.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace answer_schema_test {

TEST(AnswerSchema, FreeTextIsAnAnswerAsItStands) {
  const auto read = read_answer("", "anything at all");
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->claims);
  EXPECT_EQ(mock_answer(""), "");
}

TEST(AnswerSchema, ClaimsAreRead) {
  const auto read = read_answer(
      claims_schema_name, R"({"claims":[{"subject":"a/b","predicate":"p","value":true,"confidence":1}]})");
  ASSERT_TRUE(read && read->claims);
  EXPECT_EQ(read->claims->at(0).subject, "a/b");
  const auto prose = read_answer(claims_schema_name, "I cannot say.");
  ASSERT_FALSE(prose);
  EXPECT_EQ(prose.error().reason, Reason::unparsable_answer);
}

TEST(AnswerSchema, AMockAnswerCanBeRead) {
  const auto read = read_answer(claims_schema_name, mock_answer(claims_schema_name));
  ASSERT_TRUE(read && read->claims);
  EXPECT_TRUE(read->claims->empty());
}

TEST(AnswerSchema, ASchemaThatNobodyReadsIsAnErrorNotAnAnswer) {
  const auto read = read_answer("weather", "{}");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().reason, Reason::internal_error);
  EXPECT_NE(read.error().message.find("\"weather\""), std::string::npos);
}

}  // namespace answer_schema_test
}  // namespace sluice

#include "coordinator/observations/observation_page.hpp"

#include "coordinator/observations/observation_text.hpp"
#include "tests/support/nested_json.hpp"

#include <string>

#include <gtest/gtest.h>

namespace sluice::observation_page_test {

// Of a file that somebody changed: they would be walked by a recursion, or be taken for what they are not.
TEST(ObservationPage, ColumnsThatNestDeeplyOrAreOfOtherTypesAreShownWithoutThem) {
  Observation one;
  one.case_id = "a";
  for (JsonText* column : {&one.parsed_claims, &one.final_claims, &one.metrics})
    column->text = R"([{"name": )" + support::nested_json + R"(, "value": )" + support::nested_json + "}]";
  EXPECT_EQ(observation_page(one).find("Metrics"), std::string::npos);
  EXPECT_FALSE(first_failed_metric(one.metrics));
  EXPECT_EQ(claim_lines(one.final_claims, "subject"), "");
  one.final_claims.text = R"([{"subject": "s", "fuzzy_matched": "yes", "matched_ontology": 1}])";
  one.metrics.text =
      R"([{"name": "m", "judge": {"scores": {"a": 1}, "samples": "b"}}, {"name": "n", "judge": 1}])";
  EXPECT_NE(observation_page(one).find("  m undefined\n"), std::string::npos) << observation_page(one);
}

// The rationale of a judge, which may quote the answer, came to a build server as a command.
TEST(ObservationPage, HoldsNoCommandsToABuildServer) {
  Observation one;
  one.case_id = "::error::id";
  one.raw_response = "::error::answer";
  one.metrics.text =
      R"([{"name": "rubric", "score": 0, "passed": false, "detail": "##[error]detail", "judge": )"
      R"({"source": "judge", "samples": [false], "scores": [0], "rationale": "::error::vote"}}])";
  const std::string page = observation_page(one);
  for (const char* text : {"\n::", " ::", "##["}) EXPECT_EQ(page.find(text), std::string::npos) << page;
  EXPECT_FALSE(page.starts_with("::")) << page;
  EXPECT_NE(page.find(":error::vote"), std::string::npos) << page;
}

TEST(ObservationPage, ScoresAreRoundedAsTheyAreCompared) {
  Observation one;
  one.metrics.text = R"([{"name": "rubric", "score": 0.6000000000000001, "passed": true}])";
  EXPECT_NE(observation_page(one).find("  rubric passed 0.6\n"), std::string::npos) << observation_page(one);
}

TEST(ObservationPage, TokensThatAreNotKnownAreNotNone) {
  // An answer that could not be read was shown as one of 0 tokens.
  Observation unread;
  unread.calls = 1;
  EXPECT_EQ(observation_page(unread).find("tokens unknown"), std::string::npos) << "nothing came back";
  unread.raw_response = "no claims";
  EXPECT_NE(observation_page(unread).find("tokens unknown"), std::string::npos);
  // So was a recorded one without `usage`, at a cost of nothing.
  Observation recorded;
  recorded.raw_response = "Paris";
  recorded.finish_reason = "recorded";
  recorded.cost = 0.0;
  EXPECT_NE(observation_page(recorded).find(", tokens unknown\n"), std::string::npos)
      << observation_page(recorded);
  recorded.input_tokens = 9;
  EXPECT_NE(observation_page(recorded).find(", 9 tokens in, 0 out, $0.00\n"), std::string::npos);
  recorded.input_tokens = 1;
  EXPECT_NE(observation_page(recorded).find(", 1 token in, 0 out, $0.00\n"), std::string::npos);
}

}  // namespace sluice::observation_page_test

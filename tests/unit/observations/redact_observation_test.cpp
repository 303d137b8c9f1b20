#include "common/checks/redactor.hpp"
#include "coordinator/observations/observation_page.hpp"
#include "coordinator/observations/observe.hpp"
#include "tests/support/nested_json.hpp"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice::redact_observation_test {

using nlohmann::json;

Observation trial(const std::string& answer, const std::string& metrics = "[]") {
  Observation one;
  one.case_id = "a";
  one.status = "pass";
  one.raw_response = answer;
  one.metrics.text = metrics;
  return one;
}

TEST(RedactObservation, JsonStaysJsonWhateverAPatternMatches) {
  const RedactionPattern pattern{"odd", "canary[^x]*"};
  const Redactor redactor = *Redactor::make({&pattern, 1});
  auto one = trial("a canary", R"([{"name": "m", "detail": "canary", "passed": true}])");
  one.system_prompt = share("canary");
  one.error = "canary";
  redact(one, redactor);
  EXPECT_EQ(one.raw_response, "a [redacted odd]");
  EXPECT_EQ(*one.system_prompt, "[redacted odd]");
  EXPECT_EQ(*one.error, "[redacted odd]");
  EXPECT_EQ(json::parse(one.metrics.text),
            json::parse(R"([{"name": "m", "detail": "[redacted odd]", "passed": true}])"));
}

// The answer did not show it any more, and the claim that was read from it did.
TEST(RedactObservation, ValuesOfClaimsThatAreNumbersAreRedactedByTheirDigits) {
  const RedactionPattern pattern{"card", "[0-9]{16}"};
  const Redactor redactor = *Redactor::make({&pattern, 1});
  auto one = trial("x");
  one.parsed_claims.text =
      R"([{"subject": "s", "value": 4e15, "confidence": 0.1234567890123456, "line": 1}])";
  one.final_claims.text = R"([{"concept_path": "s", "value": 12}, 4000000000000000])";
  const std::string final_claims = one.final_claims.text;
  redact(one, redactor);
  const json claim = json::parse(one.parsed_claims.text).at(0);
  EXPECT_EQ(claim["value"], "[redacted card]");
  EXPECT_EQ(claim["confidence"], 0.1234567890123456);
  EXPECT_EQ(one.final_claims.text, final_claims);
}

// A file of observations may come from anywhere: brackets by the ten thousand overflowed the stack.
TEST(RedactObservation, JsonMayNestAsDeeplyAsItLikes) {
  const RedactionPattern pattern{"odd", "canary"};
  const Redactor redactor = *Redactor::make({&pattern, 1});
  const std::string lists = std::string(200'000, '[') + "\"canary\"" + std::string(200'000, ']');
  auto one = trial("text", lists);
  one.final_claims.text = R"([{"predicate":"p","value":)" + lists + "}]";
  EXPECT_NE(observation_page(one).find("text"), std::string::npos);
  redact(one, redactor);
  for (const std::string* text : {&one.metrics.text, &one.final_claims.text})
    EXPECT_EQ(text->find("canary"), std::string::npos);
}

// Of a file that somebody changed.
TEST(RedactObservation, TextsThatAreNoJsonOrNestDeeplyAreRedactedAsTheyStand) {
  const RedactionPattern pattern{"odd", "canary"};
  const Redactor redactor = *Redactor::make({&pattern, 1});
  for (const std::string& text : {R"(["canary", )" + support::nested_json + "]", std::string("[canary")}) {
    auto one = trial("x", text);
    redact(one, redactor);
    EXPECT_EQ(one.metrics.text.find("canary"), std::string::npos);
  }
}

}  // namespace sluice::redact_observation_test

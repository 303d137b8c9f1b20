#include "coordinator/gate/recorded_differences.hpp"

#include "coordinator/suite/answers/recorded_answers.hpp"
#include "gate_fixture.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

/// A test with three votes on a recorded answer.
Case recorded_test(std::string id, std::optional<std::string> context = std::nullopt) {
  AnsweredTest answered;
  answered.context = std::move(context);
  Case test = judged_test(std::move(id));
  test.recorded = std::make_shared<const AnsweredTest>(answered);
  return test;
}

std::vector<GateNotice> notices_of(const std::vector<Case>& tests, std::optional<std::uint32_t> samples) {
  RecordedDifferences differences(samples);
  for (const Case& test : tests)
    differences.visit(test, assess_votes(gate_of(nullptr), test, votes({0.9, 0.9, 0.9})).metrics);
  return differences.finish();
}

// The judge was shown the suite's text, and the answer was given to the one that was retrieved.
TEST(RecordedDifferences, AnotherContextThanTheMetricsOwnIsSaidOnce) {
  std::vector<Case> tests{recorded_test("a", "retrieved"), recorded_test("b", "retrieved"),
                          recorded_test("same", "gold"), recorded_test("none")};
  for (Case& test : tests) test.expectations.front().judge->context = "gold";
  tests.push_back(recorded_test("takes_it", "retrieved"));
  const auto notices = notices_of(tests, std::nullopt);
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices.front().code, "recorded_context_unused");
  EXPECT_FALSE(notices.front().decides);
  EXPECT_NE(notices.front().message.find("faithfulness of 2 cases (first `a`)"), std::string::npos)
      << notices.front().message;
}

// A test that asks for five votes passed by three, without a word.
TEST(RecordedDifferences, AnotherNumberOfVotesThanIsAskedForIsSaid) {
  Case five = recorded_test("five");
  five.expectations.front().judge->samples = 5;
  const auto of_test = notices_of({five, recorded_test("any")}, std::nullopt);
  ASSERT_EQ(of_test.size(), 1u);
  EXPECT_EQ(of_test.front().code, "recorded_votes_differ");
  EXPECT_NE(of_test.front().message.find("faithfulness of 1 case (`five`)"), std::string::npos);
  EXPECT_EQ(notices_of({recorded_test("any")}, 5).size(), 1u) << "settings ask for as many";
  EXPECT_TRUE(notices_of({recorded_test("any")}, 3).empty());
  Case asked_anew = five;
  asked_anew.recorded = nullptr;
  EXPECT_TRUE(notices_of({asked_anew}, std::nullopt).empty());
}

}  // namespace
}  // namespace sluice

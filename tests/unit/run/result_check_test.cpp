#include "coordinator/run/result_check.hpp"

#include "coordinator/run/commit_replies.hpp"
#include "tests/unit/run/run_fixture.hpp"

namespace sluice {
namespace {

class ResultCheckTest : public RunControllerTest {};

TEST_F(ResultCheckTest, AnAnswerForEachTrialOfTheUnitIsRecorded) {
  EXPECT_EQ(check_result(answered(2), plan), ResultStep::record);
  auto result = answered(2);
  result.scores.pop_back();
  EXPECT_EQ(check_result(result, plan), ResultStep::refuse) << "a trial is missing";
  result = answered(2);
  std::ranges::reverse(result.scores);
  EXPECT_EQ(check_result(result, plan), ResultStep::refuse) << "in another order";
}

TEST_F(ResultCheckTest, WhatIsNotOfThisPlanIsRefused) {
  auto result = answered(0);
  result.unit = 99;
  EXPECT_EQ(check_result(result, plan), ResultStep::refuse);
  result = answered(0);
  result.key = sha256("another request");
  EXPECT_EQ(check_result(result, plan), ResultStep::refuse);
  result = failed(0, Reason::timed_out);
  result.scores.push_back({0, {}, {}});
  EXPECT_EQ(check_result(result, plan), ResultStep::refuse) << "an error has no scores";
}

TEST_F(ResultCheckTest, ARefusalMayBeScoredForSomeOfItsTrials) {
  UnitResult result = answered(2);
  ASSERT_EQ(result.scores.size(), 2u);
  result.error = Error{Reason::refusal, "declined"};
  EXPECT_EQ(check_result(result, plan), ResultStep::record);
  std::ranges::reverse(result.scores);
  EXPECT_EQ(check_result(result, plan), ResultStep::refuse) << "in another order";
  result.scores.pop_back();
  EXPECT_EQ(check_result(result, plan), ResultStep::record);
  result.scores.push_back(result.scores.front());
  EXPECT_EQ(check_result(result, plan), ResultStep::refuse) << "one twice";
  result.scores = {{0, {}, {}}};
  EXPECT_EQ(check_result(result, plan), ResultStep::refuse) << "of another unit";
}

TEST_F(ResultCheckTest, AParameterThatIsTheTestsOwnIsRefusedForItAlone) {
  auto refused = failed(0, Reason::parameter_refused);
  refused.error->message = "`temperature` and `top_p` cannot both be specified";
  EXPECT_EQ(check_result(refused, plan), ResultStep::fail) << "every call carries it";
  Case asked = **suite.cases.read(0);
  const auto step = [&](const char* parameter, Digest answer = {}) {
    asked.extras.params = {{parameter, "1"}};
    suite.cases = {asked};
    const Plan with_it = make_plan(suite);
    UnitResult result = refused;
    result.key = with_it.key(0);
    result.answer = answer;
    return check_result(result, with_it);
  };
  EXPECT_EQ(step("temperature"), ResultStep::record);
  EXPECT_EQ(step("top_p"), ResultStep::record) << "the provider says with what it does not go";
  EXPECT_EQ(step("max_output_tokens"), ResultStep::fail) << "another was refused";
  EXPECT_EQ(step("temperature", sha256("answer")), ResultStep::fail) << "it is a vote's";
  refused.error->message = "Unsupported parameter: 'max_tokens' is not supported with this model";
  EXPECT_EQ(step("max_output_tokens"), ResultStep::record);
  EXPECT_EQ(step("temperature"), ResultStep::fail);
}

TEST_F(ResultCheckTest, AParameterOfAnArmIsRefusedForThatArm) {
  std::vector<Arm> arms(2);
  arms[0].name = "cold";
  arms[1].name = "hot";
  suite.cases = suite.cases.under(arms);
  RequestSettings cold;
  cold.provider.name = "openai";
  cold.model = "m";
  RequestSettings hot = cold;
  hot.temperature = 2;
  hot.own_params = {"temperature"};
  PromptTemplate prompt;
  prompt.user = "{{content}}";
  const auto step = [&](std::size_t arm, const char* message) {
    const Plan of_arms = *Plan::make(suite, prompt, Ontology(), std::vector{cold, hot});
    UnitResult result = failed(0, Reason::parameter_refused);
    for (UnitId unit = 0; of_arms.arm_of(unit) != arm; ++unit) result.unit = unit + 1;
    result.key = of_arms.key(result.unit);
    result.error->message = message;
    return check_result(result, of_arms);
  };
  EXPECT_EQ(step(1, "no temperature above 1"), ResultStep::record);
  EXPECT_EQ(step(1, "temperatures"), ResultStep::fail) << "another word";
  EXPECT_EQ(step(1, "no seed"), ResultStep::fail) << "each arm has it";
  EXPECT_EQ(step(0, "no temperature above 1"), ResultStep::fail) << "it is the run's";
}

TEST_F(ResultCheckTest, AnErrorDecidesByItsReason) {
  EXPECT_EQ(check_result(failed(0, Reason::timed_out), plan), ResultStep::record);
  EXPECT_EQ(check_result(failed(0, Reason::cache_miss), plan), ResultStep::miss);
  EXPECT_EQ(check_result(failed(0, Reason::cache_in_use), plan), ResultStep::miss);
  EXPECT_EQ(check_result(failed(0, Reason::key_refused), plan), ResultStep::fail);
  EXPECT_FALSE(concerns_worker_alone(Reason::quota_exhausted));
  EXPECT_TRUE(concerns_worker_alone(Reason::key_refused));
  EXPECT_TRUE(concerns_worker_alone(Reason::provider_unreachable));
  EXPECT_TRUE(concerns_worker_alone(Reason::cache_failed));
  EXPECT_TRUE(concerns_worker_alone(Reason::provider_changed));
}

TEST_F(ResultCheckTest, CommitsAreAnsweredByOneMessageAWorkerAndKind) {
  WorkerRoster roster{10};
  roster.admit("p", {1, "ann", "", "0", 1}, {});
  roster.admit("q", {2, "bob", "", "0", 1}, {});
  CommitReplies replies;
  const auto winner = sha256("winner");
  replies.acknowledge({1, 0, plan.key(0), {true, winner}, false, true, {}, {}});
  replies.acknowledge({1, 1, plan.key(1), {false, winner}, false, true, {}, {}});
  replies.acknowledge({3, 2, plan.key(2), {true, winner}, false, true, {}, {}});  // It has left.
  replies.withdraw(2, 0);
  replies.withdraw(2, 1);
  replies.withdraw(3, 1);
  std::vector<ToPeer> messages;
  replies.send("run-1", roster, messages);
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0].peer, "p");
  EXPECT_EQ(std::get<wire::Ack>(messages[0].message),
            (wire::Ack{"run-1",
                       {{0, wire::AckCode::committed, plan.key(0), winner},
                        {1, wire::AckCode::duplicate, plan.key(1), winner}}}));
  EXPECT_EQ(messages[1].peer, "q");
  EXPECT_EQ(std::get<wire::Withdraw>(messages[1].message), (wire::Withdraw{"run-1", {0, 1}}));
  replies.send("run-1", roster, messages);
  EXPECT_EQ(messages.size(), 2u) << "each is sent once";
}

}  // namespace
}  // namespace sluice

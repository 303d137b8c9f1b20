// From an answer to the votes about it.
#include "tests/actors/judging_flow_fixture.hpp"

#include <nlohmann/json.hpp>

namespace sluice {
namespace judging_flow_test {

using Json = nlohmann::json;

TEST_F(JudgingFlowTest, AnAnswerComesWithItsVotes) {
  start();
  const auto votes = ask_and_answer(judged(1));
  ASSERT_EQ(votes.size(), 3u) << "all at once";
  EXPECT_TRUE(outcomes().empty());
  const auto body = Json::parse(whole_body(votes[0].request));
  EXPECT_EQ(body["model"], "judge-1");
  EXPECT_EQ(body["temperature"], 0.0);
  EXPECT_EQ(body["messages"][0]["content"], "You judge.");
  EXPECT_EQ(body["messages"][1]["content"], "Q question C context A answer");
  EXPECT_EQ(body["response_format"]["json_schema"]["name"], "vote");
  pass(25ms);
  end_calls({voted(votes[2], 0.2), voted(votes[0], 0.9, "well")});
  EXPECT_TRUE(outcomes().empty()) << "one is not there yet";
  end_calls({voted(votes[1], 0.8)});
  const auto done = only_outcome();
  EXPECT_EQ(std::get<Completion>(done.outcome).text, "answer");
  EXPECT_EQ(scores_of(done), (std::vector<double>{0.9, 0.8, 0.2})) << "by their index, however they came";
  EXPECT_EQ(source_of(done), JudgeSource::judge);
  EXPECT_EQ(done.evidence.votes[0][0].votes[0].rationale, "well");
  EXPECT_EQ(done.spend.calls, 4u);
  EXPECT_EQ(done.spend.paid.of(CallKind::answer), (Usage{10, 5}));
  EXPECT_EQ(done.spend.paid.of(CallKind::judge), (Usage{30, 15}));
}

TEST_F(JudgingFlowTest, ASecondRunCallsNobody) {
  start(true);
  for (const auto& call : ask_and_answer(judged(1))) end_calls({voted(call, 0.7)});
  only_outcome();
  for (const Mode mode : {Mode::live, Mode::cached}) {
    settings.mode = mode;
    restart();
    complete({judged(1)});
    EXPECT_TRUE(calls().empty());
    const auto done = only_outcome();
    EXPECT_EQ(scores_of(done), (std::vector<double>{0.7, 0.7, 0.7}));
    EXPECT_EQ(source_of(done), JudgeSource::cache);
    EXPECT_EQ(done.spend, (Spend{0, 0, 0, true, {}, 0}));
  }
}

TEST_F(JudgingFlowTest, AnotherQuestionAnswerOrNumberOfVotesIsAnotherVote) {
  start(true);
  for (const auto& call : ask_and_answer(judged(1))) end_calls({voted(call, 0.7)});
  only_outcome();
  EXPECT_EQ(ask_and_answer(judged(2, 3, "another")).size(), 3u);
  EXPECT_EQ(ask_and_answer(judged(3, 2)).size(), 2u);
  EXPECT_EQ(ask_and_answer(judged(4), "other").size(), 3u);
  WorkUnit own = *judged(6);
  own.tasks[0].judged[0].context = "of its own";
  const auto votes = ask_and_answer(std::make_shared<const WorkUnit>(std::move(own)));
  ASSERT_EQ(votes.size(), 3u);
  EXPECT_EQ(Json::parse(whole_body(votes[0].request))["messages"][1]["content"],
            "Q question C of its own A answer");
  EXPECT_TRUE(ask_and_answer(judged(5)).empty()) << "this one is known";
}

TEST_F(JudgingFlowTest, VotesThatSeveralUnitsNeedArePaidOnce) {
  start();
  complete({judged(1), judged(2)});
  const auto answers = calls();
  ASSERT_EQ(answers.size(), 2u);
  end_calls({said(answers[0].id, "same"), said(answers[1].id, "same")});
  const auto votes = calls();
  ASSERT_EQ(votes.size(), 3u);
  for (const auto& call : votes) end_calls({voted(call, 1.0)});
  const auto done = outcomes();
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[0].spend.calls + done[1].spend.calls, 5u);
  EXPECT_EQ(scores_of(done[0]), scores_of(done[1]));
}

TEST_F(JudgingFlowTest, WhatIsNoVoteIsAskedForAgainTwice) {
  start();
  auto call = ask_and_answer(judged(1, 1)).at(0);
  for (int i = 0; i < 2; ++i) {
    end_calls({said(call.id, "I like it")});
    EXPECT_TRUE(outcomes().empty());
    const auto again = calls();
    ASSERT_EQ(again.size(), 1u);
    call = again[0];
  }
  end_calls({said(call.id, "I like it")});
  EXPECT_TRUE(calls().empty());
  const auto done = only_outcome();
  EXPECT_EQ(reason_of(done), Reason::judge_unparsable) << "never a score of 0";
  ASSERT_TRUE(done.answer) << "it came, and why the judge could not be read is seen beside it";
  EXPECT_EQ(done.spend.calls, 4u);
  EXPECT_EQ(done.spend.retries, 2u) << "the report said that none was repeated";
  EXPECT_EQ(done.spend.paid.of(CallKind::judge), (Usage{30, 15})) << "all of it was paid for";
}

// Of a test with several scores by a judge it was not known which had no vote.
TEST_F(JudgingFlowTest, AVoteThatDoesNotComeNamesItsScore) {
  settings.judge.rubrics = {{"rubric", "v1", "You judge.", "{{criteria}} A {{answer}}"},
                            {"tone", "v2", "You judge.", "{{criteria}} R {{reference}} A {{answer}}"}};
  const std::vector<RedactionPattern> patterns{{"mail", "[a-z]+@[a-z]+\\.io"}};
  redactor = *Redactor::make(patterns);
  ScoringTask task;
  task.judged = {{MetricId::rubric, 0, 1, 0.5, "", "It answers."},
                 {MetricId::rubric, 1, 1, 0.5, std::string(50, '.') + "jane@home.io", "It is kind."}};
  start();
  const auto votes = ask_and_answer(std::make_shared<const WorkUnit>(free_text(1, std::move(task))));
  ASSERT_EQ(votes.size(), 2u);
  const bool is_first = whole_body(votes[0].request).find("It answers.") != std::string::npos;
  end_calls({voted(votes[is_first ? 0 : 1], 0.9)});
  auto call = votes[is_first ? 1 : 0];
  for (int i = 0; i < 2; ++i) {
    end_calls({said(call.id, "I like it")});
    call = calls().at(0);
  }
  end_calls({said(call.id, "I like it")});
  EXPECT_EQ(
      std::get<Error>(only_outcome().outcome).message,
      "rubric (tone v2) \"It is kind.\" \"" + std::string(50, '.') +
          "[redacted ...\": the judge's answer is no vote: it is no JSON object; it says \"I like it\"");
}

TEST_F(JudgingFlowTest, OneUnreadableVoteOfThreeIsMended) {
  start();
  const auto votes = ask_and_answer(judged(1));
  end_calls({voted(votes[0], 0.9), said(votes[1].id, "?"), voted(votes[2], 0.9)});
  const auto again = calls();
  ASSERT_EQ(again.size(), 1u);
  end_calls({voted(again[0], 0.1)});
  const auto done = only_outcome();
  EXPECT_EQ(scores_of(done), (std::vector<double>{0.9, 0.1, 0.9}));
  EXPECT_EQ(done.spend.retries, 1u);
}

TEST_F(JudgingFlowTest, ARefusalOfTheJudgeIsAnErrorOfTheCase) {
  start();
  const auto votes = ask_and_answer(judged(1));
  answer(votes[0].id, 200,
         R"({"model":"m","choices":[{"message":{"refusal":"no"},"finish_reason":"stop"}],"usage":{}})");
  EXPECT_TRUE(outcomes().empty()) << "two votes are still to be paid for";
  end_calls({voted(votes[1], 1.0), said(votes[2].id, "?")});
  EXPECT_EQ(reason_of(only_outcome()), Reason::judge_refused);
  EXPECT_TRUE(calls().empty()) << "nobody needs it any more";
}

TEST_F(JudgingFlowTest, AUnitWithoutAScorePaysForItsOtherVotes) {
  start();
  const auto votes = ask_and_answer(judged(1));
  answer(votes[0].id, 200,
         R"({"model":"m","choices":[{"message":{"refusal":"no"},"finish_reason":"stop"}],"usage":{}})");
  end_calls({voted(votes[1], 1.0)});
  EXPECT_TRUE(outcomes().empty());
  end_calls({voted(votes[2], 1.0)});
  const auto done = only_outcome();
  EXPECT_EQ(reason_of(done), Reason::judge_refused);
  EXPECT_EQ(done.spend.calls, 4u);
  EXPECT_EQ(done.spend.paid.of(CallKind::judge), (Usage{20, 10})) << "of the two that were given";
  EXPECT_TRUE(calls().empty());
}

// Its first try, which a server may have charged for, stood in no report.
TEST_F(JudgingFlowTest, AVoteThatIsTakenBackBeforeItsNextTryIsPaidForByItsUnit) {
  settings.max_retries = 5;
  start();
  const auto votes = ask_and_answer(judged(1, 2));
  ASSERT_EQ(votes.size(), 2u);
  answer(votes[0].id, 500, "oops");
  answer(votes[1].id, 200,
         R"({"model":"m","choices":[{"message":{"refusal":"no"},"finish_reason":"stop"}],"usage":{}})");
  const auto done = only_outcome();
  EXPECT_EQ(reason_of(done), Reason::judge_refused);
  EXPECT_EQ(done.spend.calls, 3u) << "the answer's, and one for each vote";
}

TEST_F(JudgingFlowTest, AFailedVoteDoesNotTakeAwayWhatAnotherUnitWaitsFor) {
  start();
  complete({judged(1, 3), judged(2, 3)});
  const auto answers = calls();
  ASSERT_EQ(answers.size(), 2u);
  end_calls({said(answers[0].id, "same"), said(answers[1].id, "same")});
  const auto votes = calls();
  ASSERT_EQ(votes.size(), 3u);
  answer(votes[0].id, 200,
         R"({"model":"m","choices":[{"message":{"refusal":"no"},"finish_reason":"stop"}],"usage":{}})");
  end_calls({voted(votes[1], 1.0), voted(votes[2], 1.0)});
  const auto done = outcomes();
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[0].spend.calls + done[1].spend.calls, 5u) << "each call is somebody's";
}

TEST_F(JudgingFlowTest, AVoteWhoseNextTryWouldComeTooLateIsGivenUp) {
  settings.max_retries = 5;
  settings.backoff_initial = 60s;
  settings.case_timeout = 10s;
  start();
  const auto call = ask_and_answer(judged(1, 1)).at(0);
  pass(10s - 2ms);
  answer(call.id, 500, "oops");
  const auto done = only_outcome();
  EXPECT_EQ(reason_of(done), Reason::provider_failed) << "what failed is said";
  EXPECT_EQ(done.spend.calls, 2u);
  EXPECT_TRUE(calls().empty()) << "it is not asked for again and again";
}

TEST_F(JudgingFlowTest, AVoteThatIsCutOffNamesTheJudgesOwnLimit) {
  start();
  const auto call = ask_and_answer(judged(1, 1)).at(0);
  answer(call.id, 200,
         R"({"model":"m","choices":[{"message":{"content":"{"},"finish_reason":"length"}],"usage":{}})");
  EXPECT_NE(std::get<Error>(only_outcome().outcome).message.find("--judge-max-tokens"), std::string::npos);
}

TEST_F(JudgingFlowTest, ARenewedVoteIsOneForTheWholeRun) {
  settings.judge.refresh = true;
  start(true);
  for (const auto& call : ask_and_answer(judged(1))) end_calls({voted(call, 0.7)});
  EXPECT_EQ(scores_of(only_outcome()), (std::vector<double>{0.7, 0.7, 0.7}));
  complete({judged(2)});
  end_calls({said(only_call(), "answer")});
  EXPECT_TRUE(calls().empty()) << "equal answers of one repeat have equal votes, as a replay has them";
  EXPECT_EQ(scores_of(only_outcome()), (std::vector<double>{0.7, 0.7, 0.7}));
}

// The repeats of a deterministic model shared their votes, so that the judge's noise looked like none.
TEST_F(JudgingFlowTest, EachRepeatHasVotesOfItsOwn) {
  start(true);
  for (const auto& call : ask_and_answer(judged(1))) end_calls({voted(call, 0.7)});
  EXPECT_EQ(scores_of(only_outcome()), (std::vector<double>{0.7, 0.7, 0.7}));
  auto second = *judged(2);
  second.repeat = 1;
  complete({std::make_shared<const WorkUnit>(second)});
  end_calls({said(only_call(), "answer")});
  const auto votes = calls();
  ASSERT_EQ(votes.size(), 3u) << "the answer is the same";
  for (const auto& call : votes) end_calls({voted(call, 0.2)});
  EXPECT_EQ(scores_of(only_outcome()), (std::vector<double>{0.2, 0.2, 0.2}));
  second.unit = 3;
  complete({std::make_shared<const WorkUnit>(second)});
  EXPECT_TRUE(calls().empty()) << "all is in the cache";
  EXPECT_EQ(scores_of(only_outcome()), (std::vector<double>{0.2, 0.2, 0.2}));
}

// It was booked as the most that a vote can take, and the run ended by its budget.
TEST_F(JudgingFlowTest, AVoteThatAFilterDeclinesTookNothing) {
  start();
  const auto call = ask_and_answer(judged(1, 1)).at(0);
  answer(call.id, 400, R"({"error":{"code":"content_filter","message":"no"}})");
  const auto done = only_outcome();
  EXPECT_EQ(reason_of(done), Reason::judge_refused);
  EXPECT_FALSE(done.spend.is_unmetered(CallKind::judge));
  EXPECT_EQ(done.spend.calls, 2u);
}

TEST_F(JudgingFlowTest, AFailedVoteIsRetriedAndNamed) {
  settings.max_retries = 1;
  start();
  const auto call = ask_and_answer(judged(1, 1)).at(0);
  answer(call.id, 500, "oops");
  pass(500ms);
  answer(only_call(), 500, "oops");
  const auto done = only_outcome();
  EXPECT_EQ(reason_of(done), Reason::provider_failed);
  EXPECT_TRUE(std::get<Error>(done.outcome).message.starts_with("the judge's vote did not come: "));
  EXPECT_EQ(done.spend.retries, 1u);
}

TEST_F(JudgingFlowTest, AParameterThatTheJudgeRefusesStopsTheRun) {
  start();
  const auto call = ask_and_answer(judged(1, 1)).at(0);
  answer(call.id, 400,
         R"({"error":{"message":"Unsupported value: 'temperature'","type":"invalid_request_error",)"
         R"("param":"temperature","code":"unsupported_value"}})");
  EXPECT_TRUE(stops_run(reason_of(only_outcome())));
}

TEST_F(JudgingFlowTest, CachedModeNamesTheJudgeWhoseVoteIsMissing) {
  start(true);
  for (const auto& call : ask_and_answer(judged(1))) end_calls({voted(call, 0.7)});
  only_outcome();
  settings.mode = Mode::cached;
  settings.judge.judge = Judge::none;
  restart();
  complete({judged(1)});
  EXPECT_EQ(scores_of(only_outcome()).size(), 3u) << "of the judge that is named, though it is not called";
  settings.judge.model = "judge-2";
  restart();
  complete({judged(1)});
  const auto done = only_outcome();
  EXPECT_EQ(reason_of(done), Reason::cache_miss);
  EXPECT_NE(std::get<Error>(done.outcome).message.find("judge-2"), std::string::npos);
  EXPECT_TRUE(calls().empty());
}

TEST_F(JudgingFlowTest, ARefreshRenewsVotesAlone) {
  start(true);
  for (const auto& call : ask_and_answer(judged(1))) end_calls({voted(call, 0.7)});
  only_outcome();
  settings.judge.refresh = true;
  restart();
  complete({judged(1)});
  const auto votes = calls();
  ASSERT_EQ(votes.size(), 3u) << "the answer comes from the cache";
  for (const auto& call : votes) end_calls({voted(call, 0.1)});
  only_outcome();
  settings.judge.refresh = false;
  restart();
  complete({judged(1)});
  EXPECT_EQ(scores_of(only_outcome()), (std::vector<double>{0.1, 0.1, 0.1}));
}

TEST_F(JudgingFlowTest, TheFakeJudgeAndMockModeMakeNoCall) {
  settings.judge.judge = Judge::fake;
  start();
  EXPECT_TRUE(ask_and_answer(judged(1), "context").empty());
  EXPECT_EQ(scores_of(only_outcome()), (std::vector<double>{1.0, 1.0, 1.0}));
  settings.judge.judge = Judge::model;
  settings.mode = Mode::mock;
  restart();
  complete({judged(2)});
  EXPECT_TRUE(calls().empty());
  EXPECT_EQ(scores_of(only_outcome()).size(), 3u);
}

// One vote without usage among others counted nothing in the run's budgets.
TEST_F(JudgingFlowTest, AVoteOfUnknownUsageIsMarkedThoughOthersHaveOne) {
  start();
  const auto votes = ask_and_answer(judged(1));
  ASSERT_EQ(votes.size(), 3u);
  end_calls({voted(votes[0], 0.9), voted(votes[1], 0.9)});
  answer(votes[2].id, 200,
         R"({"model":"m","choices":[{"message":{"content":"{\"score\":1}"},"finish_reason":"stop"}]})");
  const auto done = only_outcome();
  EXPECT_EQ(done.spend.paid.of(CallKind::judge), (Usage{20, 10}));
  EXPECT_TRUE(done.spend.is_unmetered(CallKind::judge));
  EXPECT_FALSE(done.spend.is_unmetered(CallKind::answer));
}

TEST_F(JudgingFlowTest, AnAnswerThatIsTooLongIsShownToNoJudge) {
  start();
  EXPECT_EQ(ask_and_answer(judged(1), std::string(defaults::max_judged_bytes, 'x')).size(), 3u);
  complete({judged(2)});
  end_calls({said(only_call(), std::string(defaults::max_judged_bytes + 1, 'x'))});
  EXPECT_TRUE(calls().empty());
  const auto done = only_outcome();
  EXPECT_EQ(reason_of(done), Reason::answer_too_long);
  const auto& message = std::get<Error>(done.outcome).message;
  EXPECT_TRUE(message.starts_with("the answer has 262145 bytes, and a judge is shown 262144 at most"))
      << message;
  EXPECT_EQ(done.spend.paid.of(CallKind::answer), (Usage{10, 5})) << "the answer itself was paid for";
  WorkUnit of_context = *judged(3);
  of_context.tasks[0].judged[0].metric = MetricId::context_relevance;
  complete({std::make_shared<const WorkUnit>(std::move(of_context))});
  end_calls({said(only_call(), std::string(defaults::max_judged_bytes + 1, 'x'))});
  EXPECT_EQ(calls().size(), 3u) << "the judge of a context is not shown the answer";
}

// A vote that two workers needed was renewed by each of them, so that equal answers had unequal scores.

}  // namespace judging_flow_test
// A Ctrl-C in a --refresh broke each gate over that cache until the refresh was gone on with.
TEST_F(JudgingFlowTest, AnAnswerIsReplacedOnceItsUnitIsComplete) {
  start(true);
  for (const auto& call : ask_and_answer(judged(1, 1), "first")) end_calls({voted(call, 0.7)});
  only_outcome();
  const auto cached = [this] { return store->find_answer(judged(1)->key).value().value().text; };
  settings.read_cache = false;
  restart();
  ask_and_answer(judged(1, 1), "second");
  EXPECT_EQ(cached(), "first") << "what the ledger pins, until there is another result";
  restart();
  const auto votes = ask_and_answer(judged(1, 1), "third");
  ASSERT_EQ(votes.size(), 1u);
  EXPECT_EQ(cached(), "first");
  end_calls({voted(votes[0], 0.2)});
  EXPECT_EQ(std::get<Completion>(only_outcome().outcome).text, "third");
  EXPECT_EQ(cached(), "third");
}

// Its result pins it all the same, and a cached run found another one.
TEST_F(JudgingFlowTest, AnAnswerThatGetsNoVoteIsKeptWithItsError) {
  settings.case_timeout = 10s;
  start(true);
  for (const auto& call : ask_and_answer(judged(1, 1), "first")) end_calls({voted(call, 0.7)});
  only_outcome();
  settings.read_cache = false;
  restart();
  ask_and_answer(judged(1, 1), "second");
  pass(10s + 100ms);
  EXPECT_EQ(reason_of(only_outcome()), Reason::timed_out);
  EXPECT_EQ(store->find_answer(judged(1)->key).value().value().text, "second");
}

}  // namespace sluice

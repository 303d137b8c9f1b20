// From an answer to its grade beside the baseline's: the model client with a fake provider.
#include "tests/actors/grading_flow_fixture.hpp"
#include "worker/defaults.hpp"

#include <array>

#include <nlohmann/json.hpp>

namespace sluice {
namespace grading_flow_test {

using Json = nlohmann::json;

TEST_F(GradingFlowTest, BothArmsGetTheSamePromptAndSettings) {
  start();
  complete({question(1)});
  const auto candidate = calls();
  ASSERT_EQ(candidate.size(), 1u);
  end_calls({said(candidate[0].id, "answer")});
  const auto baseline = calls();
  ASSERT_EQ(baseline.size(), 1u);
  auto expected = body_of(candidate[0]);
  expected["model"] = "old-model";
  EXPECT_EQ(body_of(baseline[0]), expected);
}

TEST_F(GradingFlowTest, AGradeComesWithBothAnswersAndWhatEachTook) {
  start();
  complete({question(1)});
  pass(30ms);
  end_calls({said(only_call(), "Paris")});
  EXPECT_TRUE(outcomes().empty());
  pass(20ms);
  end_calls({said(only_call(), " Paris")});
  auto done = only_outcome();
  EXPECT_EQ(grade_of(done).grade.quality_score, 1.0);
  EXPECT_EQ(done.spend.calls, 2u);
  EXPECT_EQ(done.spend.paid.of(CallKind::answer), (Usage{10, 5}));
  EXPECT_EQ(done.spend.paid.of(CallKind::baseline), (Usage{10, 5}));
  EXPECT_EQ(done.spend.paid.of(CallKind::judge), Usage());
  const auto spend = done.spend;
  const auto evidence = done.evidence;
  const auto result =
      unit_result(*done.unit, {Ontology(), TextChecker()}, std::move(done.outcome), evidence, spend);
  ASSERT_TRUE(result.grade);
  EXPECT_EQ(result.grade->baseline, (GradedAnswer{" Paris", "m-1", {10, 5}, false, 20}));
  EXPECT_EQ(result.grade->candidate, (GradedAnswer{"Paris", "m-1", {10, 5}, false, 30}));
}

TEST_F(GradingFlowTest, AnotherTextIsNoMatch) {
  start();
  EXPECT_TRUE(answer_both(question(1), "Rome", "Paris").empty());
  EXPECT_EQ(grade_of(only_outcome()).grade.quality_score, 0.0);
}

TEST_F(GradingFlowTest, ASecondRunCallsNobody) {
  grade_by(GradeJudge::llm);
  start(true);
  const auto judged = answer_both(question(1), "Rome", "Paris");
  ASSERT_EQ(judged.size(), 2u);
  end_calls({compared(judged[0], 0.0), compared(judged[1], 1.0)});
  auto first = grade_of(only_outcome());
  for (const Mode mode : {Mode::live, Mode::cached}) {
    settings.mode = mode;
    restart();
    complete({question(1)});
    EXPECT_TRUE(calls().empty());
    const auto done = only_outcome();
    const auto again = grade_of(done);
    EXPECT_EQ(again.grade, first.grade);
    EXPECT_EQ(again.baseline.text, "Paris");
    EXPECT_TRUE(again.baseline.cache_hit);
    EXPECT_EQ(again.baseline.usage, (Usage{10, 5})) << "of the answer, whoever paid for it";
    EXPECT_EQ(again.baseline.latency_ms, 0u);
    EXPECT_EQ(done.spend, (Spend{0, 0, 0, true, {}, 0}));
  }
}

TEST_F(GradingFlowTest, AJudgeIsAskedInBothOrdersWithoutChance) {
  grade_by(GradeJudge::llm);
  settings.grading->llm.seed = 42;
  start();
  const auto judged = answer_both(question(1), "of the candidate", "of the baseline");
  ASSERT_EQ(judged.size(), 2u);
  std::vector<std::string> shown;
  for (const auto& call : judged) {
    const auto body = body_of(call);
    EXPECT_EQ(body["model"], "judge-1");
    EXPECT_EQ(body["temperature"], 0.0) << "whatever the settings say";
    EXPECT_EQ(body["seed"], 42);
    EXPECT_EQ(body["response_format"]["json_schema"]["name"], "comparison");
    shown.push_back(body["messages"][1]["content"]);
  }
  const auto ends_with = [&](const std::string& end) {
    return std::ranges::count_if(shown, [&](const std::string& text) { return text.ends_with(end); });
  };
  EXPECT_EQ(ends_with("of the candidate"), 1);
  EXPECT_EQ(ends_with("of the baseline"), 1);
  // Whoever comes last wins: a tie.
  end_calls({compared(judged[0], 0.9), compared(judged[1], 0.9)});
  const auto done = only_outcome();
  const auto grade = grade_of(done).grade;
  EXPECT_EQ(grade.quality_score, 0.5);
  ASSERT_TRUE(grade.orders);
  EXPECT_TRUE(position_flips(*grade.orders));
  EXPECT_EQ(done.spend.paid.of(CallKind::judge), (Usage{20, 10}));
  EXPECT_TRUE(done.evidence.votes.empty()) << "no metric of the unit is judged";
}

TEST_F(GradingFlowTest, AJudgeSeesTheWholeConversation) {
  grade_by(GradeJudge::llm);
  start();
  WorkUnit work = *question(1);
  ChatMessage first{MessageRole::user, {{PartKind::text, "Name two rivers."}}};
  ChatMessage asked{MessageRole::user, {{PartKind::asked}}};
  work.request.extras.messages = {
      first, {MessageRole::assistant, {{PartKind::text, "Nile and Elbe."}}}, asked};
  const auto compares =
      answer_both(std::make_shared<const WorkUnit>(std::move(work)), "the Elbe", "the Nile");
  ASSERT_FALSE(compares.empty());
  EXPECT_NE(whole_body(compares[0].request).find("Name two rivers."), std::string::npos)
      << whole_body(compares[0].request);
}

TEST_F(GradingFlowTest, WithoutASeedNoneIsSent) {
  grade_by(GradeJudge::llm);
  start();
  for (const auto& call : answer_both(question(1), "a", "b")) EXPECT_FALSE(body_of(call).contains("seed"));
}

TEST_F(GradingFlowTest, AComparisonThatCannotBeReadIsAskedForAgainTwice) {
  grade_by(GradeJudge::llm);
  start();
  auto judged = answer_both(question(1), "a", "b");
  ASSERT_EQ(judged.size(), 2u);
  end_calls({compared(judged[0], 0.5), said(judged[1].id, "B is better")});
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(outcomes().empty());
    const auto again = calls();
    ASSERT_EQ(again.size(), 1u);
    end_calls({said(again[0].id, "B is better")});
  }
  const auto done = only_outcome();
  EXPECT_EQ(reason_of(done), Reason::grade_unparsable) << "never a score of 0";
  EXPECT_TRUE(std::get<Error>(done.outcome).message.starts_with("the judge's answer is no "))
      << "of no score";
}

TEST_F(GradingFlowTest, BothTextsAreEmbeddedInOneCall) {
  grade_by(GradeJudge::embedding);
  settings.embedding = {"openai", "embed-1"};
  start();
  const auto embedding = answer_both(question(1), "large", "big");
  ASSERT_EQ(embedding.size(), 1u);
  auto texts = body_of(embedding[0])["input"].get<std::vector<std::string>>();
  std::ranges::sort(texts);
  EXPECT_EQ(texts, (std::vector<std::string>{"big", "large"}));
  answer(embedding[0].id, 200,
         R"({"model":"embed-1","data":[{"index":0,"embedding":[3,4]},{"index":1,"embedding":[4,3]}],)"
         R"("usage":{"prompt_tokens":4}})");
  const auto grade = grade_of(only_outcome()).grade;
  EXPECT_NEAR(grade.quality_score, 0.96, 1e-6);
  EXPECT_EQ(grade.grader_id, "embedding:embed-1");
}

// It was `provider_failed`, as if the provider had been down.
TEST_F(GradingFlowTest, AnotherNumberOfEmbeddingsThanTwoIsAnErrorOfTheCase) {
  grade_by(GradeJudge::embedding);
  settings.embedding = {"openai", "embed-1"};
  settings.max_retries = 0;
  start();
  const auto embedding = answer_both(question(1), "large", "big");
  ASSERT_EQ(embedding.size(), 1u);
  answer(embedding[0].id, 200, R"({"data":[{"embedding":[3,4]},{"embedding":[4,3]},{"embedding":[4,3]}]})");
  EXPECT_EQ(reason_of(only_outcome()), Reason::embedding_count_wrong);
}

TEST_F(GradingFlowTest, ABaselineThatDeclinesIsAnErrorOfTheCase) {
  start();
  complete({question(1)});
  end_calls({said(only_call(), "answer")});
  answer(only_call(), 200,
         R"({"model":"m","choices":[{"message":{"refusal":"no"},"finish_reason":"stop"}],"usage":{}})");
  const auto done = only_outcome();
  EXPECT_EQ(reason_of(done), Reason::baseline_unanswered);
  EXPECT_EQ(done.spend.calls, 2u);
}

// The candidate's was graded, and the baseline's, which is the same, was no answer.
TEST_F(GradingFlowTest, AnEmptyAnswerOfTheBaselineIsOneToATestThatExpectsIt) {
  start(true);
  WorkUnit work = *question(1);
  work.tasks[0].texts = {{MetricId::exact_match, {""}}};
  EXPECT_TRUE(answer_both(std::make_shared<const WorkUnit>(work), "", "").empty());
  EXPECT_EQ(grade_of(only_outcome()).grade.quality_score, 1.0);
  restart();
  complete({std::make_shared<const WorkUnit>(work)});
  EXPECT_TRUE(calls().empty()) << "both were paid for";
  EXPECT_EQ(grade_of(only_outcome()).grade.quality_score, 1.0);

  work.tasks[0].texts = {{MetricId::must_not_contain, {"x"}}};
  start();
  answer_both(std::make_shared<const WorkUnit>(work), "answer", "");
  EXPECT_EQ(reason_of(only_outcome()), Reason::baseline_unanswered);
}

TEST_F(GradingFlowTest, AFailedCallForTheBaselineIsRetriedAndNamed) {
  settings.max_retries = 1;
  start();
  complete({question(1)});
  end_calls({said(only_call(), "answer")});
  answer(only_call(), 500, "oops");
  pass(500ms);
  answer(only_call(), 500, "oops");
  const auto done = only_outcome();
  EXPECT_EQ(reason_of(done), Reason::provider_failed);
  EXPECT_TRUE(std::get<Error>(done.outcome).message.starts_with("the baseline's answer did not come: "));
  EXPECT_EQ(done.spend.retries, 1u);
}

TEST_F(GradingFlowTest, ABaselineThatIsTooLongIsShownToNoJudge) {
  grade_by(GradeJudge::llm);
  start();
  EXPECT_TRUE(answer_both(question(1), "Paris", std::string(defaults::max_judged_bytes + 1, 'x')).empty());
  const auto done = only_outcome();
  EXPECT_EQ(reason_of(done), Reason::answer_too_long);
  EXPECT_TRUE(std::get<Error>(done.outcome).message.starts_with("the baseline's answer has 262145 bytes"));
}

TEST_F(GradingFlowTest, AnAnswerThatWasNotGivenIsNotGraded) {
  start();
  complete({question(1)});
  answer(only_call(), 200,
         R"({"model":"m","choices":[{"message":{"refusal":"no"},"finish_reason":"stop"}],"usage":{}})");
  EXPECT_TRUE(calls().empty());
  EXPECT_FALSE(only_outcome().evidence.grade);
}

// The judge read it, and a candidate without it was "another text".
TEST_F(GradingFlowTest, AKeyInTheBaselinesAnswerGoesToNobody) {
  const std::string secret = "sk-secret-1234";
  key_mask = KeyMask(secret);
  start();
  EXPECT_TRUE(answer_both(question(1), "it is " + secret, "it is " + secret).empty());
  const auto same = grade_of(only_outcome());
  EXPECT_EQ(same.grade.quality_score, 1.0);
  EXPECT_EQ(same.baseline.text, "it is [key]");
  grade_by(GradeJudge::llm);
  restart();
  const auto judged = answer_both(question(2), "no", "it is " + secret);
  ASSERT_EQ(judged.size(), 2u);
  for (const auto& call : judged) {
    EXPECT_NE(whole_body(call.request).find("it is [key]"), std::string::npos);
    EXPECT_EQ(whole_body(call.request).find(secret), std::string::npos);
  }
  complete({question(3)});
  end_calls({said(only_call(), "answer")});
  answer(only_call(), 200,
         R"({"model":"m","choices":[{"message":{"refusal":"not with )" + secret +
             R"("},"finish_reason":"stop"}],"usage":{}})");
  const auto done = only_outcome();
  EXPECT_EQ(std::get<Error>(done.outcome).message.find(secret), std::string::npos);
}

// Only the last one who sought it heard of it: the unit waited until its time was over.
TEST_F(GradingFlowTest, AMetricAndAGradeMaySeekOneEmbedding) {
  start(true);
  EXPECT_TRUE(answer_both(question(1), "large", "big").empty());
  only_outcome();
  grade_by(GradeJudge::embedding);
  settings.embedding = {"openai", "embed-1"};
  restart();
  WorkUnit work = *question(1);
  work.tasks[0].texts = {{MetricId::semantic_similarity_to, {"big"}}};
  complete({std::make_shared<const WorkUnit>(std::move(work))});
  const auto embedding = calls();
  EXPECT_FALSE(embedding.empty());
  for (const auto& call : embedding) {
    answer(call.id, 200,
           R"({"model":"embed-1","data":[{"index":0,"embedding":[3,4]},{"index":1,"embedding":[3,4]}],)"
           R"("usage":{"prompt_tokens":4}})");
  }
  const auto done = only_outcome();
  EXPECT_EQ(grade_of(done).grade.quality_score, 1.0);
  EXPECT_EQ(done.evidence.embedded.size(), 2u) << "what the metric compares";
}

TEST_F(GradingFlowTest, MockModeAndCancelCallNobody) {
  for (const auto judge : {GradeJudge::exact, GradeJudge::embedding, GradeJudge::llm}) {
    grade_by(judge);
    settings.mode = Mode::mock;
    restart();
    complete({question(1)});
    EXPECT_TRUE(calls().empty());
    const Grade grade = grade_of(only_outcome()).grade;
    if (judge != GradeJudge::llm) continue;
    // It was "llm::comparison-v1", and all pairs changed sides.
    EXPECT_EQ(grade.grader_id, "llm:mock");
    EXPECT_EQ(grade.quality_score, 0.5);
    EXPECT_FALSE(grade.orders);
  }
  settings.mode = Mode::live;
  restart();
  complete({question(2)});
  end_calls({said(only_call(), "answer")});
  const auto under_way = only_call();
  caf::anon_send(client, CancelCalls{});
  settle();
  EXPECT_EQ(http.take<HttpCancel>().size(), 1u);
  end_calls({said(under_way, "answer")});
  EXPECT_TRUE(outcomes().empty());
}

}  // namespace grading_flow_test
}  // namespace sluice

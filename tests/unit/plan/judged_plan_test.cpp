#include "coordinator/defaults.hpp"
#include "coordinator/plan/message_size.hpp"
#include "coordinator/plan/plan_identity.hpp"
#include "coordinator/suite/answers/recorded_answers.hpp"
#include "tests/unit/plan/plan_fixture.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::judged_plan_test {

Expectation judged(MetricId metric, std::uint32_t rubric) {
  Expectation expectation;
  expectation.what.metric = metric;
  expectation.judge.emplace().rubric = rubric;
  return expectation;
}

Expectation contains(std::string text) {
  Expectation expectation;
  expectation.what = {MetricId::must_contain, {std::move(text)}};
  return expectation;
}

RunPerturbation in_capitals() {
  RunPerturbation one;
  one.name = "capitals";
  one.version = "1";
  one.apply = [](std::string_view text, std::string_view) -> PerturbedText {
    std::string changed(text);
    for (char& c : changed) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    return {PerturbedText::Kind::changed, std::move(changed), {}};
  };
  return one;
}

class JudgedPlanTest : public PlanTest {
 protected:
  JudgedPlanTest() {
    for (const char* id : {"faithfulness", "relevancy", "rubric"})
      suite.rubrics.push_back({id, "v1", "s", "u"});
    asked = text_case("f", "What is the capital?");
    asked.context = "France is a country.";
    suite.cases = {asked};
  }

  ScoringTask task(const Plan& plan, TrialId trial = 0) const {
    const auto unit = *plan.render(plan.unit_of(trial));
    for (const ScoringTask& one : unit.tasks) {
      if (one.trial == trial) return one;
    }
    ADD_FAILURE() << "no task for trial " << trial;
    return {};
  }

  Case asked;
};

TEST_F(JudgedPlanTest, AJudgementByAnotherRubricIsNotTheTestsOwn) {
  suite.rubrics.push_back({"tone", "v1", "s", "u"});
  asked.expectations = {judged(MetricId::rubric, 3)};
  AnsweredTest recorded;
  recorded.answer.text = "Paris";
  JudgeScore score;
  score.metric = MetricId::rubric;
  score.source = JudgeSource::trace;
  for (const char* rubric : {"rubric", "tone"}) {
    recorded.judgements = {{"", rubric, "v1", score}};
    asked.recorded = std::make_shared<const AnsweredTest>(recorded);
    suite.cases = {asked};
    const bool is_its_own = std::string_view(rubric) == "tone";
    EXPECT_EQ(plan().judged_cases().count, is_its_own ? 0u : 1u) << rubric;
  }
}

TEST_F(JudgedPlanTest, AJudgementIsOfTheScoreOfItsName) {
  suite.rubrics.push_back({"tone", "v1", "s", "u"});
  Expectation kind = judged(MetricId::rubric, 3);
  kind.name = "kind";
  asked.expectations = {judged(MetricId::rubric, 3), kind};
  AnsweredTest recorded;
  recorded.answer.text = "Paris";
  JudgeScore score;
  score.metric = MetricId::rubric;
  score.source = JudgeSource::trace;
  score.votes = {{0.9, true}};
  recorded.judgements = {{"kind", "tone", "v1", score}};
  asked.recorded = std::make_shared<const AnsweredTest>(recorded);
  suite.cases = {asked};
  const auto judged = task(plan()).judged;
  ASSERT_EQ(judged.size(), 2u);
  EXPECT_FALSE(judged[0].recorded);
  EXPECT_TRUE(judged[1].recorded);
}

// A recorded score of 0.6 passed a test that asks for 0.95.
TEST_F(JudgedPlanTest, RecordedVotesReachWhatTheTestAsksFor) {
  suite.rubrics.push_back({"tone", "v1", "s", "u"});
  const auto recorded_votes = [&](std::optional<double> min_score) {
    Expectation tone = judged(MetricId::rubric, 3);
    tone.min_score = min_score;
    asked.expectations = {tone};
    AnsweredTest recorded;
    recorded.answer.text = "Paris";
    JudgeScore score;
    score.metric = MetricId::rubric;
    score.source = JudgeSource::trace;
    score.votes = {{0.6, true}, {0.97, true}, {0.99, false}, {0.1, true}};
    recorded.judgements = {{"", "tone", "v1", score}};
    asked.recorded = std::make_shared<const AnsweredTest>(recorded);
    suite.cases = {asked};
    return task(plan()).judged.at(0).recorded.value().votes;
  };
  const std::vector<CountedVote> by_default{{0.6, true}, {0.97, true}, {0.99, false}, {0.1, false}};
  EXPECT_EQ(recorded_votes({}), by_default) << "0.1 passed a test that leaves the default out";
  EXPECT_EQ(recorded_votes(0.5), by_default) << "the default, written out";
  EXPECT_EQ(recorded_votes(0.95),
            (std::vector<CountedVote>{{0.6, false}, {0.97, true}, {0.99, false}, {0.1, false}}));
  EXPECT_EQ(recorded_votes(0.0),
            (std::vector<CountedVote>{{0.6, true}, {0.97, true}, {0.99, false}, {0.1, true}}));
}

TEST_F(JudgedPlanTest, AJudgeMetricGoesOutWithWhatIsAsked) {
  Expectation correctness = judged(MetricId::correctness, 1);
  correctness.min_score = 0.8;
  correctness.judge->samples = 5;
  correctness.judge->reference = "Paris";
  Expectation rubric = judged(MetricId::rubric, 2);
  rubric.judge->criteria = "Is it polite?";
  asked.expectations = {judged(MetricId::faithfulness, 0), contains("Paris"), correctness, rubric};
  suite.cases = {asked};
  settings.judge_samples = 7;
  const auto sent = task(plan());
  EXPECT_EQ(sent.question, (JudgedQuestion{"What is the capital?", "France is a country."}));
  EXPECT_EQ(sent.judged, (std::vector<JudgeExpectation>{{MetricId::faithfulness, 0, 7, 0.5, "", ""},
                                                        {MetricId::correctness, 1, 5, 0.8, "Paris", ""},
                                                        {MetricId::rubric, 2, 7, 0.5, "", "Is it polite?"}}));
  EXPECT_EQ(sent.texts, std::vector{asked.expectations[1].what}) << "a judge metric has no texts";
}

TEST_F(JudgedPlanTest, KnowsWhetherACheckIsAboutAllCalls) {
  asked.expectations = {contains("Paris")};
  suite.cases = {asked};
  EXPECT_FALSE(plan().checks_all_calls());
  asked.expectations.push_back({});
  asked.expectations[1].what = {MetricId::any_of, {}, {1}};
  asked.expectations[1].what.parts = {{MetricId::tool_calls_valid, {}}};
  suite.cases = {asked};
  EXPECT_TRUE(plan().checks_all_calls());
}

TEST_F(JudgedPlanTest, AnAnswerIsReadAsOneOfAllLabelsOfTheSuite) {
  suite.labels = {{"", {"billing", "refund"}}, {"/mood", {"sad"}}};
  asked.expectations.resize(2);
  asked.expectations[0].what = {MetricId::label, {"refund", "", "refund"}};
  asked.expectations[1].what = {MetricId::any_of, {}, {1}};
  asked.expectations[1].what.parts = {{MetricId::not_label, {"sad", "/mood"}}};
  suite.cases = {asked};
  const ScoringTask sent = task(plan());
  ASSERT_EQ(sent.texts.size(), 2u);
  EXPECT_EQ(sent.texts[0].texts, (std::vector<std::string>{"refund", "", "billing", "refund"}));
  EXPECT_EQ(sent.texts[1].parts[0].texts, (std::vector<std::string>{"sad", "/mood", "sad"}));
  EXPECT_TRUE(is_complete(sent.texts[0]) && is_complete(sent.texts[1]));
  UnitLoad alone;
  alone.add(asked, 0);
  UnitLoad with_labels;
  with_labels.add(asked, 0, suite.labels);
  EXPECT_GT(with_labels.bytes, alone.bytes);
}

TEST_F(JudgedPlanTest, AMetricsOwnContextGoesOutWithItAndNoPerturbationChangesIt) {
  asked.expectations = {judged(MetricId::faithfulness, 0), judged(MetricId::rubric, 2)};
  suite.cases = {asked};
  EXPECT_FALSE(plan().gives_context());
  asked.expectations[0].judge->context = "Its capital is Paris.";
  suite.cases = {asked};
  const auto made = *Plan::make(suite, prompt, Ontology(), settings, {{in_capitals()}, 1});
  EXPECT_TRUE(made.gives_context());
  for (const TrialId trial : {0u, 1u}) {
    const ScoringTask sent = task(made, trial);
    EXPECT_EQ(texts_for_judge(sent.judged.at(0), sent.question).context, "Its capital is Paris.");
    EXPECT_EQ(texts_for_judge(sent.judged.at(1), sent.question).context,
              trial == 0 ? "France is a country." : "FRANCE IS A COUNTRY.");
  }
}

TEST_F(JudgedPlanTest, WhatIsNotJudgedTakesNoQuestionAlong) {
  asked.expectations = {contains("Paris")};
  suite.cases = {asked};
  const auto made = plan();
  EXPECT_EQ(task(made).question, JudgedQuestion());
  EXPECT_EQ(made.judged_cases().count, 0u);
  EXPECT_TRUE(made.rubrics().empty());
}

TEST_F(JudgedPlanTest, RubricsAreThoseOfItsOwnCasesAndCountedAmongThem) {
  asked.expectations = {judged(MetricId::relevancy, 0)};
  auto other = text_case("g", "Be polite.");
  other.expectations = {judged(MetricId::rubric, 2)};
  suite.cases = {asked, other};
  const auto made = plan();
  EXPECT_EQ(made.rubrics(), (std::vector{suite.rubrics[0], suite.rubrics[2]}));
  EXPECT_EQ(task(made, 0).judged.at(0).rubric, 0u);
  EXPECT_EQ(task(made, 1).judged.at(0).rubric, 1u);
}

TEST_F(JudgedPlanTest, CountsTheCasesThatAreJudgedAndNamesTheFirst) {
  suite.cases = {};
  for (std::size_t i = 0; i < defaults::named_trials + 2; ++i) {
    auto one = text_case("case-" + std::to_string(i), "prompt " + std::to_string(i));
    one.expectations = {judged(MetricId::relevancy, 0), judged(MetricId::faithfulness, 1)};
    suite.cases.push_back(one);
    suite.cases.push_back(text_case("plain-" + std::to_string(i), "plain"));
  }
  const auto made = plan();
  EXPECT_EQ(made.judged_cases().count, defaults::named_trials + 2);
  ASSERT_EQ(made.judged_cases().first.size(), defaults::named_trials);
  EXPECT_EQ(made.judged_cases().first[1], "case-1");
}

TEST_F(JudgedPlanTest, TheJudgeOfAPerturbedTrialIsShownWhatWasAsked) {
  asked.expectations = {judged(MetricId::faithfulness, 0)};
  auto without_context = text_case("g", "Be polite.");
  without_context.expectations = asked.expectations;
  suite.cases = {asked, without_context};
  for (const bool once : {false, true}) {
    auto perturbation = in_capitals();
    perturbation.apply_once = once;
    const auto made = *Plan::make(suite, prompt, Ontology(), settings, {{perturbation}, 1});
    ASSERT_EQ(made.trial_count(), 4u);
    EXPECT_EQ(task(made, 0).question, (JudgedQuestion{"What is the capital?", "France is a country."}));
    EXPECT_EQ(task(made, 1).question, (JudgedQuestion{"What is the capital?", "FRANCE IS A COUNTRY."}));
    EXPECT_EQ(task(made, 3).question, (JudgedQuestion{"BE POLITE.", ""}));
    EXPECT_EQ(made.render(made.unit_of(3))->request.user, "BE POLITE.");
  }
}

// One request, and two ways to have asked it.
TEST_F(JudgedPlanTest, TrialsOfOneUnitHaveAQuestionEach) {
  asked.expectations = {judged(MetricId::faithfulness, 0)};
  auto whole = text_case("g", asked.context + "\n\n" + asked.content);
  whole.expectations = {judged(MetricId::relevancy, 1)};
  suite.cases = {asked, whole};
  const auto made = plan();
  ASSERT_EQ(made.unit_count(), 1u);
  EXPECT_EQ(task(made, 0).question.context, "France is a country.");
  EXPECT_EQ(task(made, 1).question, (JudgedQuestion{whole.content, ""}));
}

// What judges an answer is in the run's settings and the suite's fingerprint.
TEST_F(JudgedPlanTest, JudgingChangesNoRequestAndNoPlanIdentity) {
  const auto before = plan();
  asked.expectations = {judged(MetricId::faithfulness, 0)};
  suite.cases = {asked};
  settings.judge_samples = 9;
  EXPECT_EQ(plan().key(0), before.key(0));
  EXPECT_EQ(plan_identity(plan()), plan_identity(before));
}

TEST_F(JudgedPlanTest, AMessageHasRoomForTheQuestionToo) {
  asked.content = std::string(defaults::max_bytes_of_unit * 2 / 3, 'x');
  UnitLoad asked_only;
  asked_only.add(asked, request_bytes(asked));
  EXPECT_TRUE(asked_only.fits_a_message());
  asked.expectations = {judged(MetricId::relevancy, 0)};
  UnitLoad judged_too;
  judged_too.add(asked, request_bytes(asked));
  EXPECT_FALSE(judged_too.fits_a_message());
  suite.cases = {asked};
  EXPECT_FALSE(Plan::make(suite, prompt, Ontology(), settings));

  asked.content = "short";
  Expectation long_one = judged(MetricId::correctness, 0);
  long_one.judge->reference = std::string(100, 'r');
  asked.expectations = {long_one};
  suite.cases = {asked};
  const auto unit = *plan().render(0);
  EXPECT_GE(message_bytes(unit, nullptr),
            unit.request.user.size() + 100 + asked.content.size() + asked.context.size());
}

}  // namespace sluice::judged_plan_test

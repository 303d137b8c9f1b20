#include "common/model/cache_key.hpp"
#include "tests/unit/plan/plan_fixture.hpp"

#include <string>

namespace sluice {
namespace {

/// What a test's request has beside its prompt, as the plan sends it.
class RequestShapes : public PlanTest {
 protected:
  RequestShapes() {
    Case one = text_case("a", "And now?");
    one.extras.messages = {{MessageRole::user, {{PartKind::text, "Hi."}}},
                           {MessageRole::assistant, {{PartKind::text, "Hello."}}},
                           {MessageRole::user, {{PartKind::asked}}}};
    one.context = "It is noon.";
    suite.cases = {std::move(one)};
  }
  ModelRequest request() const { return plan().render(0)->request; }
};

TEST_F(RequestShapes, AConversationEndsInTheContextAndTheTextThatIsAsked) {
  const ModelRequest sent = request();
  EXPECT_EQ(sent.user, "It is noon.\n\nAnd now?");
  EXPECT_EQ(sent.extras.messages, suite.cases.held(0).extras.messages);
}

TEST_F(RequestShapes, APerturbationChangesThatTextAlone) {
  suite.cases.held(0).context.clear();
  TrialDesign design;
  RunPerturbation shout;
  shout.name = "shout";
  shout.version = "1";
  shout.apply = [](std::string_view text, std::string_view) {
    return PerturbedText{PerturbedText::Kind::changed, std::string(text) + "!", {}};
  };
  design.perturbations = {shout};
  const auto made = Plan::make(suite, prompt, Ontology(), settings, design);
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_EQ(made->unit_count(), 2u);
  const ModelRequest changed = made->render(1)->request;
  EXPECT_EQ(changed.user, "And now?!");
  EXPECT_EQ(changed.extras, request().extras);
}

TEST_F(RequestShapes, ParametersOfTheTestGoBeforeThoseOfTheRun) {
  settings.params = {{"seed", "3"}, {"stop", "\"A\""}, {"temperature", "0.5"}, {"top_p", "0.9"}};
  suite.cases.held(0).extras.params = {{"max_output_tokens", "5"}, {"stop", "null"}, {"temperature", "null"}};
  const ModelRequest sent = request();
  EXPECT_EQ(sent.extras.params, (RequestParams{{"top_p", "0.9"}}));
  EXPECT_FALSE(sent.temperature);
  EXPECT_EQ(sent.max_tokens, 5u);
  EXPECT_EQ(sent.seed, 3);
}

TEST_F(RequestShapes, ParametersMakeAnotherKeyAndThoseOfClaimsToo) {
  suite.cases = {make_case("a", "one"), make_case("b", "one"), make_case("c", "one")};
  EXPECT_EQ(plan().unit_count(), 1u);
  suite.cases.held(1).extras.params = {{"top_p", "0.9"}};
  suite.cases.held(2).extras.params = {{"top_p", "0.8"}};
  const Plan made = plan();
  ASSERT_EQ(made.unit_count(), 3u);
  for (UnitId unit = 0; unit < 3; ++unit) {
    const auto rendered = made.render(unit);
    EXPECT_EQ(cache_key(settings.provider, rendered->request, 0), rendered->key) << unit;
  }
}

TEST_F(RequestShapes, ASeedOfTheParametersGrowsWithTheRepeat) {
  settings.params = {{"seed", "10"}};
  TrialDesign design;
  design.repeats = 2;
  const auto made = Plan::make(suite, prompt, Ontology(), settings, design);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->render(1)->request.seed, 11);
}

TEST_F(RequestShapes, AJudgeIsShownTheConversation) {
  Case& one = suite.cases.held(0);
  Expectation judged;
  judged.what.metric = MetricId::relevancy;
  judged.judge.emplace();
  one.expectations = {judged};
  suite.rubrics = {{"relevancy", "v1", "s", "{{prompt}} {{answer}}"}};
  const auto unit = plan().render(0);
  ASSERT_EQ(unit->tasks.size(), 1u);
  EXPECT_EQ(unit->tasks[0].question.prompt, "[user]\nHi.\n\n[assistant]\nHello.\n\n[user]\nAnd now?");
}

}  // namespace
}  // namespace sluice

#include "coordinator/actors/checker.hpp"

#include "coordinator/actors/messages.hpp"
#include "tests/actors/actor_fixture.hpp"

#include <memory>

namespace sluice {
namespace {

/// Its checks take longer than any test; they are killed at its end.
class CheckerTest : public ActorTest {
 protected:
  CheckerTest() {
    TextExpectation check;
    check.metric = MetricId::command;
    check.texts = {R"(["sleep","60"])", "{}", ""};
    check.numbers = {60.0};
    Case one;
    one.id = "t";
    one.kind = CaseKind::text;
    one.content = "Say hello.";
    one.expectations.push_back({check, {}, {}});
    suite.cases.push_back(one);
    RequestSettings request;
    request.provider.name = "sim";
    request.model = "m";
    plan = std::make_shared<const Plan>(*Plan::make(suite, PromptTemplate(), Ontology(), request));
    checker =
        owned(spawn_checker(system(), plan, std::make_shared<const CommandRules>(CommandRules{"/", {}, {}}),
                            coordinator.handle(), recorder.handle()));
  }
  void take(WorkerId worker, bool is_late) {
    RecordResult record;
    record.worker = worker;
    record.is_late = is_late;
    UnitResult& result = record.item.result;
    result.key = plan->key(0);
    result.scores.push_back({0, {}, {}});
    result.observed = ObservedAnswer{"Hello.", "stop", "m-1", 0};
    caf::anon_send(checker, RecordResults{{record}});
    settle();
  }

  Suite suite;
  std::shared_ptr<const Plan> plan;
  Probe<RecordResults> recorder{system()};
  Probe<ResultsDropped, RecordingFailed> coordinator{system()};
  caf::actor checker;
};

TEST_F(CheckerTest, ALateResultOfAUnitThatIsCheckedIsNotCheckedAgain) {
  take(1, true);
  const auto recorded = recorder.take<RecordResults>();
  ASSERT_EQ(recorded.size(), 1u) << "the recorder knows what became of the first";
  ASSERT_EQ(recorded[0].results.size(), 1u);
  EXPECT_EQ(recorded[0].results[0].worker, 1u);
}

TEST_F(CheckerTest, ALateResultOfAUnitThatIsBeingCheckedWaitsForTheFirst) {
  take(1, false);
  take(2, true);
  EXPECT_TRUE(recorder.got<RecordResults>().empty()) << "or it would be committed, unchecked";
}

}  // namespace
}  // namespace sluice

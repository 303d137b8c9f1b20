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
    Case unchecked;
    unchecked.id = "u";
    unchecked.kind = CaseKind::text;
    unchecked.content = "Say nothing.";
    suite.cases.push_back(unchecked);
    RequestSettings request;
    request.provider.name = "sim";
    request.model = "m";
    plan = std::make_shared<const Plan>(*Plan::make(suite, PromptTemplate(), Ontology(), request));
    checker =
        owned(spawn_checker(system(), plan, std::make_shared<const CommandRules>(CommandRules{"/", {}, {}}),
                            coordinator.handle(), recorder.handle()));
  }
  void take(WorkerId worker, bool is_late, UnitId unit = 0) {
    RecordResult record;
    record.worker = worker;
    record.is_late = is_late;
    UnitResult& result = record.item.result;
    result.unit = unit;
    result.key = plan->key(unit);
    result.scores.push_back({unit, {}, {}});
    result.observed = ObservedAnswer{"Hello.", "stop", "m-1", 0};
    caf::anon_send(checker, RecordResults{{record}});
    settle();
  }

  Suite suite;
  std::shared_ptr<const Plan> plan;
  Probe<RecordResults> recorder{system()};
  Probe<ChecksUnderWay, ResultsDropped, RecordingFailed> coordinator{system()};
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

// "0 in flight" was all that progress said while commands worked.
TEST_F(CheckerTest, SaysHowManyResultsWaitForCommands) {
  take(1, false, 1);
  EXPECT_TRUE(coordinator.take<ChecksUnderWay>().empty()) << "it asks for none";
  take(1, false);
  take(2, true);
  const auto begun = coordinator.take<ChecksUnderWay>();
  ASSERT_EQ(begun.size(), 1u);
  EXPECT_EQ(begun[0].results, 1u);
  caf::anon_send(checker, DropChecks{});
  settle();
  const auto ended = coordinator.take<ChecksUnderWay>();
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].results, 0u);
}

// They were paid for, and dropped with the others.
TEST_F(CheckerTest, WhatAsksForNoCommandIsRecordedAlsoWhenChecksAreDropped) {
  take(1, false);
  caf::anon_send(checker, DropChecks{});
  settle();
  EXPECT_EQ(coordinator.take<ResultsDropped>().size(), 1u);
  take(1, false, 1);
  const auto recorded = recorder.take<RecordResults>();
  ASSERT_EQ(recorded.size(), 1u);
  EXPECT_EQ(recorded[0].results[0].item.result.unit, 1u);
  take(2, true);
  EXPECT_TRUE(recorder.got<RecordResults>().empty()) << "its unit's first was dropped: nobody checked it";
  const auto dropped = coordinator.take<ResultsDropped>();
  ASSERT_EQ(dropped.size(), 1u);
  EXPECT_EQ(dropped[0].items[0].worker, 2u);
}

}  // namespace
}  // namespace sluice

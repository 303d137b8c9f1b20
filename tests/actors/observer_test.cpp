#include "coordinator/actors/observer.hpp"

#include "coordinator/actors/messages.hpp"
#include "coordinator/actors/recorder.hpp"
#include "coordinator/defaults.hpp"
#include "tests/actors/actor_fixture.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/plan/plan_fixture.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

namespace sluice::observer_test {

std::shared_ptr<const Plan> plan_of(const Suite& suite) {
  PromptTemplate prompt;
  prompt.user = "{{content}}";
  RequestSettings settings;
  settings.provider.name = "local";
  settings.model = "m";
  return std::make_shared<const Plan>(*Plan::make(suite, prompt, Ontology(), settings));
}

class ObserverTest : public ActorTest {
 protected:
  ObserverTest() {
    for (int i = 0; i < 20; ++i)
      suite.cases.push_back(make_case("case-" + std::to_string(10 + i), std::to_string(i)));
    auto store = ObservationStore::open(folder.path() / "observations.db");
    EXPECT_TRUE(store);
    ObservationMaker maker(plan_of(suite), {"run-1", "1", "sha256:p", {}});
    observing = spawn_observer(
        system(), {std::move(*store), std::move(maker), [] { return std::int64_t{1000}; }}, false);
    owned(observing.observer);
    auto ledger = Ledger::open(ledger_file());
    EXPECT_TRUE(ledger && ledger->begin_run({"run-1", "s", "live", "p", "m", "1", 1, 1}));
    recorder = owned(
        spawn_recorder(system(), std::move(*ledger), "run-1", true, coordinator.handle(), observing, false));
  }
  std::filesystem::path ledger_file() const { return folder.path() / "ledger.db"; }
  std::uint64_t saved() const {
    return *(*ObservationStore::open_read_only(folder.path() / "observations.db"))->count();
  }
  void record(UnitId unit, const std::string& text = "It is so.") {
    ResultToCommit item;
    item.result.unit = unit;
    item.result.answer = sha256(text);
    item.result.scores = {{unit, {{MetricId::claims_required, std::nullopt, true, ""}}, {}}};
    item.result.observed = ObservedAnswer{text, "stop", "", 1};
    item.trials = {unit};
    caf::anon_send(recorder, RecordResults{{{1, item}}});
    settle();
  }

  support::TemporaryFolder folder;
  Suite suite;
  Probe<ResultsRecorded, RecordingFailed> coordinator{system()};
  Observing observing;
  caf::actor recorder;
};

TEST_F(ObserverTest, WhatIsCommittedIsObservedOnce) {
  record(0);
  record(1);
  record(1, "Another answer to the same.");
  EXPECT_EQ(coordinator.got<ResultsRecorded>().size(), 3u);
  pass(defaults::observation_delay);
  EXPECT_EQ(saved(), 2u);
  std::string seen;
  ASSERT_TRUE(
      (*ObservationStore::open_read_only(folder.path() / "observations.db"))
          ->visit({}, ObservationStore::Order::oldest_first, std::nullopt,
                  [&](const Observation& one) { seen += one.case_id + ": " + one.raw_response + "\n"; }));
  EXPECT_EQ(seen, "case-10: It is so.\ncase-11: It is so.\n");
}

TEST_F(ObserverTest, SavesWhileTheRunGoesOnAndWhatIsLeftAtItsEnd) {
  record(0);
  record(1);
  EXPECT_EQ(saved(), 0u) << "together with what may come yet";
  pass(defaults::observation_delay);
  EXPECT_EQ(saved(), 2u);
  record(2);
  caf::anon_send(observing.observer, FinishObserving{});
  settle();
  EXPECT_EQ(saved(), 3u);
}

TEST_F(ObserverTest, TheLedgerKeepsNoWholeAnswers) {
  record(0);
  const auto reader = Ledger::open(ledger_file());
  ASSERT_TRUE(reader->results_of("run-1")->visit(
      [](const CommittedTrial& trial) { EXPECT_FALSE(trial.unit.observed); }));
}

TEST_F(ObserverTest, WhatCannotBeSavedCostsTheRunNothing) {
  SQLite::Database((folder.path() / "observations.db").string(), SQLite::OPEN_READWRITE)
      .exec("DROP TABLE observations");
  record(0);
  pass(defaults::observation_delay);
  record(1);
  EXPECT_EQ(coordinator.got<ResultsRecorded>().size(), 2u);
  EXPECT_TRUE(coordinator.got<RecordingFailed>().empty());
}

TEST(UnsavedObservations, AreBoundedInMemory) {
  UnsavedObservations unsaved;
  EXPECT_TRUE(unsaved.add(defaults::max_unsaved_observation_bytes + 1)) << "one alone is always taken";
  EXPECT_FALSE(unsaved.add(1));
  EXPECT_EQ(unsaved.left_out(), 1u);
  unsaved.remove(defaults::max_unsaved_observation_bytes + 1);
  EXPECT_TRUE(unsaved.add(1));
}

}  // namespace sluice::observer_test

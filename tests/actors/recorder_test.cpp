#include "coordinator/actors/recorder.hpp"

#include "common/defaults.hpp"
#include "coordinator/actors/messages.hpp"
#include "coordinator/defaults.hpp"
#include "tests/actors/actor_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

#include <array>

#include <SQLiteCpp/SQLiteCpp.h>

namespace sluice {
namespace {

using namespace std::chrono_literals;

ResultToCommit result_of(UnitId unit, const std::string& text) {
  ResultToCommit item;
  item.result.unit = unit;
  item.result.answer = sha256(text);
  TrialScore score;
  score.trial = unit;
  score.metrics = {{MetricId::claims_required, std::nullopt, unit % 2 == 0, ""}};
  item.result.scores = {score};
  item.trials = {unit};
  return item;
}

class RecorderTest : public ActorTest {
 protected:
  RecorderTest() {
    auto ledger = Ledger::open(file());
    EXPECT_TRUE(ledger && ledger->begin_run({"run-1", "s", "live", "p", "m", "1", 1, 1}));
    recorder =
        owned(spawn_recorder(system(), std::move(*ledger), run_id, true, coordinator.handle(), {}, false));
  }
  std::filesystem::path file() const { return folder.path() / "ledger.db"; }
  void record(WorkerId worker, UnitId unit, const std::string& text = "a") {
    caf::anon_send(recorder, RecordResults{{{worker, result_of(unit, text)}}});
  }

  std::string run_id = "run-1";
  support::TemporaryFolder folder;
  Probe<ResultsRecorded, RecordingFailed, ResultsDropped> coordinator{system()};
  caf::actor recorder;
};

TEST_F(RecorderTest, ResultsThatWaitTogetherAreCommittedTogether) {
  for (UnitId unit = 0; unit < 10; ++unit) record(unit + 100, unit);
  settle();
  const auto batches = coordinator.take<ResultsRecorded>();
  ASSERT_EQ(batches.size(), 1u);
  ASSERT_EQ(batches[0].items.size(), 10u);
  for (UnitId unit = 0; unit < 10; ++unit) {
    const auto& item = batches[0].items[unit];
    EXPECT_EQ(item.worker, unit + 100u);
    EXPECT_EQ(item.unit, unit);
    EXPECT_TRUE(item.outcome.first);
    EXPECT_EQ(item.failed.size(), unit % 2 == 0 ? 0u : 1u);
    EXPECT_FALSE(item.error);
    EXPECT_TRUE(item.answered);
  }
}

TEST_F(RecorderTest, AnAnswerThatNobodyCanUseIsAnAnswer) {
  auto cut_off = result_of(0, "half an ans");
  cut_off.result.error = Error{Reason::truncated, "cut off"};
  cut_off.result.scores.clear();
  auto none = result_of(1, "");
  none.result.error = Error{Reason::timed_out, "it hung"};
  none.result.answer = {};
  none.result.scores.clear();
  caf::anon_send(recorder, RecordResults{{{1, cut_off}, {1, none}}});
  settle();
  const auto batches = coordinator.take<ResultsRecorded>();
  ASSERT_EQ(batches.size(), 1u);
  ASSERT_EQ(batches[0].items.size(), 2u);
  EXPECT_TRUE(batches[0].items[0].answered);
  EXPECT_FALSE(batches[0].items[1].answered);
}

TEST_F(RecorderTest, WhatItReportsIsInTheLedger) {
  record(1, 3);
  settle();
  ASSERT_EQ(coordinator.got<ResultsRecorded>().size(), 1u);
  const auto reader = Ledger::open(file());
  std::size_t seen = 0;
  EXPECT_TRUE(reader->results_of("run-1")->visit([&](const CommittedTrial& trial) {
    EXPECT_EQ(trial.trial, 3u);
    ++seen;
  }));
  EXPECT_EQ(seen, 1u);
}

TEST_F(RecorderTest, AFloodIsCommittedInBoundedBatches) {
  for (UnitId unit = 0; unit < 1300; ++unit) record(1, unit);
  RecordResults together;
  for (UnitId unit = 1300; unit < 2600; ++unit) together.results.push_back({1, result_of(unit, "a")});
  caf::anon_send(recorder, std::move(together));
  settle();
  std::size_t recorded = 0;
  for (const auto& batch : coordinator.got<ResultsRecorded>()) {
    EXPECT_LE(batch.items.size(), 512u);
    for (const auto& item : batch.items) EXPECT_EQ(item.unit, recorded++) << "in the order of arrival";
  }
  EXPECT_EQ(recorded, 2600u);
}

TEST_F(RecorderTest, WhereTheDiskIsWaitedForWhatComesMeanwhileGoesAlong) {
  auto ledger = Ledger::open(folder.path() / "durable.db", Outlives::power);
  ASSERT_TRUE(ledger && ledger->begin_run({"run-1", "s", "live", "p", "m", "1", 1, 1}));
  recorder =
      owned(spawn_recorder(system(), std::move(*ledger), run_id, true, coordinator.handle(), {}, false));
  record(1, 0);
  settle();
  EXPECT_TRUE(coordinator.got<ResultsRecorded>().empty());
  record(2, 1);
  pass(defaults::sync_group_time);
  ASSERT_EQ(coordinator.got<ResultsRecorded>().size(), 1u);
  EXPECT_EQ(coordinator.got<ResultsRecorded>()[0].items.size(), 2u);
}

TEST_F(RecorderTest, AnAckNamesTheWinnerOfADuplicate) {
  record(1, 0, "first");
  record(2, 0, "second");
  settle();
  const auto batches = coordinator.take<ResultsRecorded>();
  ASSERT_EQ(batches.size(), 1u);
  EXPECT_TRUE(batches[0].items.at(0).outcome.first);
  EXPECT_FALSE(batches[0].items.at(1).outcome.first);
  EXPECT_EQ(batches[0].items.at(1).outcome.winner, sha256("first"));
}

TEST_F(RecorderTest, AFailureIsReportedOnceAndWhatComesThenIsDropped) {
  run_id = "not in the ledger";
  auto ledger = Ledger::open(file());
  const auto broken =
      owned(spawn_recorder(system(), std::move(*ledger), run_id, true, coordinator.handle(), {}, false));
  caf::anon_send(broken, RecordResults{{{1, result_of(0, "a")}}});
  settle();
  const auto failures = coordinator.take<RecordingFailed>();
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_EQ(failures[0].why.reason, Reason::ledger_failed);
  ASSERT_EQ(failures[0].dropped.items.size(), 1u);
  EXPECT_EQ(failures[0].dropped.items[0].worker, 1u);
  caf::anon_send(broken, RecordResults{{{2, result_of(1, "b")}}});
  settle();
  EXPECT_TRUE(coordinator.take<RecordingFailed>().empty());
  const auto dropped = coordinator.take<ResultsDropped>();
  ASSERT_EQ(dropped.size(), 1u);
  EXPECT_EQ(dropped[0].items.at(0).worker, 2u);
}

// `sluice runs prune` of a large run ended every run of the home: "database is locked".
TEST_F(RecorderTest, ALockedLedgerIsTriedAgain) {
  auto ledger = Ledger::open(file());
  ASSERT_TRUE(ledger);
  ledger->wait_for_others(0ms);
  recorder =
      owned(spawn_recorder(system(), std::move(*ledger), run_id, true, coordinator.handle(), {}, false));
  SQLite::Database other(file().string(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN IMMEDIATE");
  for (UnitId unit = 0; unit < 600; ++unit) record(1, unit);
  settle();
  caf::anon_send(recorder, NoteProgress{{}, {{0, "cache-1"}}});
  caf::anon_send(recorder, NoteHolders{{{{EntryKind::vote, sha256("vote")}, "cache-1"}}});
  settle();
  jump(defaults::locked_ledger_patience - 1min);
  EXPECT_TRUE(coordinator.got<RecordingFailed>().empty());
  EXPECT_TRUE(coordinator.got<ResultsRecorded>().empty());
  other.exec("COMMIT");
  pass(2 * defaults::locked_ledger_wait);
  EXPECT_TRUE(coordinator.got<RecordingFailed>().empty());
  std::size_t recorded = 0;
  for (const auto& batch : coordinator.got<ResultsRecorded>()) recorded += batch.items.size();
  EXPECT_EQ(recorded, 600u);
  caf::anon_send(recorder, NoteProgress{{}, {{1, "cache-2"}}});
  caf::anon_send(recorder, NoteHolders{{{{EntryKind::vote, sha256("another")}, "cache-2"}}});
  settle();
  auto reader = Ledger::open(file());
  EXPECT_EQ(reader->leases_of(run_id).value().size(), 2u) << "what came meanwhile is noted, too";
  const std::array keys{EntryKey{EntryKind::vote, sha256("vote")},
                        EntryKey{EntryKind::vote, sha256("another")}};
  EXPECT_EQ(reader->holders(keys).value(), (std::vector<std::string>{"cache-1", "cache-2"}));
}

TEST_F(RecorderTest, ALedgerThatStaysLockedEndsTheRunAndIsNamed) {
  auto ledger = Ledger::open(file());
  ASSERT_TRUE(ledger);
  ledger->wait_for_others(0ms);
  recorder =
      owned(spawn_recorder(system(), std::move(*ledger), run_id, true, coordinator.handle(), {}, false));
  SQLite::Database other(file().string(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN IMMEDIATE");
  record(1, 0);
  settle();
  jump(defaults::locked_ledger_patience);
  const auto failures = coordinator.take<RecordingFailed>();
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_NE(failures[0].why.message.find("another process holds it"), std::string::npos);
  EXPECT_EQ(failures[0].dropped.items.size(), 1u);
}

// A full disk lost who held what: whoever went on with the run asked others for answers that were there.
TEST_F(RecorderTest, WhatTheLedgerRefusesIsNotedWithWhatComesNext) {
  run_id = "run-2";
  auto ledger = Ledger::open(file());
  const auto early =
      owned(spawn_recorder(system(), std::move(*ledger), run_id, true, coordinator.handle(), {}, false));
  caf::anon_send(early, NoteProgress{{}, {{0, "cache-1"}, {1, "cache-2"}}});
  settle();
  auto other = Ledger::open(file());
  ASSERT_TRUE(other && other->begin_run({"run-2", "s", "live", "p", "m", "1", 1, 1}));
  caf::anon_send(early, NoteProgress{{}, {{2, "cache-1"}}});
  settle();
  const auto leases = other->leases_of(run_id);
  ASSERT_TRUE(leases) << leases.error().message;
  EXPECT_EQ(*leases, (std::vector<NotedLease>{{0, "cache-1"}, {1, "cache-2"}, {2, "cache-1"}}));
}

}  // namespace
}  // namespace sluice

// What going on with a run needs of the ledger, and who works on a run.
#include "common/clock.hpp"
#include "coordinator/ledger/ledger.hpp"
#include "coordinator/ledger/run_lock.hpp"
#include "tests/support/temporary_folder.hpp"

#include <csignal>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::go_on_test {
namespace {

class GoOn : public ::testing::Test {
 protected:
  const std::filesystem::path& home() const { return folder_.path(); }
  Ledger open() const {
    auto opened = Ledger::open(home() / "ledger.db");
    EXPECT_TRUE(opened) << opened.error().message;
    return std::move(*opened);
  }
  static void begin(Ledger& ledger, const std::string& run_id) {
    ASSERT_TRUE(ledger.begin_run({run_id, "suite", "live", "openai", "m", "1", 100, 10}));
  }
  static ResultToCommit result(UnitId unit, const std::string& worker) {
    UnitResult result;
    result.unit = unit;
    result.key = sha256(std::to_string(unit));
    result.answer = sha256("answer");
    result.scores = {{unit, {{MetricId::claims_required, std::nullopt, unit % 2 == 0, ""}}, {}}};
    result.spend.calls = 2;
    return {result, {unit}, worker, "cache-a"};
  }
  static UnitSpend spend(UnitId unit, std::uint64_t tokens) {
    UnitSpend one;
    one.unit = unit;
    one.spend.calls = 3;
    one.spend.paid.of(CallKind::answer) = {tokens, 1};
    return one;
  }

 private:
  support::TemporaryFolder folder_;
};

TEST_F(GoOn, ARunHasOneProcessAtATime) {
  {
    const auto first = RunLock::take(home(), "run-1");
    ASSERT_TRUE(first) << first.error().message;
    EXPECT_TRUE(RunLock::is_held(home(), "run-1"));
    EXPECT_FALSE(RunLock::is_held(home(), "run-2"));
    EXPECT_TRUE(RunLock::take(home(), "run-2")) << "another run is nobody's business";
    const auto second = RunLock::take(home(), "run-1");
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().reason, Reason::usage_invalid);
    EXPECT_NE(second.error().message.find("run-1 is under way"), std::string::npos) << second.error().message;
  }
  EXPECT_FALSE(RunLock::is_held(home(), "run-1"));
  EXPECT_TRUE(RunLock::take(home(), "run-1"));
}

// `runs prune` makes the file smaller once it has seen that no run is under way: one that began just then
// ended when it could not write for ten seconds.
TEST_F(GoOn, ARunThatBeginsWaitsForWhoeverHasTheLedgerToItself) {
  std::optional<Result<RunLock>> all(RunLock::take_all(home()));
  ASSERT_TRUE(*all) << all->error().message;
  EXPECT_FALSE(RunLock::is_held(home(), "run-1")) << "nobody works on it";
  EXPECT_EQ(RunLock::holder_in(home()), RunLock::Holder::all);
  const auto second = RunLock::take_all(home());
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("smaller or repairs it"), std::string::npos)
      << second.error().message;
  int waits = 0;
  const auto begun = RunLock::take(home(), "run-1", [&] {
    ++waits;
    all.reset();
  });
  ASSERT_TRUE(begun) << begun.error().message;
  EXPECT_EQ(waits, 1);
  EXPECT_TRUE(RunLock::is_held(home(), "run-1"));
}

TEST_F(GoOn, TheLockDiesWithItsProcess) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto lock = RunLock::take(home(), "run-1");
    const char said = lock ? 'y' : 'n';
    if (::write(ready[1], &said, 1) == 1) ::pause();
    ::_exit(0);
  }
  char said = 0;
  ASSERT_EQ(::read(ready[0], &said, 1), 1);
  EXPECT_EQ(said, 'y');
  EXPECT_TRUE(RunLock::is_held(home(), "run-1"));
  auto ledger = open();
  begin(ledger, "run-1");
  EXPECT_TRUE(ledger.find_run("run-1")->under_way);
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(RunLock::is_held(home(), "run-1"));
  EXPECT_FALSE(ledger.list_runs(1)->front().under_way);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(GoOn, AHomeThatNobodyEverLockedHasNoFileMadeInIt) {
  EXPECT_FALSE(RunLock::is_held(home(), "run-1"));
  EXPECT_TRUE(std::filesystem::is_empty(home()));
  const auto lock = RunLock::take(home() / "missing", "run-1");
  ASSERT_FALSE(lock);
  EXPECT_EQ(lock.error().reason, Reason::ledger_failed);
}

TEST_F(GoOn, CommittedTrialsComeWithTheirWorkers) {
  auto ledger = open();
  begin(ledger, "run-1");
  begin(ledger, "run-2");
  ASSERT_TRUE(ledger.commit("run-1", std::vector{result(3, "b"), result(1, "a")}, true));
  ASSERT_TRUE(ledger.commit("run-2", std::vector{result(0, "c")}, true));
  std::vector<std::pair<TrialId, std::string>> seen;
  const auto visited =
      ledger.visit_committed("run-1", [&](const CommittedTrial& trial, const std::string& worker) {
        seen.emplace_back(trial.trial, worker);
        EXPECT_EQ(trial.unit.spend.calls, 2u);
      });
  ASSERT_TRUE(visited) << visited.error().message;
  EXPECT_EQ(seen, (std::vector<std::pair<TrialId, std::string>>{{1, "a"}, {3, "b"}}));
}

TEST_F(GoOn, WhatIsSpentBesideResultsIsKeptUntilTheRunHasEnded) {
  auto ledger = open();
  begin(ledger, "run-1");
  begin(ledger, "run-2");
  const std::vector<UnitSpend> first{spend(7, 100), spend(7, 100)};
  const std::vector<UnitSpend> second{spend(2, 5)};
  ASSERT_TRUE(ledger.note_spends("run-1", first));
  ASSERT_TRUE(ledger.note_spends("run-2", second));
  ASSERT_TRUE(ledger.note_spends("run-1", second));
  const auto spends = ledger.spends_of("run-1");
  ASSERT_TRUE(spends) << spends.error().message;
  EXPECT_EQ(*spends, (std::vector<UnitSpend>{spend(7, 100), spend(7, 100), spend(2, 5)}));
  const std::vector<NotedLease> leases{{4, "cache-a"}, {2, "cache-b"}};
  const std::vector<NotedLease> later{{4, "cache-c"}};
  ASSERT_TRUE(ledger.note_leases("run-1", leases));
  ASSERT_TRUE(ledger.note_leases("run-1", later));
  EXPECT_EQ(*ledger.leases_of("run-1"), (std::vector<NotedLease>{{2, "cache-b"}, {4, "cache-c"}}));
  EXPECT_TRUE(ledger.leases_of("run-2")->empty());

  // One that was cut short may be gone on with.
  ASSERT_TRUE(ledger.finish_run("run-1", {200, "error", 2, "interrupted"}));
  EXPECT_EQ(ledger.spends_of("run-1")->size(), 3u);
  ASSERT_TRUE(ledger.finish_run("run-1", {300, "pass", 0}));
  EXPECT_TRUE(ledger.spends_of("run-1")->empty());
  EXPECT_TRUE(ledger.leases_of("run-1")->empty());
  EXPECT_EQ(ledger.spends_of("run-2")->size(), 1u);
}

TEST_F(GoOn, ResultsThatAreGivenUpLeaveWhatTheyTook) {
  auto ledger = open();
  begin(ledger, "run-1");
  begin(ledger, "run-2");
  for (const char* run : {"run-1", "run-2"})
    ASSERT_TRUE(ledger.commit(run, std::vector{result(1, "a"), result(3, "a")}, true));
  const std::vector<TrialId> trials{1, 2};
  const std::vector<UnitSpend> spends{spend(1, 100)};
  ASSERT_TRUE(ledger.give_up_results("run-1", trials, spends));
  const auto left = [&](const char* run) {
    std::vector<TrialId> seen;
    EXPECT_TRUE(ledger.results_of(run)->visit([&](const CommittedTrial& one) { seen.push_back(one.trial); }));
    return seen;
  };
  EXPECT_EQ(left("run-1"), std::vector<TrialId>{3});
  EXPECT_EQ(left("run-2"), (std::vector<TrialId>{1, 3}));
  EXPECT_EQ(*ledger.spends_of("run-1"), spends);
}

TEST_F(GoOn, ARunThatIsOpenedAgainHasNoEndAndItsResults) {
  auto ledger = open();
  begin(ledger, "run-1");
  ASSERT_TRUE(ledger.commit("run-1", std::vector{result(0, "a")}, true));
  ASSERT_TRUE(ledger.note_cases("run-1", std::vector<CaseOutcome>{{3, "case-3", CaseStatus::error}}));
  ASSERT_TRUE(ledger.note_endpoint("run-1", "tcp://127.0.0.1:4711"));
  ASSERT_TRUE(ledger.finish_run("run-1", {200, "error", 2, "interrupted"}));
  ASSERT_TRUE(ledger.reopen_run("run-1"));
  const auto past = ledger.find_run("run-1");
  ASSERT_TRUE(past) << past.error().message;
  EXPECT_FALSE(past->summary);
  EXPECT_EQ(past->run.endpoint, "tcp://127.0.0.1:4711");
  EXPECT_GT(past->run.result_layout, 0);
  EXPECT_TRUE(ledger.cases_of("run-1")->empty()) << "they are noted anew when it ends";
  std::size_t results = 0;
  ASSERT_TRUE(ledger.results_of("run-1")->visit([&](const CommittedTrial&) { ++results; }));
  EXPECT_EQ(results, 1u);
  EXPECT_FALSE(ledger.reopen_run("run-9"));
}

TEST_F(GoOn, ThePartThatGoesOnHasItsOwnFlags) {
  auto ledger = open();
  begin(ledger, "run-1");
  ASSERT_TRUE(ledger.finish_run("run-1", {200, "error", 2, "interrupted"}));
  ASSERT_TRUE(ledger.note_flags("run-1", R"({"strict":["true"]})"));
  EXPECT_EQ(ledger.find_run("run-1")->run.flags, R"({"strict":["true"]})");
  EXPECT_FALSE(ledger.note_flags("run-9", "{}"));
  const auto missing = ledger.note_endpoint("run-9", "tcp://127.0.0.1:1");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("run run-9 is not in the ledger"), std::string::npos);
}

// The hours in which nothing ran were counted.
TEST_F(GoOn, TheTimeOfARunIsThatOfItsParts) {
  auto ledger = open();
  RunRecord run;
  run.run_id = "run-1";
  run.started_at_ms = 1000;
  ASSERT_TRUE(ledger.begin_run(run));
  EXPECT_EQ(ledger.time_of("run-1").value(), std::chrono::milliseconds(0));
  EXPECT_EQ(ledger.time_of("run-1", 4000).value(), std::chrono::milliseconds(3000)) << "it is under way";
  const std::chrono::milliseconds first(2500);
  ASSERT_TRUE(ledger.finish_run("run-1", {9000, "error", 2, "interrupted"}, first));
  EXPECT_EQ(ledger.time_of("run-1").value(), first) << "before that it waited for workers";
  ASSERT_TRUE(ledger.reopen_run("run-1"));
  EXPECT_EQ(ledger.time_of("run-1").value(), first);
  ASSERT_TRUE(ledger.finish_run("run-1", {unix_now_ms(), "pass", 0}, std::chrono::milliseconds(60'000)));
  EXPECT_EQ(ledger.time_of("run-1").value(), first + std::chrono::milliseconds(60'000));
  ASSERT_TRUE(ledger.remove_run("run-1"));
  EXPECT_FALSE(ledger.time_of("run-1"));
}

TEST_F(GoOn, APartThatWasKilledHasTheTimeOfItsLatestCommit) {
  auto ledger = open();
  RunRecord run;
  run.run_id = "run-1";
  run.started_at_ms = unix_now_ms() - 5000;
  ASSERT_TRUE(ledger.begin_run(run));
  ASSERT_TRUE(ledger.commit("run-1", std::vector{result(0, "a")}, true));
  EXPECT_GE(ledger.time_of("run-1").value(), std::chrono::milliseconds(5000));
}

TEST_F(GoOn, OfARunThatAnEarlierVersionBeganTheTimeIsNotKnown) {
  auto ledger = open();
  begin(ledger, "run-1");
  SQLite::Database((home() / "ledger.db").string(), SQLite::OPEN_READWRITE).exec("DELETE FROM parts");
  EXPECT_FALSE(ledger.time_of("run-1").value());
  ASSERT_TRUE(ledger.reopen_run("run-1"));
  EXPECT_FALSE(ledger.time_of("run-1").value()) << "a part of it is no answer";
}

TEST_F(GoOn, KeepsTheCasesOfARunInTheirOrder) {
  auto ledger = open();
  begin(ledger, "run-1");
  begin(ledger, "run-2");
  const std::vector<AskedCase> cases{{"a", 3, 17}, {"b@arm", 1, -4}};
  ASSERT_TRUE(ledger.note_asked("run-1", cases));
  EXPECT_EQ(ledger.asked_by("run-1").value(), cases);
  EXPECT_TRUE(ledger.asked_by("run-2")->empty());
  ASSERT_TRUE(ledger.remove_run("run-1"));
  begin(ledger, "run-1");
  EXPECT_TRUE(ledger.asked_by("run-1")->empty()) << "they go with their run";
}

TEST_F(GoOn, PruneLeavesARunThatAProcessWorksOnHoweverOldItIs) {
  auto ledger = open();
  begin(ledger, "at work");
  begin(ledger, "dead");
  begin(ledger, "newest");
  const auto lock = RunLock::take(home(), "at work");
  ASSERT_TRUE(lock);
  for (const bool dry_run : {true, false}) {
    RunPrune which;
    which.keep = 1;
    which.unfinished_before_ms = 1000;
    which.dry_run = dry_run;
    const auto done = ledger.prune(which);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(done->runs, 1u);
    EXPECT_EQ(done->left, 2u);
    EXPECT_EQ(done->unfinished, 1u);
  }
  EXPECT_TRUE(ledger.find_run("at work"));
  EXPECT_FALSE(ledger.find_run("dead"));
}

}  // namespace
}  // namespace sluice::go_on_test

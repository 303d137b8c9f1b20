// The ledger's file: what is there for other processes and after the end of one, and what is refused.
#include "tests/unit/ledger/ledger_fixture.hpp"

#include <fstream>

#include <SQLiteCpp/SQLiteCpp.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::ledger_test {

TEST_F(LedgerTest, WhatIsCommittedIsThereAfterReopening) {
  {
    auto ledger = open_with_run();
    commit(ledger, {one(0, "a")});
    EXPECT_TRUE(ledger.finish_run("run-1", {.completed_at_ms = 2000, .verdict = "pass"}));
  }
  auto ledger = open();
  ASSERT_EQ(results(ledger).size(), 1u);
  EXPECT_EQ(results(ledger)[0].unit, answered(0, {0}, "a"));
  EXPECT_FALSE(commit(ledger, {one(0, "b")})[0].first);
  const SQLite::Database db(file().string());
  SQLite::Statement query(db, "SELECT verdict, exit_code, completed_at_ms, trials FROM runs");
  ASSERT_TRUE(query.executeStep());
  EXPECT_EQ(query.getColumn(0).getString(), "pass");
  EXPECT_EQ(query.getColumn(1).getInt(), 0);
  EXPECT_EQ(query.getColumn(2).getInt64(), 2000);
  EXPECT_EQ(query.getColumn(3).getInt64(), 10);
}

TEST_F(LedgerTest, ANewHomeIsItsOwnersAlone) {
  const auto home = file().parent_path() / "home";
  const auto make = [&] { EXPECT_TRUE(Ledger::open(home / "ledger.db")); };
  EXPECT_EQ(support::left_to_others(home, make), std::filesystem::perms::none);
}

TEST_F(LedgerTest, SurvivesTheDeathOfItsProcess) {
  const auto child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto ledger = Ledger::open(file());
    const bool ok = ledger && ledger->begin_run({"run-1", "s", "live", "p", "m", "1", 1, 1}) &&
                    ledger->commit("run-1", std::vector<ResultToCommit>{one(0, "a")}, true);
    ::_exit(ok ? 0 : 1);  // Without any destructor, as a kill would end it.
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  auto ledger = open();
  ASSERT_EQ(results(ledger).size(), 1u);
  EXPECT_EQ(results(ledger)[0].unit.answer, sha256("a"));
  ASSERT_TRUE(pin(ledger, 0));
  EXPECT_EQ(pin(ledger, 0)->answer, sha256("a"));
}

TEST_F(LedgerTest, TwoProcessesMakeAndWriteOneLedger) {
  constexpr int processes = 4;
  constexpr UnitId units = 25;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  std::vector<pid_t> children;
  for (int process = 0; process < processes; ++process) {
    const auto child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      char go = 0;
      bool ok = ::read(ready[0], &go, 1) == 1;
      auto ledger = Ledger::open(file());
      const auto run = "run-" + std::to_string(process);
      ok = ok && ledger && ledger->begin_run({run, "s", "live", "p", "m", "1", 1, units});
      for (UnitId unit = 0; ok && unit < units; ++unit) {
        ok = ledger->commit(run, std::vector<ResultToCommit>{one(unit, run)}, true).has_value();
      }
      ::_exit(ok ? 0 : 1);
    }
    children.push_back(child);
  }
  ASSERT_EQ(::write(ready[1], "gggg", processes), processes);
  for (const auto child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  ::close(ready[0]);
  ::close(ready[1]);
  const auto ledger = open();
  for (int process = 0; process < processes; ++process) {
    EXPECT_EQ(results(ledger, "run-" + std::to_string(process)).size(), units);
  }
}

TEST_F(LedgerTest, AReaderSeesWhatAnotherConnectionHasCommitted) {
  auto writer = open_with_run();
  const auto reader = open();
  commit(writer, {one(0, "a")});
  EXPECT_EQ(results(reader).size(), 1u);
  const auto source = reader.results_of("run-1");
  std::size_t seen = 0;
  const auto visited = source->visit([&](const CommittedTrial&) {
    commit(writer, {one(1, "b")});
    ++seen;
  });
  EXPECT_TRUE(visited);
  EXPECT_EQ(seen, 1u) << "one visit sees one moment";
}

TEST_F(LedgerTest, ADamagedRowIsNamedAndNotReadAsAResult) {
  auto ledger = open_with_run();
  commit(ledger, {one(0, "a"), one(1, "b")});
  for (const auto* damage : {"X'00'", "X''", "'text'", "substr(result, 1, length(result) - 1)"}) {
    SQLite::Database db(file().string(), SQLite::OPEN_READWRITE);
    db.exec(std::string("UPDATE results SET result = ") + damage + " WHERE id % 4294967296 = 1");
    std::size_t seen = 0;
    const auto visited = ledger.results_of("run-1")->visit([&](const CommittedTrial&) { ++seen; });
    ASSERT_FALSE(visited) << damage;
    EXPECT_EQ(visited.error().reason, Reason::ledger_failed);
    EXPECT_NE(visited.error().message.find("trial 1"), std::string::npos) << visited.error().message;
    EXPECT_EQ(seen, 1u);
  }
}

TEST_F(LedgerTest, ALedgerOfAnotherVersionIsLeftAlone) {
  { open_with_run(); }
  {
    SQLite::Database db(file().string(), SQLite::OPEN_READWRITE);
    db.exec("PRAGMA user_version = 99");
  }
  const auto ledger = Ledger::open(file());
  ASSERT_FALSE(ledger);
  EXPECT_EQ(ledger.error().reason, Reason::ledger_failed);
  EXPECT_NE(ledger.error().message.find("version 99"), std::string::npos);
}

TEST_F(LedgerTest, WhatIsNoLedgerIsNamed) {
  std::filesystem::create_directories(file().parent_path());
  std::ofstream(file()) << "this is no database, and longer than its header would be........................";
  const auto ledger = Ledger::open(file());
  ASSERT_FALSE(ledger);
  EXPECT_EQ(ledger.error().reason, Reason::ledger_failed);
  EXPECT_NE(ledger.error().message.find("ledger.db"), std::string::npos);
}

TEST_F(LedgerTest, AFolderThatCannotBeMadeIsNamed) {
  // A file where the folder should be: refused to root too.
  std::ofstream(folder_.path() / "home") << "in the way";
  const auto ledger = Ledger::open(file());
  ASSERT_FALSE(ledger);
  EXPECT_EQ(ledger.error().reason, Reason::ledger_failed);
  EXPECT_NE(ledger.error().message.find(file().string()), std::string::npos);
}

}  // namespace sluice::ledger_test

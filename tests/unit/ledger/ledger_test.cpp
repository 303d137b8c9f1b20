#include "coordinator/ledger/ledger.hpp"

#include "tests/support/temporary_folder.hpp"

#include <fstream>
#include <random>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice {
namespace {

UnitResult answered(UnitId unit, const std::vector<TrialId>& trials, const std::string& text) {
  UnitResult result;
  result.unit = unit;
  result.key = sha256("key " + std::to_string(unit));
  result.answer = sha256(text);
  result.usage = {11, 7};
  result.parsed = {{"tls/cert", "enabled", false, 0.9, 3}};
  result.claims = {{"tls/cert", "enabled", false, 0.9, 3, true, false}};
  for (const auto trial : trials) {
    TrialScore score;
    score.trial = trial;
    score.metrics = {{MetricId::claims_recall, 0.25 * (trial % 4), std::nullopt, ""}};
    score.claims.unexpected = {0};
    result.scores.push_back(score);
  }
  return result;
}

ResultToCommit item(UnitResult result, std::vector<TrialId> trials, std::string cache = "cache-a") {
  return {std::move(result), std::move(trials), "worker-a", std::move(cache)};
}

ResultToCommit one(UnitId unit, const std::string& text, std::string cache = "cache-a") {
  return item(answered(unit, {unit}, text), {unit}, std::move(cache));
}

class LedgerTest : public ::testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "home" / "ledger.db"; }

  Ledger open() const {
    auto ledger = Ledger::open(file());
    EXPECT_TRUE(ledger) << ledger.error().message;
    return std::move(*ledger);
  }

  Ledger open_with_run(const std::string& run_id = "run-1") const {
    auto ledger = open();
    const auto begun = ledger.begin_run({run_id, "suite", "live", "openai", "m", "1", 1000, 10});
    EXPECT_TRUE(begun) << begun.error().message;
    return ledger;
  }

  static std::vector<CommitOutcome> commit(Ledger& ledger, const std::vector<ResultToCommit>& items,
                                           bool move_pins = true, const std::string& run_id = "run-1") {
    auto outcomes = ledger.commit(run_id, items, move_pins);
    EXPECT_TRUE(outcomes) << outcomes.error().message;
    return outcomes ? *outcomes : std::vector<CommitOutcome>(items.size());
  }

  static std::vector<CommittedTrial> results(const Ledger& ledger, const std::string& run_id = "run-1") {
    std::vector<CommittedTrial> trials;
    const auto visited =
        ledger.results_of(run_id)->visit([&](const CommittedTrial& t) { trials.push_back(t); });
    EXPECT_TRUE(visited) << visited.error().message;
    return trials;
  }

  static std::optional<Pin> pin(Ledger& ledger, UnitId unit) {
    const std::vector<Digest> keys{sha256("key " + std::to_string(unit))};
    const auto pins = ledger.pins(keys);
    EXPECT_TRUE(pins) << pins.error().message;
    return pins ? pins->front() : std::nullopt;
  }

  support::TemporaryFolder folder_;
};

TEST_F(LedgerTest, ConsecutiveResultsEndWhereOneIsMissing) {
  auto ledger = open_with_run();
  commit(ledger, {one(0, "a"), one(1, "b"), one(3, "d")});
  const auto consecutive = [&](TrialId first) {
    std::vector<TrialId> seen;
    const auto next = ledger.visit_consecutive(
        "run-1", first, [&](const CommittedTrial& trial) { seen.push_back(trial.trial); });
    EXPECT_TRUE(next);
    return std::pair(seen, *next);
  };
  EXPECT_EQ(consecutive(0), std::pair(std::vector<TrialId>({0, 1}), TrialId{2}));
  EXPECT_EQ(consecutive(2), std::pair(std::vector<TrialId>(), TrialId{2}));
  EXPECT_EQ(consecutive(3), std::pair(std::vector<TrialId>({3}), TrialId{4}));
}

TEST_F(LedgerTest, TheFirstResultOfAUnitIsItsResult) {
  auto ledger = open_with_run();
  auto outcomes = commit(ledger, {one(0, "a"), one(1, "b"), one(0, "late")});
  ASSERT_EQ(outcomes.size(), 3u);
  EXPECT_TRUE(outcomes[0].first);
  EXPECT_EQ(outcomes[0].winner, sha256("a"));
  EXPECT_TRUE(outcomes[1].first);
  EXPECT_FALSE(outcomes[2].first);
  EXPECT_EQ(outcomes[2].winner, sha256("a"));
  outcomes = commit(ledger, {one(1, "later still")});
  EXPECT_FALSE(outcomes[0].first);
  EXPECT_EQ(outcomes[0].winner, sha256("b"));
  EXPECT_EQ(results(ledger).size(), 2u);
}

TEST_F(LedgerTest, AnErrorIsAResultToo) {
  auto ledger = open_with_run();
  UnitResult failed;
  failed.unit = 4;
  failed.error = Error{Reason::rate_limited, "429"};
  EXPECT_TRUE(commit(ledger, {item(failed, {4, 5})})[0].first);
  const auto late = commit(ledger, {item(answered(4, {4, 5}, "x"), {4, 5})});
  EXPECT_FALSE(late[0].first);
  EXPECT_TRUE(is_zero(late[0].winner));
  const auto trials = results(ledger);
  ASSERT_EQ(trials.size(), 2u);
  EXPECT_EQ(trials[1].trial, 5u);
  EXPECT_EQ(trials[1].unit.error, failed.error);
}

TEST_F(LedgerTest, ResultsComeInPlanOrderEachWithItsOwnScore) {
  auto ledger = open_with_run();
  const auto shared = answered(0, {0, 2, 5}, "shared");
  const auto single = answered(1, {1}, "single");
  commit(ledger, {item(single, {1}), item(shared, {0, 2, 5})});
  const auto trials = results(ledger);
  ASSERT_EQ(trials.size(), 4u);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const auto trial = std::vector<TrialId>{0, 1, 2, 5}[i];
    EXPECT_EQ(trials[i].trial, trial);
    auto expected = trial == 1 ? single : shared;
    std::erase_if(expected.scores, [&](const TrialScore& score) { return score.trial != trial; });
    EXPECT_EQ(trials[i].unit, expected) << trial;
  }
}

TEST_F(LedgerTest, ARefusalIsAnErrorOfTheTrialsWithoutAScoreAlone) {
  auto ledger = open_with_run();
  auto refused = answered(0, {1, 2}, "no");
  refused.error = Error{Reason::refusal, "declined"};
  refused.grade.emplace().grade.grader_id = "exact";
  commit(ledger, {item(refused, {0, 1, 2})});
  const auto trials = results(ledger);
  ASSERT_EQ(trials.size(), 3u);
  EXPECT_TRUE(trials[0].unit.scores.empty());
  EXPECT_FALSE(trials[0].unit.grade);
  for (const TrialId trial : {1u, 2u}) {
    ASSERT_EQ(trials[trial].unit.scores.size(), 1u);
    EXPECT_EQ(trials[trial].unit.scores[0], *refused.score_of(trial));
    EXPECT_EQ(trials[trial].unit.grade, refused.grade);
  }
  for (const auto& trial : trials) EXPECT_EQ(trial.unit.error, refused.error);
  const auto progress = ledger.progress_of("run-1");
  ASSERT_TRUE(progress) << progress.error().message;
  EXPECT_EQ(progress->committed, 3u);
  EXPECT_EQ(progress->errors, (std::map<std::string, std::uint64_t>{{"refusal", 1}}));
}

TEST_F(LedgerTest, AUnitsTrialsAreCommittedAllOrNone) {
  auto ledger = open_with_run();
  commit(ledger, {item(answered(0, {0, 3}, "first"), {0, 3})});
  commit(ledger, {item(answered(0, {0, 3}, "second"), {0, 3})});
  for (const auto& trial : results(ledger)) EXPECT_EQ(trial.unit.answer, sha256("first"));
  // A batch that fails in the middle leaves nothing of itself, and does not harm the next.
  {
    SQLite::Database db(file().string(), SQLite::OPEN_READWRITE);
    db.exec(
        "CREATE TRIGGER refuse BEFORE INSERT ON results WHEN new.id % 4294967296 = 8 "
        "BEGIN SELECT RAISE(FAIL, 'no room'); END");
  }
  const std::vector<ResultToCommit> batch{one(6, "six"), item(answered(7, {7, 8, 9}, "seven"), {7, 8, 9})};
  const auto outcomes = ledger.commit("run-1", batch, true);
  ASSERT_FALSE(outcomes);
  EXPECT_EQ(outcomes.error().reason, Reason::ledger_failed);
  EXPECT_NE(outcomes.error().message.find("no room"), std::string::npos);
  EXPECT_EQ(results(ledger).size(), 2u);
  EXPECT_FALSE(pin(ledger, 6));
  EXPECT_TRUE(commit(ledger, {one(6, "six")})[0].first);
}

TEST_F(LedgerTest, RunsDoNotMix) {
  auto ledger = open_with_run("run-1");
  EXPECT_TRUE(ledger.begin_run({"run-2", "s", "live", "p", "m", "1", 1, 1}));
  commit(ledger, {one(0, "a"), one(4294967295u, "last")}, true, "run-1");
  EXPECT_TRUE(commit(ledger, {one(0, "b")}, true, "run-2")[0].first);
  ASSERT_EQ(results(ledger, "run-1").size(), 2u);
  EXPECT_EQ(results(ledger, "run-1")[1].trial, 4294967295u);
  ASSERT_EQ(results(ledger, "run-2").size(), 1u);
  EXPECT_EQ(results(ledger, "run-2")[0].unit.answer, sha256("b"));
  EXPECT_TRUE(results(ledger, "run-3").empty());
}

TEST_F(LedgerTest, WhatDoesNotFitIsAnError) {
  auto ledger = open_with_run();
  const auto again = ledger.begin_run({"run-1", "s", "live", "p", "m", "1", 1, 1});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().reason, Reason::ledger_failed);
  const std::vector<ResultToCommit> items{one(0, "a")};
  EXPECT_FALSE(ledger.commit("no such run", items, true));
}

TEST_F(LedgerTest, PinsFollowTheCommittedAnswer) {
  auto ledger = open_with_run();
  EXPECT_FALSE(pin(ledger, 0));
  commit(ledger, {one(0, "a", "cache-a")});
  ASSERT_TRUE(pin(ledger, 0));
  EXPECT_EQ(pin(ledger, 0)->answer, sha256("a"));
  EXPECT_EQ(pin(ledger, 0)->holder, "cache-a");
  commit(ledger, {one(0, "loser", "cache-b")});
  EXPECT_EQ(pin(ledger, 0)->answer, sha256("a")) << "a duplicate does not move it";
  ASSERT_TRUE(ledger.begin_run({"run-2", "s", "live", "p", "m", "1", 1, 1}));
  commit(ledger, {one(0, "refreshed", "cache-b")}, true, "run-2");
  EXPECT_EQ(pin(ledger, 0)->answer, sha256("refreshed"));
  EXPECT_EQ(pin(ledger, 0)->holder, "cache-b");
}

TEST_F(LedgerTest, PinsFollowAnAnswerFromTheCacheToo) {
  auto ledger = open_with_run();
  auto from_cache = one(0, "a", "cache-a");
  from_cache.result.spend.cache_hit = true;
  commit(ledger, {from_cache});
  ASSERT_TRUE(pin(ledger, 0)) << "what a run shows is what a cached run must show";
  ASSERT_TRUE(ledger.begin_run({"run-2", "s", "live", "p", "m", "1", 1, 1}));
  from_cache.cache_id = "cache-b";
  commit(ledger, {from_cache}, true, "run-2");
  EXPECT_EQ(pin(ledger, 0)->holder, "cache-a") << "an equal answer does not change the holder";
}

TEST_F(LedgerTest, PinsStayOtherwise) {
  auto ledger = open_with_run();
  auto not_stored = one(1, "b", "");
  UnitResult failed;
  failed.unit = 2;
  failed.key = sha256("key 2");
  failed.error = Error{Reason::timed_out, "t"};
  commit(ledger, {not_stored, item(failed, {2})});
  commit(ledger, {one(3, "c")}, false);
  for (UnitId unit = 0; unit < 4; ++unit) EXPECT_FALSE(pin(ledger, unit)) << unit;
}

// Pins are gathered, and put where they are looked up when somebody asks, or when they are many.
TEST_F(LedgerTest, PinsThatAreReadLateAreThoseThatWouldHaveBeenReadAtOnce) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto any = [&random](unsigned below) { return random() % below; };
  auto often = open_with_run();
  auto late = Ledger::open(folder_.path() / "late" / "ledger.db");
  ASSERT_TRUE(late);
  ASSERT_TRUE(late->begin_run({"run-1", "s", "live", "p", "m", "1", 300, 1}));
  for (UnitId unit = 0; unit < 300; ++unit) {
    auto item = one(unit, "answer " + std::to_string(any(3)), "cache-" + std::to_string(any(2)));
    item.result.key = sha256("key " + std::to_string(any(5)));
    item.result.spend.cache_hit = any(2) == 0;
    commit(often, {item});
    pin(often, 0);
    commit(*late, {item});
  }
  for (UnitId unit = 0; unit < 5; ++unit) {
    ASSERT_TRUE(pin(often, unit));
    ASSERT_TRUE(pin(*late, unit));
    EXPECT_EQ(pin(*late, unit)->answer, pin(often, unit)->answer) << unit;
    EXPECT_EQ(pin(*late, unit)->holder, pin(often, unit)->holder) << unit;
  }
}

TEST_F(LedgerTest, ManyPinsAreSettledMeanwhile) {
  constexpr UnitId units = 5000;
  auto ledger = open_with_run();
  std::vector<ResultToCommit> batch;
  for (UnitId unit = 0; unit < units; ++unit) {
    batch.push_back(one(unit, "a" + std::to_string(unit)));
    if (batch.size() < 1000) continue;
    commit(ledger, batch);
    batch.clear();
  }
  const auto moves = [this] {
    SQLite::Database db(file().string(), SQLite::OPEN_READONLY);
    return db.execAndGet("SELECT count(*) FROM pin_moves").getInt();
  };
  EXPECT_EQ(moves(), 0) << "the fifth batch made them too many";
  for (UnitId unit = 0; unit < units; unit += 37) {
    ASSERT_TRUE(pin(ledger, unit)) << unit;
    EXPECT_EQ(pin(ledger, unit)->answer, sha256("a" + std::to_string(unit)));
  }
}

TEST_F(LedgerTest, AnImportedPinIsNewerThanThoseOfRunsBefore) {
  auto ledger = open_with_run();
  commit(ledger, {one(0, "a", "cache-a")});
  ASSERT_TRUE(ledger.move_pins(std::vector<CachePin>{{sha256("key 0"), sha256("imported"), "cache-i"}}));
  EXPECT_EQ(pin(ledger, 0)->answer, sha256("imported"));
}

TEST_F(LedgerTest, TheEndOfARunSettlesItsPins) {
  auto ledger = open_with_run();
  commit(ledger, {one(0, "a")});
  ASSERT_TRUE(ledger.finish_run("run-1", {}));
  SQLite::Database db(file().string(), SQLite::OPEN_READONLY);
  EXPECT_EQ(db.execAndGet("SELECT count(*) FROM pin_moves").getInt(), 0);
  EXPECT_EQ(db.execAndGet("SELECT count(*) FROM pins").getInt(), 1);
}

TEST_F(LedgerTest, PinsAreLookedUpInOrder) {
  auto ledger = open_with_run();
  commit(ledger, {one(1, "b"), one(0, "a")});
  const std::vector<Digest> keys{sha256("key 0"), sha256("key 9"), sha256("key 1")};
  const auto pins = ledger.pins(keys);
  ASSERT_TRUE(pins);
  ASSERT_EQ(pins->size(), 3u);
  EXPECT_EQ((*pins)[0]->answer, sha256("a"));
  EXPECT_FALSE((*pins)[1]);
  EXPECT_EQ((*pins)[2]->answer, sha256("b"));
}

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

}  // namespace
}  // namespace sluice

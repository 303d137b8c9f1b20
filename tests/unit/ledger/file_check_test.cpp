// Damage of the ledger and of observations: found, never read as if it were none, and what can be saved.
#include "coordinator/facts/observation_ids.hpp"
#include "coordinator/ledger/observation_store.hpp"
#include "coordinator/ledger/row_checks.hpp"
#include "tests/support/nested_json.hpp"
#include "tests/unit/ledger/damaged_ledger.hpp"

#include <functional>
#include <random>
#include <set>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

namespace sluice::file_check_test {

using namespace damaged_ledger;

class FileCheck : public DamagedLedger {};

TEST_F(FileCheck, ASoundLedgerHasNoDamage) {
  make_ledger();
  EXPECT_EQ(damage(), std::vector<std::string>());
  auto ledger = Ledger::open(file());  // With commits in the log, and pins on their way.
  ASSERT_TRUE(ledger->begin_run({"run-3", "suite", "live", "openai", "m", "1", 1000, 5}));
  EXPECT_EQ(damage(), std::vector<std::string>());
}

TEST_F(FileCheck, AChangedRowIsNamedByReaderAndCheckAndLeftOutOfWhatIsRestored) {
  make_ledger();
  change("UPDATE results SET answer = randomblob(32) WHERE id & 4294967295 = 7 AND id >> 32 = 1");
  EXPECT_EQ(damage(),
            std::vector<std::string>{"its table results: 1 row whose checksum does not fit, at 4294967303"});
  EXPECT_EQ(results(file(), "run-1"), std::nullopt);
  EXPECT_EQ(results(file(), "run-2")->size(), trials);

  const auto done = restore();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->left_out, std::vector<std::string>{"1 row of results that does not verify"});
  EXPECT_EQ(done->reopened, std::vector<std::string>{"run-1"});
  EXPECT_EQ(results(restored(), "run-1")->size(), trials - 1);
  EXPECT_EQ(results(restored(), "run-2")->size(), trials);
  const auto ledger = Ledger::open(restored());
  EXPECT_FALSE(ledger->find_run("run-1")->summary) << "somebody can go on with it";
  EXPECT_TRUE(ledger->find_run("run-2")->summary);
}

TEST_F(FileCheck, AChangedRunIsNotShown) {
  make_ledger();
  change("UPDATE runs SET verdict = 'fail' WHERE run_id = 'run-1'");
  auto ledger = Ledger::open(file());
  const auto shown = ledger->find_run("run-1");
  ASSERT_FALSE(shown);
  EXPECT_NE(shown.error().message.find("the row \"run-1\" of its table runs is damaged"), std::string::npos)
      << shown.error().message;
  // Nobody vouches for it by writing to it.
  static_cast<void>(ledger->note_endpoint("run-1", "tcp://a:1"));
  EXPECT_FALSE(ledger->find_run("run-1"));
  const auto done = restore();
  ASSERT_TRUE(done);
  EXPECT_EQ(done->left_out, (std::vector<std::string>{"1 row of runs that does not verify",
                                                      "300 of results whose run is not known any more"}));
  EXPECT_EQ(results(restored(), "run-2")->size(), trials);
}

TEST_F(FileCheck, WhatARunPaidAndItsKnownFailuresAreUnderItsChecksum) {
  make_ledger();
  for (const char* changed : {"known_failures = 0", "paid_cost = 0"}) {
    change(std::string("UPDATE runs SET ") + changed + " WHERE run_id = 'run-1'");
    EXPECT_FALSE(Ledger::open(file())->find_run("run-1")) << changed;
    EXPECT_EQ(damage(), std::vector<std::string>{"its table runs: 1 row whose checksum does not fit, at 1"});
    change("UPDATE runs SET known_failures = NULL, paid_cost = NULL");
    EXPECT_EQ(damage(), std::vector<std::string>());
  }
}

// Its checksum is without the columns that came later.
TEST_F(FileCheck, ARunOfTheVersionBeforeIsSound) {
  make_ledger();
  const auto& table = row_checks::ledger_table("runs");
  {
    SQLite::Database db(file().string(), SQLite::OPEN_READWRITE);
    row_checks::add_functions(db);
    db.exec("UPDATE runs SET checksum = " + row_checks::sum(table, table.columns));
    db.exec("ALTER TABLE runs DROP COLUMN known_failures; ALTER TABLE runs DROP COLUMN paid_cost");
    db.exec("PRAGMA user_version = 14");
  }
  EXPECT_EQ(damage(), std::vector<std::string>());
  const auto done = restore();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->left_out, std::vector<std::string>());
  EXPECT_TRUE(Ledger::open_read_only(file())->find_run("run-1"));

  auto ledger = Ledger::open(file());
  ASSERT_TRUE(ledger) << ledger.error().message;
  const auto before = ledger->find_run("run-1");
  ASSERT_TRUE(before) << before.error().message;
  EXPECT_EQ(before->summary->paid_cost, std::nullopt);
  ASSERT_TRUE(ledger->reopen_run("run-1"));
  RunSummary summary = *before->summary;
  summary.paid_cost = 0.5;
  ASSERT_TRUE(ledger->finish_run("run-1", summary));
  EXPECT_EQ(ledger->find_run("run-1")->summary->paid_cost, 0.5) << "what is written to it is under it";
  EXPECT_EQ(damage(), std::vector<std::string>());
  change("UPDATE runs SET paid_cost = 0.25 WHERE run_id = 'run-1'");
  EXPECT_FALSE(ledger->find_run("run-1"));
  EXPECT_TRUE(ledger->find_run("run-2"));
}

TEST_F(FileCheck, AChangedRunHidesNoOther) {
  make_ledger();
  change("UPDATE runs SET verdict = 'fail' WHERE run_id = 'run-2'");
  const auto ledger = Ledger::open(file());
  const auto shown = ledger->find_run("run-1");
  EXPECT_TRUE(shown) << shown.error().message;
}

// Commands that read it said that it is damaged, and doctor that all is sound.
TEST_F(FileCheck, JsonThatNestsTooDeeplyIsNamedByRunAndColumn) {
  make_ledger();
  change("UPDATE runs SET checksum = NULL, flags = '" + std::string(200, '[') + "' WHERE run_id = 'run-1'");
  const std::string named = "its table runs: the JSON of run run-1 in the column ";
  const std::string why = " nests deeper than 128 levels, and is read as none";
  EXPECT_EQ(damage(), std::vector<std::string>());
  EXPECT_EQ(check_ledger_file(file())->nested, std::vector<std::string>{named + "flags" + why});
  change("UPDATE runs SET settings = '" + support::nested_json + "' WHERE run_id = 'run-1'");
  EXPECT_EQ(check_ledger_file(file())->nested,
            (std::vector<std::string>{named + "settings" + why, named + "flags" + why}));
  change("UPDATE runs SET flags = '{\"a\": \"" + std::string(200, '[') + "\"}' WHERE run_id = 'run-1'");
  EXPECT_EQ(check_ledger_file(file())->nested, std::vector<std::string>{named + "settings" + why})
      << "within a text they nest nothing";
  change("UPDATE runs SET flags = '" + std::string(200, '[') + "' WHERE run_id = 'run-2'");
  EXPECT_EQ(damage(), std::vector<std::string>{"its table runs: 1 row whose checksum does not fit, at 2"});
  EXPECT_EQ(check_ledger_file(file())->nested.size(), 1u) << "that is said already";
}

TEST_F(FileCheck, AChangedPinIsNotFollowed) {
  make_ledger();
  change("UPDATE pins SET answer = randomblob(32)");
  const std::vector<Digest> keys{result_of(1).key};
  EXPECT_FALSE(Ledger::open(file())->pins(keys));
  EXPECT_EQ(damage().size(), 1u);
}

TEST_F(FileCheck, ADamagedLogIsNamedAtItsFrame) {
  {
    auto ledger = Ledger::open(file());
    ASSERT_TRUE(ledger->begin_run({"run-1", "suite", "live", "openai", "m", "1", 1000, trials}));
    for (TrialId trial = 0; trial < 50; ++trial)
      ASSERT_TRUE(
          ledger->commit("run-1", std::vector{ResultToCommit{result_of(trial), {trial}, "w", "c"}}, true));
    // As a killed process leaves it.
    for (const char* ending : {"", "-wal"})
      std::filesystem::copy_file(file().string() + ending,
                                 folder_.path() / ("killed.db" + std::string(ending)));
  }
  const auto killed = folder_.path() / "killed.db";
  EXPECT_EQ(log_damage(killed), "");
  const std::string log = text_of(killed.string() + "-wal");
  const std::size_t frame = 24 + 4096;
  ASSERT_GT(log.size(), 32 + 20 * frame);
  const auto flipped = [&](std::size_t at) {
    std::string bytes = log;
    bytes[at] = static_cast<char>(bytes[at] ^ 4);
    return bytes;
  };
  write(killed.string() + "-wal", flipped(32 + 10 * frame + 500));
  EXPECT_EQ(log_damage(killed),
            "its log of commits (-wal) is damaged at frame 11: what it held from there on is lost");
  write(killed.string() + "-wal", flipped(32 + 10 * frame + 9));
  EXPECT_EQ(log_damage(killed),
            "its log of commits (-wal) is damaged at frame 11: what it held from there on is lost");
  write(killed.string() + "-wal", flipped(5));
  EXPECT_EQ(log_damage(killed), "the first bytes of its log of commits (-wal) are damaged");
  // A commit that was cut off with its process is none.
  write(killed.string() + "-wal", log.substr(0, log.size() - 100));
  EXPECT_EQ(log_damage(killed), "");
  // Nor is what it had written of one, where the log had been written over from its start.
  std::string uncommitted = log.substr(0, 32 + frame);
  uncommitted.resize(32 + 3 * frame, '\x7e');
  const std::size_t header = 32;
  for (const std::size_t number : {1u, 2u})
    uncommitted.replace(
        header + number * frame, 24,
        log.substr(header, 4) + std::string(4, '\0') + log.substr(16, 8) + std::string(8, '\x11'));
  write(killed.string() + "-wal", uncommitted);
  EXPECT_EQ(log_damage(killed), "");
}

TEST_F(FileCheck, AnotherProcessesLockIsNoDamage) {
  make_ledger();
  SQLite::Database busy(file().string(), SQLite::OPEN_READWRITE);
  busy.exec("PRAGMA journal_mode = DELETE");
  busy.exec("BEGIN EXCLUSIVE");
  const auto checked = check_ledger_file(file());
  EXPECT_TRUE(checked) << "an immutable file has no locks";
  write(file().string() + "-wal", "a log, which takes locks");
  const auto locked = check_ledger_file(file());
  ASSERT_FALSE(locked);
  EXPECT_EQ(locked.error().reason, Reason::ledger_failed);
  EXPECT_NE(locked.error().message.find("cannot look at " + file().string()), std::string::npos)
      << locked.error().message;
}

TEST_F(FileCheck, WhatIsNoLedgerIsForeignOrRestoredEmpty) {
  SQLite::Database(file().string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("CREATE TABLE notes(text)");
  const auto other = check_ledger_file(file());
  ASSERT_TRUE(other);
  EXPECT_TRUE(other->is_foreign);
  write(file(), "this is no database, and longer than its header would be........................");
  EXPECT_EQ(damage(), std::vector<std::string>{"it cannot be read: file is not a database"});
  const auto done = restore();
  ASSERT_TRUE(done);
  EXPECT_EQ(done->rows, 0u);
  EXPECT_EQ(done->left_out.size(), 1u);
}

/// Flips a bit, or cuts the file off, at a place that the seed names.
std::string mutated(const std::string& bytes, std::mt19937& random) {
  std::string changed = bytes;
  const std::size_t at = random() % bytes.size();
  if (random() % 8 == 0) {
    changed.resize(at);
  } else {
    changed[at] = static_cast<char>(changed[at] ^ (1 << (random() % 8)));
  }
  return changed;
}

TEST_F(FileCheck, NoMutationOfALedgerGivesAWrongResultAndWhatIsRestoredIsSound) {
  make_ledger();
  const std::string whole = text_of(file());
  std::mt19937 random(20261124);
  int found = 0;
  constexpr int mutations = 150;
  for (int i = 0; i < mutations; ++i) {
    const std::string bytes = mutated(whole, random);
    if (bytes == whole) continue;
    const auto make = [&](const std::filesystem::path& at) {
      for (const char* ending : {"-wal", "-shm"}) std::filesystem::remove(at.string() + ending);
      write(at, bytes);
    };
    make(file());
    const bool is_found = !damage().empty();
    found += is_found ? 1 : 0;
    const auto done = restore();
    ASSERT_TRUE(done) << i << ": " << done.error().message;
    for (const auto& at : {restored(), file()}) {
      for (const char* run : {"run-1", "run-2"}) {
        const auto all = results(at, run);
        if (!all) {
          EXPECT_EQ(at, file()) << i << ": what is restored can be read";
          EXPECT_TRUE(is_found) << i;
          continue;
        }
        for (const UnitResult& one : *all) ASSERT_EQ(one, result_of(one.unit)) << i;
        if (at == file() && !is_found) {
          EXPECT_EQ(all->size(), trials) << i << ": nothing is lost without a word";
        }
      }
    }
    EXPECT_EQ(check_ledger_file(restored())->damage, std::vector<std::string>()) << i;
  }
  EXPECT_GT(found, mutations / 2) << "the other bits are of room that nobody uses";
}

TEST_F(FileCheck, ALedgerWithPagesOfNoiseKeepsTheRest) {
  make_ledger();
  std::string bytes = text_of(file());
  constexpr std::size_t page = 4096;
  const std::size_t pages = bytes.size() / page;
  for (const std::size_t at : {pages / 3, pages / 2, pages * 3 / 4})
    for (std::size_t i = 0; i < page; ++i) bytes[at * page + i] = static_cast<char>(i * 7);
  write(file(), bytes);
  EXPECT_FALSE(damage().empty());
  const auto done = restore();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_FALSE(done->reopened.empty());
  EXPECT_GT(results(restored(), "run-1")->size() + results(restored(), "run-2")->size(), trials);
}

class ObservationsCheck : public ::testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "observations.db"; }

  static Observation observation(int number) {
    Observation one;
    one.id = ObservationIds("run").of(static_cast<TrialId>(number));
    one.timestamp = "2026-11-24T00:00:00.000Z";
    one.run_id = "run";
    one.trial = static_cast<TrialId>(number);
    one.prompt = "prompt " + std::to_string(number);
    one.raw_response = "answer " + std::to_string(number);
    one.status = "pass";
    return one;
  }
  void make() const {
    auto store = ObservationStore::open(file());
    ASSERT_TRUE(store) << store.error().message;
    std::vector<Observation> all;
    for (int i = 0; i < 100; ++i) all.push_back(observation(i));
    ASSERT_TRUE(store->insert(all));
    ASSERT_TRUE(store->set_statuses("run", std::vector<TrialStatus>{{3, "fail"}}));
  }
  static Result<std::vector<std::string>> answers(const std::filesystem::path& file) {
    auto store = ObservationStore::open(file);
    if (!store) return fail(store.error());
    std::vector<std::string> all;
    auto visited = store->visit({}, ObservationStore::Order::oldest_first, {}, [&](const Observation& one) {
      all.push_back(one.raw_response + one.status);
    });
    if (!visited) return fail(visited.error());
    return all;
  }

  support::TemporaryFolder folder_;
};

TEST_F(ObservationsCheck, AChangedOneIsNamedAndLeftOut) {
  make();
  EXPECT_EQ(check_observations_file(file())->damage, std::vector<std::string>())
      << "a new status is no damage";
  EXPECT_EQ(answers(file())->size(), 100u);
  SQLite::Database(file().string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE observations SET raw_response = 'another' WHERE trial = 7");
  const auto shown = answers(file());
  ASSERT_FALSE(shown);
  EXPECT_NE(shown.error().message.find("trial 7 of run run is damaged"), std::string::npos)
      << shown.error().message;
  EXPECT_EQ(check_observations_file(file())->damage.size(), 1u);
  const auto restored = folder_.path() / "restored.db";
  const auto done = restore_observations_file(file(), restored);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->left_out, std::vector<std::string>{"1 row of observations that does not verify"});
  EXPECT_EQ(answers(restored)->size(), 99u);
}

TEST_F(ObservationsCheck, JsonThatNestsTooDeeplyIsNamedByRunCaseAndColumn) {
  make();
  EXPECT_EQ(check_observations_file(file())->nested, std::vector<std::string>());
  SQLite::Database(file().string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE observations SET checksum = NULL, case_id = 'a@m', metrics = '" + support::nested_json +
            "' WHERE trial = 7");
  const auto checked = check_observations_file(file());
  EXPECT_EQ(checked->damage, std::vector<std::string>());
  EXPECT_EQ(checked->nested,
            std::vector<std::string>{"its table observations: the JSON of run run, case a@m in the column "
                                     "metrics nests deeper than 128 levels, and is read as none"});
  SQLite::Database(file().string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE observations SET checksum = NULL, final_claims = '" + std::string(200, '{') + "'");
  EXPECT_EQ(check_observations_file(file())->nested.back(), "its table observations: the same in 96 more");
}

TEST_F(ObservationsCheck, NoMutationGivesAWrongOne) {
  make();
  const auto right = answers(file());
  ASSERT_TRUE(right);
  const std::set<std::string> known(right->begin(), right->end());
  SQLite::Database(file().string(), SQLite::OPEN_READWRITE).exec("PRAGMA wal_checkpoint(TRUNCATE)");
  const std::string whole = text_of(file());
  std::mt19937 random(7);
  for (int i = 0; i < 100; ++i) {
    for (const char* ending : {"-wal", "-shm"}) std::filesystem::remove(file().string() + ending);
    write(file(), mutated(whole, random));
    const bool is_found = !check_observations_file(file())->damage.empty();
    const auto restored = folder_.path() / "restored.db";
    ASSERT_TRUE(restore_observations_file(file(), restored)) << i;
    for (const auto& at : {restored, file()}) {
      const auto all = answers(at);
      if (!all) {
        EXPECT_TRUE(is_found && at == file()) << i << ": " << all.error().message;
        continue;
      }
      for (const std::string& one : *all) ASSERT_TRUE(known.contains(one)) << i << ": " << one;
      if (!is_found) {
        EXPECT_EQ(all->size(), known.size()) << i;
      }
    }
  }
}

}  // namespace sluice::file_check_test

// Every layout of the ledger that there ever was becomes the present one, whole or not at all.
#include "coordinator/ledger/file_check.hpp"
#include "coordinator/ledger/ledger.hpp"
#include "coordinator/ledger/row_checks.hpp"
#include "coordinator/ledger/schema.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/ledger/old_ledgers.hpp"

#include <array>
#include <csignal>
#include <fstream>
#include <iterator>
#include <map>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::old_ledgers {
namespace {

class Migration : public ::testing::TestWithParam<OldLedger> {
 protected:
  std::filesystem::path file() const { return folder_.path() / "ledger.db"; }

  static void check_what_was_kept(Ledger& ledger, const OldLedger& old) {
    const auto ended = ledger.find_run("run-1");
    ASSERT_TRUE(ended) << ended.error().message;
    EXPECT_EQ(ended->run.model, "sim-1");
    EXPECT_EQ(ended->run.trials, 7u);
    EXPECT_EQ(ended->run.prompt_hash, old.has_prompt_hash ? "sha256:00" : "");
    EXPECT_EQ(ended->run.selection, old.version >= 2);
    EXPECT_EQ(ended->run.plan_identity, old.version >= 6 ? "sha256:11" : "")
        << "else nobody knows what it was";
    ASSERT_TRUE(ended->summary);
    EXPECT_EQ(ended->summary->verdict, "fail");
    EXPECT_EQ(ended->summary->exit_code, 1);
    EXPECT_EQ(ended->summary->scores.f1, old.version >= 2 ? std::optional(0.5) : std::nullopt);
    EXPECT_EQ(ended->summary->statuses.passed, old.version >= 2 ? 3u : 0u);
    EXPECT_EQ(ended->summary->paid.of(CallKind::embedding).input_tokens, old.version >= 4 ? 13u : 0u);
    EXPECT_EQ(ended->summary->paid.of(CallKind::judge).input_tokens, old.version >= 7 ? 17u : 0u);
    EXPECT_EQ(ended->summary->paid.of(CallKind::baseline), Usage{});
    EXPECT_EQ(ended->summary->known_failures, std::nullopt);
    EXPECT_EQ(ended->summary->paid_cost, std::nullopt);
    const auto of_baseline = ledger.baseline_runs("/suites/a");
    ASSERT_TRUE(of_baseline) << of_baseline.error().message;
    EXPECT_EQ(of_baseline->size(), old.version >= 6 ? 1u : 0u);
    const auto unfinished = ledger.find_run("run-2");
    ASSERT_TRUE(unfinished);
    EXPECT_FALSE(unfinished->summary);

    const auto pins = ledger.pins(std::array{old_key, sha256("later")});
    ASSERT_TRUE(pins);
    ASSERT_TRUE((*pins)[0]);
    EXPECT_EQ((*pins)[0]->answer, old_answer);
    EXPECT_EQ((*pins)[0]->holder, "cache-a");
    EXPECT_EQ((*pins)[1].has_value(), old.version >= 5);
    const auto holders =
        ledger.holders(std::vector<EntryKey>{{EntryKind::embedding, old_key}, {EntryKind::vote, old_key}});
    ASSERT_TRUE(holders);
    EXPECT_EQ(holders->front(), old.version >= 3 ? "cache-e" : "");
    EXPECT_EQ(holders->back(), old.version >= 7 ? "cache-v" : "");
  }

  support::TemporaryFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(FromVersion, Migration, ::testing::ValuesIn(all),
                         [](const auto& one) { return std::string(one.param.name); });

TEST_P(Migration, KeepsRunsPinsAndEmbeddings) {
  make(GetParam(), file());
  auto ledger = Ledger::open(file());
  ASSERT_TRUE(ledger) << ledger.error().message;
  ASSERT_TRUE(ledger->upgrade());
  EXPECT_EQ(ledger->upgrade()->from, GetParam().version);
  EXPECT_EQ(ledger->upgrade()->to, schema_version);
  EXPECT_EQ(ledger->upgrade()->runs, 2u);
  EXPECT_EQ(ledger->upgrade()->pins, 1u);
  check_what_was_kept(*ledger, GetParam());
  auto again = Ledger::open(file());
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->upgrade()) << "once is enough";
}

TEST_P(Migration, ForReadingAloneTheFileStaysAsItIs) {
  make(GetParam(), file());
  const auto before = layout_of(file());
  auto ledger = Ledger::open_read_only(file());
  ASSERT_TRUE(ledger) << ledger.error().message;
  check_what_was_kept(*ledger, GetParam());
  EXPECT_FALSE(ledger->begin_run({"run-3", "suite", "live", "openai", "m", "1", 3000, 1}))
      << "it would be lost without a word";
  auto other = Ledger::open(folder_.path() / "other.db");
  ASSERT_TRUE(other->copy_pins_from(*ledger));
  EXPECT_EQ(other->pins(std::vector{old_key})->front()->answer, old_answer);
  EXPECT_EQ(layout_of(file()), before);
  EXPECT_EQ(version_in(file()), GetParam().version);
}

TEST_P(Migration, WhatIsNotYetUpToDateIsNoDamage) {
  make(GetParam(), file());
  const auto checked = check_ledger_file(file());
  ASSERT_TRUE(checked) << checked.error().message;
  EXPECT_EQ(checked->damage, std::vector<std::string>());
  EXPECT_EQ(version_in(file()), GetParam().version);
}

TEST_P(Migration, LeadsToTheLayoutOfANewFile) {
  make(GetParam(), file());
  const auto fresh = folder_.path() / "fresh.db";
  ASSERT_TRUE(Ledger::open(file()));
  ASSERT_TRUE(Ledger::open(fresh));
  EXPECT_EQ(layout_of(file()), layout_of(fresh));
  EXPECT_EQ(version_in(file()), schema_version);
}

TEST_P(Migration, OldResultsGiveTheirAnswersAndAreNotTakenForWhatTheyAreNot) {
  make(GetParam(), file());
  auto ledger = Ledger::open(file());
  ASSERT_TRUE(ledger);
  const auto answers = ledger->answers_of("run-1");
  ASSERT_TRUE(answers) << answers.error().message;
  EXPECT_EQ(*answers, (std::vector<UsedAnswer>{{old_key, old_answer}}));
  const auto visited = ledger->results_of("run-1")->visit([](const CommittedTrial&) { FAIL(); });
  ASSERT_FALSE(visited);
  EXPECT_NE(visited.error().message.find("run-1 are those of another version"), std::string::npos)
      << visited.error().message;
}

TEST_P(Migration, ARunCanBeRecordedAfterwards) {
  make(GetParam(), file());
  auto ledger = Ledger::open(file());
  ASSERT_TRUE(ledger);
  ASSERT_TRUE(ledger->begin_run({"run-3", "suite", "live", "openai", "m", "1", 3000, 1}));
  UnitResult result;
  result.key = sha256("new");
  result.answer = sha256("said");
  result.scores.resize(1);
  ASSERT_TRUE(ledger->commit("run-3", std::vector<ResultToCommit>{{result, {0}, "w", "cache-c"}}, true));
  RunSummary summary{4000, "pass"};
  summary.paid.of(CallKind::judge) = {21, 22};
  summary.paid_cost = 0.5;
  ASSERT_TRUE(ledger->finish_run("run-3", summary));
  EXPECT_EQ(ledger->find_run("run-3")->summary->paid_cost, 0.5);
  EXPECT_EQ(ledger->find_run("run-3")->summary->paid.of(CallKind::judge), (Usage{21, 22}));
  JudgeCalibration calibration;
  calibration.key.suite = "suite";
  calibration.kappa = 0.7;
  ASSERT_TRUE(ledger->note_calibrations(std::vector{calibration}));
  EXPECT_EQ(*ledger->calibrations_of("suite"), std::vector{calibration});
  RetrievalEvent event;
  event.test = "t";
  event.plugin = "p";
  event.status = "pass";
  ASSERT_TRUE(ledger->note_retrievals("run-3", std::vector{event}));
  EXPECT_EQ(ledger->retrievals({"p", "", std::nullopt})->size(), 1u);
  ASSERT_TRUE(ledger->note_holders(std::vector<EntryHolder>{{{EntryKind::vote, result.key}, "cache-c"}}));
  EXPECT_EQ(ledger->holders(std::vector<EntryKey>{{EntryKind::vote, result.key}})->front(), "cache-c");
  std::vector<UnitResult> seen;
  ASSERT_TRUE(
      ledger->results_of("run-3")->visit([&](const CommittedTrial& one) { seen.push_back(one.unit); }));
  EXPECT_EQ(seen, std::vector{result});
}

/// Ends the process in the middle of whatever SQLite is at.
int die(void*) {
  ::kill(::getpid(), SIGKILL);
  return 0;
}

/// Brings the file up to date in a process that is killed after so many of SQLite's instructions, or at the
/// commit itself. True if it lived to the end.
bool upgrade_in_a_process_that_dies(const std::filesystem::path& file, int after_instructions) {
  const pid_t child = ::fork();
  if (child == 0) {
    SQLite::Database db(file.string(), SQLite::OPEN_READWRITE);
    if (after_instructions > 0) {
      sqlite3_progress_handler(db.getHandle(), after_instructions, die, nullptr);
    } else {
      sqlite3_commit_hook(db.getHandle(), die, nullptr);
    }
    ::_exit(bring_up_to_date(db, file) ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_P(Migration, IsWholeOrNotAtAllWheneverTheProcessDies) {
  const auto check = [&](const std::filesystem::path& file, const std::string& when) {
    EXPECT_EQ(version_in(file), GetParam().version) << when;
    if (GetParam().version < 7) {
      EXPECT_FALSE(layout_of(file).contains("runs.paid_judge_output_tokens")) << when;
      EXPECT_FALSE(layout_of(file).contains("votes.key")) << when;
    }
    if (GetParam().version < 8) {
      EXPECT_FALSE(layout_of(file).contains("calibrations.kappa")) << when;
    }
    if (GetParam().version < 9) {
      EXPECT_FALSE(layout_of(file).contains("runs.paid_baseline_output_tokens")) << when;
      EXPECT_FALSE(layout_of(file).contains("quality.quality_score")) << when;
    }
    if (GetParam().version < 10) {
      EXPECT_FALSE(layout_of(file).contains("retrievals.test")) << when;
      EXPECT_FALSE(layout_of(file).contains("runs.flags")) << when;
      EXPECT_FALSE(layout_of(file).contains("cases.status")) << when;
      EXPECT_FALSE(layout_of(file).contains("limits.burst")) << when;
    }
    if (GetParam().version < 11) {
      EXPECT_FALSE(layout_of(file).contains("asked.judged_by")) << when;
      EXPECT_FALSE(layout_of(file).contains("parts.until_ms")) << when;
    }
    if (GetParam().version < 12) {
      EXPECT_FALSE(layout_of(file).contains("suites.files")) << when;
    }
    EXPECT_FALSE(layout_of(file).contains("runs.known_failures")) << when;
    EXPECT_FALSE(layout_of(file).contains("runs.paid_cost")) << when;
    auto ledger = Ledger::open(file);
    ASSERT_TRUE(ledger) << ledger.error().message << ' ' << when;
    check_what_was_kept(*ledger, GetParam());
  };
  int deaths = 0;
  bool lived = false;
  for (int instructions = 1; !lived; instructions += 1 + instructions / 2) {
    ASSERT_LT(instructions, 10'000'000);
    const support::TemporaryFolder folder;
    const auto killed = folder.path() / "ledger.db";
    make(GetParam(), killed);
    lived = upgrade_in_a_process_that_dies(killed, instructions);
    if (lived) break;
    ++deaths;
    check(killed, "after " + std::to_string(instructions) + " instructions");
  }
  EXPECT_GT(deaths, 5);
  make(GetParam(), file());
  EXPECT_FALSE(upgrade_in_a_process_that_dies(file(), 0));
  check(file(), "at the commit");
}

TEST_P(Migration, TwoProcessesAtOnceDoItOnce) {
  make(GetParam(), file());
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(::fork());
    ASSERT_GE(children.back(), 0);
    if (children.back() == 0) ::_exit(Ledger::open(file()) ? 0 : 1);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  auto ledger = Ledger::open(file());
  ASSERT_TRUE(ledger) << ledger.error().message;
  check_what_was_kept(*ledger, GetParam());
}

TEST_P(Migration, AStepThatFailsUndoesThoseBefore) {
  make(GetParam(), file());
  {
    // The last step of all finds its column there already.
    SQLite::Database db(file().string(), SQLite::OPEN_READWRITE);
    db.exec("ALTER TABLE runs ADD COLUMN paid_cost REAL");
  }
  const auto before = layout_of(file());
  const auto ledger = Ledger::open(file());
  ASSERT_FALSE(ledger);
  EXPECT_EQ(ledger.error().reason, Reason::ledger_failed);
  EXPECT_NE(ledger.error().message.find("ledger.db"), std::string::npos) << ledger.error().message;
  EXPECT_EQ(version_in(file()), GetParam().version);
  EXPECT_EQ(layout_of(file()), before);
}

TEST(MigrationFromTheVersionBefore, AnOlderSluiceThatHasTheFileOpenEndsItsRun) {
  const support::TemporaryFolder folder;
  const auto file = folder.path() / "ledger.db";
  make(all.back(), file);
  SQLite::Database older(file.string(), SQLite::OPEN_READWRITE, 10'000);
  SQLite::Statement result(older,
                           "INSERT OR IGNORE INTO results(id, answer, reason, worker, result) "
                           "VALUES (?, X'00', NULL, 'w', X'00')");
  result.bind(1, (std::int64_t{2} << 32) + 0);
  EXPECT_EQ(result.exec(), 1);
  result.reset();
  ASSERT_TRUE(Ledger::open(file));
  result.bind(1, (std::int64_t{2} << 32) + 1);
  EXPECT_EQ(result.exec(), 1);
  SQLite::Statement end(older,
                        "UPDATE runs SET completed_at_ms = 9, verdict = 'pass', exit_code = 0 "
                        "WHERE run_id = 'run-2'");
  EXPECT_EQ(end.exec(), 1);
  EXPECT_EQ(older.execAndGet("SELECT count(*) FROM results WHERE id >> 32 = 2").getInt(), 2);
}

TEST(MigrationFromTheSameVersion, RowsWithoutChecksumsGetThem) {
  const support::TemporaryFolder folder;
  const auto file = folder.path() / "ledger.db";
  ASSERT_TRUE(Ledger::open(file)->begin_run({"run-1", "suite", "live", "openai", "m", "1", 1000, 1}));
  {
    SQLite::Database db(file.string(), SQLite::OPEN_READWRITE);
    for (const auto& table : row_checks::ledger_tables())
      db.exec("ALTER TABLE " + std::string(table.name) + " DROP COLUMN checksum");
  }
  EXPECT_TRUE(Ledger::open_read_only(file)->find_run("run-1"));
  auto ledger = Ledger::open(file);
  ASSERT_TRUE(ledger) << ledger.error().message;
  EXPECT_FALSE(ledger->upgrade()) << "it is none of a released version";
  EXPECT_TRUE(ledger->find_run("run-1"));
  EXPECT_TRUE(ledger->begin_run({"run-2", "suite", "live", "openai", "m", "1", 1000, 1}));
  EXPECT_EQ(layout_of(file), [&] {
    const auto fresh = folder.path() / "fresh.db";
    EXPECT_TRUE(Ledger::open(fresh));
    return layout_of(fresh);
  }());
}

TEST(MigrationOfOtherFiles, ANewerLedgerIsRefusedByNameAndLeftAlone) {
  const support::TemporaryFolder folder;
  const auto file = folder.path() / "ledger.db";
  make(all.back(), file);
  const std::string later = std::to_string(schema_version + 1);
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE).exec("PRAGMA user_version = " + later);
  const auto before = layout_of(file);
  const auto ledger = Ledger::open(file);
  ASSERT_FALSE(ledger);
  EXPECT_NE(ledger.error().message.find(file.string() + " has version " + later), std::string::npos)
      << ledger.error().message;
  EXPECT_NE(ledger.error().message.find("a newer sluice wrote it"), std::string::npos);
  EXPECT_EQ(layout_of(file), before);
  EXPECT_EQ(version_in(file), schema_version + 1);
}

// Found by a fuzzer: what stands in a damaged file became a line of the message.
TEST(MigrationOfOtherFiles, ADamagedFileIsNamedInOneLine) {
  const support::TemporaryFolder folder;
  const auto file = folder.path() / "ledger.db";
  ASSERT_TRUE(Ledger::open(file));
  {
    SQLite::Database db(file.string(), SQLite::OPEN_READWRITE);
    db.exec("PRAGMA writable_schema = ON");
    db.exec(
        "UPDATE sqlite_master SET name = 'a' || char(10) || '::error::b', sql = 'nonsense' "
        "WHERE name = 'runs'");
  }
  const auto ledger = Ledger::open(file);
  ASSERT_FALSE(ledger);
  EXPECT_EQ(ledger.error().message.find('\n'), std::string::npos) << ledger.error().message;
}

TEST(MigrationOfOtherFiles, ADatabaseOfSomethingElseIsLeftAlone) {
  const support::TemporaryFolder folder;
  const auto file = folder.path() / "ledger.db";
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("CREATE TABLE notes(text)");
  const auto bytes = [&] {
    std::ifstream in(file, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string before = bytes();
  const auto ledger = Ledger::open(file);
  ASSERT_FALSE(ledger);
  EXPECT_NE(ledger.error().message.find("no run ledger"), std::string::npos) << ledger.error().message;
  EXPECT_EQ(bytes(), before);
}

}  // namespace
}  // namespace sluice::old_ledgers

// Every layout of the ledger that there ever was becomes the present one, whole or not at all.
#include "coordinator/ledger/ledger.hpp"
#include "coordinator/ledger/schema.hpp"
#include "tests/support/temporary_folder.hpp"

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

namespace sluice {
namespace {

/// A layout as the sluice of its time made it.
struct OldLedger {
  const char* name;
  int version;
  bool has_prompt_hash;
};

constexpr const char* results_and_pins = R"sql(
  CREATE TABLE results (
    id INTEGER PRIMARY KEY, answer BLOB NOT NULL, reason INTEGER, worker TEXT NOT NULL, result BLOB NOT NULL
  );
  CREATE TABLE pins (key BLOB PRIMARY KEY, answer BLOB NOT NULL, holder TEXT NOT NULL) WITHOUT ROWID;
)sql";
constexpr const char* embeddings =
    "CREATE TABLE embeddings (key BLOB PRIMARY KEY, holder TEXT NOT NULL) WITHOUT ROWID";
constexpr const char* votes = "CREATE TABLE votes (key BLOB PRIMARY KEY, holder TEXT NOT NULL) WITHOUT ROWID";
constexpr const char* pin_moves =
    "CREATE TABLE pin_moves (seq INTEGER PRIMARY KEY, key BLOB NOT NULL, answer BLOB NOT NULL, "
    "holder TEXT NOT NULL, paid INTEGER NOT NULL)";

/// The columns of `runs` as that version made them. The first was made with `prompt_hash` and without.
std::string runs_columns(int version, bool has_prompt_hash) {
  std::string columns =
      "seq INTEGER PRIMARY KEY, run_id TEXT NOT NULL UNIQUE, suite TEXT NOT NULL, mode TEXT NOT NULL, "
      "provider TEXT NOT NULL, model TEXT NOT NULL, prompt_version TEXT NOT NULL, ";
  if (has_prompt_hash) columns += "prompt_hash TEXT NOT NULL, ";
  columns += "trials INTEGER NOT NULL, started_at_ms INTEGER NOT NULL, ";
  if (version >= 2) columns += "suite_path TEXT NOT NULL, selection INTEGER NOT NULL, ";
  columns += "completed_at_ms INTEGER, verdict TEXT, exit_code INTEGER";
  if (version < 2) return columns;
  columns +=
      ", reason_code TEXT, precision REAL, recall REAL, f1 REAL, passed INTEGER, warned INTEGER, "
      "flaky INTEGER, failed INTEGER, errors INTEGER, paid_input_tokens INTEGER, paid_output_tokens INTEGER";
  if (version >= 4) columns += ", paid_embedding_tokens INTEGER";
  if (version >= 7) columns += ", paid_judge_input_tokens INTEGER, paid_judge_output_tokens INTEGER";
  if (version >= 9) columns += ", paid_baseline_input_tokens INTEGER, paid_baseline_output_tokens INTEGER";
  columns += ", estimated_cost REAL";
  if (version >= 6) {
    columns +=
        ", config_fingerprint TEXT, plan_identity TEXT, settings TEXT, result_layout INTEGER, "
        "pinned_at_ms INTEGER";
  }
  return columns;
}

constexpr const char* calibrations = R"sql(CREATE TABLE calibrations (
  suite TEXT NOT NULL, metric TEXT NOT NULL,
  rubric TEXT NOT NULL, rubric_version TEXT NOT NULL, rubric_hash TEXT NOT NULL,
  judge_provider TEXT NOT NULL, judge_model TEXT NOT NULL, samples INTEGER NOT NULL,
  against TEXT NOT NULL, run_id TEXT NOT NULL, calibrated_at_ms INTEGER NOT NULL,
  answers INTEGER NOT NULL, cases INTEGER NOT NULL,
  agreement REAL NOT NULL, agreement_low REAL NOT NULL, agreement_high REAL NOT NULL,
  kappa REAL, kappa_low REAL NOT NULL, kappa_high REAL NOT NULL,
  PRIMARY KEY (suite, metric, rubric, rubric_version, rubric_hash, judge_provider, judge_model, samples)
) WITHOUT ROWID)sql";

constexpr const char* quality = R"sql(CREATE TABLE quality (
  id INTEGER PRIMARY KEY,
  test TEXT NOT NULL, category TEXT NOT NULL, repeat INTEGER NOT NULL,
  judge TEXT NOT NULL, grader_id TEXT NOT NULL,
  baseline_arm TEXT NOT NULL, baseline_provider TEXT NOT NULL, baseline_model TEXT NOT NULL,
  candidate_arm TEXT NOT NULL, candidate_provider TEXT NOT NULL, candidate_model TEXT NOT NULL,
  quality_score REAL NOT NULL, notes TEXT NOT NULL,
  position_flip INTEGER,
  baseline_cost REAL, baseline_latency_ms INTEGER, candidate_cost REAL, candidate_latency_ms INTEGER
))sql";

constexpr std::array<OldLedger, 10> old_ledgers{{{"1", 1, false},
                                                 {"1WithPromptHash", 1, true},
                                                 {"2", 2, true},
                                                 {"3", 3, true},
                                                 {"4", 4, true},
                                                 {"5", 5, true},
                                                 {"6", 6, true},
                                                 {"7", 7, true},
                                                 {"8", 8, true},
                                                 {"9", 9, true}}};

std::string hex(const Digest& digest) {
  return "X'" + to_hex(digest) + "'";
}

const Digest old_key = sha256("key");
const Digest old_answer = sha256("answer");

/// The beginning that all layouts of a result share, and a rest that no version reads.
std::string old_result(std::uint8_t unit) {
  std::string bytes{'\x99', static_cast<char>(unit), '\xC4', '\x20'};
  bytes.append(old_key.begin(), old_key.end());
  return bytes + "\xC4\x01?";
}

/// A file of that time: a run that ended, one that did not, a result, a pin, and whatever else the version
/// has.
void make(const OldLedger& old, const std::filesystem::path& file) {
  SQLite::Database db(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  db.exec("PRAGMA journal_mode = WAL");
  db.exec("PRAGMA synchronous = OFF");
  db.exec("CREATE TABLE runs (" + runs_columns(old.version, old.has_prompt_hash) + ")");
  db.exec(results_and_pins);
  if (old.version >= 3) db.exec(embeddings);
  if (old.version >= 5) db.exec(pin_moves);
  if (old.version >= 7) db.exec(votes);
  if (old.version >= 8) db.exec(calibrations);
  if (old.version >= 9) db.exec(quality);
  for (const char* run : {"run-1", "run-2"}) {
    std::string names = "run_id, suite, mode, provider, model, prompt_version, trials, started_at_ms";
    std::string values = "'" + std::string(run) + "', 'suite', 'live', 'openai', 'sim-1', '1.0.0', 7, 1000";
    if (old.has_prompt_hash) {
      names += ", prompt_hash";
      values += ", 'sha256:00'";
    }
    if (old.version >= 2) {
      names += ", suite_path, selection";
      values += ", '/suites/a', 1";
    }
    db.exec("INSERT INTO runs(" + names + ") VALUES (" + values + ")");
  }
  db.exec("UPDATE runs SET completed_at_ms = 2000, verdict = 'fail', exit_code = 1 WHERE run_id = 'run-1'");
  if (old.version >= 2) {
    db.exec(
        "UPDATE runs SET f1 = 0.5, passed = 3, paid_input_tokens = 11, estimated_cost = 0.25 "
        "WHERE run_id = 'run-1'");
  }
  if (old.version >= 4) db.exec("UPDATE runs SET paid_embedding_tokens = 13 WHERE run_id = 'run-1'");
  if (old.version >= 7) db.exec("UPDATE runs SET paid_judge_input_tokens = 17 WHERE run_id = 'run-1'");
  if (old.version >= 6) {
    db.exec(
        "UPDATE runs SET plan_identity = 'sha256:11', result_layout = 5, pinned_at_ms = 3000 "
        "WHERE run_id = 'run-1'");
  }
  SQLite::Statement result(db, "INSERT INTO results VALUES (?, ?, NULL, 'worker-a', ?)");
  result.bind(1, (std::int64_t{1} << 32) + 4);
  result.bind(2, old_answer.data(), static_cast<int>(old_answer.size()));
  const std::string bytes = old_result(4);
  result.bind(3, bytes.data(), static_cast<int>(bytes.size()));
  result.exec();
  db.exec("INSERT INTO pins VALUES (" + hex(old_key) + ", " + hex(old_answer) + ", 'cache-a')");
  if (old.version >= 7) db.exec("INSERT INTO votes VALUES (" + hex(old_key) + ", 'cache-v')");
  if (old.version >= 3) db.exec("INSERT INTO embeddings VALUES (" + hex(old_key) + ", 'cache-e')");
  if (old.version >= 5) {
    db.exec("INSERT INTO pin_moves VALUES (1, " + hex(sha256("later")) + ", " + hex(old_answer) +
            ", 'cache-b', 1)");
  }
  db.exec("PRAGMA user_version = " + std::to_string(old.version));
}

/// Name, type, and whether it may be null and is a key, of each column of each table.
std::map<std::string, std::string> layout_of(const std::filesystem::path& file) {
  SQLite::Database db(file.string(), SQLite::OPEN_READWRITE);
  SQLite::Statement columns(db,
                            "SELECT t.name || '.' || c.name, c.type || c.\"notnull\" || c.pk FROM "
                            "sqlite_master t, pragma_table_info(t.name) c WHERE t.type = 'table'");
  std::map<std::string, std::string> layout;
  while (columns.executeStep()) layout[columns.getColumn(0)] = columns.getColumn(1).getString();
  return layout;
}

int version_in(const std::filesystem::path& file) {
  SQLite::Database db(file.string(), SQLite::OPEN_READWRITE);
  return db.execAndGet("PRAGMA user_version").getInt();
}

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

INSTANTIATE_TEST_SUITE_P(FromVersion, Migration, ::testing::ValuesIn(old_ledgers),
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
  ASSERT_TRUE(ledger->finish_run("run-3", summary));
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
    EXPECT_FALSE(layout_of(file).contains("retrievals.test")) << when;
    EXPECT_FALSE(layout_of(file).contains("runs.flags")) << when;
    EXPECT_FALSE(layout_of(file).contains("cases.status")) << when;
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
    // The last step of all finds its table there already.
    SQLite::Database db(file().string(), SQLite::OPEN_READWRITE);
    db.exec("CREATE TABLE cases (id INTEGER)");
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
  make(old_ledgers.back(), file);
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

TEST(MigrationOfOtherFiles, ANewerLedgerIsRefusedByNameAndLeftAlone) {
  const support::TemporaryFolder folder;
  const auto file = folder.path() / "ledger.db";
  make(old_ledgers.back(), file);
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
}  // namespace sluice

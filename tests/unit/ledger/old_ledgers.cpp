#include "tests/unit/ledger/old_ledgers.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

namespace sluice::old_ledgers {
namespace {

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
  if (version >= 10) columns += ", flags TEXT, endpoint TEXT";
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

constexpr const char* of_version_10 = R"sql(
  CREATE TABLE cases (
    id INTEGER PRIMARY KEY, case_id TEXT NOT NULL, status TEXT NOT NULL, missed TEXT NOT NULL
  );
  CREATE TABLE retrievals (
    id INTEGER PRIMARY KEY, type TEXT NOT NULL, test TEXT NOT NULL, category TEXT NOT NULL, score REAL,
    example TEXT NOT NULL, high_floor REAL NOT NULL, degraded_floor REAL NOT NULL, plugin TEXT NOT NULL,
    embedder TEXT NOT NULL, task_class TEXT NOT NULL, language TEXT NOT NULL, build_system TEXT NOT NULL,
    status TEXT NOT NULL
  );
  CREATE TABLE limits (
    key TEXT PRIMARY KEY, provider TEXT NOT NULL, server TEXT NOT NULL, requests_per_minute REAL, burst REAL,
    in_flight INTEGER, announced INTEGER NOT NULL, learned_at_ms INTEGER NOT NULL, run_id TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE spends (id INTEGER PRIMARY KEY, spend BLOB NOT NULL);
  CREATE TABLE leases (id INTEGER PRIMARY KEY, cache TEXT NOT NULL);
)sql";

constexpr const char* of_version_11 = R"sql(
  CREATE TABLE asked (
    id INTEGER PRIMARY KEY, case_id TEXT NOT NULL, trials INTEGER NOT NULL, judged_by INTEGER NOT NULL
  );
  CREATE TABLE parts (id INTEGER PRIMARY KEY, begun_at_ms INTEGER NOT NULL, until_ms INTEGER NOT NULL);
)sql";

constexpr const char* of_version_12 = R"sql(
  CREATE TABLE suites (id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, files BLOB NOT NULL);
  CREATE TABLE run_suites (id INTEGER PRIMARY KEY, digest BLOB NOT NULL);
  CREATE INDEX runs_of_suites ON run_suites(digest);
  ALTER TABLE suites ADD COLUMN checksum INTEGER;
  ALTER TABLE run_suites ADD COLUMN checksum INTEGER;
)sql";

/// Those whose rows had checksums from version 11 on; a row without one is as good as any.
constexpr const char* checked_in_version_11[] = {"runs",   "results",    "pins",        "pin_moves",
                                                 "cases",  "spends",     "asked",       "quality",
                                                 "limits", "retrievals", "calibrations"};

std::string hex(const Digest& digest) {
  return "X'" + to_hex(digest) + "'";
}

/// The beginning that all layouts of a result share, and a rest that no version reads.
std::string old_result(std::uint8_t unit) {
  std::string bytes{'\x99', static_cast<char>(unit), '\xC4', '\x20'};
  bytes.append(old_key.begin(), old_key.end());
  return bytes + "\xC4\x01?";
}

}  // namespace

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
  if (old.version >= 10) db.exec(of_version_10);
  if (old.version >= 11) {
    db.exec(of_version_11);
    for (const char* table : checked_in_version_11)
      db.exec(std::string("ALTER TABLE ") + table + " ADD COLUMN checksum INTEGER");
  }
  if (old.version >= 12) db.exec(of_version_12);
  if (old.version >= 13) db.exec("ALTER TABLE calibrations ADD COLUMN criteria INTEGER");
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
  SQLite::Statement result(
      db, "INSERT INTO results(id, answer, reason, worker, result) VALUES (?, ?, NULL, 'worker-a', ?)");
  result.bind(1, (std::int64_t{1} << 32) + 4);
  result.bind(2, old_answer.data(), static_cast<int>(old_answer.size()));
  const std::string bytes = old_result(4);
  result.bind(3, bytes.data(), static_cast<int>(bytes.size()));
  result.exec();
  db.exec("INSERT INTO pins(key, answer, holder) VALUES (" + hex(old_key) + ", " + hex(old_answer) +
          ", 'cache-a')");
  if (old.version >= 7) db.exec("INSERT INTO votes VALUES (" + hex(old_key) + ", 'cache-v')");
  if (old.version >= 3) db.exec("INSERT INTO embeddings VALUES (" + hex(old_key) + ", 'cache-e')");
  if (old.version >= 5) {
    db.exec("INSERT INTO pin_moves(seq, key, answer, holder, paid) VALUES (1, " + hex(sha256("later")) +
            ", " + hex(old_answer) + ", 'cache-b', 1)");
  }
  db.exec("PRAGMA user_version = " + std::to_string(old.version));
}

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

}  // namespace sluice::old_ledgers

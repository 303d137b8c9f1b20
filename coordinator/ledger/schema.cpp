#include "coordinator/ledger/schema.hpp"

#include "coordinator/ledger/row_checks.hpp"

#include <array>
#include <string>
#include <string_view>

namespace sluice {
namespace {

constexpr const char* calibrations = R"sql(
  CREATE TABLE calibrations (
    suite TEXT NOT NULL, metric TEXT NOT NULL,
    rubric TEXT NOT NULL, rubric_version TEXT NOT NULL, rubric_hash TEXT NOT NULL,
    judge_provider TEXT NOT NULL, judge_model TEXT NOT NULL, samples INTEGER NOT NULL,
    against TEXT NOT NULL, run_id TEXT NOT NULL, calibrated_at_ms INTEGER NOT NULL,
    answers INTEGER NOT NULL, cases INTEGER NOT NULL,
    agreement REAL NOT NULL, agreement_low REAL NOT NULL, agreement_high REAL NOT NULL,
    -- Null where judge and labels always say one and the same.
    kappa REAL, kappa_low REAL NOT NULL, kappa_high REAL NOT NULL,
    criteria INTEGER,  -- Null: several, or not known.
    PRIMARY KEY (suite, metric, rubric, rubric_version, rubric_hash, judge_provider, judge_model, samples)
  ) WITHOUT ROWID;
)sql";

constexpr const char* quality = R"sql(
  -- One row a grade (docs/grading.md); id as in results. Goes when its run is pruned.
  CREATE TABLE quality (
    id INTEGER PRIMARY KEY,
    test TEXT NOT NULL, category TEXT NOT NULL, repeat INTEGER NOT NULL,
    judge TEXT NOT NULL, grader_id TEXT NOT NULL,
    baseline_arm TEXT NOT NULL, baseline_provider TEXT NOT NULL, baseline_model TEXT NOT NULL,
    candidate_arm TEXT NOT NULL, candidate_provider TEXT NOT NULL, candidate_model TEXT NOT NULL,
    quality_score REAL NOT NULL, notes TEXT NOT NULL,
    position_flip INTEGER,  -- Null: not judged in both orders.
    -- US dollars; null: not known. Milliseconds; null: the answer came out of a cache.
    baseline_cost REAL, baseline_latency_ms INTEGER, candidate_cost REAL, candidate_latency_ms INTEGER
  );
)sql";

constexpr const char* retrievals = R"sql(
  -- One row a retrieval (docs/retrieval.md); id = seq of the run * 2^32 + position of the case. Goes when its run
  -- is pruned.
  CREATE TABLE retrievals (
    id INTEGER PRIMARY KEY,
    type TEXT NOT NULL,     -- hit, degraded, miss
    test TEXT NOT NULL, category TEXT NOT NULL,
    score REAL,             -- Of the nearest example, of a miss too; null: there was none.
    example TEXT NOT NULL,  -- Its id; empty: there was none.
    high_floor REAL NOT NULL, degraded_floor REAL NOT NULL,
    plugin TEXT NOT NULL, embedder TEXT NOT NULL,
    task_class TEXT NOT NULL, language TEXT NOT NULL, build_system TEXT NOT NULL,
    status TEXT NOT NULL    -- Of the case; empty until the run has ended.
  );
)sql";

constexpr const char* cases = R"sql(
  -- The cases of a run that did not simply pass; id as in results, of the case's first trial.
  CREATE TABLE cases (
    id INTEGER PRIMARY KEY,
    case_id TEXT NOT NULL,
    status TEXT NOT NULL,
    missed TEXT NOT NULL  -- The scores that missed a limit, in words, a line each.
  );
)sql";

/// What runs learnt of providers, a row a provider and key; `key` is a hash of names, never of the key.
constexpr const char* limits = R"sql(
  CREATE TABLE limits (
    key TEXT PRIMARY KEY,
    provider TEXT NOT NULL,
    server TEXT NOT NULL,
    requests_per_minute REAL,
    burst REAL,
    in_flight INTEGER,
    -- Whether headers named the rate; else refusals did.
    announced INTEGER NOT NULL,
    learned_at_ms INTEGER NOT NULL,
    run_id TEXT NOT NULL
  ) WITHOUT ROWID;
)sql";

/// What whoever goes on with a run needs beside its results; both go when it has ended, or is pruned.
constexpr const char* progress = R"sql(
  -- What was spent that is in no result (failed calls, results that came second): id = seq of the run * 2^32 + a
  -- number; the spend stands in a result without anything else.
  CREATE TABLE spends (
    id INTEGER PRIMARY KEY,
    spend BLOB NOT NULL
  );
  -- The cache of whom a unit was last leased to: id = seq of the run * 2^32 + unit.
  CREATE TABLE leases (
    id INTEGER PRIMARY KEY,
    cache TEXT NOT NULL
  );
)sql";

/// What a past run was; both go when it is pruned.
constexpr const char* past = R"sql(
  -- The cases of a run in plan order: id = seq of the run * 2^32 + position. None of a run from before version 11, of
  -- very many cases, or of one whose cases are not told apart so.
  CREATE TABLE asked (
    id INTEGER PRIMARY KEY,
    case_id TEXT NOT NULL,
    trials INTEGER NOT NULL,
    judged_by INTEGER NOT NULL  -- Of what judges its answers: 64 bits of a hash.
  );
  -- From its beginning or a --resume on: id = seq of the run * 2^32 + number of the part. Of one that has
  -- ended, the difference is how long it took.
  CREATE TABLE parts (
    id INTEGER PRIMARY KEY,
    begun_at_ms INTEGER NOT NULL,
    until_ms INTEGER NOT NULL
  );
)sql";

/// What the suites of past runs were read from.
constexpr const char* suites = R"sql(
  -- Goes with the last run of it.
  CREATE TABLE suites (
    id INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,  -- SHA-256 of what `files` unpacks to.
    files BLOB NOT NULL           -- Packed by zstd (ledger/suite_copies.cpp).
  );
  -- id = seq of the run * 2^32. None of a run from before version 12, or of a suite that is too large.
  CREATE TABLE run_suites (
    id INTEGER PRIMARY KEY,
    digest BLOB NOT NULL
  );
  CREATE INDEX runs_of_suites ON run_suites(digest);
)sql";

constexpr const char* schema = R"sql(
  CREATE TABLE runs (
    seq INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    suite TEXT NOT NULL, mode TEXT NOT NULL, provider TEXT NOT NULL, model TEXT NOT NULL,
    prompt_version TEXT NOT NULL, prompt_hash TEXT NOT NULL DEFAULT '',
    trials INTEGER NOT NULL,
    started_at_ms INTEGER NOT NULL,
    -- Those with a default were not always there.
    suite_path TEXT NOT NULL DEFAULT '', selection INTEGER NOT NULL DEFAULT 0,
    -- Null until the run ended.
    completed_at_ms INTEGER, verdict TEXT, exit_code INTEGER, reason_code TEXT,
    precision REAL, recall REAL, f1 REAL,
    passed INTEGER, warned INTEGER, flaky INTEGER, failed INTEGER, errors INTEGER,
    paid_input_tokens INTEGER, paid_output_tokens INTEGER, paid_embedding_tokens INTEGER,
    paid_judge_input_tokens INTEGER, paid_judge_output_tokens INTEGER,
    paid_baseline_input_tokens INTEGER, paid_baseline_output_tokens INTEGER, estimated_cost REAL,
    -- What exactly the run was of. Null for runs from before version 6.
    config_fingerprint TEXT, plan_identity TEXT, settings TEXT,
    -- The wire's version whose layout the run's results have; null for runs from before version 6.
    result_layout INTEGER,
    -- When a manifest's [baseline] was last made from it; else null.
    pinned_at_ms INTEGER,
    -- The flags of `sluice run` or `grade` as given, a JSON object; null for other runs, and from before version 10.
    flags TEXT,
    -- Where workers could join it last; null: nowhere.
    endpoint TEXT,
    -- Null for runs from before version 15 and where that is not known.
    known_failures INTEGER,  -- Of the warned cases those that warn for nothing else.
    paid_cost REAL           -- US dollars for the paid tokens.
  );
  -- One row a trial; id = seq of the run * 2^32 + trial id, so that a run's rows are neighbours in plan order.
  CREATE TABLE results (
    id INTEGER PRIMARY KEY,
    answer BLOB NOT NULL,
    reason INTEGER,
    worker TEXT NOT NULL,
    result BLOB NOT NULL
  );
  CREATE TABLE pins (
    key BLOB PRIMARY KEY,
    answer BLOB NOT NULL,
    holder TEXT NOT NULL
  ) WITHOUT ROWID;
  -- On their way into pins, in the order of their commits. Keys are hashes: put into pins at once, nearly each would
  -- change a page of its own.
  CREATE TABLE pin_moves (
    seq INTEGER PRIMARY KEY,
    key BLOB NOT NULL,
    answer BLOB NOT NULL,
    holder TEXT NOT NULL,
    paid INTEGER NOT NULL
  );
  CREATE TABLE embeddings (
    key BLOB PRIMARY KEY,
    holder TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE votes (
    key BLOB PRIMARY KEY,
    holder TEXT NOT NULL
  ) WITHOUT ROWID;
)sql";

void to_version_2(SQLite::Database& db) {
  // Version 1 got this column without a number of its own: there are files with it and without.
  if (!row_checks::has_column(db, "runs", "prompt_hash")) {
    db.exec("ALTER TABLE runs ADD COLUMN prompt_hash TEXT NOT NULL DEFAULT ''");
  }
  db.exec(R"sql(
    ALTER TABLE runs ADD COLUMN suite_path TEXT NOT NULL DEFAULT '';
    ALTER TABLE runs ADD COLUMN selection INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE runs ADD COLUMN reason_code TEXT;
    ALTER TABLE runs ADD COLUMN precision REAL;
    ALTER TABLE runs ADD COLUMN recall REAL;
    ALTER TABLE runs ADD COLUMN f1 REAL;
    ALTER TABLE runs ADD COLUMN passed INTEGER;
    ALTER TABLE runs ADD COLUMN warned INTEGER;
    ALTER TABLE runs ADD COLUMN flaky INTEGER;
    ALTER TABLE runs ADD COLUMN failed INTEGER;
    ALTER TABLE runs ADD COLUMN errors INTEGER;
    ALTER TABLE runs ADD COLUMN paid_input_tokens INTEGER;
    ALTER TABLE runs ADD COLUMN paid_output_tokens INTEGER;
    ALTER TABLE runs ADD COLUMN estimated_cost REAL;
  )sql");
}

void to_version_3(SQLite::Database& db) {
  db.exec("CREATE TABLE embeddings (key BLOB PRIMARY KEY, holder TEXT NOT NULL) WITHOUT ROWID");
}

void to_version_4(SQLite::Database& db) {
  db.exec("ALTER TABLE runs ADD COLUMN paid_embedding_tokens INTEGER");
}

void to_version_5(SQLite::Database& db) {
  db.exec(
      "CREATE TABLE pin_moves (seq INTEGER PRIMARY KEY, key BLOB NOT NULL, answer BLOB NOT NULL, "
      "holder TEXT NOT NULL, paid INTEGER NOT NULL)");
}

void to_version_6(SQLite::Database& db) {
  db.exec(R"sql(
    ALTER TABLE runs ADD COLUMN config_fingerprint TEXT;
    ALTER TABLE runs ADD COLUMN plan_identity TEXT;
    ALTER TABLE runs ADD COLUMN settings TEXT;
    ALTER TABLE runs ADD COLUMN result_layout INTEGER;
    ALTER TABLE runs ADD COLUMN pinned_at_ms INTEGER;
  )sql");
}

void to_version_7(SQLite::Database& db) {
  db.exec(R"sql(
    CREATE TABLE votes (key BLOB PRIMARY KEY, holder TEXT NOT NULL) WITHOUT ROWID;
    ALTER TABLE runs ADD COLUMN paid_judge_input_tokens INTEGER;
    ALTER TABLE runs ADD COLUMN paid_judge_output_tokens INTEGER;
  )sql");
}

void to_version_8(SQLite::Database& db) {
  db.exec(calibrations);
}

void to_version_9(SQLite::Database& db) {
  db.exec(R"sql(
    ALTER TABLE runs ADD COLUMN paid_baseline_input_tokens INTEGER;
    ALTER TABLE runs ADD COLUMN paid_baseline_output_tokens INTEGER;
  )sql");
  db.exec(quality);
}

void to_version_10(SQLite::Database& db) {
  db.exec("ALTER TABLE runs ADD COLUMN flags TEXT");
  db.exec("ALTER TABLE runs ADD COLUMN endpoint TEXT");
  db.exec(cases);
  db.exec(retrievals);
  db.exec(limits);
  db.exec(progress);
}

void to_version_11(SQLite::Database& db) {
  db.exec(past);
}

void to_version_12(SQLite::Database& db) {
  db.exec(suites);
  row_checks::add_columns(db, row_checks::ledger_tables());
}

void to_version_13(SQLite::Database& db) {
  if (!row_checks::has_column(db, "calibrations", "criteria"))
    db.exec("ALTER TABLE calibrations ADD COLUMN criteria INTEGER");
}

/// For a sluice of an earlier version the checksums of new calibrations do not fit: it must not read them.
void to_version_14(SQLite::Database& db) {
  row_checks::add_columns(db, row_checks::ledger_tables());  // Some files of versions 12 and 13 lack them.
}

/// Checksums of new runs have these too: as to_version_14.
void to_version_15(SQLite::Database& db) {
  db.exec(R"sql(
    ALTER TABLE runs ADD COLUMN known_failures INTEGER;
    ALTER TABLE runs ADD COLUMN paid_cost REAL;
  )sql");
}

struct Step {
  int to;
  void (*take)(SQLite::Database&);
};

/// Each leads from the version before it.
constexpr std::array<Step, schema_version - 1> steps{{{2, to_version_2},
                                                      {3, to_version_3},
                                                      {4, to_version_4},
                                                      {5, to_version_5},
                                                      {6, to_version_6},
                                                      {7, to_version_7},
                                                      {8, to_version_8},
                                                      {9, to_version_9},
                                                      {10, to_version_10},
                                                      {11, to_version_11},
                                                      {12, to_version_12},
                                                      {13, to_version_13},
                                                      {14, to_version_14},
                                                      {15, to_version_15}}};
static_assert(steps.back().to == schema_version);

int version_of(SQLite::Database& db) {
  return db.execAndGet("PRAGMA user_version").getInt();
}

std::uint64_t rows_of(SQLite::Database& db, const char* table) {
  return static_cast<std::uint64_t>(db.execAndGet(std::string("SELECT count(*) FROM ") + table).getInt64());
}

Error later_ledger(const std::filesystem::path& file, int version) {
  return {Reason::ledger_failed, "the run ledger " + file.string() + " has version " +
                                     std::to_string(version) + ", and this sluice knows versions up to " +
                                     std::to_string(schema_version) +
                                     ": a newer sluice wrote it. Use that one, another --home, or move the "
                                     "file away to begin a new one; it stays as it is"};
}

Error no_ledger(const std::filesystem::path& file) {
  return {Reason::ledger_failed, "the file " + file.string() +
                                     " is a database of something else, and no run ledger: name another "
                                     "--home, or move the file away; it stays as it is"};
}

}  // namespace

bool is_up_to_date(SQLite::Database& db) {
  return version_of(db) == schema_version && row_checks::is_checked(db, row_checks::ledger_table("runs"));
}

Result<std::optional<LedgerUpgrade>> bring_up_to_date(SQLite::Database& db,
                                                      const std::filesystem::path& file) {
  if (is_up_to_date(db)) return std::nullopt;
  if (version_of(db) > schema_version) return fail(later_ledger(file, version_of(db)));
  SQLite::Transaction transaction(db, SQLite::TransactionBehavior::IMMEDIATE);
  // Another process may have done it while this one waited.
  const int from = version_of(db);
  if (is_up_to_date(db)) return std::nullopt;
  if (from > schema_version) return fail(later_ledger(file, from));
  if (from < 0) return fail(no_ledger(file));
  std::optional<LedgerUpgrade> upgrade;
  if (from == 0) {
    if (rows_of(db, "sqlite_master") > 0) return fail(no_ledger(file));
    db.exec(schema);
    db.exec(calibrations);
    db.exec(quality);
    db.exec(cases);
    db.exec(retrievals);
    db.exec(limits);
    db.exec(progress);
    db.exec(past);
    db.exec(suites);
    row_checks::add_columns(db, row_checks::ledger_tables());
  } else if (from == schema_version) {  // Made before its rows had checksums.
    row_checks::add_columns(db, row_checks::ledger_tables());
  } else {
    for (const Step& step : steps) {
      if (step.to > from) step.take(db);
    }
    upgrade = LedgerUpgrade{from, schema_version, rows_of(db, "runs"), rows_of(db, "pins")};
  }
  db.exec("PRAGMA user_version = " + std::to_string(schema_version));
  transaction.commit();
  return upgrade;
}

}  // namespace sluice

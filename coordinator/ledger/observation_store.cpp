#include "coordinator/ledger/observation_store.hpp"

#include "common/defaults.hpp"
#include "common/files.hpp"
#include "common/text/text.hpp"
#include "coordinator/facts/observation_ids.hpp"
#include "coordinator/ledger/connection.hpp"
#include "coordinator/ledger/defaults.hpp"
#include "coordinator/ledger/file_swap.hpp"
#include "coordinator/ledger/guarded.hpp"
#include "coordinator/ledger/observation_checks.hpp"
#include "coordinator/ledger/observation_rows.hpp"
#include "coordinator/ledger/read_only.hpp"
#include "coordinator/ledger/write_ahead_log.hpp"

#include <algorithm>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

namespace sluice {
namespace {

constexpr int table_version = 1;
/// A row has some kilobytes: several fit into a page, and need no pages of their own behind it.
constexpr int page_bytes = 16 << 10;
/// Pages of the log after which it is written into the file and begun anew: what stays in the processor's
/// caches is written for less than what goes on over a long log.
constexpr int checkpoint_pages = 100;
/// Rows of one statement: its cursors stay where they are, which finds the place of the next row for less.
constexpr std::size_t rows_at_once = 8;

/// The first columns are those that other harnesses know, with their names and indexes.
constexpr const char* observation_tables = R"sql(
  CREATE TABLE observations (
    id TEXT PRIMARY KEY,
    timestamp TEXT NOT NULL,
    prompt_version TEXT NOT NULL,
    prompt_hash TEXT NOT NULL,
    model TEXT NOT NULL,
    input_hash TEXT NOT NULL,
    file_path TEXT NOT NULL,
    language TEXT NOT NULL,
    content_length INTEGER NOT NULL,
    raw_response TEXT NOT NULL,
    parsed_claims TEXT NOT NULL, -- JSON
    final_claims TEXT NOT NULL, -- JSON
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    parse_success INTEGER NOT NULL,
    parse_error TEXT,
    cache_hit INTEGER NOT NULL,
    latency_ms INTEGER NOT NULL,
    run_id TEXT NOT NULL,
    trial INTEGER NOT NULL,
    case_id TEXT NOT NULL,
    category TEXT NOT NULL,
    arm TEXT NOT NULL,
    perturbation TEXT NOT NULL,
    repeat INTEGER NOT NULL,
    key TEXT NOT NULL,
    status TEXT NOT NULL,
    reason_code TEXT,
    error TEXT,
    provider TEXT NOT NULL,
    served_model TEXT NOT NULL,
    finish_reason TEXT NOT NULL,
    answered_at TEXT,
    prompt TEXT NOT NULL,
    system_hash TEXT NOT NULL,
    metrics TEXT NOT NULL, -- JSON
    calls INTEGER NOT NULL,
    retries INTEGER NOT NULL,
    rate_limited INTEGER NOT NULL,
    waited_ms INTEGER NOT NULL,
    paid_tokens INTEGER NOT NULL,
    cost REAL
  );
  CREATE INDEX idx_obs_timestamp ON observations(timestamp);
  CREATE INDEX idx_obs_prompt_hash ON observations(prompt_hash);
  -- System prompts as shown, which many observations share: observations.system_hash is their hash. No index
  -- finds the observations of one: pruning removes the oldest, and goes by when a prompt was last used.
  CREATE TABLE prompts (
    hash TEXT PRIMARY KEY,
    text TEXT NOT NULL,
    -- Timestamp of the last observation with it; of one from before this was kept none removes it.
    last_used TEXT NOT NULL DEFAULT '~'
  ) WITHOUT ROWID;
)sql";

Error failed(const std::string& what) {
  // SQLite's words for damage of pages and of the schema, and of the file's beginning.
  const bool is_damage = what.find("malformed") != std::string::npos ||
                         what.find(sqlite3_errstr(SQLITE_NOTADB)) != std::string::npos;
  return {Reason::output_failed, "the observations failed: " + what +
                                     (is_damage ? "; `sluice doctor` says what can be repaired" : "")};
}

Error failed(const std::filesystem::path& file, const SQLite::Exception& error) {
  const bool is_of_folder = error.getErrorCode() == SQLITE_CANTOPEN || error.getErrorCode() == SQLITE_FULL ||
                            error.getErrorCode() == SQLITE_READONLY;
  return failed(file.string() + ": " + error.what() +
                (is_of_folder ? "; check the space and the permissions of its folder" : ""));
}

Error no_observations(const std::filesystem::path& file) {
  return {Reason::file_unreadable, "the file " + file.string() +
                                       " is a database of something else, and holds no observations: name "
                                       "another one as database_path; it stays as it is"};
}

Error later_observations(const std::filesystem::path& file, int version) {
  return {Reason::file_unreadable, "the observations in " + file.string() + " have version " +
                                       std::to_string(version) + ", and this sluice knows version " +
                                       std::to_string(table_version) +
                                       ": use a newer sluice, or name another file as database_path; it "
                                       "stays as it is"};
}

Error damaged(const Observation& one) {
  return failed("the one of trial " + std::to_string(one.trial) + " of run " +
                excerpt(one.run_id, defaults::quoted_bytes) +
                " is damaged: its checksum does not fit; `sluice doctor` says more");
}

int pragma(SQLite::Database& db, const char* name) {
  return db.execAndGet(std::string("PRAGMA ") + name).getInt();
}

bool has_checksums(SQLite::Database& db) {
  return std::ranges::all_of(observation_checks(),
                             [&](const auto& table) { return row_checks::is_checked(db, table); });
}

/// Nothing if the file is one of ours, or empty.
std::optional<Error> problem_with(SQLite::Database& db, const std::filesystem::path& file) {
  // As it is at one moment: another process may be making the tables.
  const SQLite::Transaction moment(db);
  const int version = pragma(db, "user_version");
  if (pragma(db, "application_id") == observations_application_id) {
    if (version != table_version) return later_observations(file, version);
    return std::nullopt;
  }
  const bool is_empty = db.execAndGet("SELECT count(*) FROM sqlite_master").getInt() == 0;
  if (version != 0 || !is_empty) return no_observations(file);
  return std::nullopt;
}

/// REQUIRES: problem_with had nothing to say.
void make_tables(SQLite::Database& db) {
  SQLite::Transaction transaction(db, SQLite::TransactionBehavior::IMMEDIATE);
  // Another process may have done it while this one waited.
  if (pragma(db, "application_id") == observations_application_id) return;
  db.exec(observation_tables);
  db.exec("PRAGMA user_version = " + std::to_string(table_version));
  db.exec("PRAGMA application_id = " + std::to_string(observations_application_id));
  transaction.commit();
}

/// A file from before there were any gets the columns; its version stays: earlier ones of sluice read and
/// write it all the same.
void bring_up_to_date(SQLite::Database& db) {
  // Of runs and trials: ObservationIds find them.
  db.exec("DROP INDEX IF EXISTS idx_obs_run");
  if (has_checksums(db)) return;
  SQLite::Transaction transaction(db, SQLite::TransactionBehavior::IMMEDIATE);
  if (!row_checks::has_column(db, "prompts", "last_used"))
    db.exec("ALTER TABLE prompts ADD COLUMN last_used TEXT NOT NULL DEFAULT '~'");
  row_checks::add_columns(db, observation_checks());
  transaction.commit();
}

/// Of a filter: a WHERE clause, and what stands for its question marks.
struct Condition {
  explicit Condition(const ObservationFilter& filter) {
    add(filter.run, "substr(run_id, 1, length(?)) = ?", 2);
    add(filter.case_id, "(case_id = ? OR substr(case_id, 1, length(?) + 1) = ? || '@')", 3);
    add(filter.status, "status = ?");
    add(filter.model, "model = ?");
    add(filter.since, "timestamp >= ?");
    add(filter.before, "timestamp < ?");
  }
  void add(const std::string& value, const char* words, int marks = 1) {
    if (value.empty()) return;
    sql += (sql.empty() ? " WHERE " : " AND ") + std::string(words);
    values.insert(values.end(), static_cast<std::size_t>(marks), value);
  }
  void bind_to(SQLite::Statement& statement) const {
    for (std::size_t i = 0; i < values.size(); ++i) statement.bind(static_cast<int>(i) + 1, values[i]);
  }

  std::string sql;
  std::vector<std::string> values;
};

struct SystemPrompt {
  SharedText text;
  std::string last_used;  ///< The greatest timestamp of an observation with it.
};

}  // namespace

struct ObservationStore::Database {
  explicit Database(SQLite::Database opened) : db(std::move(opened)) {}

  SQLite::Database db;
  void insert(std::span<const Observation> rows) {
    if (rows.size() == rows_at_once && insert_rows(*insert_several, rows)) return;
    for (const Observation& one : rows) {
      if (!insert_rows(*replace_one, {&one, 1}))
        throw SQLite::Exception(replace_one->getErrorMsg(), SQLITE_CONSTRAINT);
    }
  }

  std::optional<SQLite::Statement> replace_one;
  std::optional<SQLite::Statement> insert_several;
  std::optional<SQLite::Statement> insert_prompt;
};

ObservationStore::ObservationStore(std::unique_ptr<Database> database) : database_(std::move(database)) {}
ObservationStore::~ObservationStore() = default;
ObservationStore::ObservationStore(ObservationStore&&) noexcept = default;
ObservationStore& ObservationStore::operator=(ObservationStore&&) noexcept = default;

Result<ObservationStore> ObservationStore::open(const std::filesystem::path& file) {
  if (auto may = check_may_open(file); !may) return fail(failed(may.error().message));
  try {
    make_private_folder(file.parent_path());  // Whatever is wrong with it shows when SQLite opens the file.
    auto database = std::make_unique<Database>(connected(
        file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, defaults::observations_busy_timeout_ms));
    auto& db = database->db;
    if (auto problem = problem_with(db, file)) return fail(std::move(*problem));
    db.exec("PRAGMA page_size = " + std::to_string(page_bytes));  // Of a new file.
    use_write_ahead_log(db);
    db.exec("PRAGMA synchronous = OFF");
    db.exec("PRAGMA wal_autocheckpoint = " + std::to_string(checkpoint_pages));
    make_tables(db);
    bring_up_to_date(db);
    const auto& prompts = observation_checks().back();
    database->replace_one.emplace(db, insertion("REPLACE", 1));
    database->insert_several.emplace(db, insertion("FAIL", rows_at_once));
    const std::string last_use = "max(prompts.last_used, excluded.last_used)";
    database->insert_prompt.emplace(
        db, "INSERT INTO prompts(hash, text, last_used, checksum) VALUES (?1, ?2, ?3, " +
                row_checks::sum(prompts, "?1, ?2, ?3") +
                ") ON CONFLICT(hash) DO UPDATE SET text = excluded.text, last_used = " + last_use +
                ", checksum = " + row_checks::sum(prompts, "excluded.hash, excluded.text, " + last_use));
    return ObservationStore(std::move(database));
  } catch (const SQLite::Exception& error) {
    return fail(failed(file, error));
  }
}

Result<std::optional<ObservationStore>> ObservationStore::open_read_only(const std::filesystem::path& file) {
  if (auto may = check_may_open(file); !may) return fail(failed(may.error().message));
  try {
    std::error_code none;
    if (!std::filesystem::exists(file, none)) return std::nullopt;
    auto database = std::make_unique<Database>(
        open_database_read_only(file, OtherWriters::perhaps, defaults::observations_busy_timeout_ms));
    auto& db = database->db;
    if (auto problem = problem_with(db, file)) return fail(std::move(*problem));
    // An empty file: its run has only just begun.
    if (pragma(db, "application_id") != observations_application_id) return std::nullopt;
    return ObservationStore(std::move(database));
  } catch (const SQLite::Exception& error) {
    return fail(failed(file, error));
  }
}

Result<void> ObservationStore::insert(std::span<const Observation> observations) {
  return insert_each([&](const Put& put) -> Result<void> {
    for (const Observation& one : observations) put(one);
    return {};
  });
}

Result<void> ObservationStore::insert_each(const std::function<Result<void>(const Put&)>& make) {
  return guarded(failed, [&] {
    SQLite::Transaction transaction(database_->db, SQLite::TransactionBehavior::IMMEDIATE);
    std::unordered_map<std::string, SystemPrompt> prompts;  // By their hashes.
    std::vector<Observation> rows;
    rows.reserve(rows_at_once);
    auto made = make([&](Observation one) {
      if (one.system_prompt) {
        SystemPrompt& prompt = prompts[one.system_hash];
        prompt.text = one.system_prompt;
        if (prompt.last_used < one.timestamp) prompt.last_used = one.timestamp;
      }
      rows.push_back(std::move(one));
      if (rows.size() < rows_at_once) return;
      database_->insert(rows);
      rows.clear();
    });
    database_->insert(rows);
    for (const auto& [hash, prompt] : prompts) {
      auto& row = *database_->insert_prompt;
      static_cast<void>(row.tryReset());
      row.bindNoCopy(1, hash);
      row.bindNoCopy(2, *prompt.text);
      row.bindNoCopy(3, prompt.last_used);
      row.exec();
    }
    transaction.commit();  // Also of what could be made before something could not.
    return made;
  });
}

Result<void> ObservationStore::set_statuses(const std::string& run_id,
                                            std::span<const TrialStatus> statuses) {
  if (statuses.empty()) return {};
  return guarded_transaction(database_->db, failed, [&] {
    const auto& table = observation_checks().front();
    // What was damaged before stays so: nobody vouches for it.
    SQLite::Statement update(database_->db, "UPDATE observations SET status = ?1, checksum = " +
                                                row_checks::sum(table, columns_with_new_status()) +
                                                " WHERE id = ?2 AND " + row_checks::fits(table));
    const ObservationIds ids(run_id);
    for (const TrialStatus& one : statuses) {
      update.bind(1, std::string(one.status));
      update.bind(2, ids.of(one.trial));
      update.exec();
      update.reset();
    }
  });
}

Result<std::uint64_t> ObservationStore::prune(const Retention& retention, bool compact) {
  return guarded(failed, [&]() -> Result<std::uint64_t> {
    auto& db = database_->db;
    // The newest of those that may go, found once: what comes meanwhile is newer.
    SQLite::Statement find(db,
                           "SELECT timestamp, rowid FROM observations ORDER BY timestamp DESC, rowid DESC "
                           "LIMIT 1 OFFSET ?");
    find.bind(1, static_cast<std::int64_t>(retention.newest));
    if (!find.executeStep()) return 0;
    const std::string timestamp = find.getColumn(0).getString();
    const std::int64_t row = find.getColumn(1).getInt64();
    find.reset();
    std::uint64_t removed = 0;
    SQLite::Statement remove(
        db,
        "DELETE FROM observations WHERE rowid IN (SELECT rowid FROM observations WHERE timestamp < ?1 "
        "AND (timestamp, rowid) <= (?2, ?3) ORDER BY timestamp LIMIT ?4)");
    for (int rows = 1; rows > 0; removed += static_cast<std::uint64_t>(rows)) {
      // One transaction after the other: another process that saves is kept waiting no longer than that.
      remove.bind(1, retention.oldest);
      remove.bind(2, timestamp);
      remove.bind(3, row);
      remove.bind(4, defaults::rows_pruned_at_once);
      rows = remove.exec();
      remove.reset();
    }
    if (removed == 0) return 0;
    db.exec("DELETE FROM prompts WHERE last_used < (SELECT coalesce(min(timestamp), '~') FROM observations)");
    if (compact) {
      db.setBusyTimeout(defaults::compact_busy_timeout_ms);
      // Where another process is at work, its runs find the room in the file.
      static_cast<void>(db.tryExec("VACUUM"));
      static_cast<void>(db.tryExec("PRAGMA wal_checkpoint(TRUNCATE)"));
      db.setBusyTimeout(defaults::observations_busy_timeout_ms);
    }
    return removed;
  });
}

Result<std::uint64_t> ObservationStore::count(const ObservationFilter& filter) const {
  return guarded(failed, [&] {
    const Condition condition(filter);
    SQLite::Statement query(database_->db, "SELECT count(*) FROM observations" + condition.sql);
    condition.bind_to(query);
    query.executeStep();
    return static_cast<std::uint64_t>(query.getColumn(0).getInt64());
  });
}

Result<std::vector<std::string>> ObservationStore::runs_beginning_with(const std::string& prefix) const {
  return guarded(failed, [&] {
    SQLite::Statement query(database_->db,
                            "SELECT DISTINCT run_id FROM observations WHERE substr(run_id, 1, length(?1)) = "
                            "?1 ORDER BY run_id LIMIT 2");
    query.bind(1, prefix);
    std::vector<std::string> runs;
    while (query.executeStep()) runs.push_back(query.getColumn(0).getString());
    return runs;
  });
}

Result<void> ObservationStore::visit(const ObservationFilter& filter, Order order,
                                     std::optional<std::uint64_t> limit, const Visit& visit) const {
  return guarded(failed, [&]() -> Result<void> {
    const Condition condition(filter);
    const std::string direction = order == Order::newest_first ? " DESC" : "";
    const auto [observations, prompts] = observation_checks();
    const bool checked = has_checksums(database_->db);
    SQLite::Statement query(
        database_->db,
        "SELECT " + column_names() + ", prompts.text, " + (checked ? row_checks::fits(observations) : "1") +
            " FROM observations LEFT JOIN " +
            (checked ? "(SELECT hash, text FROM " + row_checks::sound(prompts) + ")" : std::string()) +
            " prompts ON prompts.hash = system_hash" + condition.sql + " ORDER BY timestamp" + direction +
            ", observations.rowid" + direction +
            (limit ? " LIMIT " + std::to_string(*limit) : std::string()));
    condition.bind_to(query);
    Observation one;
    const int last = query.getColumnCount() - 1;
    while (query.executeStep()) {
      read_row(query, one);
      if (query.getColumn(last).getInt() == 0) return fail(damaged(one));
      const auto system = query.getColumn(last - 1);
      one.system_prompt = system.isNull() ? nullptr : share(system.getString());
      visit(one);
    }
    return {};
  });
}

}  // namespace sluice

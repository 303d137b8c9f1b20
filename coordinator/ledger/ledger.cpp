#include "coordinator/ledger/ledger.hpp"

#include "common/files.hpp"
#include "common/text/text.hpp"
#include "common/wire/codec.hpp"
#include "coordinator/ledger/database.hpp"
#include "coordinator/ledger/defaults.hpp"
#include "coordinator/ledger/file_swap.hpp"
#include "coordinator/ledger/row_id.hpp"
#include "coordinator/ledger/schema.hpp"
#include "coordinator/ledger/write_ahead_log.hpp"

#include <functional>
#include <utility>

#include <SQLiteCpp/SQLiteCpp.h>

namespace sluice {

namespace {

/// Makes a statement ready for its next use. Not `reset()`, which would throw what the last use failed with
/// again.
void clear(SQLite::Statement& statement) {
  static_cast<void>(statement.tryReset());
}

/// A unit's result as the rows of its trials hold it: each with that trial's score alone. A unit may have
/// thousands of trials, so that what they share is copied once.
class TrialRows {
 public:
  explicit TrialRows(const UnitResult& result) : result_(result) {
    if (result.scores.size() > 1) single_ = result;
  }
  std::string row(std::size_t index, TrialId trial) {
    if (result_.error && !result_.scores.empty()) return row_of_refusal(trial);
    if (result_.scores.size() <= 1) return wire::encode_result(result_);
    single_.scores.assign(1, result_.scores[index]);
    return wire::encode_result(single_);
  }

 private:
  /// Not every trial takes it.
  std::string row_of_refusal(TrialId trial) const {
    UnitResult single = result_;
    std::erase_if(single.scores, [trial](const TrialScore& score) { return score.trial != trial; });
    if (single.scores.empty()) single.grade.reset();
    return wire::encode_result(single);
  }

  const UnitResult& result_;
  UnitResult single_;
};

std::string sum_of(std::string_view table, std::string_view values) {
  return row_checks::sum(row_checks::ledger_table(table), values);
}

}  // namespace

const std::string upsert_of_pin =
    "INSERT INTO pins(key, answer, holder, checksum) VALUES (?1, ?2, ?3, " + sum_of("pins", "?1, ?2, ?3") +
    ") ON CONFLICT(key) DO UPDATE SET answer = ?2, holder = ?3, checksum = excluded.checksum";

Error ledger_error(const std::string& what) {
  if (what == sqlite3_errstr(SQLITE_BUSY)) {
    return {Reason::ledger_failed,
            "the run ledger failed: another process holds it (" + what +
                "); wait for that one, or end it: another command of sluice, a backup, or a program that "
                "shows databases (`fuser SLUICE_HOME/ledger.db` says which)"};
  }
  return {Reason::ledger_failed,
          "the run ledger failed: " + one_line(what) +  // SQLite quotes what stands in the file.
              "; check the space and the permissions of the home (--home; default SLUICE_HOME, or "
              "~/.sluice), and where a file is "
              "damaged, `sluice doctor`"};
}

std::int64_t Ledger::Database::run_seq(const std::string& run_id) {
  auto& query = *select_run_seq;
  clear(query);
  query.bind(1, run_id);
  if (!query.executeStep()) throw SQLite::Exception("run " + run_id + " is not in the ledger");
  const std::int64_t seq = query.getColumn(0).getInt64();
  clear(query);
  return seq;
}

void Ledger::Database::prepare() {
  select_run_seq.emplace(db, "SELECT seq FROM " + sound("runs") + " WHERE run_id = ?");
  insert_result.emplace(db,
                        "INSERT OR IGNORE INTO results(id, answer, reason, worker, result, checksum) VALUES "
                        "(?1, ?2, ?3, ?4, ?5, " +
                            sum_of("results", "?1, ?2, ?3, ?4, ?5") + ")");
  select_answer.emplace(db, "SELECT answer FROM " + sound("results") + " WHERE id = ?");
  insert_pin_move.emplace(
      db, "INSERT INTO pin_moves(key, answer, holder, paid, checksum) VALUES (?1, ?2, ?3, ?4, " +
              sum_of("pin_moves", "?1, ?2, ?3, ?4") + ")");
  select_pin_moves.emplace(
      db, "SELECT key, answer, holder, paid FROM " + sound("pin_moves") + " ORDER BY key, seq");
  delete_pin_moves.emplace(db, "DELETE FROM pin_moves");
  upsert_pin.emplace(db, upsert_of_pin + " WHERE answer <> ?2 OR (?4 AND holder <> ?3)");
  select_pin.emplace(db, "SELECT answer, holder FROM " + sound("pins") + " WHERE key = ?");
  for (const auto& [table, holders] : {std::pair("embeddings", &embeddings), std::pair("votes", &votes)}) {
    holders->upsert.emplace(db, std::string("INSERT INTO ") + table +
                                    "(key, holder) VALUES (?1, ?2) ON CONFLICT(key) DO UPDATE "
                                    "SET holder = ?2 WHERE holder <> ?2");
    holders->select.emplace(db, std::string("SELECT holder FROM ") + table + " WHERE key = ?");
  }
}

bool Ledger::Database::insert(std::int64_t seq, const ResultToCommit& item, TrialId trial,
                              const std::string& blob) {
  auto& statement = *insert_result;
  clear(statement);
  statement.bind(1, row_id(seq, trial));
  bind_digest(statement, 2, item.result.answer);
  if (item.result.error && item.result.score_of(trial) == nullptr) {
    statement.bind(3, static_cast<int>(item.result.error->reason));
  } else {
    statement.bind(3);
  }
  statement.bindNoCopy(4, item.worker);
  statement.bindNoCopy(5, blob.data(), static_cast<int>(blob.size()));
  return statement.exec() == 1;
}

CommitOutcome Ledger::Database::commit_one(std::int64_t seq, const ResultToCommit& item, bool move_pins) {
  const auto& result = item.result;
  const TrialId first = item.trials.front();
  TrialRows rows(result);
  if (!insert(seq, item, first, rows.row(0, first))) {
    clear(*select_answer);
    select_answer->bind(1, row_id(seq, first));
    if (!select_answer->executeStep()) throw SQLite::Exception("a committed result is gone");
    const CommitOutcome outcome{false, digest_of(select_answer->getColumn(0))};
    clear(*select_answer);
    return outcome;
  }
  for (std::size_t i = 1; i < item.trials.size(); ++i) {
    insert(seq, item, item.trials[i], rows.row(i, item.trials[i]));
  }
  // Also for an answer from the cache: what this run's report shows is what a cached run must show.
  const auto move_pin = [&](const Digest& key, const Digest& answer, bool is_paid) {
    if (!move_pins || is_zero(answer) || item.cache_id.empty()) return;
    clear(*insert_pin_move);
    bind_digest(*insert_pin_move, 1, key);
    bind_digest(*insert_pin_move, 2, answer);
    insert_pin_move->bindNoCopy(3, item.cache_id);
    insert_pin_move->bind(4, is_paid ? 1 : 0);
    insert_pin_move->exec();
    ++unsettled_pins;
  };
  move_pin(result.key, result.answer, !result.spend.cache_hit);
  if (item.baseline) move_pin(item.baseline->key, item.baseline->answer, true);
  return {true, result.answer};
}

bool Ledger::Database::has_unsettled_pins() {
  return db.execAndGet("SELECT EXISTS(SELECT 1 FROM pin_moves)").getInt() != 0;
}

void Ledger::Database::settle_pins() {
  auto& moves = *select_pin_moves;
  clear(moves);
  bool any = false;
  while (moves.executeStep()) {
    any = true;
    const auto blob = [&](int column) { return moves.getColumn(column); };
    clear(*upsert_pin);
    upsert_pin->bind(1, blob(0).getBlob(), blob(0).getBytes());
    upsert_pin->bind(2, blob(1).getBlob(), blob(1).getBytes());
    upsert_pin->bind(3, blob(2).getString());
    upsert_pin->bind(4, blob(3).getInt());
    upsert_pin->exec();
  }
  clear(moves);
  if (any) {
    clear(*delete_pin_moves);
    delete_pin_moves->exec();
  }
  unsettled_pins = 0;
}

namespace {

const std::string select_results = "SELECT results.id, results.result, results.answer, " +
                                   row_checks::fits(row_checks::ledger_table("results")) + " FROM " +
                                   sound("runs") + " JOIN results ON results.id" +
                                   ids_of_run("runs.seq", "?2") +
                                   " WHERE runs.run_id = ?1 ORDER BY results.id";

Error damaged_result(TrialId trial, const std::string& why) {
  return ledger_error("the result of trial " + std::to_string(trial) + " is damaged: " + why);
}

/// REQUIRES, like check_row: a row of select_results.
TrialId trial_in(const SQLite::Statement& row) {
  return trial_of(row.getColumn(0).getInt64());
}

Result<void> check_row(const SQLite::Statement& row) {
  if (row.getColumn(3).getInt() != 0) return {};
  return fail(damaged_result(trial_in(row), "its checksum does not fit"));
}

class LedgerResults final : public ResultSource {
 public:
  LedgerResults(const SQLite::Database& db, std::string run_id) : db_(db), run_id_(std::move(run_id)) {}

  Result<void> visit_from(TrialId first, const VisitTrial& visit) const override {
    return visit_while(first, [&](const CommittedTrial& trial) {
      visit(trial);
      return true;
    });
  }

  /// Until `visit` says false.
  Result<void> visit_while(TrialId first, const std::function<bool(const CommittedTrial&)>& visit) const {
    try {
      SQLite::Statement layout(db_, "SELECT result_layout FROM " + sound("runs") + " WHERE run_id = ?");
      layout.bind(1, run_id_);
      if (layout.executeStep() && layout.getColumn(0).getInt() != wire::result_version) {
        return fail(Reason::ledger_failed,
                    "the results of run " + run_id_ +
                        " are those of another version of sluice, which alone reads them; what the run came "
                        "to is still there (`sluice runs show`)");
      }
      SQLite::Statement query(db_, select_results);
      query.bind(1, run_id_);
      query.bind(2, static_cast<std::int64_t>(first));
      while (query.executeStep()) {
        CommittedTrial trial;
        trial.trial = trial_in(query);
        if (auto checked = check_row(query); !checked) return checked;
        auto unit = wire::decode_result(bytes_in(query.getColumn(1)));
        if (!unit) return fail(damaged_result(trial.trial, unit.error().message));
        trial.unit = std::move(*unit);
        if (!visit(trial)) break;
      }
      return {};
    } catch (const SQLite::Exception& error) {
      return fail(ledger_error(error.what()));
    }
  }

 private:
  const SQLite::Database& db_;
  std::string run_id_;
};

}  // namespace

Ledger::Ledger(std::unique_ptr<Database> database) : database_(std::move(database)) {}
Ledger::~Ledger() = default;
Ledger::Ledger(Ledger&&) noexcept = default;
Ledger& Ledger::operator=(Ledger&&) noexcept = default;

Result<Ledger> Ledger::open(const std::filesystem::path& file, Outlives outlives) {
  if (auto may = check_may_open(file); !may) return fail(may.error());
  try {
    make_private_folder(file.parent_path());  // Whatever is wrong with it shows when SQLite opens the file.
    std::error_code ignored;
    const bool is_new = !std::filesystem::exists(file, ignored);
    auto database = std::make_unique<Database>(file.string());
    auto& db = database->db;
    database->home = file.parent_path();
    // A new file holds nothing that the disk would have to be waited for; an upgrade waits for it.
    if (is_new) db.exec("PRAGMA synchronous = OFF");
    // Before anything is changed in a file that may be none of ours.
    const auto upgrade = bring_up_to_date(db, file);
    if (!upgrade) return fail(upgrade.error());
    use_write_ahead_log(db);
    database->outlives = outlives;
    database->set_synchronous();
    if (outlives == Outlives::power) database->make_durable(file.parent_path());
    db.exec("PRAGMA temp_store = MEMORY");
    row_checks::add_triggers(db, row_checks::ledger_tables());
    database->prepare();
    database->upgrade = *upgrade;
    return Ledger(std::move(database));
  } catch (const SQLite::Exception& error) {
    return fail(ledger_error(file.string() + ": " + error.what()));
  }
}

Result<std::vector<CommitOutcome>> Ledger::commit(const std::string& run_id,
                                                  std::span<const ResultToCommit> results, bool move_pins) {
  return guarded_transaction(database_->db, ledger_error, [&] {
    std::vector<CommitOutcome> outcomes;
    outcomes.reserve(results.size());
    const auto seq = database_->run_seq(run_id);
    for (const auto& item : results) outcomes.push_back(database_->commit_one(seq, item, move_pins));
    database_->note_part_now(seq);
    if (database_->unsettled_pins >= defaults::max_unsettled_pins) database_->settle_pins();
    return outcomes;
  });
}

Result<std::vector<std::optional<Pin>>> Ledger::pins(std::span<const Digest> keys) {
  return guarded(ledger_error, [&] {
    std::vector<std::optional<Pin>> found;
    found.reserve(keys.size());
    if (database_->has_unsettled_pins()) {
      SQLite::Transaction transaction(database_->db, SQLite::TransactionBehavior::IMMEDIATE);
      database_->settle_pins();
      transaction.commit();
    }
    SQLite::Transaction one_snapshot(database_->db);
    auto& query = *database_->select_pin;
    for (const auto& key : keys) {
      clear(query);
      bind_digest(query, 1, key);
      if (query.executeStep()) {
        found.push_back(Pin{digest_of(query.getColumn(0)), query.getColumn(1).getString()});
      } else {
        found.push_back(std::nullopt);
      }
    }
    query.reset();
    one_snapshot.commit();
    return found;
  });
}

Result<std::vector<UsedAnswer>> Ledger::answers_of(const std::string& run_id) const {
  return guarded(ledger_error, [&]() -> Result<std::vector<UsedAnswer>> {
    std::vector<UsedAnswer> used;
    SQLite::Statement query(database_->db, select_results);
    query.bind(1, run_id);
    query.bind(2, 0);
    while (query.executeStep()) {
      if (auto checked = check_row(query); !checked) return fail(std::move(checked.error()));
      const Digest answer = digest_of(query.getColumn(2));
      if (is_zero(answer)) continue;
      const auto key = wire::key_of_result(bytes_in(query.getColumn(1)));
      if (!key) return fail(damaged_result(trial_in(query), key.error().message));
      used.push_back({*key, answer});
    }
    return used;
  });
}

void Ledger::wait_for_others(std::chrono::milliseconds most) {
  database_->busy_timeout_ms = static_cast<int>(most.count());
  sqlite3_busy_timeout(database_->db.getHandle(), database_->busy_timeout_ms);
}

bool Ledger::was_locked_out() const {
  return (sqlite3_errcode(database_->db.getHandle()) & 0xff) == SQLITE_BUSY;
}

Outlives Ledger::outlives() const {
  return database_->outlives;
}

const std::optional<LedgerUpgrade>& Ledger::upgrade() const {
  return database_->upgrade;
}

std::unique_ptr<ResultSource> Ledger::results_of(const std::string& run_id) const {
  return std::make_unique<LedgerResults>(database_->db, run_id);
}

Result<TrialId> Ledger::visit_consecutive(const std::string& run_id, TrialId first,
                                          const VisitTrial& visit) const {
  TrialId next = first;
  const auto visited =
      LedgerResults(database_->db, run_id).visit_while(first, [&](const CommittedTrial& trial) {
        if (trial.trial != next) return false;
        visit(trial);
        ++next;
        return true;
      });
  if (!visited) return fail(visited.error());
  return next;
}

}  // namespace sluice

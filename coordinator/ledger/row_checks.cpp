#include "coordinator/ledger/row_checks.hpp"

#include "common/text/text.hpp"
#include "coordinator/ledger/row_id.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include <sqlite3.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace sluice::row_checks {
namespace {

constexpr std::string_view run_columns =
    "seq, run_id, suite, mode, provider, model, prompt_version, prompt_hash, trials, started_at_ms, "
    "suite_path, selection, completed_at_ms, verdict, exit_code, reason_code, precision, recall, f1, passed, "
    "warned, flaky, failed, errors, paid_input_tokens, paid_output_tokens, paid_embedding_tokens, "
    "paid_judge_input_tokens, paid_judge_output_tokens, paid_baseline_input_tokens, "
    "paid_baseline_output_tokens, estimated_cost, config_fingerprint, plan_identity, settings, "
    "result_layout, "
    "pinned_at_ms, flags, endpoint";

constexpr std::array tables{
    Table{"runs", run_columns, "seq", true, "known_failures, paid_cost"},
    Table{"results", "id, answer, reason, worker, result", "id"},
    Table{"pins", "key, answer, holder", "key"},
    Table{"pin_moves", "key, answer, holder, paid", "seq"},
    Table{"cases", "id, case_id, status, missed", "id"},
    Table{"spends", "id, spend", "id", true},
    Table{"asked", "id, case_id, trials, judged_by", "id"},
    Table{"suites", "id, digest, files", "id", true},
    Table{"run_suites", "id, digest", "id", true},
    Table{"quality",
          "id, test, category, repeat, judge, grader_id, baseline_arm, baseline_provider, baseline_model, "
          "candidate_arm, candidate_provider, candidate_model, quality_score, notes, position_flip, "
          "baseline_cost, baseline_latency_ms, candidate_cost, candidate_latency_ms",
          "id", true},
    Table{"retrievals",
          "id, type, test, category, score, example, high_floor, degraded_floor, plugin, embedder, "
          "task_class, language, build_system, status",
          "id", true},
    Table{"limits",
          "key, provider, server, requests_per_minute, burst, in_flight, announced, learned_at_ms, run_id",
          "key", true},
    Table{"calibrations",
          "suite, metric, rubric, rubric_version, rubric_hash, judge_provider, judge_model, samples, "
          "against, run_id, calibrated_at_ms, answers, cases, agreement, agreement_low, agreement_high, "
          "kappa, kappa_low, kappa_high",
          "suite, metric, rubric, rubric_version, rubric_hash, judge_provider, judge_model, samples", true,
          "criteria"},
};

constexpr std::size_t named_bytes = 40;  ///< Of a row's name in a message.

std::string_view bytes_of(sqlite3_value* value) {
  return {static_cast<const char*>(sqlite3_value_blob(value)),
          static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

/// What a checksum is of: each value with its type and length, so that no two rows are the same bytes.
std::string& summed() {
  thread_local std::string bytes;
  return bytes;
}

/// `raw` is the value itself, or a text's or blob's length in front of it.
template <class Number>
void append(int type, Number raw, std::string_view content = {}) {
  char head[1 + sizeof raw];
  head[0] = static_cast<char>(type);
  std::memcpy(head + 1, &raw, sizeof raw);
  summed().append(head, sizeof head).append(content);
}

void append_content(int type, std::string_view content) {
  append(type, std::uint64_t{content.size()}, content);
}

std::int64_t hash_of_summed() {
  const std::uint64_t hash = XXH3_64bits(summed().data(), summed().size());
  std::int64_t sum = 0;
  std::memcpy(&sum, &hash, sizeof sum);
  return sum;
}

sqlite3_int64 checksum(std::span<sqlite3_value*> values) {
  summed().clear();
  for (sqlite3_value* value : values) {
    const int type = sqlite3_value_type(value);
    if (type == SQLITE_INTEGER) {
      append(type, std::int64_t{sqlite3_value_int64(value)});
    } else if (type == SQLITE_FLOAT) {
      append(type, sqlite3_value_double(value));
    } else if (type == SQLITE_TEXT || type == SQLITE_BLOB) {
      append_content(type, bytes_of(value));
    } else {
      summed() += static_cast<char>(type);
    }
  }
  return hash_of_summed();
}

void row_sum(sqlite3_context* context, int count, sqlite3_value** values) {
  sqlite3_result_int64(context, checksum({values, static_cast<std::size_t>(count)}));
}

/// (checksum, table, columns...): whether they go together, or there is no checksum.
void row_fits(sqlite3_context* context, int count, sqlite3_value** values) {
  const bool fits =
      sqlite3_value_type(values[0]) == SQLITE_NULL ||
      sqlite3_value_int64(values[0]) == checksum({values + 1, static_cast<std::size_t>(count) - 1});
  sqlite3_result_int(context, fits ? 1 : 0);
}

/// (fits, table, key): 1, or an error that names the row.
void row_must_fit(sqlite3_context* context, int, sqlite3_value** values) {
  if (sqlite3_value_int(values[0]) != 0) return sqlite3_result_int(context, 1);
  const std::string table(bytes_of(values[1]));
  const int type = sqlite3_value_type(values[2]);
  const std::string row = type == SQLITE_INTEGER ? " " + std::to_string(sqlite3_value_int64(values[2]))
                          : type == SQLITE_TEXT  ? " \"" + excerpt(bytes_of(values[2]), named_bytes) + "\""
                                                 : std::string();
  const std::string message = "the row" + row + " of its table " + table +
                              " is damaged: its checksum does not fit; `sluice doctor` says more";
  sqlite3_result_error(context, message.c_str(), static_cast<int>(message.size()));
}

void add(SQLite::Database& db, const char* name, int arguments,
         void (*function)(sqlite3_context*, int, sqlite3_value**)) {
  const int code =
      sqlite3_create_function_v2(db.getHandle(), name, arguments, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nullptr,
                                 function, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) throw SQLite::Exception(db.getHandle(), code);
}

std::string literal(std::string_view name) {
  return "'" + std::string(name) + "'";
}

std::string all_columns(const Table& table) {
  return std::string(table.columns) +
         (table.later_columns.empty() ? "" : ", " + std::string(table.later_columns));
}

/// `a, b` as `OLD.a, OLD.b`.
std::string with_prefix(const std::string& prefix, std::string_view columns) {
  std::string all = prefix;
  for (const char c : columns) {
    all += c;
    if (c == ' ') all += prefix;
  }
  return all;
}

/// What `fits` says, of the row that goes by this prefix.
std::string row_fits_as(const std::string& row, const Table& table) {
  const auto fits_with = [&](const std::string& columns) {
    return "row_fits(" + row + "checksum, " + literal(table.name) + ", " + with_prefix(row, columns) + ")";
  };
  const std::string without = fits_with(std::string(table.columns));
  return table.later_columns.empty() ? without : "(" + fits_with(all_columns(table)) + " OR " + without + ")";
}

}  // namespace

std::span<const Table> ledger_tables() {
  return tables;
}

const Table& ledger_table(std::string_view name) {
  return *std::ranges::find(tables, name, &Table::name);
}

RowSum::RowSum(const Table& table) {
  summed().clear();
  text(table.name);
}

void RowSum::null() {
  summed() += static_cast<char>(SQLITE_NULL);
}

void RowSum::integer(std::int64_t value) {
  append(SQLITE_INTEGER, value);
}

void RowSum::real(double value) {
  // A record has one zero.
  std::isnan(value) ? null() : append(SQLITE_FLOAT, value == 0 ? 0.0 : value);
}

void RowSum::text(std::string_view value) {
  append_content(SQLITE_TEXT, value);
}

std::int64_t RowSum::value() const {
  return hash_of_summed();
}

void add_functions(SQLite::Database& db) {
  add(db, "row_sum", -1, row_sum);
  add(db, "row_fits", -1, row_fits);
  add(db, "row_must_fit", 3, row_must_fit);
}

std::string sum(const Table& table, std::string_view values) {
  return "row_sum(" + literal(table.name) + ", " + std::string(values) + ")";
}

std::string fits(const Table& table) {
  return row_fits_as(std::string(table.name) + ".", table);
}

Table as_it_is(SQLite::Database& db, Table table) {
  const std::string_view first = table.later_columns.substr(0, table.later_columns.find(','));
  if (!first.empty() && !has_column(db, table.name, first)) table.later_columns = {};
  return table;
}

std::string sound(const Table& table) {
  const std::string_view name = table.name == "runs" ? "run_id" : table.key.substr(0, table.key.find(','));
  const std::string first = table.name == "runs" ? std::string(is_kept_run) + " AND " : std::string();
  return "(SELECT * FROM " + std::string(table.name) + " WHERE " + first + "row_must_fit(" + fits(table) +
         ", " + literal(table.name) + ", " + std::string(name) + ")) AS " + std::string(table.name);
}

bool has_column(SQLite::Database& db, std::string_view table, std::string_view column) {
  SQLite::Statement columns(db, "SELECT 1 FROM pragma_table_info(?) WHERE name = ?");
  columns.bind(1, std::string(table));
  columns.bind(2, std::string(column));
  return columns.executeStep();
}

bool is_checked(SQLite::Database& db, const Table& table) {
  SQLite::Statement there(db,
                          "SELECT count(*) FROM pragma_table_info(?1) "
                          "WHERE instr(', ' || ?2 || ', checksum,', ', ' || name || ',')");
  there.bind(1, std::string(table.name));
  there.bind(2, std::string(table.columns));
  there.executeStep();
  return there.getColumn(0).getInt() == 2 + std::ranges::count(table.columns, ',');
}

void add_columns(SQLite::Database& db, std::span<const Table> which) {
  for (const Table& table : which) {
    if (!has_column(db, table.name, "checksum"))
      db.exec("ALTER TABLE " + std::string(table.name) + " ADD COLUMN checksum INTEGER");
  }
}

void add_triggers(SQLite::Database& db, std::span<const Table> which) {
  for (const Table& table : which) {
    if (!table.is_sealed_by_trigger) continue;
    const std::string name(table.name);
    const std::string key(table.key);
    const std::string seal = " BEGIN UPDATE " + name + " SET checksum = " + sum(table, all_columns(table)) +
                             " WHERE (" + key + ") = (" + with_prefix("NEW.", key) + "); END;";
    db.exec("CREATE TEMP TRIGGER " + name + "_are_sealed AFTER INSERT ON main." + name + seal);
    // A row that was damaged before stays so: nobody vouches for it.
    if (name == "runs")
      db.exec("CREATE TEMP TRIGGER " + name + "_are_sealed_again AFTER UPDATE OF " + all_columns(table) +
              " ON main." + name + " WHEN " + row_fits_as("OLD.", table) + seal);
  }
}

}  // namespace sluice::row_checks

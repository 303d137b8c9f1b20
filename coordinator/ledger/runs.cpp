#include "common/wire/messages.hpp"
#include "coordinator/ledger/database.hpp"
#include "coordinator/ledger/ledger.hpp"
#include "coordinator/ledger/row_id.hpp"
#include "coordinator/ledger/run_lock.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace sluice {
namespace {

/// The columns of PaidTokens, each followed by `after`, joined by commas.
std::string paid_names(std::string_view after = "") {
  std::string names;
  for (const auto& column : paid_columns) {
    if (!names.empty()) names += ", ";
    names.append("paid_").append(column.name).append("_tokens").append(after);
  }
  return names;
}

/// In the order in which run_in reads them.
const std::string select_runs =
    "SELECT run_id, suite, mode, provider, model, prompt_version, started_at_ms, trials, prompt_hash, "
    "suite_path, selection, completed_at_ms, verdict, exit_code, reason_code, precision, recall, f1, passed, "
    "warned, flaky, failed, errors, " +
    paid_names() +
    ", estimated_cost, known_failures, paid_cost, config_fingerprint, plan_identity, settings, flags, "
    "endpoint, result_layout FROM " +
    sound("runs") + " ";

std::uint64_t count_in(const SQLite::Column& column) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, column.getInt64()));
}

std::int64_t stored(std::uint64_t count) {
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::min(count, most));
}

/// Bits flip on disks: a precision of 1.54 was shown as if a run had come to it. Caught where it is read.
void check(const PastRun& past) {
  const auto refuse = [&past](const std::string& what) {
    throw SQLite::Exception("what it has of run \"" + past.run.run_id + "\" is damaged: " + what);
  };
  const auto& summary = *past.summary;
  for (const auto& score : {summary.scores.precision, summary.scores.recall, summary.scores.f1}) {
    if (score && !(*score >= 0 && *score <= 1)) refuse("a score of " + std::to_string(*score));
  }
  const auto cases = summary.statuses.total();
  if (cases > past.run.trials) {
    refuse("more cases (" + std::to_string(cases) + ") than trials (" + std::to_string(past.run.trials) +
           ")");
  }
  if (summary.known_failures > summary.statuses.warned) refuse("more known failures than cases that warn");
  for (const auto& cost : {summary.estimated_cost, summary.paid_cost}) {
    if (cost && !(*cost >= 0)) refuse("a cost below 0");
  }
}

PastRun run_in(SQLite::Statement& row) {
  int next = 0;
  const auto column = [&] { return row.getColumn(next++); };
  PastRun past;
  past.run.run_id = column().getString();
  past.run.suite = column().getString();
  past.run.mode = column().getString();
  past.run.provider = column().getString();
  past.run.model = column().getString();
  past.run.prompt_version = column().getString();
  past.run.started_at_ms = column().getInt64();
  past.run.trials = count_in(column());
  past.run.prompt_hash = column().getString();
  past.run.suite_path = column().getString();
  past.run.selection = column().getInt() != 0;
  for (const auto& [text, name] :
       {std::pair(&past.run.config_fingerprint, "config_fingerprint"),
        std::pair(&past.run.plan_identity, "plan_identity"), std::pair(&past.run.settings, "settings"),
        std::pair(&past.run.flags, "flags"), std::pair(&past.run.endpoint, "endpoint")}) {
    *text = row.getColumn(name).getString();
  }
  past.run.result_layout = row.getColumn("result_layout").getInt();
  if (row.getColumn(next).isNull()) return past;
  RunSummary summary;
  summary.completed_at_ms = column().getInt64();
  summary.verdict = column().getString();
  summary.exit_code = column().getInt();
  summary.reason_code = column().getString();
  for (auto* score : {&summary.scores.precision, &summary.scores.recall, &summary.scores.f1}) {
    *score = number_in(column());
  }
  auto& statuses = summary.statuses;
  for (auto* count :
       {&statuses.passed, &statuses.warned, &statuses.flaky, &statuses.failed, &statuses.errors}) {
    *count = count_in(column());
  }
  auto& paid = summary.paid;
  for (const auto& number : paid_columns) number.in(paid) = count_in(column());
  summary.estimated_cost = number_in(column());
  if (const auto known = column(); !known.isNull()) summary.known_failures = count_in(known);
  summary.paid_cost = number_in(column());
  past.summary = std::move(summary);
  check(past);
  return past;
}

std::vector<PastRun> runs_in(SQLite::Statement& query) {
  std::vector<PastRun> runs;
  while (query.executeStep()) runs.push_back(run_in(query));
  return runs;
}

/// Of `last` 0, of `last~3` 3; nothing for words that name a run by its id.
std::optional<std::int64_t> runs_before_last(std::string_view words) {
  constexpr std::string_view last = "last";
  if (words == last) return 0;
  if (!words.starts_with(last) || words.substr(last.size(), 1) != "~") return std::nullopt;
  const std::string_view digits = words.substr(last.size() + 1);
  std::int64_t before = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), before);
  const bool is_count = problem == std::errc() && end == digits.data() + digits.size() && before >= 0;
  return is_count ? std::optional(before) : std::nullopt;
}

Error no_run(const std::string& words) {
  return {Reason::usage_invalid,
          "the run ledger has no run \"" + words + "\"; `sluice runs list` shows those that it has"};
}

}  // namespace

std::vector<PastRun> Ledger::Database::as_found(std::vector<PastRun> runs) {
  for (PastRun& past : runs) {
    past.under_way = !past.summary && RunLock::is_held(home, past.run.run_id);
    if (past.summary && !past.summary->reason_code.empty())
      past.summary->not_started = not_started_cases(past.run.run_id);
  }
  return runs;
}

Result<void> Ledger::begin_run(const RunRecord& run) {
  const Database::Patience patience(*database_);
  return guarded_transaction(database_->db, ledger_error, [&] {
    SQLite::Statement insert(database_->db,
                             "INSERT INTO runs(run_id, suite, mode, provider, model, prompt_version, trials, "
                             "started_at_ms, prompt_hash, suite_path, selection, config_fingerprint, "
                             "plan_identity, settings, result_layout, flags) "
                             "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    insert.bind(1, run.run_id);
    insert.bind(2, run.suite);
    insert.bind(3, run.mode);
    insert.bind(4, run.provider);
    insert.bind(5, run.model);
    insert.bind(6, run.prompt_version);
    insert.bind(7, stored(run.trials));
    insert.bind(8, run.started_at_ms);
    insert.bind(9, run.prompt_hash);
    insert.bind(10, run.suite_path);
    insert.bind(11, run.selection ? 1 : 0);
    insert.bind(12, run.config_fingerprint);
    insert.bind(13, run.plan_identity);
    insert.bind(14, run.settings);
    insert.bind(15, static_cast<int>(wire::result_version));
    run.flags.empty() ? insert.bind(16) : insert.bind(16, run.flags);
    insert.exec();
    database_->begin_part(database_->run_seq(run.run_id), run.started_at_ms);
  });
}

Result<void> Ledger::finish_run(const std::string& run_id, const RunSummary& summary,
                                std::chrono::milliseconds part_time) {
  const Database::Patience patience(*database_);
  return guarded_transaction(database_->db, ledger_error, [&]() -> Result<void> {
    database_->settle_pins();
    SQLite::Statement update(
        database_->db,
        "UPDATE runs SET completed_at_ms = ?, verdict = ?, exit_code = ?, reason_code = ?, precision = ?, "
        "recall = ?, f1 = ?, passed = ?, warned = ?, flaky = ?, failed = ?, errors = ?, " +
            paid_names(" = ?") + ", estimated_cost = ?, known_failures = ?, paid_cost = ? WHERE run_id = ?");
    const auto& statuses = summary.statuses;
    update.bind(1, summary.completed_at_ms);
    update.bind(2, summary.verdict);
    update.bind(3, summary.exit_code);
    if (!summary.reason_code.empty()) update.bind(4, summary.reason_code);
    bind_optional(update, 5, summary.scores.precision);
    bind_optional(update, 6, summary.scores.recall);
    bind_optional(update, 7, summary.scores.f1);
    update.bind(8, stored(statuses.passed));
    update.bind(9, stored(statuses.warned));
    update.bind(10, stored(statuses.flaky));
    update.bind(11, stored(statuses.failed));
    update.bind(12, stored(statuses.errors));
    int next = 13;
    for (const auto& column : paid_columns) update.bind(next++, stored(column.in(summary.paid)));
    bind_optional(update, next++, summary.estimated_cost);
    summary.known_failures ? update.bind(next++, stored(*summary.known_failures)) : update.bind(next++);
    bind_optional(update, next++, summary.paid_cost);
    update.bind(next, run_id);
    if (update.exec() != 1) return fail(ledger_error("run " + run_id + " is not in the ledger"));
    const std::int64_t seq = database_->run_seq(run_id);
    database_->end_part(seq, part_time);
    if (has_come_to_its_end(summary)) database_->forget_progress(seq);
    return {};
  });
}

Result<void> Ledger::note_baseline(const std::string& run_id, std::int64_t now_ms) {
  return guarded(ledger_error, [&]() -> Result<void> {
    SQLite::Statement update(database_->db, "UPDATE runs SET pinned_at_ms = ? WHERE run_id = ?");
    update.bind(1, now_ms);
    update.bind(2, run_id);
    if (update.exec() != 1) return fail(ledger_error("run " + run_id + " is not in the ledger"));
    return {};
  });
}

Result<std::vector<PastRun>> Ledger::baseline_runs(const std::string& suite_path) const {
  return guarded(ledger_error, [&] {
    SQLite::Statement query(
        database_->db,
        select_runs +
            "WHERE suite_path IS ? AND pinned_at_ms IS NOT NULL ORDER BY pinned_at_ms DESC, seq DESC");
    query.bind(1, suite_path);
    return database_->as_found(runs_in(query));
  });
}

Result<std::vector<PastRun>> Ledger::list_runs(std::size_t limit) const {
  return guarded(ledger_error, [&] {
    SQLite::Statement query(database_->db, select_runs + "ORDER BY seq DESC LIMIT ?");
    query.bind(1, stored(limit));
    return database_->as_found(runs_in(query));
  });
}

Result<PastRun> Ledger::find_run(const std::string& words) const {
  if (words.empty()) {
    return fail(Reason::usage_invalid, "the run id is empty; `sluice runs list` shows the runs");
  }
  return guarded(ledger_error, [&]() -> Result<PastRun> {
    if (const auto before = runs_before_last(words)) {
      SQLite::Statement newest(database_->db, select_runs + "ORDER BY seq DESC LIMIT 1 OFFSET ?");
      newest.bind(1, *before);
      if (!newest.executeStep()) return fail(no_run(words));
      return database_->as_found({run_in(newest)}).front();
    }
    // Between these two are those that begin so, by the index: ids are of ASCII.
    SQLite::Statement query(database_->db, select_runs +
                                               "WHERE run_id BETWEEN ?1 AND ?1 || char(127) "
                                               "ORDER BY run_id = ?1 DESC, seq DESC LIMIT 2");
    query.bind(1, words);
    if (!query.executeStep()) return fail(no_run(words));
    auto found = run_in(query);
    if (found.run.run_id != words && query.executeStep()) {
      return fail(Reason::usage_invalid, "the run id \"" + words + "\" fits more than one run, " +
                                             found.run.run_id + " and " + run_in(query).run.run_id +
                                             " among them; give more of it");
    }
    return database_->as_found({std::move(found)}).front();
  });
}

// Not by the checksums: these numbers are asked for every second or two, and nothing is decided by them.
Result<RunProgress> Ledger::progress_of(const std::string& run_id) const {
  return guarded(ledger_error, [&] {
    SQLite::Statement query(database_->db,
                            "SELECT worker, reason, COUNT(*) FROM runs JOIN results ON results.id" +
                                ids_of_run("runs.seq") + " WHERE runs.run_id = ? GROUP BY worker, reason");
    query.bind(1, run_id);
    RunProgress progress;
    while (query.executeStep()) {
      const std::uint64_t count = count_in(query.getColumn(2));
      progress.committed += count;
      progress.workers[query.getColumn(0).getString()] += count;
      if (query.getColumn(1).isNull()) continue;
      progress.errors[std::string(to_string(static_cast<Reason>(query.getColumn(1).getInt())))] += count;
    }
    return progress;
  });
}

Result<std::optional<PastRun>> Ledger::latest_run(const std::string& suite_path,
                                                  const std::function<bool(const PastRun&)>& fits) const {
  return guarded(ledger_error, [&]() -> Result<std::optional<PastRun>> {
    SQLite::Statement query(
        database_->db,
        select_runs + "WHERE suite_path IS ? AND completed_at_ms IS NOT NULL ORDER BY seq DESC");
    query.bind(1, suite_path);
    while (query.executeStep()) {
      if (PastRun past = run_in(query); fits(past)) return past;
    }
    return std::nullopt;
  });
}

}  // namespace sluice

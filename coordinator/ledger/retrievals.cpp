#include "coordinator/ledger/database.hpp"
#include "coordinator/ledger/ledger.hpp"
#include "coordinator/ledger/row_id.hpp"

#include <string>

#include <SQLiteCpp/SQLiteCpp.h>

namespace sluice {
namespace {

/// In the order in which bind and event_of have them.
const std::string retrieval_columns =
    "type, test, category, score, example, high_floor, degraded_floor, plugin, embedder, task_class, "
    "language, build_system, status";

const std::string insert_retrieval = "INSERT OR REPLACE INTO retrievals(id, " + retrieval_columns +
                                     ") SELECT " + row_id("seq", "?2") +
                                     R"sql(, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15
  FROM runs WHERE run_id = ?1
)sql";

// Of a group with max(), SQLite takes the other columns from the row that has it. A case that was run again,
// often out of the cache, is no further evidence.
const std::string select_retrievals = "SELECT " + retrieval_columns + ", max(id) FROM " +
                                      sound("retrievals") + " JOIN " + kept_runs + " ON retrievals.id" +
                                      ids_of_run("runs.seq") +
                                      R"sql(
  WHERE plugin IS ?1 AND embedder IS ?2 AND (?3 IS NULL OR runs.suite = ?3)
    AND runs.mode <> 'mock' AND status NOT IN ('', 'error')
  GROUP BY runs.suite, test
  ORDER BY task_class, language, build_system, runs.suite, test
)sql";

const std::string select_of_run = "SELECT " + retrieval_columns + ", retrievals.id FROM " +
                                  sound("retrievals") + " JOIN runs ON retrievals.id" +
                                  ids_of_run("runs.seq") +
                                  R"sql(
  WHERE runs.run_id = ?1 ORDER BY retrievals.id
)sql";

RetrievalKind kind_of(const std::string& name) {
  for (const auto kind : {RetrievalKind::hit, RetrievalKind::degraded}) {
    if (name == to_string(kind)) return kind;
  }
  return RetrievalKind::miss;
}

void bind(SQLite::Statement& insert, const std::string& run_id, const RetrievalEvent& event) {
  insert.bind(1, run_id);
  insert.bind(2, static_cast<std::int64_t>(event.case_index));
  insert.bind(3, std::string(to_string(event.kind)));
  insert.bind(4, event.test);
  insert.bind(5, event.category);
  bind_optional(insert, 6, event.score);
  insert.bind(7, event.example);
  insert.bind(8, event.high_floor);
  insert.bind(9, event.degraded_floor);
  int at = 9;
  for (const std::string* text : {&event.plugin, &event.embedder, &event.task_class, &event.language,
                                  &event.build_system, &event.status})
    insert.bind(++at, *text);
}

RetrievalEvent event_of(SQLite::Statement& row) {
  RetrievalEvent event;
  int at = 0;
  event.kind = kind_of(row.getColumn(at++).getString());
  event.test = row.getColumn(at++).getString();
  event.category = row.getColumn(at++).getString();
  const auto score = row.getColumn(at++);
  if (!score.isNull()) event.score = score.getDouble();
  event.example = row.getColumn(at++).getString();
  event.high_floor = row.getColumn(at++).getDouble();
  event.degraded_floor = row.getColumn(at++).getDouble();
  for (std::string* text : {&event.plugin, &event.embedder, &event.task_class, &event.language,
                            &event.build_system, &event.status})
    *text = row.getColumn(at++).getString();
  event.case_index = trial_of(row.getColumn(at).getInt64());
  return event;
}

}  // namespace

Result<void> Ledger::note_retrievals(const std::string& run_id, std::span<const RetrievalEvent> events) {
  return guarded_transaction(database_->db, ledger_error, [&]() -> Result<void> {
    SQLite::Statement insert(database_->db, insert_retrieval);
    for (const RetrievalEvent& event : events) {
      bind(insert, run_id, event);
      if (insert.exec() != 1) return fail(ledger_error("it does not have the run " + run_id));
      insert.reset();
      insert.clearBindings();
    }
    return {};
  });
}

Result<std::vector<RetrievalEvent>> Ledger::retrievals(const RetrievalFilter& filter) const {
  return guarded(ledger_error, [&] {
    SQLite::Statement query(database_->db, select_retrievals);
    query.bind(1, filter.plugin);
    query.bind(2, filter.embedder);
    bind_optional(query, 3, filter.suite);
    std::vector<RetrievalEvent> events;
    while (query.executeStep()) events.push_back(event_of(query));
    return events;
  });
}

Result<std::vector<std::string>> Ledger::retrieval_embedders(const std::string& plugin) const {
  return guarded(ledger_error, [&] {
    SQLite::Statement query(database_->db, "SELECT DISTINCT embedder FROM retrievals JOIN " + kept_runs +
                                               " ON runs.seq = retrievals.id >> 32 "
                                               "WHERE plugin = ?1 AND runs.mode <> 'mock' ORDER BY embedder");
    query.bind(1, plugin);
    std::vector<std::string> embedders;
    while (query.executeStep()) embedders.push_back(query.getColumn(0).getString());
    return embedders;
  });
}

Result<std::vector<RetrievalEvent>> Ledger::retrievals_of(const std::string& run_id) const {
  return guarded(ledger_error, [&] {
    SQLite::Statement query(database_->db, select_of_run);
    query.bind(1, run_id);
    std::vector<RetrievalEvent> events;
    while (query.executeStep()) events.push_back(event_of(query));
    return events;
  });
}

}  // namespace sluice

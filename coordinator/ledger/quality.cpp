#include "coordinator/ledger/database.hpp"
#include "coordinator/ledger/ledger.hpp"
#include "coordinator/ledger/row_id.hpp"

#include <string>

#include <SQLiteCpp/SQLiteCpp.h>

namespace sluice {
namespace {

const std::string insert_grade =
    R"sql(
  INSERT OR REPLACE INTO quality(
    id, test, category, repeat, judge, grader_id,
    baseline_arm, baseline_provider, baseline_model, candidate_arm, candidate_provider, candidate_model,
    quality_score, notes, position_flip,
    baseline_cost, baseline_latency_ms, candidate_cost, candidate_latency_ms)
  SELECT )sql" +
    row_id("seq", "?2") +
    R"sql(, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20
  FROM runs WHERE run_id = ?1
)sql";

const std::string select_quality = R"sql(
  SELECT runs.suite, judge, grader_id,
    baseline_arm, baseline_provider, baseline_model, candidate_arm, candidate_provider, candidate_model,
    category, test,
    count(*), sum(quality_score), count(position_flip), total(position_flip),
    total(baseline_cost), count(baseline_cost), total(baseline_latency_ms), count(baseline_latency_ms),
    total(candidate_cost), count(candidate_cost), total(candidate_latency_ms), count(candidate_latency_ms),
    max(runs.started_at_ms)
  FROM )sql" + sound("quality") + " JOIN " +
                                   kept_runs + " ON quality.id" + ids_of_run("runs.seq") +
                                   R"sql(
  WHERE (?1 IS NULL OR runs.run_id = ?1) AND (?2 IS NULL OR runs.suite = ?2)
    AND (?3 IS NULL OR baseline_arm = ?3 OR candidate_arm = ?3)
    AND (?4 IS NULL OR category = ?4) AND (?5 IS NULL OR judge = ?5)
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
  ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
)sql";

/// Binds values in the order of a statement's parameters.
class GradeBinder {
 public:
  explicit GradeBinder(SQLite::Statement& statement) : statement_(statement) {}

  void text(const std::string& value) { statement_.bind(++at_, value); }
  void number(std::int64_t value) { statement_.bind(++at_, value); }
  template <class T>
  void real(const std::optional<T>& value) {
    ++at_;
    value ? statement_.bind(at_, static_cast<double>(*value)) : statement_.bind(at_);
  }
  void optional_text(const std::optional<std::string>& value) { bind_optional(statement_, ++at_, value); }

 private:
  SQLite::Statement& statement_;
  int at_ = 0;
};

AnswerPrices prices_at(SQLite::Statement& query, int& at) {
  AnswerPrices prices;
  prices.cost = query.getColumn(at++).getDouble();
  prices.with_cost = static_cast<std::uint64_t>(query.getColumn(at++).getInt64());
  prices.latency_ms = query.getColumn(at++).getDouble();
  prices.with_latency = static_cast<std::uint64_t>(query.getColumn(at++).getInt64());
  return prices;
}

QualityOfTest quality_of(SQLite::Statement& query) {
  QualityOfTest row;
  int at = 0;
  for (std::string* text :
       {&row.group.suite, &row.group.judge, &row.group.grader_id, &row.group.baseline.arm,
        &row.group.baseline.provider, &row.group.baseline.model, &row.group.candidate.arm,
        &row.group.candidate.provider, &row.group.candidate.model, &row.category, &row.test})
    *text = query.getColumn(at++).getString();
  row.grades = static_cast<std::uint64_t>(query.getColumn(at++).getInt64());
  row.quality_sum = query.getColumn(at++).getDouble();
  row.compared_twice = static_cast<std::uint64_t>(query.getColumn(at++).getInt64());
  row.position_flips = static_cast<std::uint64_t>(query.getColumn(at++).getInt64());
  row.baseline = prices_at(query, at);
  row.candidate = prices_at(query, at);
  row.last_graded_ms = query.getColumn(at++).getInt64();
  return row;
}

}  // namespace

Result<void> Ledger::note_grades(const std::string& run_id, const QualityGroup& group,
                                 std::span<const QualityRecord> grades) {
  return guarded_transaction(database_->db, ledger_error, [&]() -> Result<void> {
    SQLite::Statement insert(database_->db, insert_grade);
    for (const QualityRecord& one : grades) {
      GradeBinder binder(insert);
      binder.text(run_id);
      binder.number(one.trial);
      binder.text(one.test);
      binder.text(one.category);
      binder.number(one.repeat);
      for (const std::string* text :
           {&group.judge, &group.grader_id, &group.baseline.arm, &group.baseline.provider,
            &group.baseline.model, &group.candidate.arm, &group.candidate.provider, &group.candidate.model})
        binder.text(*text);
      binder.real(std::optional(one.quality_score));
      binder.text(one.notes);
      binder.real(one.position_flip);
      for (const AnswerPrice* answer : {&one.baseline, &one.candidate}) {
        binder.real(answer->cost);
        binder.real(answer->latency_ms);
      }
      if (insert.exec() != 1) return fail(ledger_error("it does not have the run " + run_id));
      insert.reset();
    }
    return {};
  });
}

Result<std::vector<QualityOfTest>> Ledger::quality(const QualityFilter& filter) const {
  return guarded(ledger_error, [&] {
    SQLite::Statement query(database_->db, select_quality);
    GradeBinder binder(query);
    for (const auto* text : {&filter.run_id, &filter.suite, &filter.arm, &filter.category, &filter.judge})
      binder.optional_text(*text);
    std::vector<QualityOfTest> rows;
    while (query.executeStep()) rows.push_back(quality_of(query));
    return rows;
  });
}

}  // namespace sluice

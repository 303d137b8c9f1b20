#include "coordinator/ledger/database.hpp"
#include "coordinator/ledger/ledger.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

namespace sluice {
namespace {

constexpr const char* key_columns =
    "suite, metric, rubric, rubric_version, rubric_hash, judge_provider, judge_model, samples";
constexpr int first_value = 9;  // Behind the columns of the key.

void bind_calibration_key(SQLite::Statement& statement, const CalibrationKey& key) {
  int at = 0;
  for (const std::string* text : {&key.suite, &key.metric, &key.rubric, &key.rubric_version, &key.rubric_hash,
                                  &key.judge_provider, &key.judge_model})
    statement.bind(++at, *text);
  statement.bind(++at, std::int64_t{key.samples});
}

}  // namespace

Result<void> Ledger::note_calibrations(std::span<const JudgeCalibration> calibrations) {
  return guarded_transaction(database_->db, ledger_error, [&] {
    SQLite::Statement insert(
        database_->db,
        std::string("INSERT OR REPLACE INTO calibrations(") + key_columns +
            ", against, run_id, calibrated_at_ms, answers, cases, agreement, agreement_low, agreement_high, "
            "kappa, kappa_low, kappa_high, criteria) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    for (const JudgeCalibration& one : calibrations) {
      bind_calibration_key(insert, one.key);
      int at = first_value;
      insert.bind(at++, one.against);
      insert.bind(at++, one.run_id);
      insert.bind(at++, one.calibrated_at_ms);
      insert.bind(at++, static_cast<std::int64_t>(one.answers));
      insert.bind(at++, static_cast<std::int64_t>(one.cases));
      insert.bind(at++, one.agreement);
      insert.bind(at++, one.agreement_low);
      insert.bind(at++, one.agreement_high);
      bind_optional(insert, at++, one.kappa);
      insert.bind(at++, one.kappa_low);
      insert.bind(at++, one.kappa_high);
      one.criteria != 0 ? insert.bind(at, static_cast<std::int64_t>(one.criteria)) : insert.bind(at);
      insert.exec();
      insert.reset();
    }
  });
}

Result<std::vector<JudgeCalibration>> Ledger::calibrations_of(const std::string& suite) const {
  return guarded(ledger_error, [&] {
    SQLite::Statement query(
        database_->db,
        "SELECT metric, rubric, rubric_version, rubric_hash, judge_provider, judge_model, samples, against, "
        "run_id, calibrated_at_ms, answers, cases, agreement, agreement_low, agreement_high, kappa, "
        "kappa_low, kappa_high, criteria FROM " +
            sound("calibrations") + " WHERE suite = ?");
    query.bind(1, suite);
    std::vector<JudgeCalibration> all;
    while (query.executeStep()) {
      JudgeCalibration& found = all.emplace_back();
      found.key.suite = suite;
      int at = 0;
      for (std::string* text : {&found.key.metric, &found.key.rubric, &found.key.rubric_version,
                                &found.key.rubric_hash, &found.key.judge_provider, &found.key.judge_model})
        *text = query.getColumn(at++).getString();
      found.key.samples = query.getColumn(at++).getUInt();
      found.against = query.getColumn(at++).getString();
      found.run_id = query.getColumn(at++).getString();
      found.calibrated_at_ms = query.getColumn(at++).getInt64();
      found.answers = static_cast<std::uint64_t>(query.getColumn(at++).getInt64());
      found.cases = static_cast<std::uint64_t>(query.getColumn(at++).getInt64());
      found.agreement = query.getColumn(at++).getDouble();
      found.agreement_low = query.getColumn(at++).getDouble();
      found.agreement_high = query.getColumn(at++).getDouble();
      found.kappa = number_in(query.getColumn(at++));
      found.kappa_low = query.getColumn(at++).getDouble();
      found.kappa_high = query.getColumn(at++).getDouble();
      found.criteria = static_cast<std::uint64_t>(query.getColumn(at++).getInt64());
    }
    return all;
  });
}

}  // namespace sluice

#pragma once

#include "common/model/trial.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <SQLiteCpp/SQLiteCpp.h>

/// Rows of runs have ids of two numbers: the run's (`runs.seq`), and in the low 32 bits that of a trial, or
/// of whatever else the table counts. So the rows of a run are neighbours.
namespace sluice {

constexpr std::int64_t row_id(std::int64_t run_seq, TrialId trial) {
  return (run_seq << 32) + trial;
}
constexpr TrialId trial_of(std::int64_t id) {
  return static_cast<TrialId>(id);
}
constexpr std::int64_t run_seq_of(std::int64_t id) {
  return id >> 32;
}

/// The same as an expression, of two expressions.
inline std::string row_id(std::string_view run_seq, std::string_view trial) {
  return "((" + std::string(run_seq) + " << 32) + " + std::string(trial) + ")";
}
/// What follows the name of a column to find a run's rows by it, from this trial on.
inline std::string ids_of_run(std::string_view run_seq, std::string_view first_trial = "0") {
  return " BETWEEN " + row_id(run_seq, first_trial) + " AND " + row_id(run_seq, "4294967295");
}
/// The run is the first parameter.
inline const std::string where_of_run = " WHERE id" + ids_of_run("?1");

struct RunTable {
  std::string_view name;
  bool is_missed = true;  ///< False: what only says something of the run is not missed without it.
};
/// All that have such ids: their rows go with the run.
inline constexpr std::array run_tables{
    RunTable{"results"},      RunTable{"cases"},        RunTable{"quality"},
    RunTable{"retrievals"},   RunTable{"spends"},       RunTable{"leases"},
    RunTable{"asked", false}, RunTable{"parts", false}, RunTable{"run_suites", false},
};

/// Of a row of `runs`, as a condition: prune is not removing the run. What it removes in portions is marked
/// so first, with a reason that no run ends for: nobody finds the run from then on, and where prune is
/// killed, the next one finishes it. To an earlier sluice it is a run without an end that nobody can go on
/// with.
inline constexpr const char* is_kept_run = "reason_code IS NOT 'pruned'";
/// Stands for `runs` in a FROM clause, without these.
inline const std::string kept_runs = std::string("(SELECT * FROM runs WHERE ") + is_kept_run + ") AS runs";

std::uint64_t count_rows(SQLite::Database& db, std::string_view table, std::int64_t run_seq);
/// Says how many there were. `most`: removes no more than so many, the first ones.
std::uint64_t remove_rows(SQLite::Database& db, std::string_view table, std::int64_t run_seq,
                          std::optional<std::uint64_t> most = std::nullopt);

}  // namespace sluice

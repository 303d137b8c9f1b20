#pragma once

#include "common/error.hpp"
#include "common/settings/settings.hpp"
#include "coordinator/facts/run_record.hpp"
#include "coordinator/ledger/ledger.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

/// Runs of the ledger by the words that name them.
namespace sluice {

/// As find_run_by_any_name; nothing if no run is recorded yet.
Result<std::optional<PastRun>> find_past_run(const Settings& settings, const std::string& words);
/// As Ledger::find_run, or by the name of a suite: its newest run that has ended, and of `NAME~N` the Nth
/// before that. The name goes before the digits of an id. usage_invalid where there is no such run, with the
/// nearest name. With `passed_over` only complete runs of a suite count, and it gets the others that are
/// newer than the one found, newest first.
Result<PastRun> find_run_or_suite(const Ledger& ledger, const std::string& words,
                                  std::vector<PastRun>* passed_over = nullptr);
/// The same where an id goes before a suite: for a command that takes runs in the first place.
Result<PastRun> find_run_by_any_name(const Ledger& ledger, const std::string& words);
/// True if these words, NAME or NAME~N, name a suite of which the ledger has a run.
Result<bool> is_suite_that_ran(const Ledger& ledger, const std::string& words);
/// For the help of a command that names a run, or a suite for one of its runs.
inline constexpr const char* run_or_suite_words =
    "The run's id, its first digits, last, last~N, or a suite's name for its newest run, NAME~N";

/// Of earlier runs of its suite, newest first and at least one, that which says most of what changed in
/// `run`: of a model's answers or not, as the run itself, complete, and of all cases or of the same; else one
/// of all cases.
const PastRun& fitting_run(const PastRun& run, const std::vector<const PastRun*>& earlier);
/// `passed over: run 1b4e28ba, WHY, and 2 more; to compare with it, name it`, of `count` runs: why the newest
/// of them says less of what changed in `run`, or may not be compared with at all.
std::string passed_over_words(const PastRun& newest, const PastRun& run, std::size_t count);

/// What the newest complete run of a suite is compared with where the suite alone is named.
struct BaseOfSuite {
  std::string name;           ///< `NAME~N`; `NAME~1` where the suite has no two complete runs.
  std::string passed_over{};  ///< passed_over_words; empty: no run was.
};
Result<BaseOfSuite> base_of_suite(const Ledger& ledger, const std::string& suite);

}  // namespace sluice

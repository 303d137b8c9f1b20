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

/// `which was cut short (interrupted)`, or that it has no end yet; empty of a complete run.
std::string why_incomplete(const PastRun& past);
/// `passed over: run 1b4e28ba, WHY, and 2 more` of `count` runs.
std::string passed_over_words(const PastRun& newest, const std::string& why, std::size_t count);

}  // namespace sluice

#pragma once

#include "common/model/paid_tokens.hpp"
#include "coordinator/facts/scores.hpp"
#include "coordinator/facts/status_counts.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace sluice {

/// A run as it begins, in the ledger.
struct RunRecord {
  std::string run_id;
  std::string suite;
  std::string mode;
  std::string provider;
  std::string model;
  std::string prompt_version;  ///< Of the claims prompt; empty where no case asks for claims.
  std::int64_t started_at_ms = 0;
  std::uint64_t trials = 0;
  std::string prompt_hash{};  ///< `sha256:...`; empty like the version.
  std::string suite_path{};   ///< Absolute path of the fixtures' folder or the suite file.
  bool selection = false;     ///< Only some of the suite's cases: --categories, --filter, --max-fixtures.
  /// What whoever goes on with the run must compare (docs/architecture.md, "Data at rest"); empty for a run
  /// from before version 6 of the ledger.
  std::string config_fingerprint{};  ///< `sha256:...`, as in baselines: the suite and what assesses it.
  std::string plan_identity{};       ///< `sha256:...` of plan_identity: each trial and its request.
  std::string settings{};            ///< A JSON object, to show what differs.
  /// The flags of `sluice run`, `grade` or `calibrate-judge` as given, to ask the same again: a JSON object
  /// of lists of texts.
  /// Empty for another command's run, and for one from before version 10 of the ledger.
  std::string flags{};
  /// Where workers could join it last; empty: nowhere, or it never came so far.
  std::string endpoint{};
  /// The wire's version whose layout its results have; 0 for a run from before version 6 of the ledger. The
  /// ledger sets it.
  int result_layout = 0;
};

/// What a run came to, in few numbers: noted in the ledger when it ends.
struct RunSummary {
  std::int64_t completed_at_ms = 0;
  std::string verdict;
  int exit_code = 0;
  std::string reason_code{};  ///< Why it was cut short; empty if it was not.
  Scores scores{};            ///< Over all cases without an error.
  StatusCounts statuses{};
  /// Of the errors: cases whose turn had not come when the run was cut short, by a signal, a limit or an
  /// error.
  std::uint64_t not_started = 0;
  /// Of the warned cases those that warn for nothing else. Nothing: not known, as of a run from before
  /// version 15 of the ledger.
  std::optional<std::uint64_t> known_failures{};
  PaidTokens paid{};
  /// US dollars for `paid`; nothing: not known, as of a run from before version 15 of the ledger.
  std::optional<double> paid_cost{};
  std::optional<double> estimated_cost{};  ///< US dollars for all committed answers.
};

/// Nothing is left to do: it was not cut short, and its reports were written (exit code 2 says that they were
/// not).
inline bool has_come_to_its_end(const RunSummary& summary) {
  return summary.reason_code.empty() && summary.exit_code != 2;
}

/// How far a run has come, by the trials whose result is committed.
struct RunProgress {
  std::uint64_t committed = 0;
  std::map<std::string, std::uint64_t> errors{};   ///< Of these without an answer, by reason code.
  std::map<std::string, std::uint64_t> workers{};  ///< By whose result it is.
};

/// A run of the past.
struct PastRun {
  RunRecord run;
  std::optional<RunSummary> summary;  ///< Empty: it is still going on, or its process died.
  bool under_way = false;             ///< A process works on it right now.
};

}  // namespace sluice

#pragma once

#include "common/error.hpp"
#include "coordinator/gate/baseline.hpp"
#include "coordinator/gate/gate.hpp"
#include "coordinator/suite/case_list.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// What a run brings to a comparison with a baseline, or one file of `sluice compare` to that with another.
struct GatedRun {
  std::string suite;
  std::string config_fingerprint;  ///< `sha256:` and 64 hex digits.
  std::string tool_version;
  std::string suite_path;     ///< As the user named it: for the commands in messages.
  std::string baseline_file;  ///< As the user named it.
  bool strict = false;
  /// Of `sluice compare`: what is assessed is this file, and no run.
  std::optional<std::string> current_file{};
  bool current_is_baseline = false;      ///< `current_file` is one: no run of it is at hand.
  bool base_is_report = false;           ///< `baseline_file` is a JSON report.
  bool base_is_run = false;              ///< It is no file, but a run of the ledger: nothing writes it anew.
  std::string suite_place{};             ///< As BaselineHeader::suite_path.
  bool takes_mock_base = false;          ///< A mock run, or a file that does not say what its run was.
  bool base_is_arm = false;              ///< `baseline_file` names an arm of the same run.
  bool is_rerun = false;                 ///< Of some cases of an earlier run, to see what became of them.
  std::string flags{};                   ///< As flags_to_repeat gives them.
  FingerprintParts fingerprint_parts{};  ///< Of `config_fingerprint`.
};

/// What a warning is to the run: a failure under --strict.
inline GateNotice::Severity warning_of(const GatedRun& run) {
  return warning_under(run.strict);
}

/// The base and what is compared with it as messages name them: `` `old.json` ``, whole, since the user is to
/// find it; `this run`, or the file of `sluice compare`.
std::string base_in_words(const GatedRun& run);
std::string current_in_words(const GatedRun& run);
/// `: once you accept what that changes, write it anew with ...`: what makes the file anew that is compared
/// with. A run stays what it is, and beside another baseline either may be the newer one.
std::string advice_on_base(const GatedRun& run, const std::string& when);

/// Of a run's flags (RunRecord::flags) those that a run which pins the same scores needs, for a POSIX shell,
/// each after a blank: not what it is compared with, nor which cases run, nor how strict the gate is.
std::string flags_to_repeat(std::string_view given_flags);

/// baseline_invalid where the baseline pins scores, and none of them is of a case of the suite: it is that of
/// another one, whatever its name.
Result<void> check_shared_cases(const Baseline& baseline, const CaseList& cases, const GatedRun& run);
/// As check_shared_cases says it, for two files that share none.
Error shares_no_case(const GatedRun& run);

/// Whether a baseline (or report) fits what is compared with it (gate ADR, section D): baseline_invalid for
/// another suite, also one of the same name that lies elsewhere in the checkout, and for scores of a mock run
/// beside those of a model; notices `fingerprint_mismatch` (a failure under strict) and
/// `tool_version_mismatch` (a warning that never decides). A rerun has neither, unless it is strict: what was
/// edited is what it tries. Pure.
Result<std::vector<GateNotice>> check_baseline(const BaselineHeader& header, const GatedRun& run);

/// Scores by name: how many, and the first of them for a message.
class NamedScores {
 public:
  void add(std::string_view test_id, std::string_view metric);
  std::uint64_t count() const { return count_; }
  /// "1 entry", "3 entries".
  std::string counted(std::string_view singular, std::string_view plural) const;
  /// Like "`q1` claims_f1, `q2` claims_f1, and 7 more".
  std::string names() const;

 private:
  std::uint64_t count_ = 0;
  std::vector<std::string> first_;
};

/// Finds the entries of a baseline that nothing in the run answers: their case did not run, or has no such
/// scored metric. Walks the baseline beside the cases, in constant memory. For whole runs only: under a
/// selection (--categories, --filter, --max-fixtures) entries are left over by intention.
class UnusedEntries {
 public:
  /// The baseline must be sealed and outlive this.
  explicit UnusedEntries(const Baseline& baseline) : baseline_(&baseline) {}

  /// REQUIRES: ids ascending byte by byte. An undefined score answers its entry.
  void visit(std::string_view test_id, std::span<const AssessedMetric> metrics);
  /// A case that was not assessed: its error says it all, so its entries are not counted.
  void visit_error(std::string_view test_id);
  /// After the last case: `unused_entries`, a failure under strict.
  std::optional<GateNotice> finish(const GatedRun& run);

 private:
  /// Counts what lies before the test, and leaves next_ at its first entry.
  void pass_to(std::string_view test_id);
  void count_next();

  const Baseline* baseline_;
  std::size_t next_ = 0;
  NamedScores unused_;
};

/// Gathers the scores that have no entry in the baseline, for one notice beside the status of their cases.
class MissingEntries {
 public:
  void visit(std::string_view test_id, std::span<const AssessedMetric> metrics);
  /// Those that there are: `missing_entries`, info, since the cases' statuses decide; `expectation_mismatch`
  /// of scores whose entry is of what the test asked before, a failure under strict, and none of a rerun that
  /// is not.
  std::vector<GateNotice> finish(const GatedRun& run) const;

 private:
  NamedScores missing_;
  NamedScores asked_otherwise_;
};

}  // namespace sluice

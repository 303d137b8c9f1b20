#pragma once

#include "coordinator/display/numbers.hpp"
#include "coordinator/merge/aggregate.hpp"
#include "coordinator/merge/case_result.hpp"
#include "coordinator/report/report.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

/// What the reports for people have in common: words and numbers, not their layout.
namespace sluice::wording {

std::string headline(RunVerdict verdict);      ///< `FAIL`
std::string verdict_word(RunVerdict verdict);  ///< `✗ FAIL`
/// Why the verdict is what it is, e.g. `2 of 45 fixtures regressed, 1 failed`, `Recall dropped by 2 points`.
/// Ends with `by_strict`.
std::string reason_for(const ReportInput& input);
inline constexpr const char* because_of_strict = "exit code 1 because of --strict";
/// `because_of_strict` of a run that would have passed without it; else empty.
std::string by_strict(const ReportInput& input);
/// The run's exit code, but 1 also where it was cut short.
int exit_code_of(const ReportInput& input, bool strict);
/// `1 broke, 2 fixed, 1 still failing`: cases beside the baseline's checks; empty where none changed or
/// fails.
std::string changes(const ReportInput& input);
/// `41 passed, 3 failed (2 regressed), 1 error`, with what else there was.
std::string tally(const Totals& all);
/// What a case of this suite is called: `fixture` where all of them are about claims, else `case`.
std::string_view case_noun(const ReportInput& input);
/// Some case is about claims, so that precision and recall mean something.
bool has_claims_cases(const ReportInput& input);
/// When and with what the aggregates that the run was compared with were measured; may be empty.
std::string baseline_origin(const ReportInput& input);
/// The command that gives the missing scores an entry, for a POSIX shell; `...` is what else the run was
/// given.
std::string how_to_pin(const ReportInput& input);
/// What the notice is about: `the comparison`, `the judge`, `the arms`.
std::string_view topic_of(const GateNotice& notice);
/// `2 failures of the comparison under --strict`, or `1 warning about the judge`; empty without any.
std::string notices_reason(const BaselineComparison& gate, GateNotice::Severity severity);
std::string_view severity_word(GateNotice::Severity severity);  ///< `info`, `warning`, `failure`

/// `tls/cert_verification/enabled = true (confidence 0.9, line 7)`.
std::string extracted(const FinalClaim& claim);
/// The claim already stands in the report as what came instead of a missed one: false positives need not
/// repeat it.
bool is_shown_as_got(const CaseDetails& details, const FinalClaim& claim);
/// Its name says more than its id.
bool has_name_of_its_own(const Case& fixture);
/// `tls-001: TLS verification disabled`; the id alone when the case has no name.
std::string title(const Case& fixture);
/// The file that the case stands in, from the checkout's root (ReportInput::source_folder, or name_of_file
/// if its path is absolute), in normal form: GitHub knows no other. Empty where it has none.
std::string file_of(const Case& fixture, const ReportInput& input);
/// What came instead of a missed claim: `Not extracted` or the nearest claim.
std::string got(const MissedClaim& missed, const Case& fixture);

/// `125,430 tokens ($0.12)`, then what was paid in this run, and what of that the judge was paid.
std::string cost(const ReportInput& input);
/// How the run went: duration, calls, retries, cache hits, workers.
std::string run_facts(const ReportInput& input);
/// For how much of the run a limit held calls back, by the clock, and the sums over all calls of what else
/// they waited for; empty if they did not.
std::string waits(const ReportInput& input);

/// `refused`, `cut off` or `unreadable`. REQUIRES: is_non_answer(reason).
std::string non_answer_word(Reason non_answer);

/// Case errors of one reason and message: how many, and the ids of the first few.
struct ErrorGroup {
  std::string message;
  std::uint64_t count = 0;
  bool is_further = false;   ///< Of all further messages of the reason: `message` is one of them.
  std::string first_answer;  ///< How the answer that is the first error begins; empty if none came.
  std::vector<std::string> ids{};
};

/// How the answer begins that is the case's error; empty if the error is not about an answer.
std::string rejected_answer(const CaseResult& result);

/// Collects case errors by reason and message in memory that does not grow with their number; not the cases
/// whose turn did not come, which have the run's reason.
class ErrorGroups {
 public:
  void add(const CaseResult& result);
  bool empty() const { return groups_.empty(); }
  /// Of each reason in the order in which the messages came; of many those that most cases have, and the
  /// group of all further ones last.
  std::map<Reason, std::vector<ErrorGroup>> by_reason() const;

 private:
  std::map<Reason, std::vector<ErrorGroup>> groups_;
};

/// `tls-001, tls-002 and 5 more`.
std::string ids(const ErrorGroup& group);

}  // namespace sluice::wording

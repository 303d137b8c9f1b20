#pragma once

#include "coordinator/gate/assess_metrics.hpp"
#include "coordinator/gate/gate.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sluice {

/// How many of a case's repeats came to what. One that ended in an error is not among those that count.
struct RepeatTally {
  std::uint32_t planned = 1;
  std::uint32_t assessed = 0;     ///< With an answer.
  std::uint32_t non_answers = 0;  ///< The model refused, was cut off or unreadable (is_non_answer): failed.
  std::uint32_t failed = 0;       ///< Of those that count.
  std::uint32_t errors = 0;

  std::uint32_t counted() const { return assessed + non_answers; }
  std::uint32_t passed() const { return counted() - failed; }
  /// Fewer than half of the repeats count, or none has an answer: too little is left to assess the case.
  bool is_error() const { return counted() * 2 < planned || assessed == 0; }
};

/// assessed_case of each answer of a case, given its questions: of the first `repeats`, and then of perturbed
/// ones. What a baseline pins is a mean, so that the mean of the repeats' scores is held against it: while
/// that is no drop, no answer fails by one. Everything else is asked of each answer by itself. REQUIRES: all
/// of the same case and gate.
std::vector<CaseAssessment> assessed_repeats(std::span<std::vector<MetricQuestion>> answers,
                                             std::size_t repeats, const AssessmentRules& rules);

/// What a repeat comes to that the model gave no answer in, beside one of the same case that was assessed:
/// each check failed, beside a baseline as any check does, and there are no scores. It fails the repeat, as
/// far as no check was known to fail before.
CaseAssessment assessment_of_non_answer(const CaseAssessment& answered);

/// What a case comes to by its repeats (assessed_repeats; docs/gate.md, "Repeats"): `fail` when more than
/// half failed or a mean dropped, `flaky` when some failed, else `warn` when some warn, else `pass`. Metrics
/// alike: a failed or warned one shows the cause of most repeats that say so and its limit, one whose mean
/// dropped that unless more than half of its repeats failed otherwise, and the detail is of the repeat whose
/// answer is shown; it became undefined if any repeat did. A score is the mean of those that are defined, in
/// whole billionths; pass/fail outcomes have none. Votes on one answer are never counted with those on
/// another: whether they agree is a matter of each repeat, and one that warns for it counts as any that does;
/// VoteTally adds them up for the eye. `regressed` when the case failed and a
/// mean dropped, and no more than half of all failed otherwise; or when all that failed regressed, and a
/// metric failed in most of them or, beside a base in half of whose repeats at least all checks passed,
/// checks broke in most of them, another one in each. `improved` when none failed, and a mean score is above
/// its baseline's or every repeat improved. Of repeats without an answer only the checks take part, and
/// none is shown. One repeat is its own assessment. REQUIRES: at least one with an answer; all of the same
/// case and gate.
CaseAssessment assessment_of_repeats(std::span<const CaseAssessment* const> repeats);

/// `repeats_incomplete`, a failure under strict: repeats of assessed cases ended in an error (RepeatTally),
/// so that luck may have decided what the case came to. Nothing where none did.
std::optional<GateNotice> repeats_incomplete_notice(std::uint64_t lost, bool strict);

/// What a repeat came to whose answer is shown for a case of this status: the first such repeat is.
CaseStatus shown_status(CaseStatus of_case);

/// Mean in whole billionths, halves away from zero; nothing of nothing. One score is its own mean.
class MeanScore {
 public:
  void add(double score);
  std::optional<double> mean() const;

 private:
  std::int64_t sum_ = 0;
  std::int64_t count_ = 0;
  double only_ = 0.0;
};

}  // namespace sluice

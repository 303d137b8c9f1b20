#pragma once

#include "common/error.hpp"
#include "common/model/grading.hpp"
#include "coordinator/merge/case_result.hpp"
#include "coordinator/statistics/intervals.hpp"
#include "coordinator/statistics/position_bias.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// What the answers of one arm took, whoever paid for them. Those of pairs without a grade count as well, but
/// the baseline's of such a pair only if this run called for it.
struct GradedArm {
  Usage usage;
  std::uint64_t latency_ms = 0;  ///< Summed over `timed` answers.
  std::uint64_t timed = 0;       ///< Answers that did not come out of a cache.

  void add(const GradedAnswer& answer);
  std::optional<double> mean_latency_ms() const;
};

/// Grades over some tests. Repeats of one test share its prompt, and are no independent evidence.
struct GradeTotals {
  std::uint64_t tests = 0;
  std::uint64_t graded = 0;          ///< Pairs of answers with a grade.
  std::uint64_t errors = 0;          ///< Pairs without one.
  std::uint64_t compared_twice = 0;  ///< Of the graded ones: those that were judged in both orders.
  std::uint64_t position_flips = 0;  ///< Of these: ties, since the order decided.
  ClusteredProportion quality;       ///< Of the tests' means, each of which counts once.
  GradedArm baseline;
  GradedArm candidate;
};

/// The grades of one test.
struct GradedTest {
  std::string id;  ///< Without the arm's name.
  std::string category;
  std::uint64_t graded = 0;
  std::uint64_t errors = 0;
  std::uint64_t position_flips = 0;
  std::optional<double> quality;  ///< The mean of its grades; nothing without any.
  std::string notes;              ///< Of its first grade, or why there is none.
  std::optional<Reason> reason;   ///< Of the first error, if there is no grade at all.
};

/// The grades of a run.
struct RunGrades {
  std::string grader_id;          ///< Empty if nothing was graded.
  std::vector<GradedTest> tests;  ///< In plan order.
  std::map<std::string, GradeTotals, std::less<>> by_category;
  GradeTotals all;
  std::optional<PositionBias> bias;  ///< Where pairs were judged in both orders.
};

/// Takes a grade: of which test (without the arm's name) and of which of its trials.
using TakeGrade =
    std::function<void(const std::string& test, const CaseResult&, const TrialResult&, const GradingResult&)>;

/// Visits all cases of a run that grades; `take` gets each grade in plan order, and may be empty. Fails as
/// visit_cases does. REQUIRES: 0.5 < confidence < 1.
Result<RunGrades> run_grades(const RunResults& results, double confidence, std::uint64_t seed,
                             const TakeGrade& take = {});

}  // namespace sluice

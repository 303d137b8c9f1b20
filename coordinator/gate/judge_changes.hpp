#pragma once

#include "coordinator/gate/baseline.hpp"
#include "coordinator/gate/baseline_check.hpp"
#include "coordinator/gate/gate.hpp"
#include "coordinator/gate/judge_pin.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Who judged, by what and how often, where that differs between two sides of a comparison. Pure.
namespace sluice {

/// Gathers the scores that were judged by another judge, another rubric or another number of votes. What
/// either side does not say is not compared.
class JudgeDifferences {
 public:
  void add(std::string_view test_id, std::string_view metric, const JudgePin& then, const JudgePin& now);
  /// `rubric_mismatch`, `judge_mismatch`, `judge_samples_mismatch`: those that there are, failures under
  /// strict; none of a rerun that is not.
  std::vector<GateNotice> finish(const GatedRun& run) const;

 private:
  /// Scores that changed in one way, with the first change in words.
  struct Changed {
    NamedScores scores;
    std::string first;
    void add(std::string_view test_id, std::string_view metric, const std::string& words);
  };

  Changed rubrics_;
  Changed judges_;
  Changed samples_;
};

/// The same of a run beside what its baseline pins.
class JudgeChanges {
 public:
  /// The baseline must be sealed; both must outlive this.
  JudgeChanges(const Baseline& baseline, const RunJudge& judge) : baseline_(&baseline), judge_(&judge) {}

  void visit(std::string_view test_id, std::span<const AssessedMetric> metrics);
  std::vector<GateNotice> finish(const GatedRun& run) const { return differences_.finish(run); }

 private:
  void compare(const BaselineEntry& entry, const VoteTally& votes);

  const Baseline* baseline_;
  const RunJudge* judge_;
  /// Of the entry before: most share one.
  std::string_view meta_;
  JudgePin pinned_;
  JudgeDifferences differences_;
};

}  // namespace sluice

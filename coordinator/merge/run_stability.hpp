#pragma once

#include "common/metrics.hpp"
#include "coordinator/merge/case_result.hpp"
#include "coordinator/plan/variation.hpp"
#include "coordinator/statistics/repeats.hpp"
#include "coordinator/statistics/score_change.hpp"
#include "coordinator/statistics/stability.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// What makes two answers to a case identical (docs/report.md, "Stability"). Claims: the set of canonical
/// claims, so that order, confidence, line and repetition do not count. Texts are free in their words: what
/// the pass/fail metrics say of them, metric by metric; where there is none, the answer's own digest.
/// REQUIRES: a trial that was judged.
std::string answer_identity(const Case& test_case, const TrialResult& trial);

/// A perturbed answer that no unperturbed repeat of its case gave.
struct Flip {
  const TrialResult* perturbed = nullptr;
  const TrialResult* unperturbed =
      nullptr;  ///< Of the same repeat if that was judged, else of the first that was.
};

/// In plan order; views like CaseResult. Nothing where no unperturbed repeat was judged.
std::vector<Flip> flips_of(const CaseResult& result);

/// A perturbation over the run. Those that changed no case, or of which every answer is an error, have no
/// figures.
struct PerturbationSummary {
  PerturbationFacts facts;
  std::optional<PerturbationStability> stability;
  std::uint64_t flips = 0;
  std::map<MetricId, ScoreChange> score_changes;
};

/// How much of a run's answers is luck, and how much the wording of the input.
struct RunStability {
  std::uint32_t repeats = 1;
  double confidence = 0.95;  ///< Of intervals and tests.
  std::uint64_t seed = 0;    ///< Of what is drawn at random.
  StabilityAnalysis analysis;
  std::vector<std::string> categories;  ///< By the number that the analysis uses.
  /// Ditto; scored metrics.
  std::vector<std::map<MetricId, ScoreChange>> category_score_changes;
  std::vector<PerturbationSummary> perturbations;
  std::uint64_t flips = 0;
  std::map<MetricId, ScoreChange> score_changes;  ///< Scored metrics.
  std::vector<PassCurve::Point> pass_curve;       ///< Empty with one repeat.

  /// The spec's number: of all perturbed answers; nothing where there was none.
  std::optional<double> stability() const { return analysis.all.stability; }
  std::uint64_t unstable_cases() const;
  /// With the lowest stability, the first of equals; null where nothing flipped.
  const PerturbationSummary* most_flipping() const;
};

/// Folds the cases of a run in plan order. Memory: some 100 bytes a case.
class RunStabilityFold {
 public:
  struct Config {
    std::vector<PerturbationFacts> perturbations;
    std::uint32_t repeats = 1;
    StabilityRules rules;
  };

  explicit RunStabilityFold(Config config);
  void add(const CaseResult& result);
  /// Call once.
  RunStability finish();

 private:
  std::uint32_t category_number(const std::string& name);
  void add_scores(const CaseResult& result, std::uint32_t category);

  RunStability result_;
  StabilityFold answers_;
  PassCurve passes_;
  std::map<std::string, std::uint32_t, std::less<>> category_numbers_;
};

}  // namespace sluice

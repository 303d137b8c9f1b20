#pragma once

#include "common/model/metrics.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/merge/case_result.hpp"
#include "coordinator/merge/instability_reach.hpp"
#include "coordinator/plan/trial_design.hpp"
#include "coordinator/statistics/repeats.hpp"
#include "coordinator/statistics/score_change.hpp"
#include "coordinator/statistics/stability.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// True if stability counts the trial's answer: it was assessed, or the model's answer is none
/// (is_non_answer), which is an answer of its own kind. What ended in any other error says nothing of the
/// model.
bool is_compared(const TrialResult& trial);

/// What makes two answers to a case identical (docs/report.md, "Stability"). Claims: the set of canonical
/// claims, so that order, confidence, line and repetition do not count. Texts are free in their words: what
/// the pass/fail metrics and the majority of each judge metric's votes say of them, metric by metric; where
/// there is none, the answer's own digest. Answers that are none: why. REQUIRES: is_compared(trial).
std::string answer_identity(const Case& test_case, const TrialResult& trial);

/// A perturbed answer that no unperturbed repeat of its case gave.
struct Flip {
  const TrialResult* perturbed = nullptr;
  const TrialResult* unperturbed =
      nullptr;  ///< Of the same repeat if that is compared, else of the first that is.
};

/// In plan order; views like CaseResult. Nothing where no unperturbed repeat is compared.
std::vector<Flip> flips_of(const CaseResult& result);

/// A perturbation over the run. Those that changed no case, or of which every answer is an error, have no
/// figures.
struct PerturbationSummary {
  PerturbationFacts facts;
  std::optional<PerturbationStability> stability;
  std::uint64_t flips = 0;
  std::map<ScoreId, ScoreChange> score_changes;
  /// Answers differ, and the test can say neither that it is unstable nor that noise explains it: no repeats
  /// of the cases that differ were seen to disagree, or they are too few for it to find anything at all.
  bool too_few_repeats = false;
};

/// How much of a run's answers is luck, and how much the wording of the input.
struct RunStability {
  std::uint32_t repeats = 1;
  double confidence = defaults::statistics::confidence;  ///< Of intervals and tests.
  std::uint64_t seed = 0;                                ///< Of what is drawn at random.
  StabilityAnalysis analysis;
  std::vector<std::string> categories;  ///< By the number that the analysis uses.
  /// By the number that the analysis uses; scored metrics.
  std::vector<std::map<ScoreId, ScoreChange>> category_score_changes;
  std::vector<PerturbationSummary> perturbations;
  std::uint64_t perturbed_trials = 0;  ///< Of the plan; analysis.all.answers of them were compared.
  std::uint64_t trials = 0;
  std::uint64_t non_answers = 0;  ///< Trials whose answer is none; they are compared.
  std::uint64_t left_out = 0;     ///< Trials that ended in any other error, or were not started.
  std::uint64_t not_started = 0;  ///< Of those left out.
  std::uint64_t uncompared = 0;   ///< Perturbed answers of cases without an unperturbed one.
  std::uint64_t flips = 0;
  std::map<ScoreId, ScoreChange> score_changes;  ///< Scored metrics.
  std::vector<bool> too_few_repeats;  ///< As of a perturbation; by case, in the order of `analysis.cases`.
  /// With which the least stable of these cases would be found unstable if its answers went on as they came;
  /// nothing if its unperturbed ones disagree, or it takes more than 100.
  std::optional<std::uint32_t> enough_repeats;
  /// The same by case: repeats may be enough, but among so many cases with so many kinds of answers p could
  /// be worked out to a bound alone (CaseStability::p_is_bound), which is too high to be significant.
  std::vector<bool> too_costly_to_test;
  std::vector<PassCurve::Point> pass_curve;  ///< Empty with one repeat.

  /// Of all perturbed answers; nothing where there was none.
  std::optional<double> stability() const { return analysis.all.stability; }
  std::uint64_t unstable_cases() const;
  /// Those with too few repeats to tell.
  std::uint64_t undecided_cases() const;
  std::uint64_t cases_too_costly_to_test() const;
  /// With the lowest stability, the first of equals; null where nothing flipped.
  const PerturbationSummary* most_flipping() const;
};

/// An answer that several cases share: `answer` numbers what it is to all of them together.
struct SharedAnswer {
  std::uint32_t perturbation = 0;  ///< As TrialPlace has it.
  UnitId unit = 0;
  std::uint32_t answer = 0;
};

/// Folds the cases of a run in plan order. Memory: some 120 bytes a case, and for each request that several
/// cases share some 400, and 12 an answer.
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
  struct PerturbationReach {
    SmallestP smallest_p;
    bool noise_seen = false;  ///< Repeats of a case that differs disagree.
  };
  /// Of a case whose answers differ.
  struct CaseReach {
    double smallest_p = 1.0;
    double units_per_repeat = 0.0;  ///< Perturbed ones (PerturbedAnswer::unit).
    double same_share = 0.0;        ///< Of their answers, as CaseStability::stability counts all of them.
  };

  std::uint32_t category_number(const std::string& name);
  void add_reach(const CaseAnswers& answers);
  void add_reach_of_perturbations(const CaseAnswers& answers);
  void test_shared_answers();
  void assess_reach_of_perturbations();
  void assess_reach_of_cases();
  void assess_bounds_of_cases();
  void add_scores(const CaseResult& result, std::uint32_t category);

  RunStability result_;
  StabilityFold answers_;
  PassCurve passes_;
  std::vector<PerturbationReach> perturbation_reach_;           ///< By perturbation.
  std::vector<CaseReach> case_reach_;                           ///< By case.
  std::map<UnitId, std::vector<SharedAnswer>> shared_answers_;  ///< By CaseResult::first_unit.
  std::map<std::string, std::uint32_t, std::less<>> category_numbers_;
};

}  // namespace sluice

#pragma once

#include "coordinator/defaults.hpp"
#include "coordinator/statistics/instability_test.hpp"
#include "coordinator/statistics/intervals.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace sluice {

/// An answer to a perturbed input. `answer` numbers the distinct answers of the case (by canonical claims);
/// equal numbers mean identical answers.
struct PerturbedAnswer {
  static constexpr std::uint32_t own_unit = 0xffffffff;

  std::uint32_t perturbation = 0;
  std::uint32_t answer = 0;
  /// The unit that gave it: perturbations that make the same text of an input share one answer, which is no
  /// more evidence for being shared.
  std::uint32_t unit = own_unit;
};

/// One answer of each unit.
std::vector<PerturbedAnswer> one_of_each_unit(std::span<const PerturbedAnswer> answers);

/// The answers of one case. Trials that ended in an error, and perturbations that changed nothing, are not
/// among them.
struct CaseAnswers {
  std::uint32_t category = 0;
  std::span<const std::uint32_t> unperturbed;  ///< One a repeat.
  std::span<const PerturbedAnswer> perturbed;  ///< One a repeat of each perturbation, in any order.
  /// The same number for cases that one request answered, whose answers are one piece of evidence; own_unit:
  /// answers of its own.
  std::uint32_t shared_by = PerturbedAnswer::own_unit;
};

/// Stability and floor over some cases.
struct StabilityFigures {
  std::uint64_t cases = 0;    ///< With both unperturbed and perturbed answers.
  std::uint64_t answers = 0;  ///< Perturbed ones of these cases.
  /// The share of perturbed answers that are identical to the unperturbed one; with
  /// repeats, the agreement over all unperturbed x perturbed pairs of a case. Empty without cases.
  std::optional<double> stability;
  Interval interval;  ///< Wilson's, clustered by case, or by what cases share.
  /// The agreement over pairs of unperturbed repeats: what plain repetition leaves. Empty (unknown) where no
  /// case has two repeats.
  std::optional<double> floor;
  Interval floor_interval;  ///< Of the floor, clustered alike.
};

struct PerturbationStability {
  std::uint32_t perturbation = 0;
  StabilityFigures figures;
  InstabilityMethod method = InstabilityMethod::none;
  std::optional<double> p;           ///< Empty where the floor is unknown.
  std::optional<double> adjusted_p;  ///< By Holm over perturbations.
  bool unstable = false;             ///< Beyond the floor.
};

struct CaseStability {
  std::uint32_t repeats = 0;  ///< Unperturbed answers.
  std::uint32_t answers = 0;  ///< Perturbed ones.
  std::uint32_t units = 0;    ///< That gave them: fewer where perturbations share an answer.
  std::optional<double> stability;
  std::optional<double> floor;
  /// Its perturbations pooled, each unit counted once; empty where the floor is unknown.
  std::optional<double> p;
  std::optional<double> adjusted_p;  ///< By Holm over cases.
  /// p may be much smaller yet: to count the labellings as extreme as the answers would have taken too long.
  bool p_is_bound = false;
  bool unstable = false;  ///< Beyond the floor.

  /// Wilson's of a single answer, as StabilityFigures has it of one case: all are compared with one
  /// reference.
  Interval interval(double confidence) const;
};

struct StabilityAnalysis {
  StabilityFigures all;
  std::vector<PerturbationStability> perturbations;      ///< Those with an answer, ascending.
  std::map<std::uint32_t, StabilityFigures> categories;  ///< Those with an answer, ascending.
  std::vector<CaseStability> cases;                      ///< In the order of `add`.
};

struct StabilityRules {
  double confidence = defaults::statistics::confidence;  ///< Of the intervals, and 1 - alpha of the tests.
  InstabilityLimits limits;
  /// AnswerPattern::states_at_most up to which a case's whole distribution is enumerated.
  std::uint64_t case_states = defaults::statistics::case_states;
  /// States for the exact tails of the others (some 0.3 s): shared out over the distinct ones that deviate,
  /// so that the p-values do not depend on the order of the cases.
  std::uint64_t tail_states = defaults::statistics::tail_states;
  std::uint64_t seed = 0;  ///< Decides only where draws are made.
};

/// Folds the answers of a run, one case at a time. Memory: some 80 bytes a case, and 4 for each distinct
/// answer of those whose distribution is not enumerated; some 300 for each request that several cases share.
/// Time of `add`: O(n log n) in the answers of the case, and now and then a new permutation distribution
/// (LabelPermutation).
class StabilityFold {
 public:
  explicit StabilityFold(StabilityRules rules) : rules_(rules) {}

  /// Of cases that share their answers the perturbations are left to test_shared.
  void add(const CaseAnswers& answers);
  /// Cases that share their answers, as one case: two answers are identical if they are to each of them. By
  /// it perturbations are tested. REQUIRES: the cases were added.
  void test_shared(const CaseAnswers& as_one);
  /// Tests "unstable beyond the floor" for each perturbation and for each case. Call once.
  StabilityAnalysis finish();

 private:
  /// What cases that share their answers add to `Shares` together.
  struct SharesCluster {
    ClusteredProportion::Cluster stability;
    ClusteredProportion::Cluster floor;
  };
  struct Shares {
    ClusteredProportion stability;
    ClusteredProportion floor;
    std::uint64_t cases = 0;  ///< With both unperturbed and perturbed answers.

    void add_stability(double identical, double answers, SharesCluster& of);
    void add_floor(double equal, double pairs, SharesCluster& of) { floor.grow(of.floor, equal, pairs); }
    StabilityFigures figures(double confidence) const;
  };
  struct SharedCase {
    SharesCluster all;
    std::map<std::uint32_t, SharesCluster> categories;
    std::map<std::uint32_t, SharesCluster> perturbations;
  };
  struct PerturbationSums {
    Shares shares;
    InstabilityTest test;
    bool floor_known = false;
  };

  /// A case whose test is costly: made at the end, when it is known how many there are.
  struct CostlyCase {
    AnswerPattern pattern;
    std::int64_t excess = 0;
    std::size_t index = 0;
    friend auto operator<=>(const CostlyCase&, const CostlyCase&) = default;
    bool has_test_of(const CostlyCase& other) const {
      return pattern == other.pattern && excess == other.excess;
    }
  };

  void test_case(AnswerPattern pattern, std::int64_t excess);
  void test_costly_cases();
  void assess_cases();

  StabilityRules rules_;
  Shares all_;
  std::map<std::uint32_t, PerturbationSums> perturbations_;
  std::map<std::uint32_t, Shares> categories_;
  std::map<std::uint32_t, SharedCase> shared_;  ///< By CaseAnswers::shared_by.
  std::vector<CaseStability> cases_;
  std::map<AnswerPattern, LabelPermutation> labels_;  ///< Most cases share a few patterns.
  std::vector<CostlyCase> costly_;
};

}  // namespace sluice

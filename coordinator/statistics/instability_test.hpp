#pragma once

#include "coordinator/defaults.hpp"
#include "coordinator/statistics/label_permutation.hpp"

#include <cstdint>
#include <map>
#include <string_view>

namespace sluice {

enum class InstabilityMethod : std::uint8_t {
  none,    ///< No case has both a floor and answers that differ.
  exact,   ///< The distributions of the cases added up (convolution).
  draws,   ///< p = (1 + hits) / (1 + draws).
  normal,  ///< The sum against its own standard deviation.
};

std::string_view to_string(InstabilityMethod method);

/// What may be spent on one perturbation before a cheaper method takes over.
struct InstabilityLimits {
  std::uint64_t max_states =
      defaults::statistics::max_label_states;  ///< Of a class of one pattern (LabelPermutation).
  std::uint64_t all_states = defaults::statistics::all_label_states;  ///< LabelPermutation::tried_states of
                                                                      ///< all patterns: some 15 ms.
  std::uint64_t exact_steps =
      defaults::statistics::exact_steps;  ///< Multiplications that an exact sum may take: some 30 ms.
  std::uint64_t drawn_cases =
      defaults::statistics::drawn_cases;  ///< Cases with differing answers up to which sums are drawn.
  std::uint32_t draws = defaults::statistics::draws;
  /// Answers that may be drawn (some 0.2 s), and the fewest draws that are worth it: the normal must do then.
  std::uint64_t drawn_answers = defaults::statistics::drawn_answers;
  std::uint32_t fewest_draws = defaults::statistics::fewest_draws;
};

struct InstabilityResult {
  InstabilityMethod method = InstabilityMethod::none;
  double p = 1.0;  ///< One-sided: that the perturbed answers differ so much by chance.
};

/// Whether a perturbation changes answers beyond what plain repetition does: the sum over the cases of T
/// (AgreementExcess) against its permutation distribution, labels permuted within each case. Comparing the
/// stability with the floor instead calls pure noise unstable in 39-52 % of simulated runs
/// (docs/statistics.md). Memory: by the number of distinct patterns up to defaults::statistics::max_patterns,
/// whatever the number of cases; the order of `add` matters in the last bits alone.
class InstabilityTest {
 public:
  /// A case: its pattern for this perturbation, and its excess (T times AgreementExcess::denominator). Cases
  /// whose answers are all identical show nothing and may be left out.
  void add(const AnswerPattern& pattern, std::int64_t excess);

  std::uint64_t cases() const { return cases_; }  ///< Those that count.
  /// Time: bounded by the limits together, some 0.2 s; O(1) where the normal must do anyway.
  InstabilityResult finish(const InstabilityLimits& limits, std::uint64_t seed) const;

 private:
  struct Group {
    std::uint64_t cases = 0;
    std::int64_t excess = 0;
  };

  std::map<AnswerPattern, Group> groups_;  ///< Empty once there were too many.
  std::uint64_t cases_ = 0;
  double excess_ = 0.0;
  double variance_ = 0.0;
  bool too_many_patterns_ = false;
};

}  // namespace sluice

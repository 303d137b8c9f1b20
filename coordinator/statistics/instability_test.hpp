#pragma once

#include "coordinator/statistics/label_permutation.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

namespace sluice {

enum class InstabilityMethod : std::uint8_t {
  none,    ///< No case has both a floor and answers that differ.
  exact,   ///< The distributions of the cases added up (convolution).
  draws,   ///< p = (1 + hits) / (1 + draws).
  normal,  ///< The sum against its own standard deviation.
};

std::string_view to_string(InstabilityMethod method);

struct InstabilityLimits {
  LabelPermutation::Limits labels;
  std::uint64_t exact_steps = 50'000'000;  ///< Multiplications that an exact sum may take: some 50 ms.
  std::uint64_t drawn_cases = 2000;        ///< Cases with differing answers up to which sums are drawn.
  std::uint32_t draws = 9999;
};

struct InstabilityResult {
  InstabilityMethod method = InstabilityMethod::none;
  double p = 1.0;  ///< One-sided: that the perturbed answers differ so much by chance.
};

/// Whether a perturbation changes answers beyond what plain repetition does: the sum over the cases of T
/// (AgreementExcess) against its permutation distribution, labels permuted within each case. Comparing the
/// stability with the floor instead calls pure noise unstable in 39-52 % of simulated runs (statistics.md).
/// Memory: by the number of distinct patterns, whatever the number of cases; the order of `add` does not
/// matter.
class InstabilityTest {
 public:
  /// A case: its pattern for this perturbation, and its excess (T times AgreementExcess::denominator). Cases
  /// whose answers are all identical say nothing and may be left out.
  void add(const AnswerPattern& pattern, std::int64_t excess);

  std::uint64_t cases() const { return cases_; }  ///< Those that say something.
  /// Time: at most exact_steps, or cases x draws.
  InstabilityResult finish(const InstabilityLimits& limits, std::uint64_t seed) const;

 private:
  struct Group {
    std::uint64_t cases = 0;
    std::int64_t excess = 0;
  };
  std::map<AnswerPattern, Group> groups_;
  std::uint64_t cases_ = 0;
};

}  // namespace sluice

#include "coordinator/statistics/judge_bias.hpp"

#include "coordinator/statistics/holm.hpp"

namespace sluice {

std::vector<BiasDecision> decide_biases(std::span<const BiasEvidence> evidence, double confidence) {
  std::vector<double> p_values;
  for (const BiasEvidence& one : evidence) p_values.push_back(one.p);
  const std::vector<double> adjusted = holm_adjusted(p_values);
  std::vector<BiasDecision> decisions;
  for (std::size_t i = 0; i < evidence.size(); ++i) {
    const auto& interval = evidence[i].interval;
    const bool excludes_zero = !interval || interval->low > 0.0 || interval->high < 0.0;
    // p-values in decimals may meet the level exactly.
    decisions.push_back({adjusted[i], excludes_zero && adjusted[i] <= 1.0 - confidence + 1e-12});
  }
  return decisions;
}

}  // namespace sluice

#include "coordinator/statistics/position_bias.hpp"

#include "coordinator/statistics/change_decision.hpp"
#include "coordinator/statistics/paired_sample.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace sluice {
namespace {

/// Who wins by this score: 1, 0 for a tie, -1 for the other.
int winner(double score) {
  return static_cast<int>(score > 0.5) - static_cast<int>(score < 0.5);
}

}  // namespace

PositionBias position_bias(std::span<const PositionPair> pairs, double confidence, const SwapLimits& limits,
                           std::uint64_t seed) {
  PositionBias result;
  std::map<std::uint32_t, PairedCase> by_case;
  for (const PositionPair& pair : pairs) {
    PairedCase& one = by_case[pair.case_number];
    one.base.add(share_of_score(pair.when_first));
    one.current.add(share_of_score(pair.when_second));
    const int first = winner(pair.when_first);
    const int second = winner(pair.when_second);
    result.flips += first != second;
    result.toward_first += first > second;
    result.toward_second += first < second;
  }
  result.pairs = pairs.size();
  result.cases = by_case.size();
  std::vector<PairedCase> cases;
  cases.reserve(by_case.size());
  for (auto& [number, one] : by_case) cases.push_back(std::move(one));
  const PairedComparison comparison = compare_paired(cases, false, limits, seed);
  if (!comparison.drop) return result;
  PairedComparison mirrored = comparison;
  mirrored.drop = -*comparison.drop;
  const double one_sided = 0.5 * (1.0 + confidence);
  result.bias = 0.5 * *comparison.drop;
  result.interval = {-0.5 * drop_upper_bound(mirrored, one_sided),
                     0.5 * drop_upper_bound(comparison, one_sided)};
  result.p = std::min(1.0, 2.0 * std::min(comparison.test.p.drop, comparison.test.p.improvement));
  result.method = comparison.test.method;
  return result;
}

}  // namespace sluice

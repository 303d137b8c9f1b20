#include "coordinator/merge/quality_fold.hpp"

#include <algorithm>

namespace sluice {
namespace {

void add_prices(AnswerPrices& to, const AnswerPrices& from) {
  to.cost += from.cost;
  to.with_cost += from.with_cost;
  to.latency_ms += from.latency_ms;
  to.with_latency += from.with_latency;
}

std::optional<double> mean(double sum, std::uint64_t count) {
  if (count == 0) return std::nullopt;
  return sum / static_cast<double>(count);
}

}  // namespace

void QualityTotals::add(const QualityOfTest& test) {
  ++tests;
  grades += test.grades;
  compared_twice += test.compared_twice;
  position_flips += test.position_flips;
  if (const auto of_test = mean(test.quality_sum, test.grades)) quality.add(*of_test, 1.0);
  add_prices(baseline, test.baseline);
  add_prices(candidate, test.candidate);
}

std::vector<GroupQuality> quality_by_group(std::span<const QualityOfTest> tests) {
  std::vector<GroupQuality> groups;
  for (const QualityOfTest& test : tests) {
    if (groups.empty() || groups.back().group != test.group) groups.emplace_back().group = test.group;
    GroupQuality& group = groups.back();
    group.by_category[test.category].add(test);
    group.all.add(test);
    group.last_graded_ms = std::max(group.last_graded_ms, test.last_graded_ms);
  }
  return groups;
}

std::optional<double> mean_cost(const AnswerPrices& prices) {
  return mean(prices.cost, prices.with_cost);
}

std::optional<double> mean_latency_ms(const AnswerPrices& prices) {
  return mean(prices.latency_ms, prices.with_latency);
}

}  // namespace sluice

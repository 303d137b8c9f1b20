#include "common/model/expectation.hpp"

#include <algorithm>
#include <cmath>

namespace sluice {

bool is_complete(const TextExpectation& expectation) {
  const auto& [metric, texts, numbers, weight, parts] = expectation;
  const auto is_number = [](double number) { return std::isfinite(number) && number >= 0.0; };
  if (!std::ranges::all_of(numbers, is_number) || !is_number(weight)) return false;
  switch (positive(metric)) {
    case MetricId::levenshtein:
      return !texts.empty() && numbers.size() == 1 && numbers[0] <= most_distance;
    case MetricId::rouge_n:
      return !texts.empty() && !numbers.empty() && numbers[0] >= 1.0 && numbers[0] <= most_rouge_words;
    case MetricId::tool_call:
      return texts.size() == 2;
    case MetricId::latency:
      return numbers.size() == 1;
    case MetricId::cost:
      return numbers.size() == 3;
    case MetricId::any_of:
    case MetricId::all_of:
      return !parts.empty() && numbers.size() == 1 && std::ranges::all_of(parts, is_complete);
    default:
      return !texts.empty();
  }
}

}  // namespace sluice

#include "common/model/expectation.hpp"

#include "common/text/trimmed.hpp"

#include <algorithm>
#include <cmath>

namespace sluice {

bool has_command(const TextExpectation& expectation) {
  return is_or_holds(expectation, [](const TextExpectation& one) { return is_command_metric(one.metric); });
}

bool checks_all_calls(const TextExpectation& expectation) {
  return is_or_holds(expectation, [](const TextExpectation& one) {
    const MetricId metric = positive(one.metric);
    return metric == MetricId::tool_calls || metric == MetricId::tool_calls_valid ||
           (metric == MetricId::tool_call && one.texts.empty());
  });
}

bool checks_refusal(const TextExpectation& expectation) {
  return is_or_holds(expectation,
                     [](const TextExpectation& one) { return positive(one.metric) == MetricId::refusal; });
}

bool expects_empty(const TextExpectation& expectation) {
  if (expectation.metric == MetricId::exact_match)
    return std::ranges::any_of(expectation.texts,
                               [](const std::string& text) { return trimmed(text).empty(); });
  return !is_negated(expectation.metric) && std::ranges::any_of(expectation.parts, expects_empty);
}

bool takes_non_answers(const TextExpectation& expectation) {
  return checks_refusal(expectation) || expects_empty(expectation);
}

void add_for_worker(const TextExpectation& expectation, std::vector<TextExpectation>& tasks) {
  if (!has_command(expectation)) return tasks.push_back(expectation);
  for (const TextExpectation& part : expectation.parts) add_for_worker(part, tasks);
}

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
      return texts.empty() || texts.size() == 2;
    case MetricId::tool_calls:
      return !texts.empty() && texts.size() % 2 == 0 && texts.size() <= 2 * most_listed_calls &&
             numbers.size() == 1;
    case MetricId::tool_calls_valid:
      return true;
    case MetricId::latency:
      return numbers.size() == 1;
    case MetricId::cost:
      return numbers.size() == 3;
    case MetricId::any_of:
    case MetricId::all_of:
      return !parts.empty() && numbers.size() == 1 && std::ranges::all_of(parts, is_complete);
    case MetricId::command:
    case MetricId::command_score:
      return false;
    case MetricId::refusal:
      return true;
    case MetricId::label:
      return texts.size() > first_label && texts.size() <= first_label + most_labels &&
             std::ranges::count(labels_in(texts), texts.front()) > 0;
    default:
      return !texts.empty();
  }
}

}  // namespace sluice

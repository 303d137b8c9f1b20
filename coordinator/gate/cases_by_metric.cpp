#include "coordinator/gate/cases_by_metric.hpp"

#include "coordinator/gate/quoted.hpp"

namespace sluice {

void CasesByMetric::add(MetricId metric, std::string_view test_id) {
  OfMetric& found = found_[metric];
  if (found.cases++ == 0) found.first = test_id;
}

std::string CasesByMetric::in_words() const {
  std::string words;
  for (const auto& [metric, found] : found_) {
    words += (words.empty() ? "" : ", ") + std::string(info(metric).name) + " of " +
             std::to_string(found.cases) + (found.cases == 1 ? " case (" : " cases (first ") +
             backquoted(found.first) + ")";
  }
  return words;
}

}  // namespace sluice

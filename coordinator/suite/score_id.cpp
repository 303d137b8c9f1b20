#include "coordinator/suite/score_id.hpp"

namespace sluice {
namespace {

constexpr char separator = ':';

}  // namespace

std::string score_text(MetricId metric, std::string_view name) {
  std::string text(info(metric).name);
  if (!name.empty()) text.append(1, separator).append(name);
  return text;
}

bool is_text_of_score(std::string_view text, MetricId metric, std::string_view name) {
  const std::string_view of_metric = info(metric).name;
  if (name.empty()) return text == of_metric;
  return text.size() == of_metric.size() + 1 + name.size() && text.starts_with(of_metric) &&
         text[of_metric.size()] == separator && text.ends_with(name);
}

ScoreParts parts_of_score(std::string_view text) {
  const auto end = text.find(separator);
  const MetricInfo* metric = find_metric(text.substr(0, end));
  if (end == std::string_view::npos) return {metric};
  const std::string_view name = text.substr(end + 1);
  if (metric == nullptr || name.empty() || !takes_name(*metric)) return {};
  return {metric, name};
}

bool takes_name(const MetricInfo& metric) {
  return metric.kind == MetricKind::scored && !is_claims_metric(metric.id);
}

}  // namespace sluice

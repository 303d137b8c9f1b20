#include "common/metrics.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace sluice {

namespace {

constexpr std::array catalogue{
    MetricInfo{MetricId::claims_precision, "claims_precision", "1", MetricKind::scored},
    MetricInfo{MetricId::claims_recall, "claims_recall", "1", MetricKind::scored},
    MetricInfo{MetricId::claims_f1, "claims_f1", "1", MetricKind::scored},
    MetricInfo{MetricId::claims_required, "claims_required", "1", MetricKind::pass_fail},
    MetricInfo{MetricId::claims_forbidden, "claims_forbidden", "1", MetricKind::pass_fail},
    MetricInfo{MetricId::claims_absent, "claims_absent", "1", MetricKind::pass_fail},
};

}  // namespace

std::span<const MetricInfo> metric_catalogue() {
  return catalogue;
}

const MetricInfo* find_metric(std::uint8_t number) {
  const auto found = std::ranges::find(catalogue, static_cast<MetricId>(number), &MetricInfo::id);
  return found == catalogue.end() ? nullptr : &*found;
}

const MetricInfo& info(MetricId id) {
  const auto* found = find_metric(static_cast<std::uint8_t>(id));
  if (!found) std::abort();  // Only find_metric's numbers become a MetricId.
  return *found;
}

}  // namespace sluice

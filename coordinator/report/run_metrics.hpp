#pragma once

#include "common/metrics_server/metric.hpp"
#include "coordinator/facts/run_facts.hpp"
#include "coordinator/report/progress.hpp"

#include <vector>

namespace sluice {

/// A run at one moment for Prometheus (docs/budgets.md). Pure.
std::vector<MetricFamily> run_metrics(const ProgressState& progress, const RunFacts& facts);

}  // namespace sluice

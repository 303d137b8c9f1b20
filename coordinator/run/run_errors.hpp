#pragma once

#include "common/error.hpp"
#include "coordinator/plan/plan.hpp"

#include <chrono>
#include <string>
#include <vector>

/// What ends a run before its plan does, as one sentence each.
namespace sluice {

/// `units`: those that no connected worker could answer from its cache.
Error missing_answers(const Plan& plan, const std::vector<UnitId>& units);
Error no_worker_connected(std::chrono::milliseconds waited, const std::string& how_to_start_one);
Error deadline_reached(std::chrono::milliseconds deadline);

}  // namespace sluice

#pragma once

#include "coordinator/facts/run_facts.hpp"
#include "coordinator/output/json_writer.hpp"

#include <cstddef>

namespace sluice {

/// The members `waited_seconds` and `budget` (docs/report.md), each on lines of its own at `depth`.
void write_json_budgets(Json& json, const RunFacts& facts, std::size_t depth);

}  // namespace sluice

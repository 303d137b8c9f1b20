#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace sluice::support {

/// A JSON report's own bytes without what may differ between equal runs: the lines of run_id, timestamp,
/// started_at and completed_at, and the object `run`. Empty if the text does not have them all.
std::string comparable_part(const std::string& report);

/// The report parsed; a discarded value if it is not JSON and nothing else.
nlohmann::json parse_report(const std::string& report);

/// What config/schemas/report.schema.json says against the report; empty if nothing.
std::string schema_findings(const nlohmann::json& report);

}  // namespace sluice::support

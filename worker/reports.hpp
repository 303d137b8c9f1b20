#pragma once

#include "common/wire/messages.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

/// REPORT messages of bounded size with all of this; none if there is nothing to report. Pure.
std::vector<wire::Report> make_reports(const std::string& run_id, std::uint32_t window,
                                       std::vector<UnitId> started, std::vector<UnitResult> results,
                                       std::vector<UnitId> returned, std::vector<UnitSpend> spent = {});

}  // namespace sluice

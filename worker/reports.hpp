#pragma once

#include "common/wire/messages.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

/// The result as a REPORT can hold it: of one that is too large the error that says so, with what it took.
/// Pure.
UnitResult fit_for_report(UnitResult result);

/// REPORT messages of bounded size with all of this; none if there is nothing to report. Pure. REQUIRES: each
/// result is fit_for_report.
std::vector<wire::Report> make_reports(const std::string& run_id, std::uint32_t window,
                                       std::vector<UnitId> started, std::vector<UnitResult> results,
                                       std::vector<UnitId> returned, std::vector<UnitSpend> spent = {});

}  // namespace sluice

#pragma once

#include "coordinator/gate/pass_rate.hpp"
#include "coordinator/merge/case_result.hpp"
#include "coordinator/report/report.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// The least pass rate in words.
namespace sluice::wording {

/// `0.93`, with as many decimals as tell it from 1; `1.00 of 3` where only three were assessed, the others
/// being errors; a dash where none was.
std::string rate_of(const Totals& totals);
/// `Pass rate 0.93 of the arm m2, at least 0.9 is asked for`, for each that is held to one, beside
/// errors as `0.93 (of 14 cases)`; those that miss it first, and of many the rest as a number.
std::vector<std::string> pass_rates(const ReportInput& input);
/// `pass rate 0.93 of the arm m2, below the 0.95 of min_pass_rate`, and so on; empty where all are reached or
/// none is asked for.
std::string missed_pass_rates(std::span<const PassGroup> groups);
/// The same where that fails the run.
std::string missed_pass_rates(const ReportInput& input);
/// The case failed, did not regress, and fails no run for that: as many passed as are asked for.
bool is_within_pass_rate(const ReportInput& input, const CaseResult& result);
/// How many failed cases there are but for those.
std::uint64_t failures_beyond_pass_rate(const ReportInput& input);

}  // namespace sluice::wording

#pragma once

#include "common/model/run_settings.hpp"
#include "coordinator/facts/run_record.hpp"
#include "coordinator/plan/plan.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_options.hpp"

#include <cstdint>

namespace sluice {

/// What the ledger keeps of a run as it begins, with all that decides whether another run could go on with
/// it.
RunRecord record_of(const RunOptions& options, const RunInputs& inputs, const RunSettings& run,
                    const Plan& plan, std::int64_t now_ms);

/// Whether a run had arms, by the settings in its record.
bool had_arms(const RunRecord& record);

}  // namespace sluice

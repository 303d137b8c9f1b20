#pragma once

#include "common/error.hpp"
#include "coordinator/merge/case_result.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_options.hpp"

#include <cstddef>

namespace sluice {

/// Whether this run's answers may become solved examples (--harvest): usage_invalid for a mock run, for a
/// file that holds something else, and for a run in which a case is shown an example, since what passes with
/// its help would vouch for itself. REQUIRES: options.harvest.
Result<void> check_harvest(const RunOptions& options, const RunInputs& inputs);

/// Adds the answers of those cases that passed with high confidence to the file: every trial passed, repeats
/// and perturbed ones too, and no metric so much as warned. Text cases alone; an id that the file has already
/// is left as it is. The file is written whole or not at all. How many were added.
Result<std::size_t> harvest_examples(const RunOptions& options, const RunResults& results);

}  // namespace sluice

#pragma once

#include "common/error.hpp"
#include "coordinator/merge/case_result.hpp"
#include "coordinator/report/report.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_options.hpp"

#include <cstddef>
#include <functional>

namespace sluice {

/// Whether answers of such a run may become solved examples (--harvest): usage_invalid for a mock run, and
/// for a file that holds something else. REQUIRES: options.harvest.
Result<void> check_harvest(const RunOptions& options);
/// usage_invalid for a run in which a case is shown an example: what passes with its help would vouch for
/// itself. REQUIRES: options.harvest.
Result<void> check_harvest_without_help(const RunInputs& inputs);

/// What a harvest came to.
struct Harvest {
  std::size_t added = 0;
  std::size_t lost = 0;    ///< Answers that passed, and that are nowhere whole any more.
  std::size_t beyond = 0;  ///< Others for which a file that can be read again has no room.
};

/// Adds the answers of those cases that passed with high confidence to the file: every trial passed, repeats
/// and perturbed ones too, and no metric so much as warned. Text cases alone; an id that the file has already
/// is left as it is. Of long answers the results have the beginning: `whole_answers`, which may be null,
/// finds them. The file is written whole or not at all. Before it waits for another run that adds to the same
/// file it calls `before_waiting`; output_failed if that takes too long. REQUIRES: options.harvest.
Result<Harvest> harvest_examples(const RunOptions& options, const Redactor& redactor,
                                 const RunResults& results, const ReadWholeAnswers& whole_answers,
                                 const std::function<void()>& before_waiting);

}  // namespace sluice

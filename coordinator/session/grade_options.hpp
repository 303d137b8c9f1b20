#pragma once

#include "common/error.hpp"
#include "common/settings/settings.hpp"
#include "coordinator/session/run_options.hpp"
#include "coordinator/suite/prompts/arm.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// The flags of `sluice grade` beside those of a run, as given.
struct GradeFlags {
  std::optional<std::string> baseline;
  std::optional<std::string> candidate;
  std::optional<std::string> judge;
  std::optional<std::string> judge_seed;
};

/// The candidate's run, whose answers are graded against the baseline's. `arms` are those of flags or suite
/// (run_arms). usage_invalid for a missing flag, an unknown arm, arms that differ in more than the model, and
/// what a run that grades does not take; else as make_run_options.
Result<RunOptions> make_grade_options(const RunFlags& flags, const GradeFlags& grade, Settings settings,
                                      const std::vector<Arm>& arms);

}  // namespace sluice

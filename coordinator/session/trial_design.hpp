#pragma once

#include "common/checks/redactor.hpp"
#include "common/error.hpp"
#include "coordinator/plan/plan.hpp"
#include "coordinator/plan/trial_design.hpp"
#include "coordinator/session/run_options.hpp"

#include <cstddef>
#include <functional>
#include <string>

namespace sluice {

/// Told while the commands of --perturb-command run for how many cases, of how many, they are done; empty:
/// nobody is told.
using OnCommands = std::function<void(std::size_t done, std::size_t cases)>;

/// The perturbations and repeats of a run: those of the catalogue that were named, in its order, then the
/// commands, whose errors are redacted. usage_invalid for a name that is none, and for a command with the
/// name of one.
Result<TrialDesign> make_trial_design(const RunOptions& options, const Redactor& redactor = {},
                                      OnCommands on_commands = {});

/// How to try each test as it is, in the imperative: what perturbs it, and with `once` what repeats it, is
/// left out where a flag asks for it, and overruled where a suite or a file does. Empty: it is tried as it
/// is.
std::string how_to_try_as_is(const Settings& settings, bool has_commands, bool once);

/// What make_trial_design and make_run_options refuse of the settings: a mode and perturbations that
/// contradict each other, and names that are none.
Result<void> check_perturbations(const Settings& settings);

/// A command that failed on every text it was given, or on the first few, is a mistake in the command, not in
/// the texts: usage_invalid with the reason of the first. REQUIRES: the plan of make_trial_design.
Result<void> check_perturb_commands(const RunOptions& options, const Plan& plan);

}  // namespace sluice

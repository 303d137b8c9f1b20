#pragma once

#include "common/error.hpp"
#include "coordinator/run/command_checks.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_options.hpp"
#include "coordinator/suite/suite.hpp"

#include <memory>
#include <string>
#include <vector>

namespace sluice {

/// Whether a run may run the commands of its suite that check answers: those of a file that was named on the
/// command line, or any with --allow-commands (docs/security.md#commands). usage_invalid names the command.
Result<void> check_commands(const RunOptions& options, const Suite& suite);

/// Of each program that they run and nobody finds in PATH a sentence, without a full stop: their tests are
/// errors, which is known before a call is paid for.
std::vector<std::string> missing_programs(const Suite& suite);

/// What holds for them; null for a suite without any.
std::shared_ptr<const CommandRules> command_rules(const RunOptions& options, const RunInputs& inputs);

}  // namespace sluice

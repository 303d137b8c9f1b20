#pragma once

#include "common/error.hpp"
#include "coordinator/run/command_checks.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_options.hpp"
#include "coordinator/suite/suite.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// Of a part of a suite the commands of that part alone count.
void note_selected_commands(const std::string& suite_path, Suite& suite);

/// Whether a run may run the commands of its suite that check answers: those of a file that was named on the
/// command line, or any with --allow-commands (docs/security.md#commands). usage_invalid names the command.
Result<void> check_commands(const RunOptions& options, const Suite& suite);
/// What that comes to for a run, as a sentence without a full stop; nothing if it may run them.
std::optional<std::string> commands_note(const RunOptions& options, const Suite& suite);

/// What to know of the commands of the suite's cases before a call is paid for, a sentence each without a
/// full stop: which programs nobody finds in PATH and which scripts are not there, so that their tests are
/// errors, and which files the fingerprint does not see change. REQUIRES: the cases are those that run.
std::vector<std::string> command_remarks(const RunOptions& options, const Suite& suite);

/// What holds for them; null for a suite without any.
std::shared_ptr<const CommandRules> command_rules(const RunOptions& options, const RunInputs& inputs);

}  // namespace sluice

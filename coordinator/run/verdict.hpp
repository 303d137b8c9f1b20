#pragma once

#include "common/checks/redactor.hpp"
#include "common/command/bounded_command.hpp"
#include "common/model/expectation.hpp"
#include "common/model/metrics.hpp"

namespace sluice {

/// What a command that checks an answer comes to by how it ended and what it wrote: `{"pass": true, "score":
/// 0.8, "reason": "..."}`, of which `command` needs `pass` and `command_score` needs `score`. Undecided where
/// there is no such verdict. The command's words are redacted before they are shortened. Pure. REQUIRES: a
/// command.
MetricOutcome outcome_of_command(const TextExpectation& what, const CommandEnd& end,
                                 const Redactor& redactor);

}  // namespace sluice

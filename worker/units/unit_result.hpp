#pragma once

#include "common/error.hpp"
#include "common/model/completion.hpp"
#include "common/model/result.hpp"
#include "common/model/trial.hpp"
#include "worker/held_units.hpp"
#include "worker/scoring/evidence.hpp"
#include "worker/scoring/score.hpp"
#include "worker/units/answer_schema.hpp"
#include "worker/units/disclosure.hpp"

#include <optional>
#include <variant>

namespace sluice {

/// What became of a unit's request: the answer (which may be a final non-answer), or why there is none.
using UnitOutcome = std::variant<Completion, Error>;

/// The unit with those of its tasks alone that assess the answer: of a non-answer those that take it. Null if
/// there are none.
SharedUnit part_that_assesses(const Completion& answer, const SharedUnit& unit);

/// The unit's result: its answer, scored for each of its trials, or the error. `evidence` holds what the
/// metrics need beside the answer without keys, `read` the answer as its schema has it if it was read
/// already. An answer from a cache may hold keys that were not masked when it came: `disclosure` finds them,
/// and says what is redacted of what is shown, once it is scored. Pure and thread-safe.
UnitResult unit_result(const WorkUnit& unit, const Checks& checks, UnitOutcome outcome,
                       const Evidence& evidence, const Spend& spend, ReadAnswer read = {},
                       const Disclosure& disclosure = Disclosure());

/// Of a unit that ended in an error though its answer came, which was paid for: the error, with what is shown
/// of the answer, and what it took. As unit_result.
UnitResult unassessed_result(const WorkUnit& unit, const Checks& checks, Error error, Completion answer,
                             const Spend& spend, const Disclosure& disclosure = Disclosure());

/// The part of such a unit that the error leaves as it is: of a non-answer the tasks that take it and need
/// nothing else. Nothing if there are none, or the error ends the run.
std::optional<WorkUnit> part_beside_error(const WorkUnit& unit, const Error& error, const Completion& answer);
/// The result of that part, scored by the non-answer, which is the other tasks' error, and says what failed.
UnitResult refused_result(const WorkUnit& part, const Checks& checks, Error error, Completion answer,
                          const Spend& spend, const Disclosure& disclosure = Disclosure());

}  // namespace sluice

#pragma once

#include "common/completion.hpp"
#include "common/error.hpp"
#include "common/result.hpp"
#include "common/trial.hpp"
#include "worker/providers/key_mask.hpp"
#include "worker/scoring/score.hpp"

#include <optional>
#include <variant>
#include <vector>

namespace sluice {

/// What became of a unit's request: the answer (which may be a final non-answer), or why there is none.
using UnitOutcome = std::variant<Completion, Error>;

/// The unit's result: its answer, scored for each of its trials, or the error. `embedded` holds what
/// texts_to_embed names for the answer without keys, `claims` the answer's if they were read already. An
/// answer from a cache may hold keys that were not masked when it came: `keys` finds them. Pure and
/// thread-safe.
UnitResult unit_result(const WorkUnit& unit, const Judges& judges, UnitOutcome outcome,
                       const EmbeddedTexts& embedded, const Spend& spend,
                       std::optional<std::vector<ParsedClaim>> claims = std::nullopt,
                       const KeyMask& keys = KeyMask());

}  // namespace sluice

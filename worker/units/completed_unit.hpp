#pragma once

#include "common/model/result.hpp"
#include "worker/held_units.hpp"
#include "worker/scoring/evidence.hpp"
#include "worker/units/answer_schema.hpp"
#include "worker/units/unit_result.hpp"

#include <optional>

namespace sluice {

/// A unit with what became of its request, and what it is scored by.
struct CompletedUnit {
  SharedUnit unit;
  UnitOutcome outcome;
  Spend spend;
  Evidence evidence = {};
  ReadAnswer read = {};  ///< Of an answer that was read already.
  /// Of an error: the answer that came, where what it is scored by did not.
  std::optional<Completion> answer = {};
};

}  // namespace sluice

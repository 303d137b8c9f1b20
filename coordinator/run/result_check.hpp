#pragma once

#include "common/error.hpp"
#include "common/model/result.hpp"
#include "coordinator/plan/plan.hpp"

#include <cstdint>

namespace sluice {

/// What becomes of a result that a worker has sent.
enum class ResultStep : std::uint8_t {
  refuse,  ///< It is not of this plan.
  miss,    ///< The worker's cache lacks the answer: others get the unit.
  fail,    ///< An error that is nobody's case: it ends the run, or the worker's part in it.
  record,  ///< It goes into the ledger.
};

/// Pure.
ResultStep check_result(const UnitResult& result, const Plan& plan);

}  // namespace sluice

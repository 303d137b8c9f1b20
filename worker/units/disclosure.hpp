#pragma once

#include "common/checks/key_mask.hpp"
#include "common/checks/redactor.hpp"

namespace sluice {

/// What of an answer may leave this worker. Immutable; thread-safe.
struct Disclosure {
  KeyMask keys = {};        ///< Finds this worker's keys: they go before anything is read of the answer.
  Redactor redactor = {};   ///< Of the run: changes what is shown, and never a score.
  bool whole_text = false;  ///< The whole answer goes along, for the run's observations.
  bool embedding = false;   ///< The answer's embedding goes along.
};

}  // namespace sluice

#pragma once

#include "common/checks/key_mask.hpp"
#include "common/checks/redactor.hpp"
#include "common/model/completion.hpp"

#include <string>

namespace sluice {

/// What of an answer may leave this worker. Immutable; thread-safe.
struct Disclosure {
  KeyMask keys = {};        ///< Finds this worker's keys: they go before anything is read of the answer.
  Redactor redactor = {};   ///< Of the run: changes what is shown, and never a score.
  bool whole_text = false;  ///< The whole answer goes along, for the run's observations.
  bool embedding = false;   ///< The answer's embedding goes along.
};

/// Why the answer is none, in words that may leave this worker. The quote of a refusal that was cut before
/// anything was taken out of it is made anew of the answer's text, if it is that, and left out otherwise:
/// half of what a pattern hides would be in it. REQUIRES: a non-answer, with its text as it came.
std::string disclosed_reason(const Completion& answer, const KeyMask& keys, const Redactor& redactor);

}  // namespace sluice

#include "worker/units/disclosure.hpp"

#include "worker/providers/formats.hpp"

#include <utility>

namespace sluice {

std::string disclosed_reason(const Completion& answer, const KeyMask& keys, const Redactor& redactor) {
  const Error& reason = *answer.non_answer;
  std::string message = reason.message;
  const bool was_cut = reason.reason == Reason::refusal && message.ends_with("...");
  if (was_cut && !redactor.empty()) {
    std::string words = answer.text;
    keys.apply(words);
    redactor.apply(words);
    message = declined(answer.finish_reason, words).message;
  }
  keys.apply(message);
  redactor.apply(message);
  return message;
}

}  // namespace sluice

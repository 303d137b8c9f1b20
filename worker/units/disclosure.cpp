#include "worker/units/disclosure.hpp"

#include "worker/providers/formats.hpp"

namespace sluice {

std::string disclosed_reason(const Completion& answer, const KeyMask& keys, const Redactor& redactor) {
  const Error& reason = *answer.non_answer;
  std::string message = reason.message;
  if (reason.reason == Reason::refusal && message.ends_with("...")) {
    const bool quotes_text = message == declined(answer.finish_reason, answer.text).message;
    std::string words = answer.text;
    keys.apply(words);
    redactor.apply(words);
    if (quotes_text) message = declined(answer.finish_reason, words).message;
    // The rest of the words is not known.
    if (!quotes_text && !redactor.empty()) message = declined(answer.finish_reason).message;
  }
  keys.apply(message);
  redactor.apply(message);
  return message;
}

}  // namespace sluice

#include "common/model/completion.hpp"

namespace sluice {

Digest answer_digest(const Completion& completion) {
  thread_local FieldHasher hasher;
  hasher.field("answer-1")
      .field(completion.text)
      .field(completion.finish_reason)
      .field(completion.served_model);
  hasher.field(completion.usage.input_tokens).field(completion.usage.output_tokens);
  hasher.field(completion.non_answer ? to_string(completion.non_answer->reason) : std::string_view());
  return hasher.finish();
}

}  // namespace sluice

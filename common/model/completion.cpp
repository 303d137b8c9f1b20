#include "common/model/completion.hpp"

#include "common/text/text.hpp"

namespace sluice {

void append_call_line(std::string& text, const ToolCall& call, bool is_json) {
  if (!text.empty()) text += '\n';
  text += R"({"tool_call":{"name":)";
  append_json_string(text, call.name);
  text += R"(,"arguments":)";
  if (is_json) {
    text += call.arguments;
  } else {
    append_json_string(text, call.arguments);
  }
  text += "}}";
}

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

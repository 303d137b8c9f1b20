#include "common/model/completion.hpp"

#include "common/text/text.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace sluice {

namespace {

/// Words of providers that mean a refusal and nothing else: of OpenAI and Anthropic, of Gemini's filters for
/// answers and prompts, of Zhipu's, of settings for other servers (docs/providers.md). Not Gemini's
/// RECITATION, which cuts off an answer that complies.
constexpr std::array<std::string_view, 11> refusing_reasons{
    "content_filter",     "refusal",   "safety",       "blocklist",
    "prohibited_content", "spii",      "image_safety", "image_prohibited_content",
    "model_armor",        "jailbreak", "sensitive"};
/// With which OpenAI's formats give words of refusal in the place of an answer, its responses with the last.
/// Without any text an answer that ends so is empty, and nobody knows why.
constexpr std::array<std::string_view, 4> ordinary_reasons{"", "stop", "length", "completed"};
/// With which answers end that nothing cut off: of OpenAI and Gemini, of Anthropic, of OpenAI's responses.
constexpr std::array<std::string_view, 4> normal_ends{"stop", "end_turn", "stop_sequence", "completed"};

}  // namespace

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
  if (completion.latency_ms) hasher.field(std::uint64_t{*completion.latency_ms});
  return hasher.finish();
}

bool is_native_refusal(const Completion& completion) {
  if (!completion.non_answer || completion.non_answer->reason != Reason::refusal) return false;
  const std::string reason = to_lower(completion.finish_reason);
  return std::ranges::find(refusing_reasons, reason) != refusing_reasons.end() ||
         (!completion.text.empty() && std::ranges::find(ordinary_reasons, reason) != ordinary_reasons.end());
}

bool is_empty_answer(const Completion& completion) {
  if (!completion.non_answer || completion.non_answer->reason != Reason::refusal) return false;
  return completion.text.empty() &&
         std::ranges::find(normal_ends, to_lower(completion.finish_reason)) != normal_ends.end();
}

}  // namespace sluice

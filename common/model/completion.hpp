#pragma once

#include "common/error.hpp"
#include "common/hash.hpp"
#include "common/model/request_extras.hpp"
#include "common/saturating.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// Tokens as the provider counts them: input includes cached input, output includes reasoning.
struct Usage {
  std::uint64_t input_tokens = 0;
  std::uint64_t output_tokens = 0;

  // Sums never wrap.
  Usage& operator+=(const Usage& more) {
    input_tokens = saturating_add(input_tokens, more.input_tokens);
    output_tokens = saturating_add(output_tokens, more.output_tokens);
    return *this;
  }
  Usage& operator-=(const Usage& less) {
    input_tokens = saturating_subtract(input_tokens, less.input_tokens);
    output_tokens = saturating_subtract(output_tokens, less.output_tokens);
    return *this;
  }
  std::uint64_t total() const { return saturating_add(input_tokens, output_tokens); }
  friend bool operator==(const Usage&, const Usage&) = default;
};

/// One provider call's answer, or its final non-answer (`non_answer` set: refusal, truncation). This is what
/// the cache stores (docs/delivery.md).
struct Completion {
  std::string text;
  std::string finish_reason;  ///< The provider's own word.
  std::string served_model;   ///< The model that the provider reports to have run; may be empty.
  Usage usage;
  std::int64_t created_at_ms = 0;  ///< Unix time of the answer.
  std::optional<Error> non_answer;
  std::vector<ToolCall> calls = {};  ///< Of tools, without ids; each is a line of the text as well.
  /// What its call took, where a test asks for that; nothing: it is not known.
  std::optional<std::uint32_t> latency_ms = {};
  friend bool operator==(const Completion&, const Completion&) = default;
};

/// Appends a call to the text of its answer, as a line (docs/suites.md#tools). `is_json`: its arguments are;
/// else they become a string.
void append_call_line(std::string& text, const ToolCall& call, bool is_json);

/// Identity of an answer: text, finish reason, served model, usage, whether it is none, and its latency where
/// it is kept; neither when it came nor the machine counts.
Digest answer_digest(const Completion& completion);

/// True if the provider itself says that the model or its content filter refused (docs/metrics.md#refusal):
/// by a finish reason of refusals, or by words of refusal in their own place. An answer without any text, and
/// a finish reason that may mean something else, are none. Goes by what answer_digest covers, so that each
/// replay of an answer comes to the same.
bool is_native_refusal(const Completion& completion);

/// True if the model ended as it does at the end of any answer, and said nothing: an answer to a test that
/// expects an empty one (expects_empty), and to any other a non-answer. Goes by what answer_digest covers.
bool is_empty_answer(const Completion& completion);

/// Which non-answers are answers all the same to what was asked.
struct TakenNonAnswers {
  bool refusals = false;       ///< As is_native_refusal.
  bool empty_answers = false;  ///< As is_empty_answer.

  bool has(const Completion& non_answer) const {
    return (refusals && is_native_refusal(non_answer)) || (empty_answers && is_empty_answer(non_answer));
  }
};

}  // namespace sluice

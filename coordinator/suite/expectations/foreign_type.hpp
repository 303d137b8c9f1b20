#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace sluice {

/// How a check is said in a suite.
enum class ForeignForm : std::uint8_t {
  none,           ///< It cannot be said.
  program,        ///< A program of the user's says it.
  tools,          ///< tool_call says the like of it.
  valid_calls,    ///< tool_calls_valid, of an answer that calls one.
  equals,         ///< exact_match, or a schema with the one value.
  all_texts,      ///< must_contain
  any_text,       ///< contains_any
  any_case,       ///< icontains
  any_text_case,  ///< icontains_any
  beginning,      ///< starts_with
  pattern,
  json,
  any_json,  ///< contains_json
  distance,  ///< levenshtein
  words,     ///< rouge_n
  count,     ///< A pattern of so many words.
  refused,   ///< refusal, or words of one.
  time,      ///< latency
  price,     ///< cost
  similarity,
  criteria,
  reference,
  relevancy,
  faithfulness,
  context_recall,
  context_relevance,
};

/// A type of check as promptfoo names it.
struct ForeignType {
  std::string_view name;
  ForeignForm form = ForeignForm::none;
};

/// Every type that promptfoo's documentation names.
std::span<const ForeignType> all_foreign_types();
/// Null if there is none of this name (without `not-`).
const ForeignType* find_foreign_type(std::string_view name);
/// The same where underscores may stand for its hyphens.
const ForeignType* foreign_type_called(std::string_view name);

/// Whether it says something about the answer that no value is needed for.
bool needs_no_value(ForeignForm form);

}  // namespace sluice

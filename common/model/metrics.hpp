#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sluice {

/// What assesses an answer. The number stands on the wire; a metric keeps its number for good.
enum class MetricId : std::uint8_t {
  claims_precision = 1,   ///< TP / (TP + FP); undefined when nothing was extracted.
  claims_recall = 2,      ///< TP / (TP + FN); undefined when nothing was expected.
  claims_f1 = 3,          ///< 2 TP / (2 TP + FP + FN); undefined only for 0/0.
  claims_required = 4,    ///< Passes when every must_contain claim was found.
  claims_forbidden = 5,   ///< Passes when no must_not_contain claim was found.
  claims_absent = 6,      ///< Only where nothing is expected: passes when nothing was extracted.
  must_contain = 10,      ///< Passes when every text occurs in the answer.
  must_not_contain = 11,  ///< Passes when no text occurs in the answer.
  regex_match = 12,       ///< Passes when every pattern (RE2) is found in the answer.
  regex_not_match = 13,   ///< Passes when no pattern is found in the answer.
  exact_match = 14,       ///< Passes when the answer is one of the texts, white space at its ends apart.
  json_schema = 15,       ///< Passes when the answer is JSON that fits the schema.
  semantic_similarity_to = 16,  ///< Greatest cosine of the answer's embedding and a text's, clamped to 0..1.
  contains_any = 30,            ///< Passes when one of the texts occurs in the answer.
  icontains = 31,               ///< Passes when every text occurs in the answer, whatever its case.
  icontains_any = 32,           ///< Passes when one of them does.
  starts_with = 33,    ///< Passes when the answer begins with one of the texts, white space before it apart.
  contains_json = 34,  ///< Passes when JSON that fits the schema stands somewhere in the answer.
  levenshtein = 35,    ///< Passes when a text is not further than so many characters from the answer.
  rouge_n = 36,        ///< F1 of the runs of n words that the answer and a text share; the greatest.
  tool_call = 37,      ///< Passes when the answer calls the tool with these arguments, or any tool at all.
  latency = 38,        ///< Passes when the answer came within so many milliseconds.
  cost = 39,           ///< Passes when the answer cost no more than so many dollars.
  any_of = 40,         ///< Passes when one of its parts does.
  all_of = 41,         ///< Passes when the share of its parts that pass, by weight, reaches a mark.
  command = 42,        ///< Passes when a program of the user's says so. Only the coordinator runs it.
  command_score = 43,  ///< The score that such a program gives.
  tool_calls_valid = 44,  ///< Passes when each call is of a tool of the request, with arguments that fit it.
  refusal = 45,           ///< Passes when the provider itself says that it refused (is_native_refusal).
  tool_calls = 46,        ///< Passes when the answer makes these calls, each once, and no other.
  label = 47,             ///< Passes when the answer is this one of the suite's labels.
  // The same, turned round: `negation_bit` is set.
  not_exact_match = 14 | 0x80,
  not_json_schema = 15 | 0x80,
  not_icontains = 31 | 0x80,      ///< Passes when one of the texts does not occur.
  not_icontains_any = 32 | 0x80,  ///< Passes when none of them does.
  not_starts_with = 33 | 0x80,
  not_contains_json = 34 | 0x80,
  not_levenshtein = 35 | 0x80,
  not_rouge_n = 36 | 0x80,  ///< 1 less the score.
  not_tool_call = 37 | 0x80,
  not_latency = 38 | 0x80,
  not_cost = 39 | 0x80,
  not_any_of = 40 | 0x80,
  not_all_of = 41 | 0x80,
  not_command = 42 | 0x80,
  not_command_score = 43 | 0x80,  ///< 1 less the score.
  not_tool_calls_valid = 44 | 0x80,
  not_refusal = 45 | 0x80,
  not_tool_calls = 46 | 0x80,
  not_label = 47 | 0x80,  ///< Passes when the answer is another of the suite's labels.
  // By a model's judgement (docs/judges.md).
  faithfulness = 20,  ///< Every statement of the answer is supported by the context.
  relevancy = 21,     ///< The answer answers the prompt.
  correctness = 22,   ///< The answer agrees with the reference.
  rubric = 23,        ///< The answer meets the user's own criteria.
  // The same of the context, whatever the answer says.
  context_recall = 24,     ///< The context holds everything that the reference states.
  context_relevance = 25,  ///< The context is of use for what the prompt asks.
};

/// Set in the number of a metric that is another one turned round.
inline constexpr std::uint8_t negation_bit = 0x80;
constexpr bool is_negated(MetricId id) {
  return (static_cast<std::uint8_t>(id) & negation_bit) != 0;
}
/// The metric that it turns round; any other as it is.
constexpr MetricId positive(MetricId id) {
  return static_cast<MetricId>(static_cast<std::uint8_t>(id) & ~negation_bit);
}

/// A scored metric gives a score in 0..1; the other kind only passes or fails, and takes no thresholds.
enum class MetricKind : std::uint8_t { scored, pass_fail };

struct MetricInfo {
  MetricId id;
  std::string_view name;
  std::string_view version;  ///< Changes whenever the same answer could be assessed differently.
  MetricKind kind;
};

/// Every metric that there is.
std::span<const MetricInfo> metric_catalogue();
/// Nothing if the number is not a metric's.
const MetricInfo* find_metric(std::uint8_t number);
const MetricInfo& info(MetricId id);
const MetricInfo* find_metric(std::string_view name);
/// True for the metrics of extracted claims; the others assess the answer's text.
bool is_claims_metric(MetricId id);
/// True for the metrics whose score is that of a model's votes.
bool is_judge_metric(MetricId id);

/// True for those of them that judge the context alone: their judge sees no answer.
constexpr bool judges_context(MetricId id) {
  return id == MetricId::context_recall || id == MetricId::context_relevance;
}

/// True for the metrics that a program assesses, of which no worker hears.
constexpr bool is_command_metric(MetricId id) {
  return positive(id) == MetricId::command || positive(id) == MetricId::command_score;
}

/// One metric's word on one answer. A scored metric has `passed` only under a threshold; an undefined score
/// (0/0) is empty, never 0.
struct MetricOutcome {
  MetricId id = MetricId::claims_precision;
  std::optional<double> score;
  std::optional<bool> passed;
  std::string detail;  ///< Why it did not pass, or why nobody knows, in at most defaults::max_detail_bytes of
                       ///< one line; else empty.
  std::string label{};  ///< Of the metric label: which of the labels the answer is; empty: none of them.
  /// Nobody knows whether it passes, or its score: its trial is an error, and others of its unit are not.
  bool is_undecided() const { return !passed && !score && !detail.empty(); }
  friend bool operator==(const MetricOutcome&, const MetricOutcome&) = default;
};

}  // namespace sluice

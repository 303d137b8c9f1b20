#pragma once

#include "common/model/metrics.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace sluice {

inline constexpr double most_distance = 10'000;       ///< Changes that levenshtein counts.
inline constexpr double most_rouge_words = 9;         ///< n of rouge_n.
inline constexpr std::size_t most_listed_calls = 64;  ///< Of tool_calls.
inline constexpr std::size_t most_labels = 1000;      ///< Of a suite, at one path.
inline constexpr std::size_t most_label_bytes = 200;
inline constexpr std::size_t first_label = 2;  ///< Where the labels begin in the texts of label.
/// REQUIRES: the texts of label.
inline std::span<const std::string> labels_in(const std::vector<std::string>& texts) {
  return std::span(texts).subspan(first_label);
}

/// What a metric of the answer assesses by (docs/suites.md). One of `texts`, `numbers` and `parts` is not
/// empty, but for metrics of all calls and refusal, which take nothing.
struct TextExpectation {
  MetricId metric = MetricId::must_contain;
  /// Texts to look for, patterns (RE2), accepted answers, references; for json_schema and contains_json the
  /// schema's JSON text alone; for tool_call the tool's name and its arguments as a JSON object, or nothing:
  /// any tool; for tool_calls both of each call. command: the arguments as a JSON list, the parameters as a
  /// JSON object, and the hash of the files among the arguments. label: the expected one (not_label: the
  /// excluded one), the path to it in a JSON answer (empty: the answer is the label), and the labels that the
  /// test lists; for a worker all that there are.
  std::vector<std::string> texts{};
  /// levenshtein: the most changes. rouge_n: n, and of a part the score that passes. latency: milliseconds.
  /// tool_calls: 1 where the calls have an order, else 0. cost: dollars, and what the run adds, the dollars
  /// for a million tokens of input and of output. all_of: the mark. command: seconds, and of a part with a
  /// score that which passes.
  std::vector<double> numbers{};
  double weight = 1.0;                   ///< Of a part.
  std::vector<TextExpectation> parts{};  ///< Of any_of and all_of.
  friend bool operator==(const TextExpectation&, const TextExpectation&) = default;
};

/// Whether it is such, or one of its parts, however deep.
template <typename Predicate>
bool is_or_holds(const TextExpectation& expectation, const Predicate& is_such) {
  return is_such(expectation) || std::ranges::any_of(expectation.parts, [&](const TextExpectation& part) {
           return is_or_holds(part, is_such);
         });
}

/// Whether it is a command, or has one among its parts.
bool has_command(const TextExpectation& expectation);

/// Whether it, or one of its parts, is about all calls of an answer, whatever their tool: tool_calls,
/// tool_calls_valid, and tool_call without a name.
bool checks_all_calls(const TextExpectation& expectation);
/// Whether it asks for a refusal, or for none, itself or in one of its parts. A test with such a metric is
/// answered by a refusal of the provider's own; to any other that is an error.
bool checks_refusal(const TextExpectation& expectation);
/// Whether an empty answer is one that it asks for: exact_match with an empty text, itself or as a part, but
/// not of what is turned round. A test with such a metric is answered by an empty answer (is_empty_answer);
/// to any other that is an error.
bool expects_empty(const TextExpectation& expectation);
/// Whether some of what is no answer to other tests is one to a test with it: either of these.
bool takes_non_answers(const TextExpectation& expectation);

/// Adds what a worker assesses of it: itself, or, where there is a command in it, the greatest of its parts
/// without one, in their order. Commands run where the suite is (docs/security.md).
void add_for_worker(const TextExpectation& expectation, std::vector<TextExpectation>& tasks);

/// Whether it has what a worker assesses by, and so have its parts. A cost has its price; a command is
/// nothing for a worker.
bool is_complete(const TextExpectation& expectation);

}  // namespace sluice

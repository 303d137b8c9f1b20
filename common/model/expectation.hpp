#pragma once

#include "common/model/metrics.hpp"

#include <string>
#include <vector>

namespace sluice {

inline constexpr double most_distance = 10'000;  ///< Changes that levenshtein counts.
inline constexpr double most_rouge_words = 9;    ///< n of rouge_n.

/// What a metric of the answer assesses by (docs/suites.md). One of `texts`, `numbers` and `parts` is not
/// empty.
struct TextExpectation {
  MetricId metric = MetricId::must_contain;
  /// Texts to look for, patterns (RE2), accepted answers, references; for json_schema and contains_json the
  /// schema's JSON text alone; for tool_call the tool's name and its arguments as a JSON object.
  std::vector<std::string> texts;
  /// levenshtein: the most changes. rouge_n: n, and of a part the score that passes. latency: milliseconds.
  /// cost: dollars, and what the run adds, the dollars for a million tokens of input and of output. all_of:
  /// the mark.
  std::vector<double> numbers{};
  double weight = 1.0;                   ///< Of a part.
  std::vector<TextExpectation> parts{};  ///< Of any_of and all_of.
  friend bool operator==(const TextExpectation&, const TextExpectation&) = default;
};

/// Whether it has what its metric assesses by, and so have its parts. A cost has its price.
bool is_complete(const TextExpectation& expectation);

}  // namespace sluice

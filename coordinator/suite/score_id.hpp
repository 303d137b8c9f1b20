#pragma once

#include "common/model/metrics.hpp"

#include <string>
#include <string_view>

/// Which of a test's scores is meant: one metric can give a test several, each with a name of its own
/// (docs/suites.md). Pure and thread-safe.
namespace sluice {

struct ScoreId {
  MetricId metric = MetricId::claims_precision;
  std::string name{};  ///< Expectation::name
  friend auto operator<=>(const ScoreId&, const ScoreId&) = default;
};

/// As files and reports call it: `rubric`, or `rubric:tone` where the test names it `tone`.
std::string score_text(MetricId metric, std::string_view name);
inline std::string to_string(const ScoreId& score) {
  return score_text(score.metric, score.name);
}
/// `text == score_text(metric, name)`, without making that.
bool is_text_of_score(std::string_view text, MetricId metric, std::string_view name);

/// What score_text was made of.
struct ScoreParts {
  const MetricInfo* metric = nullptr;  ///< Null for a name that is none of ours.
  std::string_view name{};
};
ScoreParts parts_of_score(std::string_view text);

/// Whether tests may give a score of the metric a name. A test has one set of claims, and so one score of
/// each of their metrics.
bool takes_name(const MetricInfo& metric);

/// The names are one but for case, `_`, `-` and `.`: `Tone` and `tone`, `part_one` and `partone`. Between
/// digits the signs count: `1.1` and `11` are two.
bool differ_in_writing(std::string_view one, std::string_view other);
/// One letter more, less or another, or two that have changed places, within a word of four letters or more:
/// `tone` and `tnoe`. Not of digits and capitals, which names differ by on purpose, nor of short words, such
/// as `en` and `es`. REQUIRES: two names.
bool differ_by_a_slip(std::string_view one, std::string_view other);

}  // namespace sluice

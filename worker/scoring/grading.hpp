#pragma once

#include "common/error.hpp"
#include "common/model/grading.hpp"
#include "common/model/votes.hpp"
#include "worker/scoring/similarity.hpp"

#include <array>
#include <span>
#include <string>
#include <string_view>

/// What the judges of a pair of answers make of it (docs/grading.md). Pure and thread-safe.
namespace sluice {

/// 1 if both answers are the same text, white space at their ends and forms of line ends apart, else 0.
Grade grade_exact(std::string_view baseline, std::string_view candidate);

/// The cosine of the vectors of baseline and candidate, 0..1. Errors: embedding_count_wrong unless there are
/// exactly two of one dimension.
Result<Grade> grade_vectors(std::span<const SharedVector> vectors, std::string_view model);
/// The same by the texts' embeddings: 1 for equal texts, 0 if one alone is blank; neither needs a vector.
Result<Grade> grade_embedded(std::string_view baseline, std::string_view candidate,
                             const EmbeddedTexts& embedded, std::string_view model);

/// Reads what a judge answers to one of comparison_rubrics: `quality_score` of what it was shown last, and
/// perhaps `notes`. Error: grade_unparsable.
Result<Vote> read_comparison(std::string_view text);

/// Of the judge's answers in the rubrics' orders: the mean of the candidate's scores, or a tie (0.5) where
/// who is better depends on the order.
Grade grade_comparisons(const std::array<Vote, 2>& given, std::string_view model);

}  // namespace sluice

#include "worker/scoring/grading.hpp"

#include "common/model/comparison.hpp"
#include "common/text/trimmed.hpp"
#include "worker/scoring/answer_checks.hpp"
#include "worker/scoring/judge_answer.hpp"

namespace sluice {
namespace {

constexpr double tie = 0.5;

std::string embedding_grader(std::string_view model) {
  return "embedding:" + std::string(model);
}

/// What decided, in each order; the same words once.
std::string notes_of(const std::array<Vote, 2>& given, bool flips) {
  const std::string& last = given[0].rationale;
  const std::string& first = given[1].rationale;
  std::string notes = flips ? "A tie: who is better depends on the order. " : "";
  if (last.empty() && first.empty()) return std::string(trimmed(notes));
  return notes + "Candidate as B: " + last + " Candidate as A: " + first;
}

}  // namespace

Grade grade_exact(std::string_view baseline, std::string_view candidate) {
  const bool is_same = comparable(baseline) == comparable(candidate);
  return {is_same ? 1.0 : 0.0, is_same ? "the same text" : "another text", "exact"};
}

Result<Grade> grade_vectors(std::span<const SharedVector> vectors, std::string_view model) {
  if (vectors.size() != 2) {
    return fail(Reason::embedding_count_wrong, "a pair of answers needs two embeddings, and " +
                                                   std::to_string(vectors.size()) + " came from " +
                                                   std::string(model));
  }
  const auto alike = embedded_similarity(*vectors[0], *vectors[1], "baseline and candidate");
  if (!alike) return fail(alike.error());
  return Grade{*alike, {}, embedding_grader(model)};
}

Result<Grade> grade_embedded(std::string_view baseline, std::string_view candidate,
                             const EmbeddedTexts& embedded, std::string_view model) {
  if (baseline == candidate) return Grade{1.0, "the same text", embedding_grader(model)};
  if (trimmed(baseline).empty() || trimmed(candidate).empty())
    return Grade{0.0, "one of the answers is blank", embedding_grader(model)};
  std::vector<SharedVector> vectors;
  for (const auto text : {baseline, candidate}) {
    const auto found = embedded.find(std::string(text));
    if (found != embedded.end() && found->second) vectors.push_back(found->second);
  }
  return grade_vectors(vectors, model);
}

Result<Vote> read_comparison(std::string_view text) {
  return read_judge_answer(text, {"comparison", "quality_score", "notes", Reason::grade_unparsable});
}

Grade grade_comparisons(const std::array<Vote, 2>& given, std::string_view model) {
  const OrderedScores orders{given[0].score, 1.0 - given[1].score};
  const bool flips = position_flips(orders);
  const double score = flips ? tie : (orders.baseline_first + orders.candidate_first) / 2.0;
  return {score, notes_of(given, flips),
          "llm:" + std::string(model) + ":comparison-" + std::string(comparison_version), orders};
}

}  // namespace sluice

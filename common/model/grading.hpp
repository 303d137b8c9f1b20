#pragma once

#include "common/error.hpp"
#include "common/model/completion.hpp"
#include "common/model/judge.hpp"
#include "common/model/request.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

/// How a candidate's answer is compared with the baseline's (docs/grading.md).
enum class GradeJudge : std::uint8_t { exact = 1, embedding = 2, llm = 3 };

std::string_view to_string(GradeJudge judge);
std::optional<GradeJudge> grade_judge_from(std::string_view name);

/// What a run's answers, the candidate's, are graded against. The baseline answers the same requests, by its
/// own provider and model: nothing else of a request may differ.
struct GradingSettings {
  GradeJudge judge = GradeJudge::exact;
  std::string provider;  ///< The baseline's: name of a ProviderSettings of the run.
  std::string model;
  JudgeSettings llm = {};  ///< Who compares under GradeJudge::llm; has no rubrics of its own.
  friend bool operator==(const GradingSettings&, const GradingSettings&) = default;
};

/// What the baseline is asked where the candidate is asked this.
ModelRequest baseline_request(const GradingSettings& grading, ModelRequest candidate);

/// The candidate's score by a judge who saw both answers in one order and then in the other.
struct OrderedScores {
  double baseline_first = 0.0;   ///< 0..1; above 0.5 the candidate is better.
  double candidate_first = 0.0;  ///< The same, of the candidate still.
  friend bool operator==(const OrderedScores&, const OrderedScores&) = default;
};

/// Who is better depends on the order; a tie in one order alone counts too.
bool position_flips(const OrderedScores& scores);

/// What a judge says of a pair.
struct Grade {
  double quality_score = 0.0;
  std::string notes;
  std::string grader_id;                     ///< Who graded: judge, model and rubric.
  std::optional<OrderedScores> orders = {};  ///< GradeJudge::llm alone.
  friend bool operator==(const Grade&, const Grade&) = default;
};

/// One answer of a pair, whole.
struct GradedAnswer {
  std::string text;
  std::string served_model;  ///< As the provider reports it; may be empty.
  Usage usage;
  bool cache_hit = false;
  std::uint32_t latency_ms = 0;  ///< Its call's own, without waits; 0 if it came out of a cache.
  friend bool operator==(const GradedAnswer&, const GradedAnswer&) = default;
};

/// A grade with what it is of. Made by `grading_result` alone, which checks it.
struct GradingResult {
  Grade grade;
  GradedAnswer baseline;
  GradedAnswer candidate;
  friend bool operator==(const GradingResult&, const GradingResult&) = default;
};

/// Errors: quality_score_invalid for a score, in any order too, that is not in 0..1 (NaN never is);
/// grader_id_missing.
Result<void> check_grade(const Grade& grade);
Result<GradingResult> grading_result(Grade grade, GradedAnswer baseline, GradedAnswer candidate);

}  // namespace sluice

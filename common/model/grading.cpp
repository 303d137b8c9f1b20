#include "common/model/grading.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace sluice {

namespace {

constexpr std::array judge_names{std::pair{GradeJudge::exact, std::string_view("exact")},
                                 std::pair{GradeJudge::embedding, std::string_view("embedding")},
                                 std::pair{GradeJudge::llm, std::string_view("llm")}};

bool is_share(double value) {
  return value >= 0.0 && value <= 1.0;  // False for NaN.
}

/// -1, 0 or 1: the candidate is worse, as good, better.
int side(double score) {
  return (score > 0.5 ? 1 : 0) - (score < 0.5 ? 1 : 0);
}

}  // namespace

std::string_view to_string(GradeJudge judge) {
  for (const auto& [known, name] : judge_names) {
    if (known == judge) return name;
  }
  return "unknown";
}

std::optional<GradeJudge> grade_judge_from(std::string_view name) {
  for (const auto& [judge, known] : judge_names) {
    if (known == name) return judge;
  }
  return std::nullopt;
}

ModelRequest baseline_request(const GradingSettings& grading, ModelRequest candidate) {
  candidate.provider = grading.provider;
  candidate.model = grading.model;
  return candidate;
}

bool position_flips(const OrderedScores& scores) {
  return side(scores.baseline_first) != side(scores.candidate_first);
}

Result<void> check_grade(const Grade& grade) {
  const bool orders_fit =
      !grade.orders || (is_share(grade.orders->baseline_first) && is_share(grade.orders->candidate_first));
  if (!is_share(grade.quality_score) || !orders_fit) {
    return fail(Reason::quality_score_invalid,
                "the grade's quality score " + std::to_string(grade.quality_score) +
                    (orders_fit ? " is not from 0 to 1" : " comes from scores that are not from 0 to 1"));
  }
  if (grade.grader_id.empty()) return fail(Reason::grader_id_missing, "the grade does not say who graded");
  return {};
}

Result<GradingResult> grading_result(Grade grade, GradedAnswer baseline, GradedAnswer candidate) {
  if (auto sound = check_grade(grade); !sound) return fail(std::move(sound.error()));
  return GradingResult{std::move(grade), std::move(baseline), std::move(candidate)};
}

}  // namespace sluice
